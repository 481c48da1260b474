"""Secondary structure in the eight states of DSSP, from the positions of the backbone atoms.

Kabsch and Sander: "Dictionary of protein secondary structure", Biopolymers 22, 2577 (1983): hydrogen-bond
energies from the positions of C, O, N and H, helices from consecutive turns, strands from bridges, bends from
the angle between Cα atoms. This module imports only NumPy, so that engines can use it in their own
environments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_COULOMB_FACTOR = 27.888
"""Product of the partial charges 0.42 and 0.20 e and the Coulomb constant 332 Å kcal/mol/e²."""
_MAX_ENERGY = -0.5
"""Energy below which there is a hydrogen bond, kcal/mol."""
_MAX_CA_DISTANCE_A = 9.0
_MAX_PEPTIDE_A = 2.5
_MIN_DISTANCE_A = 0.5
_CHUNK_SIZE = 64
_MAX_NEIGHBOURS = 400
"""Mean number of residues near a donor above which the coordinates are not plausible; proteins have < 60."""
_BEND_DEGREES = 70.0

_LONG_BULGE, _SHORT_BULGE = 5, 2
"""Maximum steps from one bridge to the next on the two sides of a bulge."""
_HELICES = ((4, "H", "HGBE-"), (3, "G", "G-"), (5, "I", "IH-"))
"""Size of the turn, letter, and the letters that it replaces, in the order in which DSSP assigns them."""

Bonds = set[tuple[int, int]]
"""Residue indices of donor and acceptor."""
Bridge = tuple[int, int, int]
"""Indices of two residues, the lower first, and 1 for parallel or -1 for antiparallel strands."""


def assign_states(backbone: Floats, chains: Sequence[str], prolines: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Assign the DSSP state of each residue.

    Args:
        backbone: positions of N, Cα, C and O, shape (n, 4, 3), Å, in chain order.
        chains: chain name of each residue.
        prolines: bool, shape (n,); True for residues without an amide hydrogen.

    Returns:
        Letters, shape (n,): ``H`` α-helix, ``G`` 3-10 helix, ``I`` π-helix, ``E`` strand, ``B`` isolated
        bridge, ``T`` turn, ``S`` bend, ``-`` none of these.
    """
    count = len(backbone)
    piece = find_pieces(backbone, chains)
    bonds = _find_bonds(backbone, piece, prolines)
    letters = np.full(count, "-", dtype="<U1")
    for first, last in sorted(_find_strands(_find_bridges(bonds, piece), piece), key=_length):
        letters[first : last + 1] = "E" if last > first else "B"
    in_turn = np.zeros(count, dtype=bool)
    for size, letter, replaceable in _HELICES:
        starts = {a for d, a in bonds if d - a == size and piece[d] == piece[a]}
        for start in sorted(starts):
            in_turn[start + 1 : start + size] = True
            own = letters[start : start + size]
            if start - 1 in starts and set(own) <= set(replaceable):
                own[:] = letter
    letters[(letters == "-") & in_turn] = "T"
    letters[(letters == "-") & _find_bends(backbone[:, 1], piece)] = "S"
    return letters


def find_pieces(backbone: Floats, chains: Sequence[str]) -> NDArray[np.int64]:
    """Number the unbroken segments of the chains, from 0.

    Args:
        backbone: positions of N, Cα, C and O, shape (n, 4, 3), Å, in chain order.
        chains: chain name of each residue.

    Returns:
        Segment number of each residue, int64, shape (n,).
    """
    names = np.array(chains)
    steps = np.linalg.norm(backbone[:-1, 2] - backbone[1:, 0], axis=1)
    is_broken = (steps >= _MAX_PEPTIDE_A) | (names[:-1] != names[1:])
    return np.concatenate(([0], np.cumsum(is_broken))) if len(backbone) else np.empty(0, dtype=np.int64)


def _length(strand: tuple[int, int]) -> int:
    return strand[1] - strand[0]


def _find_bends(alphas: Floats, piece: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark residues i where the chain turns by more than 70° from (i-2, i) to (i, i+2); bool, shape (n,)."""
    bends = np.zeros(len(alphas), dtype=bool)
    if len(alphas) < 5:
        return bends
    before, behind = alphas[2:-2] - alphas[:-4], alphas[4:] - alphas[2:-2]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
    cosines = np.einsum("ij,ij->i", before, behind) / np.maximum(lengths, 1e-12)
    bends[2:-2] = (cosines < np.cos(np.radians(_BEND_DEGREES))) & (piece[4:] == piece[:-4])
    return bends


def _find_bonds(backbone: Floats, piece: NDArray[np.int64], prolines: NDArray[np.bool_]) -> Bonds:
    """Find N-H to C=O hydrogen bonds, except to the residue itself and the one before it."""
    nitrogen, alpha, carbon, oxygen = (backbone[:, index] for index in range(4))
    has_hydrogen = np.append(False, piece[1:] == piece[:-1]) & ~prolines
    hydrogen = nitrogen.copy()
    back = carbon[:-1] - oxygen[:-1]
    hydrogen[1:] += back / np.maximum(np.linalg.norm(back, axis=1), 1e-6)[:, None]
    order = np.argsort(alpha[:, 0], kind="stable")
    sorted_x = alpha[order, 0]
    all_donors = order[has_hydrogen[order]]
    bonds: Bonds = set()
    for chunk in np.array_split(all_donors, len(all_donors) // _CHUNK_SIZE + 1):
        if not len(chunk):
            continue
        # In a large assembly, most residues are excluded by their distance along one axis.
        ends = np.searchsorted(sorted_x, alpha[chunk[[0, -1]], 0] + [-_MAX_CA_DISTANCE_A, _MAX_CA_DISTANCE_A])
        others = order[ends[0] : ends[1]]
        squares = np.zeros((len(chunk), len(others)))
        for axis in range(3):
            squares += (alpha[chunk, axis][:, None] - alpha[others, axis][None]) ** 2
        near = squares < _MAX_CA_DISTANCE_A**2
        if np.count_nonzero(near) > _MAX_NEIGHBOURS * len(chunk):
            return set()  # not a protein: residues overlap
        rows, columns = np.nonzero(near)
        donors, acceptors = chunk[rows], others[columns]
        is_far = (donors != acceptors) & (donors != acceptors + 1)
        donors, acceptors = donors[is_far], acceptors[is_far]
        energy = _COULOMB_FACTOR * (
            _invert(oxygen[acceptors], nitrogen[donors])
            + _invert(carbon[acceptors], hydrogen[donors])
            - _invert(oxygen[acceptors], hydrogen[donors])
            - _invert(carbon[acceptors], nitrogen[donors])
        )
        strong = energy < _MAX_ENERGY
        bonds.update(zip(donors[strong].tolist(), acceptors[strong].tolist(), strict=True))
    return bonds


def _invert(first: Floats, second: Floats) -> Floats:
    return np.asarray(1 / np.maximum(np.linalg.norm(first - second, axis=1), _MIN_DISTANCE_A))


def _find_bridges(bonds: Bonds, piece: NDArray[np.int64]) -> set[Bridge]:
    """Find parallel and antiparallel bridges by the hydrogen-bond patterns of Kabsch and Sander."""
    candidates = set()
    for donor, acceptor in bonds:
        if (acceptor + 2, donor) in bonds:
            candidates.add((*sorted((acceptor + 1, donor)), 1))
        if (acceptor, donor) in bonds:
            candidates.add((*sorted((acceptor, donor)), -1))
        if (acceptor + 2, donor - 2) in bonds:
            candidates.add((*sorted((acceptor + 1, donor - 1)), -1))
    return {
        (first, second, sense) for first, second, sense in candidates if _is_bridge((first, second), piece)
    }


def _find_strands(bridges: set[Bridge], piece: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Find the first and last residues of strands: bridges, and segments between bridges joined by a bulge.

    A bulge joins bridges of the same type with at most one residue between them on one side and four on the
    other.
    """
    partners: dict[tuple[int, int], list[int]] = {}
    for first, second, sense in bridges:
        partners.setdefault((first, sense), []).append(second)
    strands = set()
    for first, second, sense in bridges:
        strands |= {(first, first), (second, second)}
        for step in range(1, _LONG_BULGE + 1):
            for partner in partners.get((first + step, sense), []):
                gap = (partner - second) * sense
                is_linked = 0 < gap <= _LONG_BULGE and min(step, gap) <= _SHORT_BULGE
                ends = sorted((second, partner))
                if is_linked and piece[first] == piece[first + step] and piece[second] == piece[partner]:
                    strands |= {(first, first + step), (ends[0], ends[1])}
    return strands


def _is_bridge(pair: tuple[int, int], piece: NDArray[np.int64]) -> bool:
    """Return whether both residues are inside a segment and, in the same segment, more than two apart."""
    first, second = pair
    is_inside = all(0 < index < len(piece) - 1 and piece[index - 1] == piece[index + 1] for index in pair)
    return is_inside and (piece[first] != piece[second] or abs(first - second) > 2)
