"""Read Tripos MOL2 files: molecules, atoms and bonds; other sections are ignored.

RDKit's reader is not used because it rejects atom types outside the Tripos list, such as ``CL``, ``BR`` or
the GAFF types written by antechamber, and drops lone pairs.
"""

from __future__ import annotations

import re

from foldnote.results.molecules.molecule import (
    AtomRow,
    BondRow,
    Molecule,
    MoleculeFile,
    RecordError,
    find_element,
    read_records,
)

_MARK = "@<TRIPOS>"
_ORDERS = {"1": 1.0, "2": 2.0, "3": 3.0, "ar": 1.5, "am": 1.0}
_UNKNOWN = float("nan")
_GAFF = {"cl": "Cl", "br": "Br", **{letter: letter.upper() for letter in "chnopsfi"}}
"""Elements of GAFF's atom types, which are in lower case and begin with these: ``c3``, ``ho``, ``cl``."""
_GAFF_ATOM = re.compile(r"^(\s*\d+\s+\S+(?:\s+[-\d.]+){3}\s+)(br|[chnopsfi][a-z\d]?)(?=\s)", re.M)
_NAMED = {"Du": "X", "Any": "X", "Hal": "X", "Het": "X", "Hev": "X", "LP": "X"}


def read_mol2(data: bytes, name: str) -> MoleculeFile:
    """Read the molecules of a MOL2 file.

    Args:
        data: the file's content.
        name: the file's name, for messages.

    Raises:
        UnreadableFileError: no record can be read.
    """
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    records = re.split(rf"^(?={_MARK}MOLECULE)", text, flags=re.M)
    blocks = (part for part in records if part.startswith(f"{_MARK}MOLECULE"))
    labelled = ((f"Record {index}", record) for index, record in enumerate(blocks, 1))
    return read_records(labelled, lambda record, index: _read_record(record, name, index), name)


def _read_record(record: str, name: str, index: int) -> Molecule:
    record = _replace_gaff_types(record)
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in record.split("\n"):
        if line.startswith(_MARK):
            current = sections.setdefault(line[len(_MARK) :].strip(), [])
        elif line.strip() and not line.startswith("#"):
            current.append(line)
    head = sections.get("MOLECULE", [])
    if len(head) < 2:
        raise RecordError("its MOLECULE section is incomplete")
    atoms, row_of = _read_atoms(sections.get("ATOM", []))
    announced = int(head[1].split()[0])
    if announced != len(atoms):
        raise RecordError(f"it should have {announced} atoms but has {len(atoms)}")
    bonds = _read_bonds(sections.get("BOND", []), row_of)
    return Molecule(
        name=head[0].strip().strip("*"),
        file=name,
        index=index,
        format="mol2",
        properties={},
        text=record,
        _atom_rows=atoms,
        _bond_rows=bonds,
    )


def _read_atoms(lines: list[str]) -> tuple[list[AtomRow], dict[str, int]]:
    rows: list[AtomRow] = []
    row_of: dict[str, int] = {}
    for line in lines:
        fields = line.split()
        if len(fields) < 6:
            raise RecordError("an atom line is incomplete")
        kind = fields[5].split(".")[0]
        charge = float(fields[8]) if len(fields) > 8 else _UNKNOWN
        row_of[fields[0]] = len(rows)
        x, y, z = (float(field) for field in fields[2:5])
        rows.append((fields[1], _NAMED.get(kind) or find_element(kind), x, y, z, charge))
    return rows, row_of


def _replace_gaff_types(record: str) -> str:
    """Replace GAFF's atom types by elements, since viewers would read them as other elements."""
    return _GAFF_ATOM.sub(lambda match: match[1] + (_GAFF.get(match[2]) or _GAFF[match[2][0]]), record)


def _read_bonds(lines: list[str], row_of: dict[str, int]) -> list[BondRow]:
    rows = []
    for line in lines:
        fields = line.split()
        if len(fields) < 4 or fields[1] not in row_of or fields[2] not in row_of:
            raise RecordError("a bond refers to a missing atom")
        rows.append((row_of[fields[1]], row_of[fields[2]], _ORDERS.get(fields[3].lower(), _UNKNOWN)))
    return rows
