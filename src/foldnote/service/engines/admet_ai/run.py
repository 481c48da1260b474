"""Predict ADMET properties of small molecules with ADMET-AI.

Reads ``smilesStrings`` from job.json. Writes outputs/properties.csv and outputs/percentiles.csv, with a row
for each given string in its order, and outputs/columns.csv, which describes each property.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from engine_protocol import fail, read_job, report, write_notes, write_score, write_used

CHUNK = 100
"""Molecules predicted between two reports of progress."""
PERCENTILE = "_drugbank_approved_percentile"
TOO_LARGE = 1000
"""Heavy atoms above which a molecule is not small, and takes minutes."""


def main() -> None:
    """Run the job of this folder."""
    given = read_job()["settings"]["smilesStrings"]
    if not given:
        fail("No molecule is given. Give at least one SMILES string.")
    write_used(seed=None)
    report(0.01, "Loading ADMET-AI")
    silence_libraries()
    faults = [find_fault(text) for text in given]
    valid = [text.strip() for text, fault in zip(given, faults, strict=True) if not fault]
    if not valid:
        fail(f"None of the {len(given)} SMILES strings can be read. The first one: {faults[0]}")
    predictions = predict(valid)
    report(0.98, "Writing the tables")
    strange = write_tables(given, faults, predictions)
    write_summary(given, faults, valid, strange)
    report(1.0, "Done")


def silence_libraries() -> None:
    """Keep progress bars and advertisements of libraries out of the log."""
    os.environ["TQDM_DISABLE"] = "1"
    warnings.filterwarnings("ignore")
    from rdkit import RDLogger

    RDLogger.DisableLog("rdApp.*")
    for name in ("lightning", "lightning.pytorch", "lightning.pytorch.utilities.rank_zero"):
        logging.getLogger(name).setLevel(logging.ERROR)


def find_fault(text: str) -> str:
    """Return why ADMET-AI cannot use this string; empty if it can.

    The program skips strings that it cannot read, and takes an empty string for a molecule without atoms.
    """
    from rdkit import Chem

    if not text.strip():
        return "The string is empty."
    unchecked = Chem.MolFromSmiles(text.strip(), sanitize=False)
    if unchecked is None:
        return "This is not SMILES."
    molecule = Chem.MolFromSmiles(text.strip())
    if molecule is None:
        problems = "; ".join(problem.Message() for problem in Chem.DetectChemistryProblems(unchecked))
        return f"{problems or 'RDKit refuses the molecule'}."
    atoms = molecule.GetNumHeavyAtoms()
    if not atoms:
        return "The molecule has no atoms but hydrogens."
    if atoms > TOO_LARGE:
        return f"The molecule has {atoms} atoms without hydrogens; at most {TOO_LARGE} are taken."
    return ""


@functools.cache
def load_model() -> Any:
    """Return ADMET-AI with the weights of its package."""
    silence_libraries()
    import admet_ai

    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        return admet_ai.ADMETModel(num_workers=0)


def predict(smiles: list[str]) -> Any:
    """Return the table of ADMET-AI: a row for each string, properties and percentiles as columns."""
    import pandas

    model = load_model()
    tables = []
    for first in range(0, len(smiles), CHUNK):
        report(0.1 + 0.85 * first / len(smiles), f"{first} of {len(smiles)} molecules are predicted")
        chunk = smiles[first : first + CHUNK]
        with (
            Path(os.devnull).open("w") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            table = model.predict(chunk)
        if list(table.index) != chunk:
            fail("ADMET-AI left out a molecule that RDKit can read. Report this with the molecules.")
        tables.append(table)
    return pandas.concat(tables)


def write_tables(given: list[str], faults: list[str], predictions: Any) -> int:
    """Write the tables, with a row for each string that was given.

    Returns:
        Number of predictions outside the possible range of their property.
    """
    import admet_ai
    import pandas

    places = [number for number, fault in enumerate(faults, start=1) if not fault]
    predictions.index = places
    whole = predictions.reindex(range(1, len(given) + 1))
    identity = pandas.DataFrame(
        {"molecule": whole.index, "smiles": [text.strip() for text in given], "problem": faults},
        index=whole.index,
    )
    percentiles = [name for name in whole.columns if name.endswith(PERCENTILE)]
    counts = [name for name in whole.columns if not name.endswith(PERCENTILE) and is_count(predictions[name])]
    properties = whole.drop(columns=percentiles).astype(dict.fromkeys(counts, "Int64"))
    names = {name: name.removesuffix(PERCENTILE) for name in percentiles}
    write_csv(identity.join(properties), "properties.csv")
    write_csv(identity.join(whole[percentiles].rename(columns=names)), "percentiles.csv")
    about = pandas.read_csv(
        Path(admet_ai.__file__).parent / "resources/data/admet.csv", keep_default_na=False
    )
    about = about.rename(columns={"id": "property", "size": "training_molecules", "R^2": "R2"})
    columns = ["property", "name", "category", "task_type", "units", "minimum", "maximum", "species"]
    columns += ["training_molecules", "AUROC", "AUPRC", "R2", "MAE", "url"]
    about = about.set_index("property").loc[list(names.values())]
    write_csv(about.reset_index()[columns], "columns.csv")
    values = predictions[about.index]
    lowest, highest = about["minimum"].astype(float), about["maximum"].astype(float)
    return int(((values < lowest) | (values > highest)).to_numpy().sum())


def is_count(values: Any) -> bool:
    """Return whether the values are whole numbers, so that none is written as 3.0."""
    return values.dtype.kind in "iu"


def write_csv(table: Any, name: str) -> None:
    """Write a table to the outputs, with figures to six digits."""
    table.to_csv(Path("outputs") / name, index=False, float_format="%.6g")


def write_summary(given: list[str], faults: list[str], valid: list[str], strange: int) -> None:
    """Write figures and notes."""
    notes = []
    unread = [f"molecule {number}: {fault}" for number, fault in enumerate(faults, start=1) if fault]
    if unread:
        more = f" … and {len(unread) - 10} more" if len(unread) > 10 else ""
        notes.append(f"{len(unread)} of {len(given)} have no prediction: {' '.join(unread[:10])}{more}")
    if mixtures := sum("." in text for text in valid):
        notes.append(f"{mixtures} of {len(given)} are mixtures or salts, predicted as they are written.")
    if strange:
        notes.append(
            f"{strange} predictions lie outside the range of their property, such as a half-life below zero."
            " They are shown as the model gives them; columns.csv has the ranges."
        )
    write_notes(notes)
    write_score({"molecules": len(given), "predicted": len(valid), "unreadable": len(unread)})


if __name__ == "__main__":
    sys.exit(main())
