"""Predicts the structure of an antibody's variable domains with ABodyBuilder2 and numbers it by IMGT.

Reads ``heavy`` and ``light`` from job.json. Writes outputs/prediction.pdb (chains H and L, IMGT numbers, all
atoms, Å) and outputs/numbering.csv. Only the first of the method's four models has weights in the package:
B-factors would be a spread over models, so they are zero here and say nothing.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from pathlib import Path
from typing import Any

from antibody_regions import COLUMNS, number_rows
from engine_protocol import (
    clean_sequence,
    fail,
    name_strange_letters,
    read_job,
    report,
    write_notes,
    write_score,
    write_table,
    write_used,
)

PREDICTION = Path("outputs/prediction.pdb")
CHAINS = {"H": ("heavy", {"H"}), "L": ("light", {"K", "L"})}
MODEL_WEIGHTS = "antibody_model_1"
ATTEMPTS = 2
REMARKS = (
    "ANTIBODY STRUCTURE MODELLED USING ABODYBUILDER2, MODEL 1 OF 4",
    "B-FACTORS ARE ZERO: ONE MODEL GIVES NO ERROR ESTIMATE",
    "RESIDUE NUMBERS ARE IMGT NUMBERS",
)
NO_CONFIDENCE = (
    "ABodyBuilder2 estimates errors from the spread of four models; one model ran, so there is no error"
    " estimate. The B-factors in prediction.pdb are zero and are not confidence values."
)


def main() -> None:
    """Run the job of this folder."""
    job = read_job()
    sequences = {chain: clean_sequence(job["settings"][field]) for chain, (field, _) in CHAINS.items()}
    report(0.01, "Loading ABodyBuilder2")
    write_used(seed=job["seed"], settings={field: sequences[chain] for chain, (field, _) in CHAINS.items()})
    predictor = load_predictor()
    seed_everything(job["seed"])
    report(0.25, "Recognising the heavy and the light chain")
    for chain, sequence in sequences.items():
        check_chain(chain, sequence)
    report(0.3, "Predicting the structure")
    antibody = predictor.predict(sequences)
    is_refined = refine_prediction(antibody)
    report(0.97, "Writing the structure and its numbering")
    add_remarks(PREDICTION)
    rows = [row for chain, sequence in sequences.items() for row in number_chain(antibody, chain, sequence)]
    write_table("numbering.csv", rows, COLUMNS)
    tell_what_was_done(sequences, rows, is_refined)
    report(1.0, "Done")


def seed_everything(seed: int) -> None:
    """Make the run repeatable on one machine: added atoms are placed at random before they are minimised.

    The refinement runs on one thread (engine.toml), since OpenMM's sums depend on how threads share them.
    """
    import numpy
    import torch
    from pdbfixer import PDBFixer

    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    PDBFixer.addMissingAtoms = functools.partialmethod(PDBFixer.addMissingAtoms, seed=seed % 2**31)


@functools.cache
def load_predictor() -> Any:
    """ABodyBuilder2 with its first model; the package's own download of weights is never used."""
    import ImmuneBuilder
    from ImmuneBuilder.util import are_weights_ready

    weights = Path(ImmuneBuilder.__file__).parent / "trained_model" / MODEL_WEIGHTS
    if not are_weights_ready(os.fspath(weights)):
        fail("The weights of ABodyBuilder2 are missing. Run `foldnote engines install abodybuilder2` again.")
    return ImmuneBuilder.ABodyBuilder2(model_ids=[1])


def check_chain(chain: str, sequence: str) -> None:
    """End with a sentence for the user unless ``sequence`` is one whole variable domain of this chain.

    ImmuneBuilder makes the same demands, as assertions.
    """
    from anarci import anarci, validate_sequence

    field, allowed = CHAINS[chain]
    if strange := name_strange_letters(sequence):
        fail(f"The {field} sequence has {strange}; ABodyBuilder2 takes the 20 standard amino acids only.")
    try:
        validate_sequence(sequence)
    except AssertionError as exc:
        fail(f"The {field} sequence cannot be used: {exc}.")
    if len(sequence) <= 70:
        fail(
            f"The {field} sequence has {len(sequence)} residues; a variable domain has more than 70."
            " Give the whole domain."
        )
    numbered, _, _ = anarci(
        [("sequence", sequence)], scheme="imgt", allow=allowed, allowed_species=["human", "mouse"]
    )
    if not numbered[0]:
        fail(
            f"The {field} sequence is not recognised as the variable domain of an antibody's {field} chain."
            " Check that heavy and light are not exchanged."
        )
    numbers = [position[0] for position, letter in numbered[0][0][0] if letter != "-"]
    if max(numbers) <= 120 or min(numbers) >= 8:
        fail(
            f"The {field} sequence lacks residues at an end of its variable domain (IMGT {min(numbers)} to"
            f" {max(numbers)} are there). Give the whole domain."
        )


def refine_prediction(antibody: Any) -> bool:
    """Write the prediction, refined with OpenMM; False when the refinement did not pass its own checks.

    The same steps as ``Antibody.save`` of ImmuneBuilder for its best model, without the B-factors.
    """
    from ImmuneBuilder import refine

    announce_rounds(refine)
    for _ in range(ATTEMPTS):
        antibody.save_single_unrefined(os.fspath(PREDICTION), index=antibody.ranking.index(0))
        if refine.refine(os.fspath(PREDICTION), os.fspath(PREDICTION)):
            return True
    return False


def announce_rounds(refine: Any) -> None:
    """Report each energy minimisation, of which the first is often the only one."""
    minimize, rounds = refine.minimize_energy, iter(range(1, 1000))

    def minimize_and_report(*arguments: Any, **options: Any) -> Any:
        count = next(rounds)
        report(min(0.9, 0.4 + 0.1 * count), f"Refining with OpenMM, round {count}")
        return minimize(*arguments, **options)

    refine.minimize_energy = minimize_and_report


def add_remarks(path: Path) -> None:
    """Say in the PDB file itself what it is."""
    lines = [f"REMARK   1 {text}".ljust(80) + "\n" for text in REMARKS]
    path.write_text("".join(lines) + path.read_text("utf-8"), "utf-8")


def number_chain(antibody: Any, chain: str, sequence: str) -> list[dict[str, str | int]]:
    """Rows of numbering.csv: the residues that were modelled, with their place in the given sequence."""
    numbering = antibody.numbered_sequences[chain]
    modelled = "".join(letter for _, letter in numbering)
    return number_rows(numbering, scheme="imgt", chain=chain, first_index=sequence.index(modelled) + 1)


def tell_what_was_done(sequences: dict[str, str], rows: list[dict[str, str | int]], is_refined: bool) -> None:
    """Write figures and notes, of which none is a quality that was not measured."""
    modelled = {chain: sum(row["chain"] == chain for row in rows) for chain in sequences}
    notes = [NO_CONFIDENCE]
    for chain, sequence in sequences.items():
        if left_out := len(sequence) - modelled[chain]:
            notes.append(
                f"{left_out} residues of the {CHAINS[chain][0]} sequence are outside the variable domain"
                " and are not in the structure."
            )
    if not is_refined:
        notes.append("The refinement did not pass its geometry checks; bonds may be strained.")
    write_notes(notes)
    write_score(
        {
            "heavyResidues": modelled["H"],
            "lightResidues": modelled["L"],
            "refined": "yes" if is_refined else "no",
            "models": 1,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
