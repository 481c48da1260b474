"""SDF and mol files, V2000 and V3000, read by RDKit without a check of valences.

A record that RDKit refuses is reported, and the others are read.
"""

from __future__ import annotations

from typing import Any

from foldnote.results.molecules.molecule import (
    MOST_ATOMS,
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
    """The molecules of an SDF or mol file.

    Raises:
        UnreadableFileError: no record can be read.
    """
    from rdkit import Chem, rdBase

    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    with rdBase.BlockLogs():
        supplier: Any = Chem.SDMolSupplier()
        supplier.SetData(text, sanitize=False, removeHs=False, strictParsing=False)
        texts = [supplier.GetItemText(place) for place in range(len(supplier))]
        filled = [place for place, record in enumerate(texts) if _is_filled(record)]
        records = ((f"Record {index}", place) for index, place in enumerate(filled, 1))
        return read_records(
            records, lambda place, index: _read_record(supplier[place], texts[place], name, index), name
        )


def _is_filled(record: str) -> bool:
    return bool(record.replace("$$$$", "").strip())


def read_record(record: str, name: str, index: int) -> Molecule:
    """The molecule of one mol block, without properties.

    Raises:
        RecordError: RDKit cannot read it, or it holds no atoms or too many.
    """
    from rdkit import Chem

    return _read_record(Chem.MolFromMolBlock(record, False, False, False), record, name, index)


def _read_record(molecule: Any, record: str, name: str, index: int) -> Molecule:
    """The molecule that RDKit read of a record; None where it refused it."""
    if molecule is None:
        raise RecordError("RDKit finds no valid mol block in it")
    if molecule.GetNumAtoms() > MOST_ATOMS:
        raise RecordError(f"it holds more than {MOST_ATOMS:,} atoms")
    found = molecule.GetPropsAsDict(autoConvertStrings=False)
    return Molecule(
        name=molecule.GetProp("_Name").strip(),
        file=name,
        index=index,
        format="sdf",
        properties={key: read_value(value) for key, value in found.items()},
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
    )


def _list_atoms(molecule: Any) -> list[AtomRow]:
    places = molecule.GetConformer().GetPositions().tolist() if molecule.GetNumAtoms() else []
    rows: list[AtomRow] = []
    for number, (atom, (x, y, z)) in enumerate(zip(molecule.GetAtoms(), places, strict=True), 1):
        is_deuterium = atom.GetAtomicNum() == 1 and atom.GetIsotope() == 2
        element = "D" if is_deuterium else find_element(atom.GetSymbol())
        rows.append((f"{element}{number}", element, x, y, z, float(atom.GetFormalCharge())))
    return rows
