"""Copies of the docked molecule in the receptor's file, as a reference for its poses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

PLACE = Path("outputs") / "reference.sdf"


def write_references(left_out: list[tuple[str, Any]], molecule: Any) -> list[str]:
    """Write the residues that are the docked molecule, with its bond orders; return their names.

    A residue is the docked molecule if it has the same heavy atoms and connections. Without any, no file is
    written.
    """
    from rdkit import Chem

    template = Chem.RemoveHs(molecule)
    found = [(name, copy) for name, each in left_out if (copy := read_copy(each, template)) is not None]
    if found:
        with Chem.SDWriter(os.fspath(PLACE)) as writer:
            for name, copy in found:
                copy.SetProp("_Name", name)
                writer.write(copy)
    return [name for name, _ in found]


def read_copy(residue: Any, template: Any) -> Any:
    """Return the residue as a molecule with the template's bond orders; None if it is another molecule."""
    from rdkit import Chem, rdBase
    from rdkit.Chem import AllChem

    if len(residue) != template.GetNumAtoms():
        return None
    with rdBase.BlockLogs():
        found = Chem.MolFromPDBBlock(write_atoms(residue), sanitize=False, proximityBonding=True)
        if found is None or found.GetNumBonds() != template.GetNumBonds():
            return None
        try:
            return AllChem.AssignBondOrdersFromTemplate(template, found)
        except ValueError:  # it is another molecule
            return None


def write_atoms(residue: Any) -> str:
    """Return a PDB block of the atoms, without names, by which RDKit would recognise amino acids."""
    lines = []
    for number, atom in enumerate(residue, start=1):
        symbol = atom.element.name.upper()
        place = "".join(f"{value:8.3f}" for value in atom.pos.tolist())
        name = f"{symbol}{number}"
        lines.append(f"HETATM{number:5d} {name:<4} LIG A   1    {place}  1.00  0.00          {symbol:>2}\n")
    return "".join(lines)
