"""Predict with Macrel whether a peptide is antimicrobial, and whether it is haemolytic.

Reads ``sequence`` from job.json. Writes outputs/prediction.csv, one row.
"""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import engine_protocol as protocol

RELIABLE = (10, 100)
"""Minimum and maximum residues of the peptides for which the models were made."""
LONGEST = 10_000
FAMILIES = {
    "CLP": "cationic, linear",
    "CDP": "cationic, with cysteines",
    "ALP": "anionic, linear",
    "ADP": "anionic, with cysteines",
}
"""Macrel's families, by the numbers of acidic and basic residues and of cysteines."""


def main() -> None:
    """Run the job of this folder."""
    sequence = protocol.clean_sequence(protocol.read_job()["settings"]["sequence"])
    protocol.write_used(seed=None, settings={"sequence": sequence})
    check_sequence(sequence)
    protocol.report(0.1, "Running Macrel")
    row = run_macrel(sequence)
    read = row["Sequence"]
    table = {
        "sequence": sequence,
        "residues": len(sequence),
        "family": row["AMP_family"],
        "family_description": FAMILIES.get(row["AMP_family"], ""),
        "is_antimicrobial": row["is_AMP"],
        "antimicrobial_probability": row["AMP_probability"],
        "is_haemolytic": str(row["Hemolytic"] == "Hemo"),
        "haemolytic_probability": row["Hemolytic_probability"],
    }
    protocol.write_table("prediction.csv", [table])
    protocol.write_notes(list_notes(sequence, read))
    protocol.write_score(
        {
            "antimicrobial_probability": float(row["AMP_probability"]),
            "haemolytic_probability": float(row["Hemolytic_probability"]),
        }
    )
    protocol.report(1.0, "Done")


def check_sequence(sequence: str) -> None:
    """Fail if Macrel would skip the sequence or crash."""
    if not sequence.removeprefix("M"):
        protocol.fail(
            "The sequence has no residue beside a first methionine. Give the sequence of a peptide."
        )
    protocol.reject_nonstandard_letters("The sequence", sequence, "Macrel")
    if len(sequence) > LONGEST:
        protocol.fail(f"The sequence has {len(sequence)} residues; a peptide has at most {LONGEST} here.")


def run_macrel(sequence: str) -> dict[str, str]:
    """Return the row of the program's table for the peptide."""
    Path("peptide.fasta").write_text(f">peptide\n{sequence}\n", "utf-8")
    program = Path(sys.executable).with_name("macrel")
    options = ["--fasta", "peptide.fasta", "--output", "macrel", "--keep-negatives", "--threads", "1"]
    done = subprocess.run(
        [sys.executable, str(program), "peptides", *options], capture_output=True, text=True, check=False
    )
    sys.stdout.write(done.stdout + done.stderr)
    if done.returncode:
        sys.exit(done.returncode)
    with gzip.open("macrel/macrel.out.prediction.gz", "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader((line for line in stream if not line.startswith("#")), delimiter="\t"))
    if len(rows) != 1:
        protocol.fail("Macrel left the peptide out. The log says why.")
    return rows[0]


def list_notes(sequence: str, read: str) -> list[str]:
    """Return notes on this prediction for readers."""
    notes = []
    if read != sequence:
        notes.append("Macrel leaves out a first methionine; it judged the peptide without it.")
    fewest, most = RELIABLE
    if not fewest <= len(sequence) <= most:
        notes.append(
            f"The peptide has {len(sequence)} residues; Macrel was made for {fewest} to {most},"
            " and is less reliable outside of that."
        )
    return notes


if __name__ == "__main__":
    sys.exit(main())
