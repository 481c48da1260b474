"""PDBQT files of docked ligands: poses as MODELs, with what the program says of each in REMARK lines.

The format has no bonds; none are made up. A rigid receptor in this format is read as the PDB file that it
was.
"""

from __future__ import annotations

import re

from foldnote.results.molecule import (
    AtomRow,
    Molecule,
    MoleculeFile,
    find_element,
    read_value,
    require_molecules,
)
from foldnote.results.tables import Scalar
from foldnote.results.wording import explain

_ELEMENTS = {
    "A": "C", "OA": "O", "OS": "O", "NA": "N", "NS": "N", "SA": "S", "HD": "H", "HS": "H", "G": "C", "J": "C",
    "Q": "C", "W": "O", "CG": "C", "G0": "X", "G1": "X", "G2": "X", "G3": "X",
}  # fmt: skip
"""AutoDock's atom types whose letters are not their element's."""
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
            molecules.append(_read_record(record, name, index))
        except (ValueError, IndexError, OverflowError) as exc:
            problems.append(f"Pose {index + 1} of {name} cannot be read: {explain(exc)}.")
    return require_molecules(MoleculeFile(tuple(molecules), tuple(problems)), name)


def _read_record(record: str, name: str, index: int) -> Molecule:
    rows: list[AtomRow] = []
    for line in record.split("\n"):
        if line.startswith(("ATOM", "HETATM")):
            kind = line[77:80].strip()
            element = _ELEMENTS.get(kind) or find_element(kind)
            place = (float(line[30:38]), float(line[38:46]), float(line[46:54]))
            charge = float(line[66:76]) if line[66:76].strip() else float("nan")
            rows.append((line[12:16].strip(), element, *place, charge))
    properties = _read_remarks(record)
    return Molecule(
        name=str(properties.get("Name", "")),
        file=name,
        index=index,
        format="pdbqt",
        properties=properties,
        text=record,
        _atom_rows=rows,
        _bond_rows=(),
    )


def _read_remarks(record: str) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
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
