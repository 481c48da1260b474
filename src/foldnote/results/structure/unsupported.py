"""Recognise unsupported formats of structures, simulations and sessions, and name a supported alternative.

Otherwise a GROMACS file would be parsed as PDB and reported to have no atoms, and a PQR file, whose columns
are separated by spaces, would be read with wrong numbers and names.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from foldnote.results.naming.families import strip_packing

_COORDINATES = {
    ".gro": "a coordinate file of GROMACS", ".g96": "a coordinate file of GROMACS",
    ".crd": "a coordinate file of CHARMM or AMBER", ".inpcrd": "a coordinate file of AMBER",
    ".rst7": "a coordinate file of AMBER", ".coor": "a coordinate file of NAMD",
    ".pqr": "a PQR file", ".xyz": "an XYZ file", ".mmtf": "an MMTF file",
    ".psf": "a topology of CHARMM or NAMD", ".prmtop": "a topology of AMBER", ".parm7": "a topology of AMBER",
    ".tpr": "a run input file of GROMACS",
}  # fmt: skip
_TRAJECTORIES = frozenset({".xtc", ".trr", ".dcd", ".tng", ".nc", ".mdcrd", ".trj", ".h5md"})
_SESSIONS = {".pse": "PyMOL", ".cxs": "ChimeraX", ".mae": "Maestro", ".maegz": "Maestro", ".moe": "MOE"}


def explain_unsupported(name: str) -> str:
    """Explain what the file ``name`` is, and how to convert it; "" if its format may be supported."""
    suffix = PurePosixPath(strip_packing(name)).suffix
    if suffix in _COORDINATES:
        return (
            f"{name} is {_COORDINATES[suffix]}, which foldnote does not read. Save the structure as PDB or"
            " mmCIF, for example with the program that wrote it, or with MDAnalysis"
        )
    if suffix in _TRAJECTORIES:
        return (
            f"{name} is a trajectory, which foldnote does not read. Save some of its frames as a PDB file of"
            " several models, for example with MDAnalysis: universe.atoms.write('frames.pdb',"
            " frames=universe.trajectory[::100])"
        )
    if suffix in _SESSIONS:
        return (
            f"{name} is a file of {_SESSIONS[suffix]}, which foldnote does not read. Save the structure from"
            f" {_SESSIONS[suffix]} as PDB or mmCIF"
        )
    return ""
