"""Read PDBQT files of docked ligands: poses are MODELs, with scores in REMARK lines.

The format has no bonds; they are taken from the SMILES that Meeko writes into the file, if there is one.
Flexible side chains of the receptor, which programs append to the ligand, and the pseudo-atoms of opened
macrocycles are not read as ligand atoms. A rigid receptor in this format is converted to PDB.

In Meeko's remarks, ``REMARK SMILES IDX`` pairs atoms of the SMILES with atoms of the file, and ``REMARK H
PARENT`` pairs atoms of the SMILES with their hydrogens in the file; both count from 1. RDKit parses the
SMILES.
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
    "Q": "C", "CG": "C", **{f"CG{digit}": "C" for digit in range(10)},
}  # fmt: skip
"""AutoDock atom types that differ from the element symbol; CG0 to CG9 mark opened bonds of macrocycles."""
_PSEUDO_ATOM = re.compile(r"G\d|W")
"""Types of pseudo-atoms: G0 to G9 (target positions across opened bonds) and W (docked waters)."""
_SIDE_CHAIN = re.compile(r"^BEGIN_RES\b.*?(?:^END_RES\b[^\n]*\n?|\Z)", re.M | re.S)
_OWNER = re.compile(r"BEGIN_RES[ \t]+(\S{1,5})[ \t]+(\S{1,4})[ \t]+(-?\d{1,6}[A-Za-z]?)[ \t]*$", re.M)
"""Name, chain and number of a flexible residue; Meeko omits the insertion code in the atom lines."""
_RESULT = re.compile(r"REMARK\s+(?:VINA|GNINA|SMINA) RESULT:?\s+(\S+)\s+(\S+)\s+(\S+)")
_PAIR = re.compile(r"REMARK\s+([A-Za-z][\w \-]*?)\s*(?:=|:)\s*(\S.*)$")
_SMILES = re.compile(r"^REMARK SMILES (?!IDX\b)(\S{1,2000})[ \t]*$", re.M)
_NUMBERED = re.compile(r"^REMARK (SMILES IDX|H PARENT)((?:[ \t]+\d{1,6})*)[ \t]*$", re.M)


@dataclass(frozen=True)
class SideChain:
    """A flexible side chain of the receptor in a pose.

    Attributes:
        owner: chain, residue number with insertion code, and residue name.
        atoms: name, element and position in Å of each atom, hydrogens included.
        text: its atom lines.
    """

    owner: tuple[str, str, str]
    atoms: tuple[tuple[str, str, tuple[float, float, float]], ...]
    text: str


def list_side_chains(molecule: Molecule) -> list[SideChain]:
    """List the flexible side chains that a pose of a PDBQT file contains in addition to its ligand."""
    if molecule.format != "pdbqt" or "BEGIN_RES" not in molecule.text:
        return []
    side_chains = []
    for block in _SIDE_CHAIN.findall(molecule.text):
        lines = [line for line in block.split("\n") if line.startswith(("ATOM", "HETATM"))]
        atoms = []
        for line in lines:
            kind = line[77:80].strip()
            position = (float(line[30:38]), float(line[38:46]), float(line[46:54]))
            atoms.append((line[12:16].strip(), _ELEMENTS.get(kind) or find_element(kind), position))
        if lines:
            match = _OWNER.match(block)
            name, chain, number = (
                match.groups()
                if match
                else (lines[0][17:20].strip(), lines[0][21].strip(), lines[0][22:27].strip())
            )
            side_chains.append(SideChain((chain, number, name), tuple(atoms), "\n".join([*lines, ""])))
    return side_chains


def read_pdbqt(data: bytes, name: str) -> MoleculeFile:
    """Read the poses of a PDBQT file; a file without MODEL lines is one pose.

    Args:
        data: the file's content.
        name: the file's name, for messages.

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
        position = (float(line[30:38]), float(line[38:46]), float(line[46:54]))
        charge = float(line[66:76]) if line[66:76].strip() else float("nan")
        numbers[_read_number(line)] = len(rows)
        rows.append((line[12:16].strip(), element, *position, charge))
    if not rows and "BEGIN_RES" in record:
        raise RecordError("it has flexible receptor residues but no ligand")
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
    """List the ATOM and HETATM lines of the ligand, without flexible side chains and pseudo-atoms."""
    lines = _SIDE_CHAIN.sub("", record).split("\n") if "BEGIN_RES" in record else record.split("\n")
    atoms = [line for line in lines if line.startswith(("ATOM", "HETATM"))]
    return [line for line in atoms if not _PSEUDO_ATOM.fullmatch(line[77:80].strip())]


def _read_number(line: str) -> int:
    """Return the atom's serial number; -1 if it is not a number, which matches no remark."""
    text = line[6:11].strip()
    return int(text) if text.isdecimal() else -1


def _read_remarks(record: str) -> dict[str, Scalar]:
    properties: dict[str, Scalar] = {}
    flexible = re.findall(r"^BEGIN_RES[ \t]+(\S[^\n]{0,80})$", record, re.M)
    if flexible:
        properties["flexible residues"] = ", ".join(" ".join(names_line.split()) for names_line in flexible)
    for line in record.split("\n"):
        result = _RESULT.match(line)
        pair = _PAIR.match(line)
        if result:
            names = ("affinity", "rmsd_lower_bound", "rmsd_upper_bound")
            properties |= {key: read_value(value) for key, value in zip(names, result.groups(), strict=True)}
        elif pair:
            properties[pair[1]] = read_value(pair[2])
    return properties


def convert_to_pdb(text: str) -> str:
    """Convert a rigid receptor to PDB, with elements in place of partial charges and atom types."""
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
    """Return whether a PDBQT file that starts with ``head`` is a flexible ligand, not a rigid receptor."""
    return re.search(rb"^(ROOT|MODEL|REMARK\s+(VINA|GNINA|SMINA)|TORSDOF)", head, re.M) is not None


@dataclass(frozen=True)
class _Graph:
    """A molecule without coordinates.

    Attributes:
        elements: element of each explicit atom.
        hydrogens: number of implicit hydrogens.
        bonds: pairs of atoms with the bond order.
    """

    elements: tuple[str, ...]
    hydrogens: int
    bonds: tuple[BondRow, ...]


@dataclass(frozen=True)
class Chemistry:
    """Formula and bonds of a ligand, from its SMILES.

    Attributes:
        elements: number of atoms of each element, including all hydrogens.
        bonds: pairs of rows of the file's atoms with the bond order; 1.5 for aromatic bonds.
    """

    elements: Mapping[str, int]
    bonds: tuple[BondRow, ...]


def find_chemistry(remarks: str, rows: Mapping[int, int], elements: Sequence[str]) -> Chemistry | None:
    """Find the formula and bonds of a ligand; None without a SMILES that matches its atoms.

    Args:
        remarks: text that contains the REMARK lines.
        rows: row of each atom, by its serial number in the file.
        elements: element symbol of each row.
    """
    match = _SMILES.search(remarks)
    graph = _read_graph(match[1]) if match else None
    if graph is None:
        return None
    pairs = _read_pairs(remarks, "SMILES IDX", rows)
    parents = _read_pairs(remarks, "H PARENT", rows)
    if pairs is None or parents is None or not _is_same_molecule(graph, dict(pairs), elements):
        return None
    row_of = dict(pairs)
    used = set(row_of.values())
    bonds = [(row_of[a], row_of[b], order) for a, b, order in graph.bonds if a in row_of and b in row_of]
    bonds += [(row_of[parent], row, 1.0) for parent, row in parents if parent in row_of and row not in used]
    counts = Counter(graph.elements)
    counts["H"] += graph.hydrogens
    return Chemistry({symbol: count for symbol, count in counts.items() if count}, tuple(bonds))


def _is_same_molecule(graph: _Graph, row_of: Mapping[int, int], elements: Sequence[str]) -> bool:
    """Return whether the heavy atoms of SMILES and file correspond one to one, with the same elements."""
    heavy_atoms = {atom for atom, symbol in enumerate(graph.elements) if symbol != "H"}
    paired = {row for row in row_of.values() if elements[row] != "H"}
    heavy = {row for row, symbol in enumerate(elements) if symbol != "H"}
    fits = all(
        atom < len(graph.elements) and graph.elements[atom] == elements[row] for atom, row in row_of.items()
    )
    return (
        fits and heavy_atoms <= set(row_of) and paired == heavy and len(set(row_of.values())) == len(row_of)
    )


def _read_pairs(remarks: str, kind: str, rows: Mapping[int, int]) -> list[tuple[int, int]] | None:
    """Return the pairs of SMILES atom (0-based) and row of the file; None for an unknown serial number."""
    texts = [match[2].split() for match in _NUMBERED.finditer(remarks) if match[1] == kind]
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
