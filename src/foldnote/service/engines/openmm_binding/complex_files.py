"""Write receptor and ligand as PDB, with the chains and numbers of the receptor's file, which tleap drops."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from openmm import app, unit
from receptors import CHAIN_NAMES, ReceptorResidue

STANDARD_NAMES = {
    "ASH": "ASP",
    "CYM": "CYS",
    "CYX": "CYS",
    "GLH": "GLU",
    "HID": "HIS",
    "HIE": "HIS",
    "HIP": "HIS",
    "LYN": "LYS",
    "NHE": "NH2",
}
"""PDB names for those of the force field; a residue's protonation is visible from its hydrogens."""


def write_complex(
    topology: app.Topology,
    positions: np.ndarray,
    residues: Iterable[ReceptorResidue],
    remark: str,
    path: Path,
) -> None:
    """Write the first molecules of a built complex, receptor and ligand.

    Args:
        topology: topology of all atoms, the receptor's and the ligand's first.
        positions: positions in nm of the atoms to write, shape (atoms, 3).
        residues: residues of a protein in the order of the topology; empty for a host molecule.
        remark: a line that describes the file.
        path: path of the file.
    """
    named = copy_topology(topology, len(positions), list(residues))
    with path.open("w") as stream:
        stream.write(f"REMARK   1 {remark}\n")
        app.PDBFile.writeModel(named, positions * unit.nanometer, stream, keepIds=True)
        app.PDBFile.writeFooter(named, stream)


def copy_topology(topology: app.Topology, count: int, residues: list[ReceptorResidue]) -> app.Topology:
    """Copy the first ``count`` atoms with the chains of ``residues``, and one chain per further molecule."""
    taken = {each.chain_id for each in residues}
    free = iter([each for each in CHAIN_NAMES if each not in taken])
    named, made, chain = app.Topology(), {}, None
    for residue in topology.residues():
        atoms = [each for each in residue.atoms() if each.index < count]
        if not atoms:
            break
        own = residues[residue.index] if residue.index < len(residues) else None
        if own is None or chain is None or chain.id != own.chain_id:
            chain = named.addChain(own.chain_id if own else next(free))
        number, insertion = split_number(own.number) if own else ("1", "")
        name = STANDARD_NAMES.get(residue.name, residue.name)
        copy = named.addResidue(name, chain, number, insertion)
        made.update({each: named.addAtom(each.name, each.element, copy) for each in atoms})
    for one, two in topology.bonds():
        if one in made and two in made:
            named.addBond(made[one], made[two])
    return named


def split_number(number: str) -> tuple[str, str]:
    """Split a residue number into number and insertion code."""
    return (number[:-1], number[-1]) if number[-1:].isalpha() else (number, "")
