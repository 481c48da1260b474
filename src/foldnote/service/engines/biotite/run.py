"""Align every structure with the first one and superpose them.

Reads ``pdbFiles`` and ``alignChain`` from job.json. Writes the files that engine.toml lists: the superposed
structures, tables of scores, pairs and transforms, and the alignments.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from chain_order import order_chains
from engine_protocol import fail, read_job, report, write_notes, write_score, write_table, write_used
from structures import (
    InputStructure,
    TracedResidue,
    find_points,
    make_array,
    move_structure,
    read_structures,
    write_all,
    write_structure,
)
from tm_search import FULL_STARTS, TracePairing, TraceSearch, find_motion, start_by_alphabets, superpose

OUTPUTS = Path("outputs")
MAX_RESIDUES = 5_000
"""Maximum residues of one structure: time and memory grow with the square."""
ALIGNMENT_COLUMNS = (
    "structure",
    "reference",
    "chains",
    "residues",
    "reference_residues",
    "aligned_residues",
    "rmsd",
    "tm_score_by_reference",
    "tm_score_by_structure",
    "identity",
    "reference_coverage",
    "file",
)
"""Columns of alignment.csv: a row is a structure except the first. ``chains`` in the order in which they were
aligned with those of the reference; ``rmsd`` in Å, the minimum for the aligned Cα atoms; both TM-scores 0 to
1, each of its own best superposition; ``identity`` 0 to 1, of the aligned residues; ``reference_coverage`` 0
to 1, aligned residues by residues of the reference."""
PAIR_COLUMNS = (
    "structure",
    "reference_chain",
    "reference_number",
    "reference_residue",
    "chain",
    "number",
    "residue",
    "distance",
)
"""Columns of pairs.csv: a row is a pair of aligned residues; numbers as in the files, with the insertion
code; ``distance`` of their Cα atoms in Å in the written structures."""
TRANSFORM_COLUMNS = ("structure", *(f"r{i}{j}" for i in "123" for j in "123"), "t1", "t2", "t3")
"""Columns of transforms.csv: new position = R · position + t, t in Å. A row is a structure except the
first."""


@dataclass(frozen=True)
class Aligned:
    """A structure aligned with the reference."""

    structure: InputStructure
    residues: list[TracedResidue]
    pairing: TracePairing
    tm_scores: tuple[float, float]
    rmsd: float


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    chain = (job["settings"].get("alignChain") or "").strip()
    paths = [Path(place) for place in job["files"]["pdbFiles"]]
    if len(paths) < 2:
        fail("Give at least two structures: every other one is aligned with the first.")
    write_used(seed=None, settings={"alignChain": chain} if chain else {})
    report(0.02, "Reading the structures")
    structures = read_structures(paths, chain)
    for each in structures:
        check_size(each)
    reference, *others = structures
    found = []
    for index, other in enumerate(others):
        report(0.05 + 0.9 * index / len(others), f"Aligning {other.name} with {reference.name}")
        found.append(align(reference, other))
    report(0.95, "Writing the structures")
    write_structures(reference, found)
    write_tables(reference, found)
    write_alignments(reference, found)
    write_summary(structures, found)
    report(1.0, "Done")


def check_size(structure: InputStructure) -> None:
    """Fail if a structure is too long."""
    count = len(structure.residues)
    if count > MAX_RESIDUES:
        fail(f"{structure.name} has {count} residues to align; {MAX_RESIDUES} is the most. Name one chain.")


def align(reference: InputStructure, other: InputStructure) -> Aligned:
    """Return the best alignment of a structure with the reference."""
    chains, starts = order_chains(reference.chains, other.chains)
    residues = [residue for chain in chains for residue in chain]
    fixed, mobile = find_points(reference.residues), find_points(residues)
    starts += start_by_alphabets(make_array(reference.chains), make_array(chains))
    pairing = TraceSearch(fixed, mobile).run(starts)
    targets, points = fixed[pairing.rows], mobile[pairing.mobile_rows]
    scores = [find_motion(points, targets, len(each), FULL_STARTS)[1] for each in (fixed, mobile)]
    distances = superpose(points, targets).move(points) - targets
    rmsd = float(np.sqrt(np.mean(np.sum(distances**2, axis=1))))
    return Aligned(other, residues, pairing, (scores[0], scores[1]), rmsd)


def write_structures(reference: InputStructure, found: Sequence[Aligned]) -> None:
    """Write each structure in the reference's frame, then all as one file."""
    OUTPUTS.joinpath("superposed").mkdir(parents=True)
    for each in found:
        move_structure(each.structure, each.pairing.motion)
    together = [reference, *(each.structure for each in found)]
    for number, structure in enumerate(together, start=1):
        write_structure(structure, f"outputs/superposed/{name_file(number, structure)}")
    write_all(together)


def name_file(number: int, structure: InputStructure) -> str:
    """Return a file's name without its suffix; the number preserves the order."""
    return f"{number:02d}_{re.sub(r'[^A-Za-z0-9._-]+', '_', structure.name).strip('_') or 'structure'}"


def write_tables(reference: InputStructure, found: Sequence[Aligned]) -> None:
    """Write alignment.csv, pairs.csv and transforms.csv."""
    summary, pairs, transforms = [], [], []
    fixed = reference.residues
    for number, each in enumerate(found, start=2):
        summary.append(summarise(reference, each, name_file(number, each.structure)))
        pairs += list_pairs(fixed, each)
        motion = each.pairing.motion
        figures = [*motion.rotation.ravel(), *motion.shift]
        transforms.append([each.structure.name, *(f"{figure:.6f}" for figure in figures)])
    write_table("alignment.csv", summary, ALIGNMENT_COLUMNS)
    write_table("pairs.csv", pairs, PAIR_COLUMNS)
    write_table("transforms.csv", transforms, TRANSFORM_COLUMNS)


def summarise(reference: InputStructure, each: Aligned, stem: str) -> list[Any]:
    """Return one row of alignment.csv."""
    count = len(each.pairing.rows)
    return [
        each.structure.name,
        reference.name,
        " ".join(dict.fromkeys(residue.chain for residue in each.residues)),
        len(each.residues),
        len(reference.residues),
        count,
        f"{each.rmsd:.3f}",
        f"{each.tm_scores[0]:.4f}",
        f"{each.tm_scores[1]:.4f}",
        f"{count_identical(reference.residues, each) / count:.4f}",
        f"{count / len(reference.residues):.4f}",
        next(path.name for path in OUTPUTS.joinpath("superposed").glob(f"{stem}.*")),
    ]


def count_identical(fixed: Sequence[TracedResidue], each: Aligned) -> int:
    """Count aligned residues with the same letter; an unknown letter matches none."""
    pairs = zip(each.pairing.rows, each.pairing.mobile_rows, strict=True)
    return sum(fixed[i].letter == each.residues[j].letter != "X" for i, j in pairs)


def list_pairs(fixed: Sequence[TracedResidue], each: Aligned) -> list[list[Any]]:
    """Return the rows of pairs.csv."""
    moved = each.pairing.motion.move(find_points(each.residues))
    targets = find_points(fixed)
    rows = []
    for i, j in zip(each.pairing.rows, each.pairing.mobile_rows, strict=True):
        ours, theirs = fixed[i], each.residues[j]
        distance = float(np.linalg.norm(moved[j] - targets[i]))
        place = [ours.chain, ours.number, ours.letter, theirs.chain, theirs.number, theirs.letter]
        rows.append([each.structure.name, *place, f"{distance:.3f}"])
    return rows


def write_alignments(reference: InputStructure, found: Sequence[Aligned]) -> None:
    """Write each pair of sequences as FASTA, and all in the reference's columns as A3M."""
    OUTPUTS.joinpath("alignments").mkdir()
    letters = "".join(residue.letter for residue in reference.residues)
    together = [f">{reference.name}\n{letters}\n"]
    for number, each in enumerate(found, start=2):
        own = "".join(residue.letter for residue in each.residues)
        first, second, a3m = write_rows(letters, own, each.pairing)
        text = f">{reference.name}\n{first}\n>{each.structure.name}\n{second}\n"
        OUTPUTS.joinpath("alignments", f"{name_file(number, each.structure)}.fasta").write_text(text, "utf-8")
        together.append(f">{each.structure.name}\n{a3m}\n")
    OUTPUTS.joinpath("alignment.a3m").write_text("".join(together), "utf-8")


def write_rows(letters: str, own: str, pairing: TracePairing) -> tuple[str, str, str]:
    """Both rows of an alignment, with all residues, and the second row in A3M."""
    first, second, a3m = [], [], []
    i = j = 0
    ends = [*zip(pairing.rows, pairing.mobile_rows, strict=True), (len(letters), len(own))]
    for row, mobile_row in ends:
        first += [letters[i:row], "-" * (mobile_row - j), letters[row : row + 1]]
        second += ["-" * (row - i), own[j:mobile_row], own[mobile_row : mobile_row + 1]]
        a3m += ["-" * (row - i), own[j:mobile_row].lower(), own[mobile_row : mobile_row + 1]]
        i, j = row + 1, mobile_row + 1
    return "".join(first), "".join(second), "".join(a3m)


def write_summary(structures: Sequence[InputStructure], found: Sequence[Aligned]) -> None:
    """Write figures and notes."""
    notes = [note for structure in structures for note in structure.notes]
    unlike = [each.structure.name for each in found if max(each.tm_scores) < 0.5]
    if unlike:
        notes.insert(
            0,
            f"Probably another fold than {structures[0].name}: {', '.join(unlike)}. Both TM-scores are below"
            " 0.5 (Xu and Zhang, Bioinformatics 26, 889, 2010).",
        )
    write_notes(notes)
    scores = [each.tm_scores[0] for each in found]
    write_score(
        {
            "structures": len(structures),
            "meanTmScoreByReference": round(float(np.mean(scores)), 4),
            "lowestTmScoreByReference": round(min(scores), 4),
            "meanRmsd": round(float(np.mean([each.rmsd for each in found])), 3),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
