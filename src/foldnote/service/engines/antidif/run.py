"""Design antibody sequences with the lab's own copy of AntiDIF.

Reads job.json and the structure, writes the program's config.yaml and list of structures, runs its module
run.run, and collects outputs/sequences.fasta and outputs/sequences.csv.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from adapter_program import (
    OUTPUTS,
    PROGRAM_FOLDER,
    ProgressSpan,
    describe_program,
    describe_weights,
    require_files,
    require_integer,
    run_program,
)
from engine_protocol import (
    fail,
    read_job,
    read_options,
    report,
    write_notes,
    write_score,
    write_table,
    write_used,
)
from pdb_lines import read_protein, read_residues

BACKBONE = ("N", "CA", "C", "O")
RUN_NAME = "designs"
COLUMNS = ("design", "chain", "sequence", "recovery")


def main() -> None:
    """Run the job of this folder."""
    job, options = read_job(), read_options()
    settings = job["settings"]
    samples = require_integer(settings, "numSamples")
    chains = list(dict.fromkeys(settings["chains"]))
    write_used(seed=None)
    report(0.01, "Reading the structure")
    text = read_protein(Path(job["files"]["pdbFile"][0]), "The structure")
    residues = read_residues(text, BACKBONE)
    for chain in chains:
        if chain not in residues:
            fail(f"The structure has no chain {chain} with residues that have N, CA, C and O.")
    (PROGRAM_FOLDER / "configs").mkdir(parents=True)
    (PROGRAM_FOLDER / "antibody.pdb").write_text(text, "utf-8")
    (PROGRAM_FOLDER / "structures.csv").write_text(f"antibody.pdb,{''.join(chains)}\n", "utf-8")
    code, weights = Path(options["folder"]) / "pi-rldif-ft", Path(options["weights"])
    config = change_config(
        (code / "configs" / "config.yaml").read_text("utf-8"),
        {
            "name": RUN_NAME,
            "m_name": str(weights),
            "num_samples": samples,
            "custom_pdb_input": "structures.csv",
            "load_pkl": None,
            "docker": False,
            "rldif": True,
            "inference": True,
        },
    )
    (PROGRAM_FOLDER / "configs" / "config.yaml").write_text(config, "utf-8")
    run_program(
        "AntiDIF",
        [options["python"], "-m", "run.run"],
        ProgressSpan(0.02, 0.97, "Designing sequences"),
        variables={"PYTHONPATH": str(code)},
    )
    (table,) = require_files("AntiDIF", [PROGRAM_FOLDER / f"{RUN_NAME}_results.csv"], "table of sequences")
    with table.open(newline="", encoding="utf-8") as file:
        designs = [(row["pred"], row["real"]) for row in csv.DictReader(file)]
    if len(designs) != samples:
        fail(f"AntiDIF designed {len(designs)} sequences, and {samples} were asked for.")
    lengths = {chain: len(residues[chain]) for chain in chains}
    rows = list(split(designs, lengths))
    write_table("sequences.csv", rows, COLUMNS)
    write_fasta(rows, chains)
    write_score({"designs": samples, "distinct": len({design for design, _ in designs})})
    write_notes(
        [
            *describe_program("AntiDIF", Path(options["folder"])),
            describe_weights(weights),
            "The program takes no seed: another run gives other sequences.",
        ]
    )
    report(1.0, "Done")


def change_config(text: str, values: Mapping[str, object]) -> str:
    """Return the program's YAML with some values changed; fail if it lacks one of the keys."""
    for key, value in values.items():
        row = re.compile(rf"^(\s*{key}:).*$", re.M)
        if not row.search(text):
            fail(f"The configured checkout's config.yaml has no {key}; this adapter fits another version.")
        written = json.dumps(value)
        text = row.sub(lambda found, written=written: f"{found[1]} {written}", text, count=1)
    return text


def split(designs: Sequence[tuple[str, str]], lengths: Mapping[str, int]) -> Iterator[dict[str, object]]:
    """Yield a row for each design and chain, from sequences without a separator between the chains."""
    for number, (design, native) in enumerate(designs, 1):
        whole = sum(lengths.values())
        if len(design) != whole or len(native) != len(design):
            fail(
                f"AntiDIF designed {len(design)} residues, and the chosen chains have {whole}."
                " Choose chains without alternate or damaged residues."
            )
        begin = 0
        for chain, length in lengths.items():
            part, before = design[begin : begin + length], native[begin : begin + length]
            same = sum(one == other for one, other in zip(part, before, strict=True))
            yield {
                "design": number,
                "chain": chain,
                "sequence": part,
                "recovery": f"{100 * same / length:.1f}",
            }
            begin += length


def write_fasta(rows: Sequence[Mapping[str, object]], chains: Sequence[str]) -> None:
    """Write a record for each design, with its chains in order."""
    designs: dict[object, list[str]] = {}
    for row in rows:
        designs.setdefault(row["design"], []).append(str(row["sequence"]))
    lines = [
        f">design_{number} chains={','.join(chains)}\n{'/'.join(parts)}\n"
        for number, parts in designs.items()
    ]
    (OUTPUTS / "sequences.fasta").write_text("".join(lines), "utf-8")


main()
