"""Build the solvated and the gas-phase system of a ligand with tleap and read them with OpenMM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openmm
from alchemy import decouple
from engine_protocol import fail
from ligands import NAME, build
from openmm import app, unit
from scipy.spatial import cKDTree

CUTOFF = 0.9
"""Cutoff in nm of Lennard-Jones interactions, whose tail is corrected for, and of the direct part of PME."""
HEAVY_HYDROGEN = 3.0
"""Mass in u of a solute's hydrogens if the time step is above LONGEST_STEP; the atoms to which they are
bonded become lighter by the same amount (Hopkins et al. 2015, doi:10.1021/ct5010406)."""
LONGEST_STEP = 2.0
"""Longest time step in fs without heavier hydrogens."""
WATER_TO_WATER, WATER_TO_SOLUTE = 0.21, 0.26
"""Minimum distances in nm between oxygen atoms across the faces of a box, and from an oxygen to a solute's
atom; closer waters are removed."""
WATERS = {
    "tip3p": ("source leaprc.water.tip3p",),
    "spce": ("source leaprc.water.spce",),
    "tip4pew": ("source leaprc.water.tip4pew",),
    "tip5p": (
        "source leaprc.water.tip3p",
        "loadamberparams frcmod.tip5p",
        "WAT = TP5",
        "HOH = TP5",
    ),
}
"""tleap's commands. AmberTools has no ions for TIP5P, which uses those for TIP3P."""
FORCE_FIELDS = {"gaff": "leaprc.gaff", "gaff2": "leaprc.gaff2"}


@dataclass(frozen=True)
class Solute:
    """A system with its structure, before anything is decoupled."""

    system: openmm.System
    topology: app.Topology
    positions: np.ndarray
    """Positions in nm."""
    box: np.ndarray | None
    ligand: tuple[int, ...]
    """Indices of the ligand's atoms."""

    def decouple(self) -> openmm.System:
        """Return the system with a ligand whose interactions can be scaled."""
        return decouple(self.system, self.ligand)


def build_ligand_legs(
    folder: Path,
    force_field: str,
    water: str,
    padding: float,
    timestep: float,
    report: Callable[[str], None],
) -> tuple[Solute, Solute]:
    """Build the ligand in water and alone, from ``lig.mol2`` and ``lig.frcmod`` in the folder.

    Args:
        padding: minimum distance in nm between the ligand and the edge of the box.
        timestep: time step in fs.
    """
    waters, box = fill_box(read_positions(folder / "lig.mol2"), padding)
    write_solvent(waters, [], folder / "waters.pdb")
    text = build(
        folder,
        [
            f"source {FORCE_FIELDS[force_field]}",
            *WATERS[water],
            "loadamberparams lig.frcmod",
            "x = loadmol2 lig.mol2",
            "saveamberparm x gas.prmtop gas.inpcrd",
            "w = loadpdb waters.pdb",
            "y = combine {x w}",
            f"set y box {{{' '.join(f'{10 * edge:.4f}' for edge in box)}}}",
            "saveamberparm y water.prmtop water.inpcrd",
        ],
        report,
    )
    if not (folder / "water.inpcrd").exists() or not (folder / "water.inpcrd").stat().st_size:
        print(text)
        fail("tleap could not build the ligand in water; the log has its message. Check the ligand's bonds.")
    gas = read_system(folder / "gas", timestep, is_periodic=False)
    return read_system(folder / "water", timestep, is_periodic=True), gas


def read_system(stem: Path, timestep: float, *, is_periodic: bool) -> Solute:
    """Read tleap's output; bonds to hydrogen keep their lengths, waters are rigid."""
    structure = app.AmberInpcrdFile(str(stem.with_suffix(".inpcrd")))
    box = structure.boxVectors if is_periodic else None
    program = app.AmberPrmtopFile(str(stem.with_suffix(".prmtop")), periodicBoxVectors=box)
    options = {"nonbondedMethod": app.PME, "nonbondedCutoff": CUTOFF * unit.nanometer} if is_periodic else {}
    mass = HEAVY_HYDROGEN * unit.dalton if timestep > LONGEST_STEP else None
    system = program.createSystem(
        constraints=app.HBonds, rigidWater=True, removeCMMotion=False, hydrogenMass=mass, **options
    )
    turn_lone_pairs(system)
    for force in system.getForces():
        if isinstance(force, openmm.NonbondedForce) and is_periodic:
            force.setUseDispersionCorrection(True)
            force.setEwaldErrorTolerance(2e-4)
    return Solute(
        system,
        program.topology,
        np.array(structure.getPositions(asNumpy=True).value_in_unit(unit.nanometer)),
        None if box is None else np.array([list(row) for row in box.value_in_unit(unit.nanometer)]),
        tuple(atom.index for atom in program.topology.atoms() if atom.residue.name == NAME),
    )


def turn_lone_pairs(system: openmm.System) -> None:
    """Move the lone pairs of five-site waters to the side of the oxygen that has no hydrogens.

    OpenMM 8.6.1 reads them from a prmtop with the sign of the hydrogens' weights reversed, so that they lie
    between the hydrogens, and liquid TIP5P has a seventh of its energy.
    """
    for index in range(system.getNumParticles()):
        site = system.getVirtualSite(index) if system.isVirtualSite(index) else None
        if isinstance(site, openmm.OutOfPlaneSite):
            weights = -abs(site.getWeight12()), -abs(site.getWeight13()), site.getWeightCross()
            atoms = (site.getParticle(place) for place in range(3))
            system.setVirtualSite(index, openmm.OutOfPlaneSite(*atoms, *weights))


def read_positions(path: Path) -> np.ndarray:
    """Return the coordinates in nm of the atoms of a mol2 file."""
    body = path.read_text().partition("@<TRIPOS>ATOM\n")[2].partition("@<TRIPOS>BOND")[0]
    return np.array([[float(word) / 10 for word in line.split()[2:5]] for line in body.splitlines()])


def fill_box(solute: np.ndarray, padding: float) -> tuple[np.ndarray, np.ndarray]:
    """Fill a cube around the solute with liquid water; return the waters and the cube's edges, in nm.

    The box is a cube, since an elongated molecule that turns in a flat box comes close to its image.

    Copies of a box of equilibrated water from OpenMM are stacked and cut. The solute is not moved: it is in
    the middle of the cube, in the coordinates of the waters.

    Returns:
        Coordinates of shape (waters, 3, 3), oxygen first, and three edges.
    """
    low, high = solute.min(axis=0) - padding, solute.max(axis=0) + padding
    edges = np.full(3, max(float((high - low).max()), 2 * CUTOFF + 0.35))
    corner = (low + high - edges) / 2
    source = app.PDBFile(str(Path(app.__file__).parent / "data" / "tip3p.pdb"))
    size = np.array(source.topology.getUnitCellDimensions().value_in_unit(unit.nanometer))
    atoms = np.array(source.getPositions(asNumpy=True).value_in_unit(unit.nanometer)).reshape(-1, 3, 3)
    counts = np.ceil(edges / size).astype(int)
    shifts = np.array(list(np.ndindex(*counts)))
    waters = (atoms[None] + (shifts * size)[:, None, None, :]).reshape(-1, 3, 3)
    waters -= waters[:, :1].min(axis=0)
    waters = waters[(waters[:, 0] < edges).all(axis=1)]
    wrapped = waters[:, 0] % edges
    clashes = cKDTree(wrapped, boxsize=edges).query_pairs(WATER_TO_WATER)
    dropped = {max(pair) for pair in clashes}
    near = cKDTree((solute - corner) % edges, boxsize=edges).query(wrapped)[0] < WATER_TO_SOLUTE
    kept = [place for place in range(len(waters)) if place not in dropped and not near[place]]
    return waters[kept] + corner, edges


def write_solvent(waters: np.ndarray, ions: Sequence[tuple[str, np.ndarray]], path: Path) -> None:
    """Write waters, and ions with their names, as a PDB file that tleap reads; coordinates in nm."""
    molecules = [(name, [(name, place)]) for name, place in ions]
    molecules += [("WAT", list(zip(("O", "H1", "H2"), each, strict=True))) for each in waters]
    with path.open("w") as stream:
        for number, (residue, atoms) in enumerate(molecules, start=1):
            for name, position in atoms:
                x, y, z = 10 * position
                head = f"HETATM{number % 100_000:5} {name:<4} {residue:<3} W{number % 10_000:4}"
                stream.write(f"{head}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00\n")
            stream.write("TER\n")
