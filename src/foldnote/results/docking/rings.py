"""Flat rings of five or six atoms, which count as aromatic: structure files have no bond orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from foldnote.results.core.numeric import Floats

FLATNESS_A = 0.12
"""Maximum distance of a ring's atoms from their plane, Å."""


@dataclass(frozen=True, eq=False)
class Ring:
    """A flat ring: rows of its atoms, its centre and unit normal, shape (3,), in Å."""

    atoms: tuple[int, ...]
    center: Floats
    normal: Floats


def find_rings(
    elements: Sequence[str],
    neighbours: Sequence[Sequence[int]],
    positions: Floats,
    totals: Sequence[int],
) -> tuple[Ring, ...]:
    """Find the flat rings of five or six atoms; none of these may have four neighbours."""
    rings: dict[frozenset[int], Ring] = {}
    for atoms in _list_cycles(neighbours, 6):
        key = frozenset(atoms)
        is_wide = any(len(key & set(neighbours[atom])) > 2 for atom in atoms)  # two fused rings
        if len(atoms) < 5 or key in rings or is_wide or any(totals[atom] > 3 for atom in atoms):
            continue
        if all(elements[atom] in ("C", "N", "O", "S") for atom in atoms):
            ring = measure_ring(atoms, positions)
            if ring is not None:
                rings[key] = ring
    return tuple(rings.values())


def measure_ring(atoms: Sequence[int], positions: Floats) -> Ring | None:
    """Return the centre and normal of a ring; None if its atoms do not lie in one plane."""
    points = positions[list(atoms)]
    center = points.mean(axis=0)
    normal = np.linalg.svd(points - center)[2][2]
    if np.abs((points - center) @ normal).max() > FLATNESS_A:
        return None
    return Ring(tuple(atoms), center, normal)


def _list_cycles(neighbours: Sequence[Sequence[int]], longest: int) -> Iterator[tuple[int, ...]]:
    """Yield cycles of at most ``longest`` atoms, each from its first atom on, in both directions."""
    for start in range(len(neighbours)):
        paths: list[tuple[int, ...]] = [(start,)]
        while paths:
            path = paths.pop()
            for other in neighbours[path[-1]]:
                if other == start and len(path) > 2:
                    yield path
                elif other > start and other not in path and len(path) < longest:
                    paths.append((*path, other))
