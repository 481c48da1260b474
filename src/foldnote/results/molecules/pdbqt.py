"""PDBQT files of docked ligands: poses as MODELs, with what the program says of each in REMARK lines.

The format has no bonds: they are those of the SMILES that Meeko writes into the file, or none. Flexible side
chains of the receptor, which programs write behind the ligand, and the pseudo-atoms that close a macrocycle
are no atoms of the ligand. A rigid receptor in this format is read as the PDB file that it was.
"""

from __future__ import annotations

import re

from foldnote.results.core.messages import explain
from foldnote.results.molecules.molecule import (
    AtomRow,
    Molecule,
    MoleculeFile,
    RecordError,
    find_element,
    read_value,
    require_molecules,
)
from foldnote.results.molecules.pdbqt_bonds import find_chemistry
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


def read_pdbqt(data: bytes, name: str) -> MoleculeFile:
    """The poses of a PDBQT file; a file without MODEL lines is one.

    Raises:
        UnreadableFileError: no pose can be read.
    """
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    parts = re.split(r"^MODEL\b.*\n", text, flags=re.M)
    records = parts[1:] if len(parts) > 1 else parts
    molecules, problems = [], []
    for index, record in enumerate(records):
        try:
            molecules.append(_read_record(record, name, index, records[0]))
        except (ValueError, IndexError, OverflowError) as exc:
            problems.append(f"Pose {index + 1} of {name} cannot be read: {explain(exc)}.")
    return require_molecules(MoleculeFile(tuple(molecules), tuple(problems)), name)


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
