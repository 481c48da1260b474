"""Solvent-accessible areas by Lee and Richards' slices, relative to the residue in Ala-X-Ala.

Lee and Richards: J. Mol. Biol. 55, 379 (1971). The sphere of each atom, with its radius plus that of a water,
is cut into slices across z; in each slice, the arcs inside other spheres are removed from the circle. Radii
and reference areas are those of NACCESS (Hubbard and Thornton 1993) as in FreeSASA's configuration
(Mitternacht 2016, MIT licence), so that areas equal FreeSASA's for the same number of slices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from near_atoms import find_near
from numpy.typing import NDArray
from protein_files import ProteinResidue

PROBE_A = 1.4
"""Radius of a water molecule in Å."""
SLICES = 100
"""Slices per atom. FreeSASA's default of 20 moves some residues across the limit of 10 %."""

ALIPHATIC, CARBON, AMIDE, AMINE, OXYGEN, SULFUR, SELENIUM = 1.87, 1.76, 1.65, 1.50, 1.40, 1.85, 1.80
BACKBONE = {"N": AMIDE, "CA": ALIPHATIC, "C": CARBON, "O": OXYGEN}
SIDE_CHAINS: dict[str, dict[str, float]] = {
    "ALA": {},
    "ARG": {"CG": ALIPHATIC, "CD": ALIPHATIC, "NE": AMIDE, "CZ": CARBON, "NH1": AMIDE, "NH2": AMIDE},
    "ASN": {"CG": CARBON, "OD1": OXYGEN, "ND2": AMIDE},
    "ASP": {"CG": CARBON, "OD1": OXYGEN, "OD2": OXYGEN},
    "CYS": {"SG": SULFUR},
    "GLN": {"CG": ALIPHATIC, "CD": CARBON, "OE1": OXYGEN, "NE2": AMIDE},
    "GLU": {"CG": ALIPHATIC, "CD": CARBON, "OE1": OXYGEN, "OE2": OXYGEN},
    "GLY": {},
    "HIS": {"CG": CARBON, "ND1": AMIDE, "CD2": CARBON, "NE2": AMIDE, "CE1": CARBON},
    "ILE": dict.fromkeys(("CG1", "CG2", "CD1"), ALIPHATIC),
    "LEU": dict.fromkeys(("CG", "CD1", "CD2"), ALIPHATIC),
    "LYS": {"CG": ALIPHATIC, "CD": ALIPHATIC, "CE": ALIPHATIC, "NZ": AMINE},
    "MET": {"CG": ALIPHATIC, "SD": SULFUR, "CE": ALIPHATIC},
    "PHE": dict.fromkeys(("CG", "CD1", "CD2", "CE1", "CE2", "CZ"), CARBON),
    "PRO": {"CG": ALIPHATIC, "CD": ALIPHATIC},
    "SER": {"OG": OXYGEN},
    "THR": {"OG1": OXYGEN, "CG2": ALIPHATIC},
    "TRP": {
        **dict.fromkeys(("CG", "CD1", "CD2", "CE2", "CE3", "CZ2", "CZ3", "CH2"), CARBON),
        "NE1": AMIDE,
    },
    "TYR": {**dict.fromkeys(("CG", "CD1", "CD2", "CE1", "CE2", "CZ"), CARBON), "OH": OXYGEN},
    "VAL": dict.fromkeys(("CG1", "CG2"), ALIPHATIC),
}
"""Radii in Å of side-chain atoms; Cβ, which all but glycine have, is aliphatic."""
ELEMENTS = {"C": 1.70, "N": 1.55, "O": 1.52, "S": 1.80, "SE": 1.90, "P": 1.80}
"""Radii in Å of atoms with unusual names (Bondi 1964)."""
OTHER_NAMES = {"OXT": OXYGEN, "OT1": OXYGEN, "OT2": OXYGEN, "OC1": OXYGEN, "OC2": OXYGEN, "SE": SELENIUM}
SYNONYMS = {("ILE", "CD"): "CD1", ("MET", "SE"): "SD"}

REFERENCE = {
    "ALA": 107.89, "ARG": 238.33, "ASN": 143.97, "ASP": 140.48, "CYS": 134.24, "GLN": 178.24, "GLU": 172.09,
    "GLY": 80.30, "HIS": 182.75, "ILE": 175.10, "LEU": 178.40, "LYS": 200.21, "MET": 193.72, "PHE": 199.40,
    "PRO": 135.84, "SER": 116.56, "THR": 139.25, "TRP": 248.97, "TYR": 212.23, "VAL": 151.40,
}  # fmt: skip
"""Area in Å² of the whole residue X in Ala-X-Ala."""

Floats = NDArray[np.float64]


def find_radius(residue: str, atom: str, element: str) -> float | None:
    """Return a heavy atom's radius in Å, its element's if the name is unusual; None if that is unknown."""
    named = BACKBONE.get(atom) or OTHER_NAMES.get(atom) or SIDE_CHAINS[residue].get(atom)
    if atom == "CB":
        return ALIPHATIC
    if named is None and (residue, atom) in SYNONYMS:
        return SIDE_CHAINS[residue][SYNONYMS[residue, atom]]
    return named or ELEMENTS.get(element.upper())


def list_missing(residue: ProteinResidue) -> list[str]:
    """Return the names of the heavy atoms that a residue should have but lacks."""
    names = {SYNONYMS.get((residue.name, atom.name), atom.name) for atom in residue.atoms}
    wanted = [*BACKBONE, *(["CB"] if residue.name != "GLY" else []), *SIDE_CHAINS[residue.name]]
    if names & {"OT1", "OC1"}:
        names.add("O")
    return [name for name in wanted if name not in names]


def measure_relative_areas(
    residues: Sequence[ProteinResidue], report: Callable[[float], None]
) -> tuple[Floats, Counter[str]]:
    """Return each residue's area in % of that in Ala-X-Ala, and the atoms left out for lack of a radius.

    Args:
        residues: all residues that can occlude each other.
        report: called with the share of atoms that are done.
    """
    owners, points, radii = [], [], []
    unknown: Counter[str] = Counter()
    for index, residue in enumerate(residues):
        for atom in residue.atoms:
            radius = find_radius(residue.name, atom.name, atom.element.name)
            if radius is None:
                unknown[atom.name] += 1
                continue
            owners.append(index)
            points.append(atom.pos.tolist())
            radii.append(radius)
    areas = measure_areas(np.array(points), np.array(radii), report)
    sums = np.bincount(owners, areas, minlength=len(residues))
    references = np.array([REFERENCE[residue.name] for residue in residues])
    return 100 * sums / references, unknown


def measure_areas(points: Floats, radii: Floats, report: Callable[[float], None] = lambda _: None) -> Floats:
    """Return the accessible area of each sphere in Å².

    Args:
        points: centres, shape (n, 3), Å.
        radii: shape (n,), Å, without the water's.
        report: called with the share of spheres that are done.
    """
    reach = radii + PROBE_A
    areas = 4 * np.pi * reach**2
    done = 0
    for ones, others in find_near(points, 2 * float(reach.max())):
        offsets = points[others] - points[ones]
        touch = (offsets**2).sum(axis=1) < (reach[ones] + reach[others]) ** 2
        order = np.argsort(ones[touch], kind="stable")
        ones, others, offsets = ones[touch][order], others[touch][order], offsets[touch][order]
        owners, starts = np.unique(ones, return_index=True)
        for owner, start, end in zip(owners, starts, [*starts[1:], len(ones)], strict=True):
            areas[owner] = _measure_sphere(reach[owner], offsets[start:end], reach[others[start:end]])
        done += len(owners)
        report(done / len(points))
    return areas


def _measure_sphere(radius: float, offsets: Floats, others: Floats) -> float:
    """Return the area of one sphere outside its neighbours, whose centres are given relative to its own."""
    thickness = 2 * radius / SLICES
    heights = -radius + thickness * (np.arange(SLICES) + 0.5)
    circles = np.sqrt(radius**2 - heights**2)[:, None]
    squares = others[None] ** 2 - (offsets[None, :, 2] - heights[:, None]) ** 2
    cuts = squares > 0
    other_circles = np.sqrt(np.maximum(squares, 0))
    apart = np.hypot(offsets[:, 0], offsets[:, 1])[None]
    is_buried = (cuts & (apart + circles < other_circles)).any(axis=1)
    cuts &= (apart < circles + other_circles) & (apart + other_circles >= circles) & (apart > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = (circles**2 + apart**2 - other_circles**2) / (2 * circles * apart)
    half = np.arccos(np.clip(np.where(cuts, cosines, 0), -1, 1))
    middle = np.arctan2(offsets[:, 1], offsets[:, 0])[None]
    first, last = (middle - half) % (2 * np.pi), (middle + half) % (2 * np.pi)
    first, last = np.where(cuts, first, 2 * np.pi), np.where(cuts, last, 2 * np.pi)
    wraps = last < first
    starts = np.concatenate([first, np.where(wraps, 0, 2 * np.pi)], axis=1)
    ends = np.concatenate([np.where(wraps, 2 * np.pi, last), np.where(wraps, last, 2 * np.pi)], axis=1)
    free = np.where(is_buried, 0, _measure_gaps(starts, ends))
    return float(thickness * radius * free.sum())


def _measure_gaps(starts: Floats, ends: Floats) -> Floats:
    """Return the part of each circle that the arcs leave free, in radians.

    Args:
        starts: where arcs begin, shape (circles, arcs), 0 to 2π; 2π for an empty arc.
        ends: where they end, not before they begin.
    """
    order = np.argsort(starts, axis=1)
    starts, ends = np.take_along_axis(starts, order, 1), np.take_along_axis(ends, order, 1)
    covered = np.maximum.accumulate(ends, axis=1)
    between = np.maximum(starts[:, 1:] - covered[:, :-1], 0).sum(axis=1)
    return np.asarray(starts[:, 0] + between + np.maximum(2 * np.pi - covered[:, -1], 0))
