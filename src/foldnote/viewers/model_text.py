"""The text of a structure as a viewer can draw it.

3Dmol.js lays a ribbon through nucleotides that have their names of the PDB; those of AMBER and CHARMM
(``RA5``, ``GUA``) are replaced by these.
"""

from __future__ import annotations

from foldnote.results import Structure
from foldnote.results.residues import find_parent

_RECORDS = ("ATOM", "HETATM")


def write_model_text(structure: Structure) -> str:
    """The text that a scene holds of a structure.

    Raises:
        UnreadableFileError: the file is damaged or holds no atoms.
    """
    renamed = _list_renamed(structure) if structure.format == "pdb" else {}
    return _rename(structure.text, renamed) if renamed else structure.text


def _list_renamed(structure: Structure) -> dict[str, str]:
    """Names of nucleotides in the file, with those of the PDB."""
    kinds = {chain.name: chain.kind for chain in structure.chains}
    if not any("NA" in kind for kind in kinds.values()):
        return {}
    found = {
        residue.name
        for chain in structure.to_gemmi()[0]
        if "NA" in kinds.get(chain.name, "")
        for residue in chain.get_polymer()
    }
    return {name: find_parent(name) for name in found if find_parent(name) != name}


def _rename(text: str, names: dict[str, str]) -> str:
    padded = {f"{name:>3}": f"{parent:>3} " for name, parent in names.items()}
    return "".join(
        f"{line[:17]}{padded[name]}{line[21:]}"
        if line.startswith(_RECORDS) and (name := line[17:21].rstrip()) in padded
        else line
        for line in text.splitlines(keepends=True)
    )
