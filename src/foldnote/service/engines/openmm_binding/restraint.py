"""Restrain a decoupled ligand to its bound position, and correct for it, by Boresch et al. (2003).

Boresch, Tettinger, Leitgeb and Karplus (2003, doi:10.1021/jp0217839). Three atoms of the receptor (P1 to P3)
and three of the ligand (L1 to L3) define six coordinates: the distance P1-L1, the angles P2-P1-L1 and
P1-L1-L2, and the dihedrals P3-P2-P1-L1, P2-P1-L1-L2 and P1-L1-L2-L3. Each has a harmonic potential. They do
not affect the ligand's own shape, so the free energy of the restrained, decoupled ligand follows from
one-dimensional integrals, for which the paper has a closed form in the limit of stiff springs. Here they are
integrated numerically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import openmm
from alchemy import RESTRAINT, RESTRAINT_GROUP
from sampling import GAS_CONSTANT

STANDARD_VOLUME = 1.66053907
"""Volume in nm^3 of each molecule at 1 mol/L."""
TURNS = {"phi_a": "dihedral(p3,p2,p1,p4)", "phi_b": "dihedral(p2,p1,p4,p5)", "phi_c": "dihedral(p1,p4,p5,p6)"}
TURN = 2 * np.pi
RESTRAINING = (
    "lambda_restraint*(spring_r*(distance(p1,p4)-r0)^2 + spring_a*((angle(p2,p1,p4)-theta_a)^2"
    " + (angle(p1,p4,p5)-theta_b)^2 + way_phi_a^2 + way_phi_b^2 + way_phi_c^2))/2"
    + "".join(f";way_{name}=off_{name}-{TURN}*floor(off_{name}/{TURN}+0.5)" for name in TURNS)
    + "".join(f";off_{name}={turn}-{name}" for name, turn in TURNS.items())
)
"""Energy in kJ/mol; a dihedral's difference is taken the shorter way round."""
PARTS = 4001
"""Number of points of each integral."""


@dataclass(frozen=True)
class Restraint:
    """Six atoms, six values and two force constants."""

    receptor: tuple[int, int, int]
    """P1, whose distance from L1 is restrained, P2 and P3."""
    ligand: tuple[int, int, int]
    """L1, L2 and L3."""
    values: tuple[float, float, float, float, float, float]
    """Distance in nm; two angles and three dihedrals in rad."""
    distance_constant: float
    """Force constant of half the square, in kJ/(mol nm²)."""
    angle_constant: float
    """Force constant of half the square, in kJ/(mol rad²)."""

    def add_to(self, system: openmm.System) -> None:
        """Add the restraint to a system, scaled by ``lambda_restraint``, which is 0 at first."""
        force = openmm.CustomCompoundBondForce(6, RESTRAINING)
        force.addGlobalParameter(RESTRAINT, 0.0)
        for name in ("spring_r", "spring_a", "r0", "theta_a", "theta_b", *TURNS):
            force.addPerBondParameter(name)
        force.addBond(
            [*self.receptor, *self.ligand], [self.distance_constant, self.angle_constant, *self.values]
        )
        force.setUsesPeriodicBoundaryConditions(system.usesPeriodicBoundaryConditions())
        force.setForceGroup(RESTRAINT_GROUP)
        system.addForce(force)

    def release(self, temperature: float) -> float:
        """Return the free energy in kJ/mol of releasing the decoupled ligand to 1 mol/L."""
        thermal = GAS_CONSTANT * temperature
        return -thermal * float(np.log(8 * np.pi**2 * STANDARD_VOLUME / self.volume(temperature)))

    def volume(self, temperature: float) -> float:
        """Return the restrained volume of position and orientation, in nm³ rad³; unrestrained V·8π²."""
        thermal = GAS_CONSTANT * temperature
        distance, *angles = self.values
        width = 12 * np.sqrt(thermal / self.distance_constant)
        r = np.linspace(max(0.0, distance - width), distance + width, PARTS)
        product = integrate(r, r**2 * np.exp(-self.distance_constant * (r - distance) ** 2 / 2 / thermal))
        stiffness = self.angle_constant / 2 / thermal
        for angle in angles[:2]:
            theta = np.linspace(0.0, np.pi, PARTS)
            product *= integrate(theta, np.sin(theta) * np.exp(-stiffness * (theta - angle) ** 2))
        phi = np.linspace(-np.pi, np.pi, PARTS)
        return product * integrate(phi, np.exp(-stiffness * phi**2)) ** 3


def integrate(x: np.ndarray, y: np.ndarray) -> float:
    """Integrate ``y`` over ``x`` with the trapezoidal rule."""
    return float(np.sum((y[1:] + y[:-1]) * np.diff(x)) / 2)


def list_bound_states(restraint: int, electrostatics: Sequence[dict[str, float]]) -> list[dict[str, float]]:
    """List states of a complex: the restraint is switched on, then the ligand's interactions off.

    Args:
        restraint: number of states after the first one, in which the restraint grows to its full strength, by
            small steps at first, when the ligand is still free.
        electrostatics: the states that follow under the full restraint, the first of them with all
            interactions.
    """
    first, *others = electrostatics
    rows = [{RESTRAINT: (step / restraint) ** 3, **first} for step in range(restraint + 1)]
    return rows + [{RESTRAINT: 1.0, **each} for each in others]


def measure(
    positions: np.ndarray, receptor: Sequence[np.ndarray], ligand: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the six coordinates of many sets of atoms.

    Args:
        positions: nm, of shape (frames, atoms, 3).
        receptor: indices of P1, P2 and P3, each an array with one element per set.
        ligand: the same for L1, L2 and L3.

    Returns:
        Shape (6, frames, sets); nm and rad.
    """
    p1, p2, p3, l1, l2, l3 = (positions[:, np.asarray(each)] for each in (*receptor, *ligand))
    return np.array(
        [
            np.linalg.norm(l1 - p1, axis=-1),
            angle(p2, p1, l1),
            angle(p1, l1, l2),
            dihedral(p3, p2, p1, l1),
            dihedral(p2, p1, l1, l2),
            dihedral(p1, l1, l2, l3),
        ]
    )


def angle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the angle at ``b`` in rad; coordinates on the last axis."""
    one, two = a - b, c - b
    lengths = np.linalg.norm(one, axis=-1) * np.linalg.norm(two, axis=-1)
    return np.arccos(np.clip(np.sum(one * two, axis=-1) / np.maximum(lengths, 1e-9), -1, 1))


def dihedral(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the dihedral in rad from -π to π, with OpenMM's sign."""
    one, two, three = b - a, c - b, d - c
    across, beyond = np.cross(one, two), np.cross(two, three)
    sine = np.sum(one * beyond, axis=-1) * np.linalg.norm(two, axis=-1)
    return np.arctan2(sine, np.sum(across * beyond, axis=-1))
