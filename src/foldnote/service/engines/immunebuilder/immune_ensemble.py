"""Predict immune receptors with the models of ImmuneBuilder, refine one of them, and write the result.

The common part of its three methods; each declares its own `Method`. It runs inside the environment of
ABodyBuilder2, which all of them use.
"""

from __future__ import annotations

import functools
import os
import pickle
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine_protocol as protocol
from antibody_regions import COLUMNS, number_rows
from predicted_errors import ERROR, summarise_errors
from profiles import load_anarci
from seeding import seed_everything
from variable_domains import explain_missing_ends

PREDICTION = Path("outputs/prediction.pdb")
EVERY = (1, 2, 3, 4)
ATTEMPTS = 2
SHORTEST = 71
"""Minimum residues of a variable domain, as ImmuneBuilder requires."""
REMARK_OF_ERRORS = "B-FACTORS ARE PREDICTED ERRORS IN ANGSTROM: SPREAD OF THE FOUR MODELS"
REMARK_OF_ONE = "B-FACTORS ARE ZERO: ONE MODEL GIVES NO ERROR ESTIMATE"
REMARK_OF_STAND_INS = "THE WEIGHTS WERE STAND-INS: COORDINATES AND B-FACTORS MEAN NOTHING"
REMARK_OF_NUMBERS = "RESIDUE NUMBERS ARE IMGT NUMBERS"
NO_CONFIDENCE = "The B-factors in prediction.pdb are zero and are not confidence values."
CHAINS_IN_WORDS = {
    "H": "an antibody's heavy chain",
    "K": "an antibody's light chain",
    "L": "an antibody's light chain",
    "A": "a T-cell receptor's alpha chain",
    "B": "a T-cell receptor's beta chain",
    "G": "a T-cell receptor's gamma chain",
    "D": "a T-cell receptor's delta chain",
}
"""Descriptions by ANARCI's letter for the type of a chain."""


@dataclass(frozen=True)
class ReceptorChain:
    """One chain of a receptor."""

    letter: str
    """Its name in ImmuneBuilder and in the structure."""
    field: str
    """The setting that contains its sequence."""
    kinds: frozenset[str]
    """ANARCI's letters for the types that it may have."""


@dataclass(frozen=True)
class Method:
    """One of ImmuneBuilder's methods."""

    name: str
    """Name of its class in ImmuneBuilder."""
    receptor: str
    """Molecule that it predicts, in capitals, for the header of the structure."""
    whole: str
    """Target on which its models are superposed."""
    chains: tuple[ReceptorChain, ...]
    """Chains in the order of the prediction's residues."""
    weights: str
    """Name of a model's file, with ``{}`` for its number."""
    species: tuple[str, ...] | None = ("human", "mouse")
    """Species whose profiles ANARCI compares; None for all."""
    packaged: tuple[int, ...] = ()
    """Models whose weights are in the package; they run alone if the others are not installed."""
    third_cdrs: str = "H"
    """Chains whose third CDRs have a separate mean error."""
    remedy: str = ""
    """What to do where weights are missing or damaged."""

    @property
    def fields(self) -> dict[str, str]:
        """The setting of each chain."""
        return {each.letter: each.field for each in self.chains}


def run_job(method: Method) -> None:
    """Run the job of this folder."""
    job = protocol.read_job()
    sequences = {
        chain: protocol.clean_sequence(job["settings"][field]) for chain, field in method.fields.items()
    }
    protocol.report(0.01, "Recognising the chains" if len(sequences) > 1 else "Recognising the chain")
    protocol.write_used(
        seed=job["seed"], settings={field: sequences[chain] for chain, field in method.fields.items()}
    )
    for each in method.chains:
        check_chain(method, each, sequences[each.letter])
    protocol.report(0.05, f"Loading {method.name}")
    models = find_models(method)
    predictor = load_predictor(method, models)
    seed_everything(job["seed"])
    protocol.report(0.3, f"Predicting the structure with {'four models' if models == EVERY else 'one model'}")
    prediction = predictor.predict(dict(sequences))
    used, is_refined = refine_prediction(prediction)
    protocol.report(0.97, "Writing the structure and its numbering")
    errors = prediction.error_estimates.mean(0).sqrt().tolist() if models == EVERY else []
    finish_structure(method, PREDICTION, errors)
    rows = [row for chain, text in sequences.items() for row in number_chain(prediction, chain, text)]
    if errors:
        rows = [{**row, ERROR: f"{error:.3f}"} for row, error in zip(rows, errors, strict=True)]
    protocol.write_table("numbering.csv", rows, (*COLUMNS, *([ERROR] if errors else [])))
    write_summary(method, sequences, rows, errors, is_refined, models[used])
    protocol.report(1.0, "Done")


def find_models(method: Method) -> tuple[int, ...]:
    """Return the models to run: all four, or those of the package if the other weights are optional."""
    has_all = os.environ.get("FOLDNOTE_OPTIONAL_WEIGHTS") == "yes"
    return EVERY if has_all or not method.packaged else method.packaged


def load_models(method: Method) -> None:
    """Load the models that can run, for the jobs of a worker."""
    load_predictor(method, find_models(method))


def move_models(method: Method) -> None:
    """Move the models to the GPU of this process, which had loaded them without one."""
    import torch

    predictor = load_predictor(method, find_models(method))
    predictor.device = "cuda" if torch.cuda.is_available() else "cpu"
    for model in predictor.models.values():
        model.to(predictor.device)


@functools.cache
def load_predictor(method: Method, models: tuple[int, ...]) -> Any:
    """Return the method with these models; the package's own download of weights is never used."""
    import ImmuneBuilder
    from ImmuneBuilder.util import are_weights_ready

    packaged = Path(ImmuneBuilder.__file__).parent / "trained_model"
    with tempfile.TemporaryDirectory() as name:
        for each in models:
            weights = method.weights.format(each)
            folder = packaged if each in method.packaged else Path(os.environ["FOLDNOTE_WEIGHTS"])
            if not are_weights_ready(os.fspath(folder / weights)):
                protocol.fail(f"The weights of {method.name}'s model {each} are missing. {method.remedy}")
            (Path(name) / weights).symlink_to(folder / weights)
        try:
            return getattr(ImmuneBuilder, method.name)(model_ids=list(models), weights_dir=name)
        except (OSError, EOFError, ValueError, RuntimeError, pickle.UnpicklingError) as exc:
            sys.stderr.write(f"{exc}\n")
            protocol.fail(
                f"The weights of {method.name} are damaged: the log says of which model. {method.remedy}"
            )


def check_chain(method: Method, chain: ReceptorChain, sequence: str) -> None:
    """Fail unless ``sequence`` is one complete variable domain of this chain.

    ImmuneBuilder has the same requirements, as assertions.
    """
    from anarci import validate_sequence

    field = chain.field
    protocol.reject_nonstandard_letters(f"The {field} sequence", sequence, method.name)
    try:
        validate_sequence(sequence)
    except AssertionError as exc:
        protocol.fail(f"The {field} sequence cannot be used: {exc}.")
    if len(sequence) < SHORTEST:
        protocol.fail(
            f"The {field} sequence has {len(sequence)} residues; a variable domain has {SHORTEST} or more."
            " Give the whole domain."
        )
    numbered, _, _ = load_anarci()(
        [("sequence", sequence)],
        scheme="imgt",
        allow=set(chain.kinds),
        allowed_species=list(method.species) if method.species else None,
    )
    if not numbered[0]:
        protocol.fail(explain_unrecognised(method, chain, sequence))
    numbers = [position[0] for position, letter in numbered[0][0][0] if letter != "-"]
    if fault := explain_missing_ends(field, numbers):
        protocol.fail(fault)


def explain_unrecognised(method: Method, chain: ReceptorChain, sequence: str) -> str:
    """Explain why ANARCI does not recognise the sequence as this chain."""
    _, found, _ = load_anarci()([("sequence", sequence)], scheme="imgt")
    kind = found[0][0]["chain_type"] if found[0] else ""
    wanted = CHAINS_IN_WORDS[min(chain.kinds)]
    sentence = f"The {chain.field} sequence is not recognised as the variable domain of {wanted}"
    if any(kind in each.kinds for each in method.chains if each is not chain):
        return f"{sentence}. Check that {' and '.join(sorted(method.fields.values()))} are not exchanged."
    if kind in chain.kinds and method.species:
        return f"{sentence} of {' or '.join(method.species)}."
    if kind in CHAINS_IN_WORDS and kind not in chain.kinds:
        return f"{sentence}; it is that of {CHAINS_IN_WORDS[kind]}."
    return f"{sentence}. Give the whole domain."


def refine_prediction(prediction: Any) -> tuple[int, bool]:
    """Write one model, refined with OpenMM; return its index, and whether the refinement passed the checks.

    The model nearest to the mean of all is tried first, as in ``save_all`` of ImmuneBuilder.
    (``save`` looks the index up in the inverse of the ranking, and so may take another model.)
    """
    from ImmuneBuilder import refine

    announce_rounds(refine)
    strained = []
    for place in prediction.ranking:
        for _ in range(ATTEMPTS):
            prediction.save_single_unrefined(os.fspath(PREDICTION), index=place)
            if refine.refine(os.fspath(PREDICTION), os.fspath(PREDICTION)):
                return place, True
        strained.append(PREDICTION.read_text("utf-8"))
    PREDICTION.write_text(strained[0], "utf-8")
    return prediction.ranking[0], False


def announce_rounds(refine: Any) -> None:
    """Report each energy minimisation; often there is only one."""
    minimize, rounds = refine.minimize_energy, iter(range(1, 1000))

    def minimize_and_report(*arguments: Any, **options: Any) -> Any:
        count = next(rounds)
        protocol.report(min(0.9, 0.4 + 0.1 * count), f"Refining with OpenMM, round {count}")
        return minimize(*arguments, **options)

    refine.minimize_energy = minimize_and_report


def finish_structure(method: Method, path: Path, errors: Sequence[float]) -> None:
    """Describe the structure in the PDB file itself, and write the errors, if any, as B-factors."""
    which = "FOUR MODELS" if errors else "MODEL 1 OF 4"
    remarks = [
        f"{method.receptor} STRUCTURE MODELLED USING {method.name.upper()}, {which}",
        REMARK_OF_ERRORS if errors else REMARK_OF_ONE,
        REMARK_OF_NUMBERS,
    ]
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


def number_chain(prediction: Any, chain: str, sequence: str) -> list[dict[str, str | int]]:
    """Return rows of numbering.csv: the modelled residues, with their index in the given sequence."""
    numbering = prediction.numbered_sequences[chain]
    modelled = "".join(letter for _, letter in numbering)
    return number_rows(numbering, scheme="imgt", chain=chain, first_index=sequence.index(modelled) + 1)


def write_summary(
    method: Method,
    sequences: Mapping[str, str],
    rows: Sequence[Mapping[str, str | int]],
    errors: Sequence[float],
    is_refined: bool,
    model: int,
) -> None:
    """Write figures and notes, none of which is a quality that was not measured."""
    modelled = {chain: sum(row["chain"] == chain for row in rows) for chain in sequences}
    notes = [_explain_errors(method, model) if errors else NO_CONFIDENCE]
    for chain, sequence in sequences.items():
        if left_out := len(sequence) - modelled[chain]:
            notes.append(
                f"{left_out} residues of the {method.fields[chain]} sequence are outside the variable domain"
                " and are not in the structure."
            )
    if not is_refined:
        notes.append("The refinement did not pass its geometry checks; bonds may be strained.")
    protocol.write_notes(notes)
    protocol.write_score(
        {
            **{f"{field}Residues": modelled[chain] for chain, field in method.fields.items()},
            "refined": "yes" if is_refined else "no",
            "models": len(EVERY) if errors else 1,
            **summarise_errors(rows, errors, method.third_cdrs),
        }
    )


def _explain_errors(method: Method, model: int) -> str:
    return (
        "The B-factors in prediction.pdb are predicted errors in Å, lower is better: the root mean square"
        " distance of each residue's Cα from its mean over the four models, which are superposed on the whole"
        f" {method.whole}. The structure is that of model {model}."
    )
