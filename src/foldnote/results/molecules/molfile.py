"""SDF and mol files, V2000 and V3000, by the published description of the CTfile formats.

A record that is damaged is told of and the others are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldnote.results.core.messages import explain
from foldnote.results.molecules.molecule import (
    MOST_ATOMS,
    AtomRow,
    BondRow,
    Molecule,
    MoleculeFile,
    RecordError,
    find_element,
    read_value,
    require_molecules,
)
from foldnote.results.tables.tabular import Scalar

_ORDERS = {1: 1.0, 2: 2.0, 3: 3.0, 4: 1.5}
_CHARGES = {1: 3, 2: 2, 3: 1, 5: -1, 6: -2, 7: -3}
_FIELD = re.compile(r"^>.*?<([^>]*)>")
_UNKNOWN = float("nan")


def read_sdf(data: bytes, name: str) -> MoleculeFile:
    """The molecules of an SDF or mol file.

    Raises:
        UnreadableFileError: no record can be read.
    """
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    molecules, problems = [], []
    for index, record in enumerate(_split(text)):
        try:
            molecules.append(read_record(record, name, index))
        except (ValueError, IndexError, OverflowError) as exc:
            problems.append(f"Record {index + 1} of {name} cannot be read: {explain(exc)}.")
    return require_molecules(MoleculeFile(tuple(molecules), tuple(problems)), name)


def _split(text: str) -> Iterator[str]:
    for record in re.split(r"^\$\$\$\$.*\n?", text, flags=re.M):
        if record.strip():
            yield record


def read_record(record: str, name: str, index: int) -> Molecule:
    """The molecule of one record.

    Raises:
        ValueError: the record is damaged.
        IndexError: the record is damaged.
    """
    lines = record.split("\n")
    if len(lines) < 4:
        raise RecordError("its head is cut off")
    atoms, bonds = _read_v3000(lines) if "V3000" in lines[3] else _read_v2000(lines)
    return Molecule(
        name=lines[0].strip(),
        file=name,
        index=index,
        format="sdf",
        properties=_read_properties(lines),
        text=record.rstrip("\n") + "\n$$$$\n",
        _atom_rows=atoms,
        _bond_rows=bonds,
    )


def _read_v2000(lines: list[str]) -> tuple[list[AtomRow], list[BondRow]]:
    atom_count, bond_count = int(lines[3][0:3]), int(lines[3][3:6])
    if len(lines) < 4 + atom_count + bond_count:
        raise RecordError(f"{atom_count} atoms and {bond_count} bonds are announced and fewer are there")
    charges = _read_charges(lines[4 + atom_count + bond_count :])
    atoms = []
    for i, line in enumerate(lines[4 : 4 + atom_count]):
        element = find_element(line[31:34])
        code = int(line[36:39].strip() or 0)
        charge = charges.get(i, 0) if charges else _CHARGES.get(code, 0)
        place = (float(line[0:10]), float(line[10:20]), float(line[20:30]))
        atoms.append((f"{element}{i + 1}", element, *place, float(charge)))
    bonds = [
        (int(line[0:3]) - 1, int(line[3:6]) - 1, _ORDERS.get(int(line[6:9]), _UNKNOWN))
        for line in lines[4 + atom_count : 4 + atom_count + bond_count]
    ]
    return atoms, bonds


def _read_charges(lines: list[str]) -> dict[int, int]:
    """Formal charges by atom (from 0) of the ``M  CHG`` lines."""
    charges: dict[int, int] = {}
    for line in lines:
        if line.startswith("M  END"):
            break
        if line.startswith("M  CHG"):
            words = line[6:].split()[1:]
            charges |= {
                int(atom) - 1: int(charge) for atom, charge in zip(words[::2], words[1::2], strict=False)
            }
    return charges


def _read_v3000(lines: list[str]) -> tuple[list[AtomRow], list[BondRow]]:
    atoms: list[AtomRow] = []
    bonds: list[BondRow] = []
    places: dict[str, int] = {}
    block, is_ended = "", False
    for words in _join_v3000(lines):
        if words[0] in ("BEGIN", "END"):
            block = words[1] if words[0] == "BEGIN" else ""
            is_ended = is_ended or words[:2] == ["END", "CTAB"]
        elif block == "ATOM":
            element = find_element(words[1])
            charge = next((word[4:] for word in words if word.startswith("CHG=")), "0")
            places[words[0]] = len(atoms)
            x, y, z = (float(word) for word in words[2:5])
            atoms.append((f"{element}{len(atoms) + 1}", element, x, y, z, float(charge)))
        elif block == "BOND":
            if words[2] not in places or words[3] not in places:
                raise RecordError("a bond names an atom that is not there")
            bonds.append((places[words[2]], places[words[3]], _ORDERS.get(int(words[1]), _UNKNOWN)))
        if len(atoms) > MOST_ATOMS:
            raise RecordError(f"it holds more than {MOST_ATOMS:,} atoms")
    if not is_ended:
        raise RecordError("its table of atoms is cut off")
    return atoms, bonds


def _join_v3000(lines: list[str]) -> Iterator[list[str]]:
    """The words of each V3000 line, continued lines joined."""
    joined = ""
    for line in lines:
        if line.startswith("M  V30 "):
            joined += line[7:].rstrip()
            if joined.endswith("-"):
                joined = joined[:-1] + " "
                continue
            if joined.split():
                yield joined.split()
            joined = ""


def _read_properties(lines: list[str]) -> dict[str, Scalar]:
    end = next((i for i, line in enumerate(lines) if line.startswith("M  END")), None)
    found: dict[str, Scalar] = {}
    if end is None:
        return found
    key: str | None = None
    values: list[str] = []
    for line in [*lines[end + 1 :], "> <>"]:
        field = _FIELD.match(line)
        if field:
            if key:
                found[key] = read_value("\n".join(values))
            key, values = field[1], []
        elif key is not None:
            values.append(line)
    return found
