"""PDBQT files of docked ligands: poses as MODELs, with what the program says of each in REMARK lines.

The format has no bonds: they are those of the SMILES that Meeko writes into the file, or none. Flexible side
chains of the receptor, which programs write behind the ligand, and the pseudo-atoms that close a macrocycle
are no atoms of the ligand. A rigid receptor in this format is read as the PDB file that it was.

In Meeko's remarks ``REMARK SMILES IDX`` pairs atoms of the SMILES with atoms of the file, ``REMARK H PARENT``
atoms of the SMILES with the hydrogens that the file has of them, both counted from 1. RDKit reads the SMILES.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foldnote.results.molecules.molecule import (
    AtomRow,
    BondRow,
    Molecule,
    MoleculeFile,
    RecordError,
    find_element,
    read_records,
    read_value,
)
from foldnote.results.tables.tabular import Scalar

_ELEMENTS = {
    "A": "C", "OA": "O", "OS": "O", "NA": "N", "NS": "N", "SA": "S", "HD": "H", "HS": "H", "G": "C", "J": "C",
    "Q": "C", "CG": "C", **{f"CG{place}": "C" for place in range(10)},
}  # fmt: skip
"""AutoDock's atom types whose letters are not their element's; CG0 to CG9 stand at a ring's opened bond."""
_PSEUDO = re.compile(r"G\d|W")
"""Types of the points where the other carbon of an opened bond should be, and of waters docked along."""
_SIDE_CHAIN = re.compile(r"^BEGIN_RES\b.*?(?:^END_RES\b[^\n]*\n?|\Z)", re.M | re.S)
_RESULT = re.compile(r"REMARK\s+(?:VINA|GNINA|SMINA) RESULT:?\s+(\S+)\s+(\S+)\s+(\S+)")
_PAIR = re.compile(r"REMARK\s+([A-Za-z][\w \-]*?)\s*(?:=|:)\s*(\S.*)$")
_SMILES = re.compile(r"^REMARK SMILES (?!IDX\b)(\S{1,2000})[ \t]*$", re.M)
_NUMBERED = re.compile(r"^REMARK (SMILES IDX|H PARENT)((?:[ \t]+\d{1,6})*)[ \t]*$", re.M)


def read_pdbqt(data: bytes, name: str) -> MoleculeFile:
    """The poses of a PDBQT file; a file without MODEL lines is one.

    Raises:
        UnreadableFileError: no pose can be read.
    """
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    parts = re.split(r"^MODEL\b.*\n", text, flags=re.M)
    records = parts[1:] if len(parts) > 1 else parts
    labelled = ((f"Pose {index}", record) for index, record in enumerate(records, 1))
    return read_records(labelled, lambda record, index: _read_record(record, name, index, records[0]), name)


def _read_record(record: str, name: str, index: int, first: str) -> Molecule:
    rows: list[AtomRow] = []
    numbers: dict[int, int] = {}
    for line in list_ligand_lines(record):
        kind = line[77:80].strip()
        element = _ELEMENTS.get(kind) or find_element(kind)
        place = (float(line[30:38]), float(line[38:46]), float(line[46:54]))
        charge = float(line[66:76]) if line[66:76].strip() else float("nan")
        numbers[_read_number(line)] = len(rows)
        rows.append((line[12:16].strip(), element, *place, charge))
    if not rows and "BEGIN_RES" in record:
        raise RecordError("it holds flexible residues of a receptor and no ligand")
    elements = [row[1] for row in rows]
    chemistry = find_chemistry(record if "REMARK SMILES" in record else first, numbers, elements)
    properties = _read_remarks(record)
    return Molecule(
        name=str(properties.get("Name", "")),
        file=name,
        index=index,
        format="pdbqt",
        properties=properties,
        text=record,
        _atom_rows=rows,
        _bond_rows=chemistry.bonds if chemistry else (),
        _elements=chemistry.elements if chemistry else None,
    )


def list_ligand_lines(record: str) -> list[str]:
    """The lines of a ligand's atoms, without flexible side chains and pseudo-atoms."""
    lines = _SIDE_CHAIN.sub("", record).split("\n") if "BEGIN_RES" in record else record.split("\n")
    atoms = [line for line in lines if line.startswith(("ATOM", "HETATM"))]
    return [line for line in atoms if not _PSEUDO.fullmatch(line[77:80].strip())]


def _read_number(line: str) -> int:
    """The atom's number; -1 for what is none, which no remark names."""
    text = line[6:11].strip()
    return int(text) if text.isdecimal() else -1


def _read_remarks(record: str) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    flexible = re.findall(r"^BEGIN_RES[ \t]+(\S[^\n]{0,80})$", record, re.M)
    if flexible:
        found["flexible residues"] = ", ".join(" ".join(each.split()) for each in flexible)
    for line in record.split("\n"):
        result = _RESULT.match(line)
        pair = _PAIR.match(line)
        if result:
            names = ("affinity", "rmsd_lower_bound", "rmsd_upper_bound")
            found |= {key: read_value(value) for key, value in zip(names, result.groups(), strict=True)}
        elif pair:
            found[pair[1]] = read_value(pair[2])
    return found


def convert_to_pdb(text: str) -> str:
    """The atoms of a rigid receptor as PDB lines: charges and atom types go, elements come in their place."""
    lines = []
    for line in text.splitlines():
        if line.startswith(("ATOM", "HETATM")):
            kind = line[77:80].strip()
            element = _ELEMENTS.get(kind) or find_element(kind)
            lines.append(f"{line[:66]:66}          {'' if element == 'X' else element.upper():>2}")
        elif line.startswith(("TER", "MODEL", "ENDMDL")):
            lines.append(line[:27])
    return "\n".join([*lines, "END", ""])


def is_ligand(head: bytes) -> bool:
    """Whether a PDBQT that begins with these bytes is a flexible ligand, and no rigid receptor."""
    return re.search(rb"^(ROOT|MODEL|REMARK\s+(VINA|GNINA|SMINA)|TORSDOF)", head, re.M) is not None


@dataclass(frozen=True)
class _Graph:
    """A molecule without places: elements, hydrogens left out counted, bonds as (atom, atom, order)."""

    elements: tuple[str, ...]
    hydrogens: int
    bonds: tuple[BondRow, ...]


@dataclass(frozen=True)
class Chemistry:
    """What a SMILES tells of a ligand.

    Attributes:
        elements: number of atoms of each element, every hydrogen counted.
        bonds: pairs of rows of the file's atoms with their order, 1.5 where aromatic.
    """

    elements: Mapping[str, int]
    bonds: tuple[BondRow, ...]


def find_chemistry(remarks: str, rows: Mapping[int, int], elements: Sequence[str]) -> Chemistry | None:
    """Formula and bonds of a ligand, or None without a SMILES of just these atoms.

    Args:
        remarks: a text with the remarks.
        rows: the row of each atom, by its number in the file.
        elements: the element of each row.
    """
    found = _SMILES.search(remarks)
    graph = _read_graph(found[1]) if found else None
    if graph is None:
        return None
    pairs = _read_pairs(remarks, "SMILES IDX", rows)
    parents = _read_pairs(remarks, "H PARENT", rows)
    if pairs is None or parents is None or not _is_whole(graph, dict(pairs), elements):
        return None
    places = dict(pairs)
    used = set(places.values())
    bonds = [(places[a], places[b], order) for a, b, order in graph.bonds if a in places and b in places]
    bonds += [(places[parent], row, 1.0) for parent, row in parents if parent in places and row not in used]
    counts = Counter(graph.elements)
    counts["H"] += graph.hydrogens
    return Chemistry({symbol: count for symbol, count in counts.items() if count}, tuple(bonds))


def _is_whole(graph: _Graph, places: Mapping[int, int], elements: Sequence[str]) -> bool:
    """Whether the heavy atoms of SMILES and file are the same, one for one and element by element."""
    named = {atom for atom, symbol in enumerate(graph.elements) if symbol != "H"}
    paired = {row for row in places.values() if elements[row] != "H"}
    heavy = {row for row, symbol in enumerate(elements) if symbol != "H"}
    fits = all(
        atom < len(graph.elements) and graph.elements[atom] == elements[row] for atom, row in places.items()
    )
    return fits and named <= set(places) and paired == heavy and len(set(places.values())) == len(places)


def _read_pairs(remarks: str, kind: str, rows: Mapping[int, int]) -> list[tuple[int, int]] | None:
    """Atoms of the SMILES (from 0) with rows of the file; None where a number is none of the file's."""
    texts = [found[2].split() for found in _NUMBERED.finditer(remarks) if found[1] == kind]
    numbers = [int(number) for text in texts for number in text]
    if len(numbers) % 2 or any(number not in rows for number in numbers[1::2]):
        return None
    return [(atom - 1, rows[number]) for atom, number in zip(numbers[::2], numbers[1::2], strict=True)]


@lru_cache(maxsize=512)
def _read_graph(smiles: str) -> _Graph | None:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule: Any = Chem.MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        return None
    atoms = list(molecule.GetAtoms())
    return _Graph(
        elements=tuple(str(atom.GetSymbol()) for atom in atoms),
        hydrogens=sum(int(atom.GetTotalNumHs()) for atom in atoms),
        bonds=tuple(
            (int(bond.GetBeginAtomIdx()), int(bond.GetEndAtomIdx()), float(bond.GetBondTypeAsDouble()))
            for bond in molecule.GetBonds()
        ),
    )
