"""The molecules in a file or text, for a form: their number, formula, and what is undefined about them.

RDKit reads them; it is imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, NamedTuple

from foldnote.client.inputs.file_values import FileValue
from foldnote.forms.files.contents import recall
from foldnote.forms.files.file_reference import local_path, resolve_file
from foldnote.text import count

_LARGEST_BYTES: Final = 5_000_000
_MAX_LISTED: Final = 12
"""Maximum number of molecules of a file that are read, so that typing stays fast; the others are counted."""


class MoleculeOutline(NamedTuple):
    """The molecules of one file."""

    total: int
    smiles: tuple[str, ...]
    """SMILES of the first 12; empty text for one that cannot be read."""
    words: str
    """``C9H8O4, 13 heavy atoms`` for one molecule, ``3 molecules`` for several."""
    fault: str = ""
    """Why the molecules cannot be used, as a sentence."""


def find_molecules(value: Any, uploads: Iterable[str], extensions: Sequence[str]) -> MoleculeOutline | None:
    """Return the molecules that a file setting names; None if unavailable or of another format."""
    if not isinstance(value, str) or not value:
        return None
    text = _read_text(resolve_file(value, uploads, tuple(extensions)))
    is_smiles = "\n" in value or value.lower().removesuffix(".gz").endswith(".smi")
    return outline_molecules(text, is_smiles=is_smiles) if text else None


def _read_text(value: Any) -> str | None:
    if "\n" in value:
        return str(value)
    path = None if isinstance(value, FileValue) else local_path(value)
    if path is None:
        return recall(value)
    try:
        is_small = path.suffix != ".gz" and path.stat().st_size <= _LARGEST_BYTES
        return path.read_text("utf-8", "replace") if is_small else None
    except OSError:
        return None


@lru_cache(maxsize=64)
def outline_molecules(text: str, *, is_smiles: bool = True) -> MoleculeOutline | None:
    """Return the molecules of an SDF or MOL text, else of lines of SMILES; None for any other text.

    Args:
        text: contents of the file.
        is_smiles: whether a text without a table of atoms is read as SMILES.
    """
    chem: Any = import_module("rdkit.Chem")
    with import_module("rdkit.rdBase").BlockLogs():
        if "V2000" in text or "V3000" in text:
            records = [record for record in text.split("$$$$") if "M  END" in record]
            molecules = [chem.MolFromMolBlock(record.lstrip("\r\n") if position else record)
                     for position, record in enumerate(records[:_MAX_LISTED])]  # fmt: skip
            return _summarise(chem, molecules, len(records))
        lines = [line.split()[0] for line in text.splitlines() if line.strip()]
        if not is_smiles or not lines or "<TRIPOS>" in text:
            return None
        return _summarise(chem, [chem.MolFromSmiles(line) for line in lines[:_MAX_LISTED]], len(lines))


def _summarise(chem: Any, molecules: Sequence[Any], total: int) -> MoleculeOutline | None:
    if not molecules:
        return None
    smiles = tuple("" if molecule is None else chem.MolToSmiles(molecule) for molecule in molecules)
    wrong = next((number for number, text in enumerate(smiles, 1) if not text), 0)
    fault = f"Molecule {wrong} cannot be read: check its atoms, bonds and charges." if wrong else ""
    summary = describe_molecule(chem, molecules[0]) if total == 1 and not fault else count(total, "molecule")
    return MoleculeOutline(total, smiles, summary, fault)


def describe_molecule(chem: Any, molecule: Any) -> str:
    """Describe formula, size, charge, and open points: undefined stereocentres, parts, coordinates."""
    formula = import_module("rdkit.Chem.rdMolDescriptors").CalcMolFormula(molecule)
    parts = [formula, count(molecule.GetNumHeavyAtoms(), "heavy atom")]
    if charge := chem.GetFormalCharge(molecule):
        parts.append(f"charge {charge:+d}".replace("-", "−"))
    if molecule.GetNumConformers():
        parts.append(f"{'3D' if molecule.GetConformer().Is3D() else '2D'} coordinates")
    pieces = len(chem.GetMolFrags(molecule))
    if pieces > 1:
        parts.append(f"{pieces} parts that are not bonded, as of a salt")
    centres = chem.FindMolChiralCenters(molecule, includeUnassigned=True, useLegacyImplementation=False)
    unknown = sum(configuration == "?" for _, configuration in centres)
    if unknown:
        verb = "has" if unknown == 1 else "have"
        parts.append(f"{unknown} of {count(len(centres), 'stereocentre')} {verb} no configuration")
    return ", ".join(parts)
