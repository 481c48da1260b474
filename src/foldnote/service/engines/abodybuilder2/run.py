"""Predicts the structure of an antibody's variable domains with ABodyBuilder2 and numbers it by IMGT.

Reads ``heavy`` and ``light`` from job.json. Writes outputs/prediction.pdb (chains H and L, IMGT numbers, all
atoms, Å) and outputs/numbering.csv. The package has the weights of the first of the method's four models.
Where those of the other three are installed, the four run; B-factors and a column of numbering.csv are then
the root mean square distance of a residue's Cα from its mean over the models, in Å. With one model B-factors
are zero.
"""

from __future__ import annotations

import functools
import os
import pickle
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from antibody_regions import COLUMNS, number_rows
from predicted_errors import ERROR, summarise_errors
from seeding import seed_everything
from variable_domains import explain_missing_ends

PREDICTION = Path("outputs/prediction.pdb")
CHAINS = {"H": ("heavy", {"H"}), "L": ("light", {"K", "L"})}
MODEL_WEIGHTS = "antibody_model_{}"
FIRST = (1,)
EVERY = (1, 2, 3, 4)
ATTEMPTS = 2
REMEDY = (
    "Run `foldnote engines remove abodybuilder2`, then install it again; `--optional-weights` fetches those"
    " of models 2 to 4."
)
REMARKS_OF_ONE = (
    "ANTIBODY STRUCTURE MODELLED USING ABODYBUILDER2, MODEL 1 OF 4",
    "B-FACTORS ARE ZERO: ONE MODEL GIVES NO ERROR ESTIMATE",
)
REMARKS_OF_ALL = (
    "ANTIBODY STRUCTURE MODELLED USING ABODYBUILDER2, FOUR MODELS",
    "B-FACTORS ARE PREDICTED ERRORS IN ANGSTROM: SPREAD OF THE FOUR MODELS",
)
REMARK_OF_STAND_INS = "THE WEIGHTS WERE STAND-INS: COORDINATES AND B-FACTORS MEAN NOTHING"
REMARK_OF_NUMBERS = "RESIDUE NUMBERS ARE IMGT NUMBERS"
NO_CONFIDENCE = (
    "ABodyBuilder2 estimates errors from the spread of four models; one model ran, so there is no error"
    " estimate. The B-factors in prediction.pdb are zero and are not confidence values."
)
ERRORS = (
    "The B-factors in prediction.pdb are predicted errors in Å, lower is better: the root mean square"
    " distance of each residue's Cα from its mean over the four models, which are superposed on the whole Fv."
)


def main() -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    sequences = {
        chain: protocol.clean_sequence(job["settings"][field]) for chain, (field, _) in CHAINS.items()
    }
    protocol.report(0.01, "Loading ABodyBuilder2")
    protocol.write_used(
        seed=job["seed"], settings={field: sequences[chain] for chain, (field, _) in CHAINS.items()}
    )
    models = find_models()
    predictor = load_predictor(models)
    seed_everything(job["seed"])
    protocol.report(0.25, "Recognising the heavy and the light chain")
    for chain, sequence in sequences.items():
        check_chain(chain, sequence)
    protocol.report(0.3, f"Predicting the structure with {'one model' if models == FIRST else 'four models'}")
    antibody = predictor.predict(sequences)
    used, is_refined = refine_prediction(antibody)
    protocol.report(0.97, "Writing the structure and its numbering")
    errors = [] if models == FIRST else antibody.error_estimates.mean(0).sqrt().tolist()
    finish_structure(PREDICTION, errors)
    rows = [row for chain, sequence in sequences.items() for row in number_chain(antibody, chain, sequence)]
    if errors:
        rows = [{**row, ERROR: f"{error:.3f}"} for row, error in zip(rows, errors, strict=True)]
    protocol.write_table("numbering.csv", rows, (*COLUMNS, *([ERROR] if errors else [])))
    write_summary(sequences, rows, errors, is_refined, models[used])
    protocol.report(1.0, "Done")


def find_models() -> tuple[int, ...]:
    """The models that can run: all four, or the first where the weights of any other are not installed."""
    return EVERY if os.environ.get("FOLDNOTE_OPTIONAL_WEIGHTS") == "yes" else FIRST


@functools.cache
def load_predictor(models: tuple[int, ...]) -> Any:
    """ABodyBuilder2 with these models; the package's own download of weights is never used."""
    import ImmuneBuilder
    from ImmuneBuilder.util import are_weights_ready

    packaged = Path(ImmuneBuilder.__file__).parent / "trained_model"
    with tempfile.TemporaryDirectory() as name:
        for each in models:
            weights = MODEL_WEIGHTS.format(each)
            folder = packaged if each in FIRST else Path(os.environ["FOLDNOTE_WEIGHTS"])
            if not are_weights_ready(os.fspath(folder / weights)):
                protocol.fail(f"The weights of ABodyBuilder2's model {each} are missing. {REMEDY}")
            (Path(name) / weights).symlink_to(folder / weights)
        try:
            return ImmuneBuilder.ABodyBuilder2(model_ids=list(models), weights_dir=name)
        except (OSError, EOFError, ValueError, RuntimeError, pickle.UnpicklingError) as exc:
            sys.stderr.write(f"{exc}\n")
            protocol.fail(f"The weights of ABodyBuilder2 are damaged: the log says of which model. {REMEDY}")


def check_chain(chain: str, sequence: str) -> None:
    """End with a sentence for the user unless ``sequence`` is one whole variable domain of this chain.

    ImmuneBuilder makes the same demands, as assertions.
    """
    from anarci import anarci, validate_sequence

    field, allowed = CHAINS[chain]
    protocol.refuse_strange_letters(f"The {field} sequence", sequence, "ABodyBuilder2")
    try:
        validate_sequence(sequence)
    except AssertionError as exc:
        protocol.fail(f"The {field} sequence cannot be used: {exc}.")
    if len(sequence) <= 70:
        protocol.fail(
            f"The {field} sequence has {len(sequence)} residues; a variable domain has more than 70."
            " Give the whole domain."
        )
    numbered, _, _ = anarci(
        [("sequence", sequence)], scheme="imgt", allow=allowed, allowed_species=["human", "mouse"]
    )
    if not numbered[0]:
        protocol.fail(
            f"The {field} sequence is not recognised as the variable domain of an antibody's {field} chain."
            " Check that heavy and light are not exchanged."
        )
    numbers = [position[0] for position, letter in numbered[0][0][0] if letter != "-"]
    if fault := explain_missing_ends(field, numbers):
        protocol.fail(fault)


def refine_prediction(antibody: Any) -> tuple[int, bool]:
    """Write one model, refined with OpenMM; gives its place, and whether it passed the refinement's checks.

    The model nearest to the mean of all is tried first, as ``Antibody.save_all`` of ImmuneBuilder does.
    (``Antibody.save`` looks the place up in the inverse of the ranking, and so may take another model.)
    """
    from ImmuneBuilder import refine

    announce_rounds(refine)
    strained = []
    for place in antibody.ranking:
        for _ in range(ATTEMPTS):
            antibody.save_single_unrefined(os.fspath(PREDICTION), index=place)
            if refine.refine(os.fspath(PREDICTION), os.fspath(PREDICTION)):
                return place, True
        strained.append(PREDICTION.read_text("utf-8"))
    PREDICTION.write_text(strained[0], "utf-8")
    return antibody.ranking[0], False


def announce_rounds(refine: Any) -> None:
    """Report each energy minimisation, of which the first is often the only one."""
    minimize, rounds = refine.minimize_energy, iter(range(1, 1000))

    def minimize_and_report(*arguments: Any, **options: Any) -> Any:
        count = next(rounds)
        protocol.report(min(0.9, 0.4 + 0.1 * count), f"Refining with OpenMM, round {count}")
        return minimize(*arguments, **options)

    refine.minimize_energy = minimize_and_report


def finish_structure(path: Path, errors: Sequence[float]) -> None:
    """Say in the PDB file itself what it is, and write the errors, if there are any, as B-factors."""
    remarks = [*(REMARKS_OF_ALL if errors else REMARKS_OF_ONE), REMARK_OF_NUMBERS]
    if os.environ.get("FOLDNOTE_WEIGHTS_STATE") == "stand-in":
        remarks.append(REMARK_OF_STAND_INS)
    lines = [f"REMARK   1 {text}".ljust(80) for text in remarks]
    residues: dict[str, float] = {}
    remaining = iter(errors)
    for line in path.read_text("utf-8").splitlines():
        if errors and line.startswith("ATOM"):
            where = line[21:27]
            if where not in residues:
                residues[where] = next(remaining)
            lines.append(f"{line[:60]}{residues[where]:6.2f}{line[66:]}")
        else:
            lines.append(line)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def number_chain(antibody: Any, chain: str, sequence: str) -> list[dict[str, str | int]]:
    """Rows of numbering.csv: the residues that were modelled, with their place in the given sequence."""
    numbering = antibody.numbered_sequences[chain]
    modelled = "".join(letter for _, letter in numbering)
    return number_rows(numbering, scheme="imgt", chain=chain, first_index=sequence.index(modelled) + 1)


def write_summary(
    sequences: dict[str, str],
    rows: list[dict[str, str | int]],
    errors: Sequence[float],
    is_refined: bool,
    model: int,
) -> None:
    """Write figures and notes, of which none is a quality that was not measured."""
    modelled = {chain: sum(row["chain"] == chain for row in rows) for chain in sequences}
    notes = [f"{ERRORS} The structure is that of model {model}." if errors else NO_CONFIDENCE]
    for chain, sequence in sequences.items():
        if left_out := len(sequence) - modelled[chain]:
            notes.append(
                f"{left_out} residues of the {CHAINS[chain][0]} sequence are outside the variable domain"
                " and are not in the structure."
            )
    if not is_refined:
        notes.append("The refinement did not pass its geometry checks; bonds may be strained.")
    protocol.write_notes(notes)
    protocol.write_score(
        {
            "heavyResidues": modelled["H"],
            "lightResidues": modelled["L"],
            "refined": "yes" if is_refined else "no",
            "models": len(EVERY if errors else FIRST),
            **summarise_errors(rows, errors),
        }
    )


if __name__ == "__main__":
    sys.exit(main())
