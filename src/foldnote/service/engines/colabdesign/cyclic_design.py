"""AfCycDesign: sequences that AlphaFold folds onto a given backbone as head-to-tail cyclic peptides.

The procedure is that of the authors' notebook (af_cyc_design.ipynb of ColabDesign): fixed-backbone design
with residue offsets counted around the ring, by ColabDesign's three stages.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import network
import numpy as np
from chain_input import GivenChain, take_chain
from engine_protocol import fail, report, write_score, write_table, write_used
from numpy.typing import NDArray
from protein_files import Protein

STEPS = (300, 100, 10)
"""Steps of ColabDesign's stages: logits, softmax of falling temperature, and one-hot sequence."""
STAND_IN_STEPS = (4, 3, 2)
"""The same with stand-in parameters, whose designs are meaningless however long they take."""
STAGES = ("logits", "soft", "hard")
MIN_RESIDUES, MAX_RESIDUES = 4, 50
MAX_DESIGNS = 100
PEPTIDE_BOND_A = 2.0
"""C-N distance in Å above which there is no peptide bond, not even a stretched one."""
CONFIDENCES = ("plddt", "ptm", "pae")
Row = dict[str, Any]


def design_peptides(job: dict[str, Any], protein: Protein, notes: list[str]) -> None:
    """Run a job of the tool afcycdesign."""
    count = read_count(job["settings"].get("numDesigns", 1))
    given = take_chain(protein, job["settings"]["chain"], notes, keeps_numbers=False)
    if not MIN_RESIDUES <= len(given.residues) <= MAX_RESIDUES:
        fail(
            f"The chain has {len(given.residues)} residues; this engine designs peptides of"
            f" {MIN_RESIDUES} to {MAX_RESIDUES}."
        )
    note_gaps(given, notes)
    steps = STAND_IN_STEPS if network.has_stand_ins() else STEPS
    write_used(seed=job["seed"], settings={"numDesigns": count, "steps": list(steps)})
    report(0.03, "Loading AlphaFold's five models; the first steps take longest")
    model = network.make_model("fixbb")
    model.prep_inputs(pdb_filename=str(given.path), chain="A")
    network.find_inputs(model)["offset"] = count_around(len(given.residues))
    rows, course = [], []
    for number in range(1, count + 1):
        follow = follow_steps((number - 1) * sum(steps), count * sum(steps), f"design {number} of {count}")
        course += design(model, (job["seed"] + number - 1) % 2**32, steps, follow, number)
        rows.append(describe(model, number))
        write_model(model, number)
        # After each design, so that an aborted run keeps the finished ones.
        write_results(given, sorted(rows, key=lambda row: float(row["loss"])), course)


def read_count(number: object) -> int:
    """Return the number of designs; fail if it is invalid."""
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_DESIGNS:
        fail(f"numDesigns is {number!r}; give a whole number from 1 to {MAX_DESIGNS}.")
    return number


def note_gaps(given: GivenChain, notes: list[str]) -> None:
    """Note breaks of the given chain, which the ring does not have, and whether its ends meet."""
    ends = [(one.find("C"), two.find("N")) for one, two in pairwise(given.residues)]
    gaps = sum(one.pos.dist(two.pos) > PEPTIDE_BOND_A for one, two in ends)
    if gaps:
        notes.append(
            f"Places where the given chain is broken: {gaps}. The designed peptide runs on there, without"
            " residues for those that are missing or were left out."
        )
    closure = given.residues[-1].find("C").pos.dist(given.residues[0].find("N").pos)
    if closure > PEPTIDE_BOND_A:
        notes.append(
            f"The given backbone is not a ring: its last C is {closure:.1f} Å from its first N. The design"
            " is one, so that it cannot match the backbone there. If the chain is the target of a binder"
            " to be designed: this engine designs none."
        )


def count_around(length: int) -> NDArray[np.int64]:
    """Return residue offsets around a ring, shape (length, length): the shorter way, signed by direction.

    Two residues half a ring apart keep the sign of their order in the chain.
    """
    places = np.arange(length)
    offset = places[:, None] - places[None, :]
    around = length - np.abs(offset)
    is_shorter = around < np.abs(offset)
    turned: NDArray[np.int64] = np.where(is_shorter, -np.sign(offset) * around, offset)
    return turned


def follow_steps(done: int, total: int, what: str) -> Callable[[Any], None]:
    """Return a callback of ColabDesign that reports the progress of each step."""
    steps = iter(range(done + 1, total + 1))

    def report_step(_model: Any) -> None:
        step = next(steps)
        report(0.03 + 0.95 * step / total, f"{what}, step {step - done}")

    return report_step


def design(
    model: Any, seed: int, steps: tuple[int, int, int], follow: Callable[[Any], None], number: int
) -> Iterator[Row]:
    """Run the three stages from a new random sequence; return the rows of loss.csv."""
    with contextlib.redirect_stdout(sys.stderr):
        model.restart(seed=seed)
    model.design_3stage(*steps, verbose=0, callback=follow)
    stages = [stage for stage, count in zip(STAGES, steps, strict=True) for _ in range(count)]
    is_real = not network.has_stand_ins()
    for step, (stage, log) in enumerate(zip(stages, network.find_course(model)["log"], strict=True), start=1):
        row = {"design": number, "step": step, "stage": stage}
        row |= {name: round(float(log[name]), 4) for name in ("loss", "rmsd")}
        yield row | ({"plddt": round(float(log["plddt"]), 4)} if is_real else {})


def describe(model: Any, number: int) -> Row:
    """Return the row of designs.csv for the best design of this run, by its loss in the last stage."""
    best = network.find_course(model)["best"]["aux"]
    log, places = best["log"], np.asarray(best["all"]["atom_positions"][0], float)
    row = {
        "design": f"design_{number}",
        "sequence": model.get_seqs()[0],
        "plddt": float(log["plddt"]),
        "ptm": float(log["ptm"]),
        "pae": float(np.mean(best["pae"])),
        "rmsd": float(log["rmsd"]),
        "loss": float(log["loss"]),
        "seq_recovery": float(log["seqid"]),
        "closure_distance": float(np.linalg.norm(places[-1, 2] - places[0, 0])),
    }
    hidden = CONFIDENCES if network.has_stand_ins() else ()
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in row.items()
        if name not in hidden
    }


def write_model(model: Any, number: int) -> None:
    """Write the best design as AlphaFold's first model predicts it, superposed onto the given backbone."""
    text, _, _ = model.save_pdb().partition("ENDMDL")
    is_real = not network.has_stand_ins()
    remark = "PLDDT, 0 TO 100, IN THE B-FACTOR COLUMN" if is_real else "STAND-IN WEIGHTS: NO CONFIDENCE"
    lines = [line for line in text.splitlines() if line.startswith(("ATOM", "TER"))]
    if not is_real:
        lines = [f"{line[:60]}  0.00{line[66:]}" if line.startswith("ATOM") else line for line in lines]
    content = "\n".join([f"REMARK   1 {remark}", *lines, "END", ""])
    Path("outputs", f"design_{number}.pdb").write_text(content, "utf-8")


def write_results(given: GivenChain, rows: list[Row], course: list[Row]) -> None:
    """Write the tables, the sequences and the figures of the best design."""
    write_table("designs.csv", rows)
    write_table("loss.csv", course)
    entries = [("given", given.sequence), *((row["design"], row["sequence"]) for row in rows)]
    fasta = "".join(f">{name}\n{sequence}\n" for name, sequence in entries)
    Path("outputs", "designs.fasta").write_text(fasta, "utf-8")
    best = rows[0]
    write_score({name: best[name] for name in ("plddt", "ptm", "rmsd") if name in best})
