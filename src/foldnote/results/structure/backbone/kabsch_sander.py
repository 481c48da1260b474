"""Secondary structure in the eight states of DSSP, from the places of the backbone's atoms.

Kabsch and Sander: "Dictionary of protein secondary structure", Biopolymers 22, 2577 (1983): the energy of a
bond from the places of C, O, N and H, helices from consecutive turns, strands from bridges, bends from the
angle between Cα atoms. It imports NumPy only and nothing of foldnote, so that engines can import it in their
own environments.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STRENGTH = 27.888
"""0.42 and 0.20 elementary charges and 332 Å kcal/mol, multiplied."""
_LEAST = -0.5
"""kcal/mol."""
_REACH_A = 9.0
_PEPTIDE_A = 2.5
_NEAREST_A = 0.5
_CHUNK = 64
_MOST_NEIGHBOURS = 400
"""Residues within reach of one, on average; in a protein there are fewer than 60."""
_BEND_DEGREES = 70.0

_LONG_BULGE, _SHORT_BULGE = 5, 2
"""Furthest steps from one bridge to the next on the two sides of a bulge."""
_HELICES = ((4, "H", "HGBE-"), (3, "G", "G-"), (5, "I", "IH-"))
"""Size of the turn, letter, and what it may be written over, in the order in which DSSP looks for them."""

Bonds = set[tuple[int, int]]
"""Donor and acceptor, as places of residues."""
Bridge = tuple[int, int, int]
"""Places of two residues, the lower first, and 1 for parallel strands or -1 for antiparallel ones."""


def assign_states(backbone: Floats, chains: Sequence[str], prolines: NDArray[np.bool_]) -> NDArray[np.str_]:
    """The letter of DSSP for each residue.

    Args:
        backbone: places of N, Cα, C and O, shape (n, 4, 3), Å, in the order of the chains.
        chains: name of each residue's chain.
        prolines: shape (n,): which residues have no hydrogen to give.

    Returns:
        Shape (n,): ``H`` α-helix, ``G`` 3-10 helix, ``I`` π-helix, ``E`` strand, ``B`` single bridge, ``T``
        turn, ``S`` bend, ``-`` none of them.
    """
    count = len(backbone)
    piece = find_pieces(backbone, chains)
    bonds = _find_bonds(backbone, piece, prolines)
    letters = np.full(count, "-", dtype="<U1")
    for first, last in sorted(_find_strands(_find_bridges(bonds, piece), piece), key=_length):
        letters[first : last + 1] = "E" if last > first else "B"
    turned = np.zeros(count, dtype=bool)
    for size, letter, free in _HELICES:
        starts = {a for d, a in bonds if d - a == size and piece[d] == piece[a]}
        for start in sorted(starts):
            turned[start + 1 : start + size] = True
            own = letters[start : start + size]
            if start - 1 in starts and set(own) <= set(free):
                own[:] = letter
    letters[(letters == "-") & turned] = "T"
    letters[(letters == "-") & _find_bends(backbone[:, 1], piece)] = "S"
    return letters


def find_pieces(backbone: Floats, chains: Sequence[str]) -> NDArray[np.int64]:
    """The number of the unbroken piece of chain that each residue is in, from 0.

    Args:
        backbone: places of N, Cα, C and O, shape (n, 4, 3), Å, in the order of the chains.
        chains: name of each residue's chain.
    """
    names = np.array(chains)
    steps = np.linalg.norm(backbone[:-1, 2] - backbone[1:, 0], axis=1)
    is_broken = (steps >= _PEPTIDE_A) | (names[:-1] != names[1:])
    return np.concatenate(([0], np.cumsum(is_broken))) if len(backbone) else np.empty(0, dtype=np.int64)


def _length(strand: tuple[int, int]) -> int:
    return strand[1] - strand[0]


def _find_bends(alphas: Floats, piece: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where the chain turns by more than 70° between the two residues before and the two behind."""
    found = np.zeros(len(alphas), dtype=bool)
    if len(alphas) < 5:
        return found
    before, behind = alphas[2:-2] - alphas[:-4], alphas[4:] - alphas[2:-2]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
    cosines = np.einsum("ij,ij->i", before, behind) / np.maximum(lengths, 1e-12)
    found[2:-2] = (cosines < np.cos(np.radians(_BEND_DEGREES))) & (piece[4:] == piece[:-4])
    return found


def _find_bonds(backbone: Floats, piece: NDArray[np.int64], prolines: NDArray[np.bool_]) -> Bonds:
    """The bonds from N-H to C=O, of residues that are not neighbours in the chain."""
    nitrogen, alpha, carbon, oxygen = (backbone[:, place] for place in range(4))
    can_give = np.append(False, piece[1:] == piece[:-1]) & ~prolines
    hydrogen = nitrogen.copy()
    back = carbon[:-1] - oxygen[:-1]
    hydrogen[1:] += back / np.maximum(np.linalg.norm(back, axis=1), 1e-6)[:, None]
    order = np.argsort(alpha[:, 0], kind="stable")
    across = alpha[order, 0]
    givers = order[can_give[order]]
    bonds: Bonds = set()
    for chunk in np.array_split(givers, len(givers) // _CHUNK + 1):
        if not len(chunk):
            continue
        # Along one axis most residues of a large assembly are too far away to be looked at.
        ends = np.searchsorted(across, alpha[chunk[[0, -1]], 0] + [-_REACH_A, _REACH_A])
        others = order[ends[0] : ends[1]]
        squares = np.zeros((len(chunk), len(others)))
        for axis in range(3):
            squares += (alpha[chunk, axis][:, None] - alpha[others, axis][None]) ** 2
        near = squares < _REACH_A**2
        if np.count_nonzero(near) > _MOST_NEIGHBOURS * len(chunk):
            return set()  # no protein: residues lie on top of each other
        rows, columns = np.nonzero(near)
        donors, takers = chunk[rows], others[columns]
        is_far = (donors != takers) & (donors != takers + 1)
        donors, takers = donors[is_far], takers[is_far]
        energy = _STRENGTH * (
            _invert(oxygen[takers], nitrogen[donors])
            + _invert(carbon[takers], hydrogen[donors])
            - _invert(oxygen[takers], hydrogen[donors])
            - _invert(carbon[takers], nitrogen[donors])
        )
        strong = energy < _LEAST
        bonds.update(zip(donors[strong].tolist(), takers[strong].tolist(), strict=True))
    return bonds


def _invert(one: Floats, other: Floats) -> Floats:
    return np.asarray(1 / np.maximum(np.linalg.norm(one - other, axis=1), _NEAREST_A))


def _find_bridges(bonds: Bonds, piece: NDArray[np.int64]) -> set[Bridge]:
    """Pairs of residues in parallel or antiparallel bridges, by the patterns of the paper."""
    found = set()
    for donor, acceptor in bonds:
        if (acceptor + 2, donor) in bonds:
            found.add((*sorted((acceptor + 1, donor)), 1))
        if (acceptor, donor) in bonds:
            found.add((*sorted((acceptor, donor)), -1))
        if (acceptor + 2, donor - 2) in bonds:
            found.add((*sorted((acceptor + 1, donor - 1)), -1))
    return {(one, other, sense) for one, other, sense in found if _is_bridge((one, other), piece)}


def _find_strands(bridges: set[Bridge], piece: NDArray[np.int64]) -> set[tuple[int, int]]:
    """First and last residues of strands: bridges, and what lies between two that a bulge links.

    A bulge links bridges of one sense with at most one residue between them on one side, four on the other.
    """
    partners: dict[tuple[int, int], list[int]] = {}
    for one, other, sense in bridges:
        partners.setdefault((one, sense), []).append(other)
    strands = set()
    for one, other, sense in bridges:
        strands |= {(one, one), (other, other)}
        for step in range(1, _LONG_BULGE + 1):
            for partner in partners.get((one + step, sense), []):
                gap = (partner - other) * sense
                is_linked = 0 < gap <= _LONG_BULGE and min(step, gap) <= _SHORT_BULGE
                ends = sorted((other, partner))
                if is_linked and piece[one] == piece[one + step] and piece[other] == piece[partner]:
                    strands |= {(one, one + step), (ends[0], ends[1])}
    return strands


def _is_bridge(pair: tuple[int, int], piece: NDArray[np.int64]) -> bool:
    """Whether both stand within a piece of chain, and not beside each other."""
    one, other = pair
    is_inside = all(0 < place < len(piece) - 1 and piece[place - 1] == piece[place + 1] for place in pair)
    return is_inside and (piece[one] != piece[other] or abs(one - other) > 2)
