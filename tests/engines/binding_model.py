"""Compute by our protocol the binding free energy of a guest in a rigid host in the gas phase, also known by quadrature.

Run by the engine's python: ``binding_model.py ENGINE_FOLDER FOLDER STIFFNESS PRODUCTION_PS`` prints, after ``FOUND``,
the exact binding free energy, that of the protocol, its error, and the free energy of the release, all in kcal/mol. The
host is a cube of eight fixed atoms, and four more beside it that interact with nothing. The guest is rigid and has
three atoms; the third interacts with nothing, either, so that it turns freely about the bond of the others.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import numpy as np
import openmm
from alchemy import decouple
from anchors import choose_restraint
from legs import run_leg
from openmm import unit
from restraint import list_bound_states
from sampling import GAS_CONSTANT, Leg, Lengths, list_states, make_context

KCAL = 4.184
TEMPERATURE = 300.0
THERMAL = GAS_CONSTANT * TEMPERATURE
CORNER, LENGTH = 0.22, 0.12
HOST = CORNER * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
HOST_CHARGES = 0.2 * np.sign(HOST[:, 2])
BESIDE = 0.4 * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]])
GUEST = np.array([[0, 0, 0], [0, 0, LENGTH], [LENGTH * np.sin(1.8), 0, LENGTH * np.cos(1.8)]])
GUEST_CHARGES = np.array([0.3, -0.3, 0.0])
DEPTHS = np.array([2.0, 1.0, 0.0])
"""kJ/mol, of the guest's atoms; the host's have 2."""
SIGMA = 0.33
FIRST = len(HOST) + len(BESIDE)
GUESTS = range(FIRST, FIRST + 3)
COULOMB = 138.935457644


def make_systems():
    """Return the host with the guest, and the guest alone."""
    whole = openmm.System()
    force = openmm.NonbondedForce()
    for charge, depth in [*((charge, 2.0) for charge in HOST_CHARGES), *[(0.0, 0.0)] * len(BESIDE)]:
        whole.addParticle(0.0)
        force.addParticle(charge, SIGMA, depth)
    alone, lone = openmm.System(), openmm.NonbondedForce()
    for charge, depth in zip(GUEST_CHARGES, DEPTHS, strict=True):
        whole.addParticle(12.0)
        alone.addParticle(12.0)
        force.addParticle(charge, SIGMA, depth)
        lone.addParticle(charge, SIGMA, depth)
    for one in range(3):
        for two in range(one):
            apart = float(np.linalg.norm(GUEST[one] - GUEST[two]))
            for system, each, first in ((whole, force, FIRST), (alone, lone, 0)):
                system.addConstraint(first + one, first + two, apart)
                each.addException(first + one, first + two, 0.0, 0.1, 0.0)
    for one in range(FIRST):
        for two in range(one):
            force.addException(one, two, 0.0, 0.1, 0.0)
    whole.addForce(force)
    alone.addForce(lone)
    return whole, alone


def integrate(points, angles):
    """Return the exact binding free energy in kJ/mol, by a grid over position and orientation."""
    edge = np.linspace(-CORNER, CORNER, points, endpoint=False) + CORNER / points
    places = np.array(np.meshgrid(edge, edge, edge)).reshape(3, -1).T
    first = np.exp(-energy(places, 0) / THERMAL)
    nodes, weights = np.polynomial.legendre.leggauss(angles)
    total = 0.0
    for cosine, weight in zip(nodes, weights, strict=True):
        for phi in np.linspace(0, 2 * np.pi, 2 * angles, endpoint=False):
            sine = np.sqrt(1 - cosine**2)
            way = LENGTH * np.array([sine * np.cos(phi), sine * np.sin(phi), cosine])
            total += weight * np.pi / angles * np.sum(first * np.exp(-energy(places + way, 1) / THERMAL))
    volume = total * (2 * CORNER / points) ** 3 * 2 * np.pi
    return -THERMAL * np.log(volume / (8 * np.pi**2 * 1.66053907))


def energy(places, atom):
    """Return the energy of one of the guest's atoms in the host, in kJ/mol."""
    total = np.zeros(len(places))
    for corner, charge in zip(HOST, HOST_CHARGES, strict=True):
        r = np.linalg.norm(places - corner, axis=1)
        x = (SIGMA / r) ** 6
        total += 4 * np.sqrt(2.0 * DEPTHS[atom]) * (x * x - x) + COULOMB * charge * GUEST_CHARGES[atom] / r
    return total


def equilibrate(system, positions):
    """Simulate the guest in the host and return frames."""
    integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, 1.0, 0.002)
    integrator.setRandomNumberSeed(5)
    context = make_context(system, integrator, "Reference")
    context.setPositions(positions)
    context.setVelocitiesToTemperature(TEMPERATURE, 5)
    frames = []
    for _ in range(50):
        integrator.step(500)
        state = context.getState(positions=True)
        frames.append(state.getPositions(asNumpy=True).value_in_unit(unit.nanometer))
    return np.array(frames)


def bind(folder, stiffness, production):
    """Return the binding free energy, its error and the free energy of the release by the protocol, in kcal/mol."""
    whole, alone = make_systems()
    positions = np.vstack([HOST, BESIDE, GUEST])
    frames = equilibrate(whole, positions)
    constants = (stiffness * 10 * KCAL * 100, stiffness * 20 * KCAL)
    restraint = choose_restraint(frames, range(FIRST), GUESTS, constants, 3)
    held = decouple(whole, GUESTS)
    restraint.add_to(held)
    off = list_states(4, 10)
    lengths = Lengths.plan(0.002, 5.0, production)
    found = {}
    for name, system, places, states in (
        ("complex", held, frames[-1], list_bound_states(6, off)),
        ("solvent", decouple(alone, range(3)), GUEST, off),
    ):
        leg = Leg(name, system, places, None, states, TEMPERATURE, lengths, 7, "Reference")
        found[name] = run_leg("guest", 1, leg, folder / name, 0.0, lambda part: None)
    release = restraint.release(TEMPERATURE) / KCAL
    total = found["solvent"].total - found["complex"].total - release
    return total, found["complex"].error, release, found["complex"].estimate.least_overlap


if __name__ == "__main__":
    exact, rough = (integrate(points, angles) / KCAL for points, angles in ((36, 12), (28, 10)))
    rows = bind(Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
    print("FOUND", json.dumps([exact, rough, *rows]))
