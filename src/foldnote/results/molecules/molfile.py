"""Read SDF and mol files (V2000 and V3000) with RDKit, without valence checks.

Records that RDKit rejects are reported; the others are read.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from foldnote.results.molecules.molecule import (
    MAX_ATOMS,
    AtomRow,
    Molecule,
    MoleculeFile,
    RecordError,
    find_element,
    read_records,
    read_value,
)

_ORDERS = {"SINGLE": 1.0, "DOUBLE": 2.0, "TRIPLE": 3.0, "AROMATIC": 1.5}
_UNKNOWN = float("nan")


def read_sdf(data: bytes, name: str) -> MoleculeFile:
    """Read the molecules of an SDF or mol file.

    Args:
        data: the file's content.
        name: the file's name, for messages.

    Raises:
        UnreadableFileError: no record can be read.
    """
    from rdkit import Chem, rdBase

    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    with rdBase.BlockLogs():
        supplier: Any = Chem.SDMolSupplier()
        supplier.SetData(text, sanitize=False, removeHs=False, strictParsing=False)
        texts = [supplier.GetItemText(item) for item in range(len(supplier))]
        filled = [item for item, record in enumerate(texts) if _has_content(record)]
        records = ((f"Record {index}", item) for index, item in enumerate(filled, 1))
        return read_records(
            records, lambda item, index: _read_record(supplier[item], texts[item], name, index), name
        )


def _has_content(record: str) -> bool:
    return bool(record.replace("$$$$", "").strip())


def read_record(record: str, name: str, index: int) -> Molecule:
    """Read the molecule of one mol block, without properties.

    Args:
        record: the mol block.
        name: the file's name.
        index: 0-based position of the record in the file.

    Raises:
        RecordError: RDKit cannot read it, or it has too many atoms.
    """
    from rdkit import Chem

    return _read_record(Chem.MolFromMolBlock(record, False, False, False), record, name, index)


def _read_record(molecule: Any, record: str, name: str, index: int) -> Molecule:
    """Convert an RDKit molecule, which is None if RDKit rejected the record."""
    if molecule is None:
        raise RecordError("RDKit finds no valid mol block in it")
    if molecule.GetNumAtoms() > MAX_ATOMS:
        raise RecordError(f"it has more than {MAX_ATOMS:,} atoms")
    properties = molecule.GetPropsAsDict(autoConvertStrings=False)
    return Molecule(
        name=molecule.GetProp("_Name").strip(),
        file=name,
        index=index,
        format="sdf",
        properties={key: read_value(value) for key, value in properties.items()},
        text=record.removesuffix("\n").removesuffix("$$$$").rstrip("\n") + "\n$$$$\n",
        _atom_rows=_list_atoms(molecule),
        _bond_rows=[
            (
                int(bond.GetBeginAtomIdx()),
                int(bond.GetEndAtomIdx()),
                _ORDERS.get(str(bond.GetBondType()), _UNKNOWN),
            )
            for bond in molecule.GetBonds()
        ],
        _elements=_count_elements(molecule),
        _isotope_shift=_sum_isotopes(molecule),
    )


def _count_elements(molecule: Any) -> dict[str, int] | None:
    """Count the atoms of each element with all hydrogens; None if their number cannot be determined.

    A mol block may omit some or all hydrogens; they follow from bond orders, charges and radicals, but not
    for query atoms and aromatic bonds without a Kekulé structure.
    """
    from rdkit import Chem, rdBase

    if any(atom.GetAtomicNum() == 0 or atom.HasQuery() for atom in molecule.GetAtoms()):
        return None
    with rdBase.BlockLogs():
        own = Chem.Mol(molecule)
        try:
            if any(bond.GetBondTypeAsDouble() == 1.5 for bond in own.GetBonds()):
                Chem.Kekulize(own, clearAromaticFlags=True)
            own.UpdatePropertyCache(strict=False)
        except (ValueError, RuntimeError):
            return None
    counts = Counter(element for _, element, *_ in _list_atoms(molecule))
    counts["H"] += sum(atom.GetTotalNumHs() for atom in own.GetAtoms())
    return {element: count for element, count in counts.items() if count}


def _sum_isotopes(molecule: Any) -> float:
    """Return how much heavier the given isotopes are than the mean masses of their elements, Da.

    Deuterium is not counted, since formulas treat it as a separate element.
    """
    from rdkit import Chem

    table: Any = Chem.GetPeriodicTable()
    isotopes = ((atom.GetAtomicNum(), atom.GetIsotope()) for atom in molecule.GetAtoms())
    return sum(
        float((table.GetMassForIsotope(number, isotope) or isotope) - table.GetAtomicWeight(number))
        for number, isotope in isotopes
        if number and isotope and (number, isotope) != (1, 2)
    )


def _list_atoms(molecule: Any) -> list[AtomRow]:
    positions = molecule.GetConformer().GetPositions().tolist() if molecule.GetNumAtoms() else []
    rows: list[AtomRow] = []
    for number, (atom, (x, y, z)) in enumerate(zip(molecule.GetAtoms(), positions, strict=True), 1):
        is_deuterium = atom.GetAtomicNum() == 1 and atom.GetIsotope() == 2
        element = "D" if is_deuterium else find_element(atom.GetSymbol())
        rows.append((f"{element}{number}", element, x, y, z, float(atom.GetFormalCharge())))
    return rows
