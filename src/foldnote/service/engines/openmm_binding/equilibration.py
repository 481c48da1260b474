"""Equilibrate the complex before anything is switched off, for its structure and for the anchors.

Water and ions relax first, around a solute whose atoms are restrained. Then everything moves freely, at
constant pressure, and frames are kept, which show the unrestrained positions of the bound ligand.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openmm
from complexes import BuiltComplex
from sampling import (
    BAROSTAT_STEPS,
    FRICTION,
    PRESSURE,
    SETTLING_STEP,
    draw_seed,
    make_context,
    take_configuration,
)
from systems import Solute

FRAMES = 50
HELD = 1000.0
"""Force constant in kJ/(mol nm²) on each heavy atom of the solute while the water relaxes."""
HELD_STEPS = 1000
"""Number of steps of length SETTLING_STEP."""


@dataclass
class Equilibrated:
    """The complex at the end, and frames from its equilibration."""

    positions: np.ndarray
    """Positions in nm of all atoms."""
    box: np.ndarray
    """Box vectors in nm."""
    frames: np.ndarray
    """Positions in nm of receptor and ligand, molecules whole; shape (frames, atoms, 3)."""


def equilibrate(
    given: BuiltComplex,
    temperature: float,
    timestep: float,
    length: float,
    seed: int,
    platform: str,
    kept: Path,
    report: Callable[[float], None],
) -> Equilibrated:
    """Equilibrate for ``length`` ps, or read the result of an earlier attempt.

    Args:
        timestep: time step in ps.
        kept: file of the result, which an interrupted run leaves for the next one.
        report: called with the fraction done.
    """
    try:
        with np.load(kept, allow_pickle=False) as arrays:
            return Equilibrated(*(arrays[name] for name in ("positions", "box", "frames")))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        pass
    found = simulate(given, temperature, timestep, length, seed, platform, report)
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = kept.with_suffix(".new")
    with draft.open("wb") as stream:
        np.savez(stream, **vars(found))
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(kept)
    return found


def simulate(
    given: BuiltComplex,
    temperature: float,
    timestep: float,
    length: float,
    seed: int,
    platform: str,
    report: Callable[[float], None],
) -> Equilibrated:
    """Equilibrate, first with restraints on the solute."""
    solute = given.solute
    system = openmm.XmlSerializer.clone(solute.system)
    system.addForce(hold(solute))
    barostat = openmm.MonteCarloBarostat(PRESSURE, temperature, BAROSTAT_STEPS)
    barostat.setRandomNumberSeed(draw_seed(seed, "volume"))
    system.addForce(barostat)
    integrator = openmm.LangevinMiddleIntegrator(temperature, FRICTION, SETTLING_STEP)
    integrator.setRandomNumberSeed(draw_seed(seed, "equilibration"))
    integrator.setConstraintTolerance(1e-6)
    context = make_context(system, integrator, platform)
    context.setPositions(solute.positions)
    openmm.LocalEnergyMinimizer.minimize(context, 10.0, 500)
    context.setVelocitiesToTemperature(temperature, draw_seed(seed, "velocities"))
    for part in range(10):
        integrator.step(HELD_STEPS // 10)
        report(0.02 * part)
    context.setParameter("held", 0.0)
    integrator.setStepSize(timestep)
    steps = max(1, round(length / timestep / FRAMES))
    frames = []
    for part in range(FRAMES):
        integrator.step(steps)
        taken = take_configuration(context)
        frames.append(make_whole(taken.positions, taken.box, given))
        report(0.2 + 0.8 * (part + 1) / FRAMES)
    return Equilibrated(taken.positions, taken.box, np.array(frames))


def hold(solute: Solute) -> openmm.CustomExternalForce:
    """Return restraints on the solute's heavy atoms, active while the parameter ``held`` is above 0."""
    force = openmm.CustomExternalForce("held*periodicdistance(x,y,z,x0,y0,z0)^2/2")
    force.addGlobalParameter("held", HELD)
    for name in ("x0", "y0", "z0"):
        force.addPerParticleParameter(name)
    for atom in list(solute.topology.atoms())[: solute.ligand[-1] + 1]:
        if atom.element is not None and atom.element.symbol != "H":
            force.addParticle(atom.index, solute.positions[atom.index])
    return force


def make_whole(positions: np.ndarray, box: np.ndarray, given: BuiltComplex) -> np.ndarray:
    """Return coordinates of receptor and ligand, each molecule beside the ligand as in the beginning.

    A change of the volume moves molecules to other images of the box.
    """
    ligand = np.array(given.solute.ligand)
    made = positions[: ligand[-1] + 1].copy()
    start = given.solute.positions
    for molecule in list_molecules(given):
        wanted = start[molecule].mean(axis=0) - start[ligand].mean(axis=0)
        there = made[molecule].mean(axis=0) - made[ligand].mean(axis=0)
        made[molecule] -= np.round((there - wanted) / np.diag(box)) * np.diag(box)
    return made


def list_molecules(given: BuiltComplex) -> list[np.ndarray]:
    """Return the indices of the atoms of each molecule of the receptor."""
    chains: dict[int, list[int]] = {}
    parent = list(range(len(given.receptor)))

    def find(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for one, two in given.solute.topology.bonds():
        if max(one.index, two.index) < len(parent):
            parent[find(one.index)] = find(two.index)
    for index in given.receptor:
        chains.setdefault(find(index), []).append(index)
    return [np.array(each) for each in chains.values()]


def list_near(found: Equilibrated, atoms: Sequence[int], ligand: Sequence[int], most: int) -> list[int]:
    """Return the receptor atoms nearest to the ligand's centre on average, at most ``most``."""
    middle = found.frames[:, list(ligand)].mean(axis=1)
    apart = np.linalg.norm(found.frames[:, list(atoms)] - middle[:, None], axis=-1).mean(axis=0)
    return [atoms[place] for place in np.argsort(apart, kind="stable")[:most]]
