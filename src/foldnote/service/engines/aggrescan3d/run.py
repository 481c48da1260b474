"""Score the residues of one protein by the static Aggrescan3D score.

Reads job.json and the file of ``pdbFile``. Writes outputs/residues.csv (a row for each residue),
outputs/chains.csv (a row for each chain) and outputs/aggrescan3d.pdb, the protein with the score in the
B-factor column.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from accessible_area import list_missing, measure_relative_areas
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from protein_files import Protein, ProteinResidue, read_protein, write_protein
from static_score import score_residues

RESIDUE_COLUMNS = ("chain", "number", "residue", "rsa_percent", "a3d_score")
"""Columns of residues.csv: chain; residue number with insertion code; three-letter name; relative accessible
area in % of that in Ala-X-Ala; score, above 0 aggregation-prone, 0 for buried residues."""
CHAIN_COLUMNS = ("chain", "residues", "a3d_total", "a3d_mean", "a3d_max", "a3d_min")
"""Columns of chains.csv: chain; residues with a score; sum, mean, highest and lowest of their scores."""
OUTPUTS = Path("outputs")
MIN_WHOLE = 0.5
"""Share of residues with all heavy atoms below which areas are meaningless."""
MAX_NAMED = 10
REMARK = (
    "B-FACTOR COLUMN: STATIC AGGRESCAN3D SCORE OF THE RESIDUE, WITHOUT A UNIT.",
    "ABOVE 0 AGGREGATION-PRONE, BELOW 0 SOLUBLE, 0 BURIED.",
)


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    write_used(seed=None)
    report(0.02, "Reading the protein")
    protein = read_protein(Path(job["files"]["pdbFile"][0]))
    check_side_chains(protein)
    report(0.05, "Measuring accessible areas")
    exposed, unknown = measure_relative_areas(
        protein.residues, lambda share: report(0.05 + 0.85 * share, "Measuring accessible areas")
    )
    if unknown:
        named = ", ".join(unknown)
        protein.notes.append(f"{unknown.total()} atoms without a known radius were left out: {named}.")
    report(0.92, "Scoring the residues")
    letters = "".join(residue.letter for residue in protein.residues)
    scores = score_residues(letters, exposed, find_alphas(protein))
    write_tables(protein.residues, exposed, scores)
    place = write_protein(OUTPUTS / "aggrescan3d", protein.residues, REMARK, scores.tolist())
    protein.notes.append(f"The B-factor column of {place.name} is the score, not a B-factor.")
    write_notes(protein.notes)
    write_summary(protein.residues, exposed, scores)
    report(1.0, "Done")


def check_side_chains(protein: Protein) -> None:
    """Note residues that lack atoms; fail if most of them do."""
    lacking = [residue for residue in protein.residues if list_missing(residue)]
    if len(protein.residues) - len(lacking) < MIN_WHOLE * len(protein.residues):
        fail(
            f"{len(lacking)} of {len(protein.residues)} residues lack heavy atoms. The score is made of"
            " accessible areas, which need whole side chains: give an all-atom model."
        )
    if lacking:
        named = ", ".join(f"{each.name} {each.chain}:{each.number}" for each in lacking[:MAX_NAMED])
        more = ", …" if len(lacking) > MAX_NAMED else ""
        protein.notes.append(
            f"{len(lacking)} residues lack heavy atoms, so that their area is too small and that of their"
            f" neighbours too large: {named}{more}."
        )


def find_alphas(protein: Protein) -> Any:
    """Return Cα positions, shape (n, 3), Å; NaN for a residue without one, which is noted."""
    atoms = [residue.find("CA") for residue in protein.residues]
    if lost := sum(atom is None for atom in atoms):
        protein.notes.append(f"{lost} residues without a Cα atom are scored without their neighbours.")
    return np.array([atom.pos.tolist() if atom else [np.nan] * 3 for atom in atoms])


def write_tables(residues: Sequence[ProteinResidue], exposed: Any, scores: Any) -> None:
    """Write residues.csv and chains.csv."""
    rows = [
        {
            "chain": residue.chain,
            "number": residue.number,
            "residue": residue.name,
            "rsa_percent": f"{percent:.1f}",
            "a3d_score": f"{score:.4f}",
        }
        for residue, percent, score in zip(residues, exposed, scores, strict=True)
    ]
    write_table("residues.csv", rows, RESIDUE_COLUMNS)
    names = np.array([residue.chain for residue in residues])
    chains = []
    for name in dict.fromkeys(names.tolist()):
        own = scores[names == name]
        figures = {key: f"{value:.4f}" for key, value in summarise(own).items()}
        chains.append({"chain": name, "residues": len(own), **figures})
    write_table("chains.csv", chains, CHAIN_COLUMNS)


def summarise(scores: Any) -> dict[str, float]:
    """Return the sum, mean, highest and lowest score, as the original reports them."""
    return {
        "a3d_total": float(scores.sum()),
        "a3d_mean": float(scores.mean()),
        "a3d_max": float(scores.max()),
        "a3d_min": float(scores.min()),
    }


def write_summary(residues: Sequence[ProteinResidue], exposed: Any, scores: Any) -> None:
    """Write the figures of the whole protein."""
    figures = {key: round(value, 4) for key, value in summarise(scores).items()}
    counts = {
        "residues": len(residues),
        "chains": len({residue.chain for residue in residues}),
        "buriedResidues": int((np.round(exposed, 1) < 10).sum()),
        "aggregationProneResidues": int((scores > 0).sum()),
    }
    write_score(figures | counts)


if __name__ == "__main__":
    sys.exit(main())
