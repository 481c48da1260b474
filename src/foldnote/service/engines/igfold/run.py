"""Predict an antibody's variable domains or a nanobody with IgFold, and number them by IMGT.

Reads ``heavy``, ``light``, ``models`` and ``refinement`` from job.json. Writes outputs/prediction.pdb (chains
H and L, IMGT numbers, Å) and outputs/numbering.csv. B-factors and a column of numbering.csv are the error
that IgFold predicts of each residue: the root mean square of those of N, Cα, C and Cβ, in Å. AntiBERTy is
version 0.1.3, whose package contains the weights; the version that IgFold names gives the same coordinates
with them.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from antibody_regions import COLUMNS, number_rows
from fv_domains import FIELDS, FvDomain, find_domain, note_what_is_left_out, renumber
from predicted_errors import ERROR, summarise_errors
from seeding import seed_everything

PREDICTION = Path("outputs/prediction.pdb")
REFINEMENTS = {"openmm": True, "none": False}
MOST_MODELS = 4
REMARKS = (
    "ANTIBODY STRUCTURE MODELLED USING IGFOLD",
    "B-FACTORS ARE PREDICTED ERRORS IN ANGSTROM",
    "RESIDUE NUMBERS ARE IMGT NUMBERS",
)
ERRORS = (
    "The B-factors in prediction.pdb are predicted errors in Å, lower is better: IgFold's own estimate for"
    " each residue, the root mean square of those of N, Cα, C and Cβ. Each chain is superposed on itself, so"
    " the errors say nothing about how the domains lie to each other."
)
INVERTED = (
    "The refinement turned Cα atoms inside out, as in D-amino acids, in each of its attempts: {where}. Do not"
    " use the side chains there, or submit the job again with another seed."
)
ATTEMPTS = 3
UNREFINED = "The structure is not refined: it has the backbone and Cβ atoms only."


def main() -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    settings = job["settings"]
    given = {chain: protocol.clean_sequence(settings.get(field) or "") for chain, field in FIELDS.items()}
    given = {chain: sequence for chain, sequence in given.items() if sequence or chain == "H"}
    is_refined = REFINEMENTS[settings.get("refinement", "openmm")]
    count = int(settings.get("models", MOST_MODELS))
    protocol.report(0.02, "Recognising the chains")
    domains = [find_domain(chain, sequence, "IgFold") for chain, sequence in given.items()]
    protocol.report(0.05, "Loading IgFold")
    prediction, taken = fold(load_runner(), domains, count)
    seed, notes = write_structure(prediction, domains, job["seed"] if is_refined else None)
    protocol.write_used(seed=seed, settings={FIELDS[chain]: sequence for chain, sequence in given.items()})
    protocol.report(0.97, "Writing the numbering")
    number_structure(domains)
    errors = prediction.prmsd.square().mean(dim=-1).sqrt().squeeze(0).tolist()
    rows = [
        row
        for each in domains
        for row in number_rows(each.numbering, scheme="imgt", chain=each.chain, first_index=each.first_index)
    ]
    rows = [{**row, ERROR: f"{error:.3f}"} for row, error in zip(rows, errors, strict=True)]
    protocol.write_table("numbering.csv", rows, (*COLUMNS, ERROR))
    protocol.write_notes([ERRORS, *notes, *note_what_is_left_out(domains)])
    protocol.write_score(
        {
            **{f"{FIELDS[each.chain]}Residues": len(each.sequence) for each in domains},
            "refined": "yes" if is_refined else "no",
            "models": count,
            "modelTaken": taken,
            **summarise_errors(rows, errors),
        }
    )
    protocol.report(1.0, "Done")


@functools.cache
def load_runner() -> Any:
    """Return IgFold's four models and AntiBERTy, with the weights of their packages.

    AntiBERTy 0.1.3 has no option for the device; it chooses the one that IgFold chooses.
    """
    import antiberty
    import igfold.runner

    igfold.runner.AntiBERTyRunner = lambda **_: antiberty.AntiBERTyRunner()
    return igfold.runner.IgFoldRunner(verbose=False)


def fold(runner: Any, domains: Sequence[FvDomain], count: int) -> tuple[Any, int]:
    """Return the prediction of IgFold's own function, and the 1-based number of the chosen model.

    ``prmsd`` of the prediction is the error of each residue's N, Cα, C and Cβ, in Å, (1, residues, 4).
    """
    from igfold.utils.folding import fold as fold_by_igfold

    outcomes: list[Any] = []
    for model in runner.models[:count]:
        announce_model(model, outcomes, count)
    protocol.report(0.15, "Reading the sequences with AntiBERTy")
    prediction = fold_by_igfold(
        runner.antiberty,
        runner.models[:count],
        os.fspath(PREDICTION),
        sequences={each.chain: each.sequence for each in domains},
        skip_pdb=True,
    )
    return prediction, next(number for number, each in enumerate(outcomes, 1) if each is prediction)


def announce_model(model: Any, outcomes: list[Any], count: int) -> None:
    """Report each model and store its output: IgFold does not say whose structure it chooses."""
    refine_gradients = model.gradient_refine

    def refine_and_report(*arguments: Any) -> Any:
        protocol.report(0.2 + 0.5 * len(outcomes) / count, f"Model {len(outcomes) + 1} of {count}")
        outcomes.append(refine_gradients(*arguments))
        return outcomes[-1]

    model.gradient_refine = refine_and_report


def write_structure(
    prediction: Any, domains: Sequence[FvDomain], seed: int | None
) -> tuple[int | None, list[str]]:
    """Write the structure with IgFold's own function, refined if there is a seed.

    PDBFixer places the missing atoms at random, from where the minimisation can invert a Cα, most often that
    of a proline. The refinement is then repeated with the next seed.

    Returns:
        The seed of the structure that was kept, and remarks.
    """
    from igfold.utils.folding import process_prediction

    sequences = {each.chain: each.sequence for each in domains}
    if seed is None:
        process_prediction(prediction, os.fspath(PREDICTION), sequences, do_refine=False)
        return None, [UNREFINED]
    kept: tuple[list[str], int, str] | None = None
    for attempt in range(ATTEMPTS):
        protocol.report(0.7 + 0.08 * attempt, f"Refining with OpenMM, attempt {attempt + 1}")
        seed_everything(seed + attempt)
        process_prediction(prediction, os.fspath(PREDICTION), sequences, do_refine=True, use_openmm=True)
        inverted = find_inverted(PREDICTION)
        if kept is None or len(inverted) < len(kept[0]):
            kept = inverted, seed + attempt, PREDICTION.read_text("utf-8")
        if not inverted:
            break
    assert kept is not None
    inverted, seed, text = kept
    PREDICTION.write_text(text, "utf-8")
    by_chain = {each.chain: each for each in domains}
    where = ", ".join(name_position(by_chain[each[0]], int(each[2:])) for each in inverted)
    return seed, [INVERTED.format(where=where)] if inverted else []


def find_inverted(path: Path) -> list[str]:
    """Return chain and number of each residue whose Cα is that of a D-amino acid."""
    import numpy

    coordinates: dict[str, dict[str, Any]] = {}
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("ATOM"):
            place = numpy.array([float(line[start : start + 8]) for start in (30, 38, 46)])
            coordinates.setdefault(f"{line[21]} {int(line[22:26])}", {})[line[12:16].strip()] = place
    inverted = []
    for residue, atoms in coordinates.items():
        if atoms.keys() >= {"N", "CA", "C", "CB"}:
            n, c, cb = (atoms[name] - atoms["CA"] for name in ("N", "C", "CB"))
            if numpy.dot(numpy.cross(n, c), cb) < 0:
                inverted.append(residue)
    return inverted


def name_position(domain: FvDomain, place: int) -> str:
    """Return chain and IMGT number of the residue at a 1-based position of the domain."""
    (number, insertion), _ = domain.numbering[place - 1]
    return f"{domain.chain}:{number}{insertion}"


def number_structure(domains: Sequence[FvDomain]) -> None:
    """Number the residues by IMGT, and describe the structure in the file itself."""
    lines = PREDICTION.read_text("utf-8").splitlines()
    written = [f"REMARK   1 {text}".ljust(80) for text in REMARKS]
    written += renumber(lines, {each.chain: each for each in domains})
    PREDICTION.write_text("\n".join(written) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
