"""Compute the free energy of a particle between two wells, known by quadrature, with windows that exchange configurations.

Run by the engine's python: ``exchange_model.py ENGINE_FOLDER FOLDER`` prints, after ``FOUND``, the exact free energy of
switching the wells off in kT, that of our sampling with its error, the number of times that a configuration crossed all
windows, and the numbers of exchanges and windows. The barrier between the wells is 16 kT, and each window starts in the
shallower well, so that without exchanges it never reaches the other.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import numpy as np
import openmm
from alchemy import STERIC_GROUP, STERICS
from analysis import estimate
from exchanges import count_crossings
from sampling import GAS_CONSTANT, Leg, Lengths, sample

TEMPERATURE, HEIGHT, SLOPE, WIDTH, HELD = 300.0, 40.0, 3.0, 0.3, 20.0
WELLS = f"({HEIGHT}*((x/{WIDTH})^2-1)^2-{SLOPE}*x/{WIDTH})"
THERMAL = GAS_CONSTANT * TEMPERATURE


def make_leg():
    system = openmm.System()
    system.addParticle(12.0)
    wells = openmm.CustomExternalForce(f"{STERICS}*{WELLS}")
    wells.addGlobalParameter(STERICS, 1.0)
    held = openmm.CustomExternalForce(f"{HELD}*(x^2+y^2+z^2)/2")
    for force, group in ((wells, STERIC_GROUP), (held, 0)):
        force.addParticle(0)
        force.setForceGroup(group)
        system.addForce(force)
    states = [{STERICS: value} for value in (1.0, 0.7, 0.45, 0.25, 0.1, 0.0)]
    start = np.array([[-WIDTH, 0.0, 0.0]])
    lengths = Lengths(0.004, 0.4, 5, 250, 2.0)
    return Leg("wells", system, start, None, states, TEMPERATURE, lengths, 7, "Reference")


def integrate():
    """Return the exact free energy in kT; contributions perpendicular to the wells cancel."""
    x = np.linspace(-2, 2, 40_001)
    held = HELD * x**2 / 2
    on = np.exp(-(held + HEIGHT * ((x / WIDTH) ** 2 - 1) ** 2 - SLOPE * x / WIDTH) / THERMAL)
    off = np.exp(-held / THERMAL)
    return -float(np.log(off.sum() / on.sum()))


leg = make_leg()
found = sample(leg, Path(sys.argv[2]), lambda part: None, lambda energies: False)
result = estimate(found.energies)
print(
    "FOUND",
    json.dumps(
        {
            "exact": integrate(),
            "sampled": result.total,
            "error": result.error,
            "crossings": count_crossings(found.origins),
            "exchanges": list(found.origins.shape),
        }
    ),
)
