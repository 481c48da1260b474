"""Choose the six atoms of the restraint from an equilibration of the bound complex.

The rule: sets of three receptor and three ligand atoms are drawn at random, with the run's seed. A set is
considered if every angle on which a dihedral depends is between 45° and 135° on average and stays three
standard deviations away from a line, and if the atoms are not farther apart than REACH. Of these sets, the
one is chosen whose six coordinates would have the lowest mean energy in the restraint at full strength, i.e.
the one that disturbs the bound ligand least. The values of the restraint are the means over the frames.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from engine_protocol import fail
from restraint import Restraint, angle, measure

DRAWN = 20_000
"""Number of sets to draw."""
LIMITS = ((45.0, 3.0), (30.0, 2.0))
"""Minimum distance of an angle's mean from 0° and 180° in degrees, and in standard deviations; the second row
is for complexes in which no set meets the first."""
REACH = 1.5
"""Maximum distance in nm between the atoms of a set."""
NEAREST = 0.25
"""Minimum distance in nm between P1 and L1, and between two atoms of the receptor; closer ones are bonded."""


def choose_restraint(
    frames: np.ndarray,
    receptor: Sequence[int],
    ligand: Sequence[int],
    constants: tuple[float, float],
    seed: int,
    reach: float = REACH,
) -> Restraint:
    """Choose atoms and values of the restraint.

    Args:
        frames: coordinates in nm, shape (frames, atoms, 3); molecules are whole.
        receptor: indices of the receptor atoms that may be anchors.
        ligand: the same for the ligand, at least three.
        constants: force constants of distances in kJ/(mol nm²) and angles in kJ/(mol rad²).
        seed: seed of the random draw.
        reach: maximum distance in nm, below REACH in a small box.
    """
    draw = np.random.default_rng(seed)
    sets = np.hstack([pick(draw, receptor), pick(draw, ligand)])
    p1, p2, p3, l1, l2, l3 = sets.T
    places = [frames[:, each] for each in (p1, p2, p3, l1, l2, l3)]
    found = measure(frames, (p1, p2, p3), (l1, l2, l3))
    bent = np.array([angle(*places[:3]), angle(*places[3:]), found[1], found[2]])
    spans = [
        np.linalg.norm(places[one] - places[two], axis=-1) for one, two in ((0, 1), (1, 2), (0, 2), (0, 3))
    ]
    is_near = (np.max(spans, axis=(0, 1)) < min(reach, REACH)) & (np.min(spans, axis=(0, 1)) > NEAREST)
    means, energies = weigh(found, constants)
    for limit in LIMITS:
        is_bent = keep_bent(bent, limit).all(axis=0)
        if (is_near & is_bent).any():
            break
    else:
        fail(
            "No six atoms of receptor and ligand were found whose angles stay away from a line while the"
            " complex was equilibrated. Check the pose of the ligand, or name the atoms under receptorAnchors"
            " and ligandAnchors."
        )
    best = int(np.argmin(np.where(is_near & is_bent, energies, np.inf)))
    return make_restraint(sets[best], means[:, best], constants)


def restrain_given(
    frames: np.ndarray, receptor: Sequence[int], ligand: Sequence[int], constants: tuple[float, float]
) -> Restraint:
    """Return the restraint of six atoms given by the user, with the mean values of the frames."""
    sets = np.array([*receptor, *ligand])
    found = measure(frames, sets[:3, None], sets[3:, None])
    bent = [angle(*(frames[:, each] for each in trio)) for trio in (sets[:3], sets[3:])]
    if not keep_bent(np.array([*found[1:3, :, 0], *bent]), LIMITS[-1]).all():
        fail(
            "The atoms under receptorAnchors and ligandAnchors come near a line: the angles P2-P1-L1,"
            " P1-L1-L2 and those within the three atoms of each molecule must be between 30° and 150° in the"
            " equilibration, and not fluctuate much. Name others, or none."
        )
    means, _ = weigh(found, constants)
    return make_restraint(sets, means[:, 0], constants)


def keep_bent(angles: np.ndarray, limit: tuple[float, float]) -> np.ndarray:
    """Return whether angles stay away from a line; in rad, with the frames on the second axis."""
    means, spread = angles.mean(axis=1), angles.std(axis=1)
    apart = np.minimum(means, np.pi - means)
    return (apart > np.radians(limit[0])) & (apart > limit[1] * spread)


def pick(draw: np.random.Generator, atoms: Sequence[int]) -> np.ndarray:
    """Draw sets of three different atoms; shape (DRAWN, 3)."""
    order = draw.random((DRAWN, len(atoms))).argpartition(2, axis=1)[:, :3]
    return np.asarray(atoms)[draw.permuted(order, axis=1)]


def weigh(found: np.ndarray, constants: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of each set's six coordinates, and their mean restraint energy in kJ/mol."""
    turns = found[3:]
    centres = np.arctan2(np.sin(turns).mean(axis=1), np.cos(turns).mean(axis=1))
    means = np.concatenate([found[:3].mean(axis=1), centres])
    apart = found - means[:, None]
    apart[3:] = (apart[3:] + np.pi) % (2 * np.pi) - np.pi
    squares = (apart**2).mean(axis=1)
    return means, (constants[0] * squares[0] + constants[1] * squares[1:].sum(axis=0)) / 2


def make_restraint(atoms: np.ndarray, values: np.ndarray, constants: tuple[float, float]) -> Restraint:
    """Return a restraint of plain numbers."""
    p1, p2, p3, l1, l2, l3 = (int(each) for each in atoms)
    distance, *angles = (float(each) for each in values)
    return Restraint((p1, p2, p3), (l1, l2, l3), (distance, *angles), *constants)
