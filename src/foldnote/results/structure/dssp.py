"""Secondary structure from the hydrogen bonds of the backbone.

Kabsch and Sander: "Dictionary of protein secondary structure", Biopolymers 22, 2577 (1983): the energy of a
bond from the places of C, O, N and H, helices from consecutive turns, strands from bridges. Told are three
states: helices of any turn (H, G, I), residues of ladders and bridges (E, B), and all others. Without whole
backbones see :mod:`foldnote.results.structure.secondary`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import gemmi
import numpy as np
from numpy.typing import NDArray

from foldnote.results.core.numeric import Floats
from foldnote.results.structure.residues import find_parent
from foldnote.results.structure.secondary import assign_secondary

BY_BONDS = "hydrogen bonds of the backbone, Kabsch and Sander 1983"
BY_TRACE = "P-SEA, from Cα atoms"
_ATOMS = ("N", "CA", "C", "O")
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
_MOST_RESIDUES = 20_000
"""Residues beyond which hydrogen bonds, the slower way, are not looked for."""
_LEAST_SHARE = 0.5

_LONG_BULGE, _SHORT_BULGE = 5, 2
"""Furthest steps from one bridge to the next on the two sides of a bulge."""
_HELICES = ((4, "H", "HEC"), (3, "G", "GC"), (5, "I", "IHC"))
"""Size of the turn, letter, and what it may be written over, in the order in which DSSP looks for them."""

Bonds = set[tuple[int, int]]
"""Donor and acceptor, as places of residues."""
Bridge = tuple[int, int, int]
"""Places of two residues, the lower first, and 1 for parallel strands or -1 for antiparallel ones."""


@dataclass(frozen=True)
class Assignment:
    """Secondary structure of some chains.

    Attributes:
        letters: by chain name, one letter a residue: ``H`` helix, ``E`` strand, ``C`` anything else.
        method: how it was found, in words.
    """

    letters: Mapping[str, str]
    method: str


def assign_chains(chains: Iterable[gemmi.Chain]) -> Assignment:
    """The secondary structure of proteins.

    By hydrogen bonds where at least half of the residues with a Cα have the whole backbone, else, and in
    structures of more than 20,000 residues, from the Cα atoms.
    """
    residues: list[tuple[str, gemmi.Residue]] = []
    for chain in chains:
        residues += [(chain.name, one) for one in chain.get_polymer().first_conformer() if len(one)]
    if len(residues) > _MOST_RESIDUES:
        return Assignment(_assign_by_trace(residues), BY_TRACE)
    places = [_read_backbone(residue) for _, residue in residues]
    whole = [row for row, place in enumerate(places) if place is not None and np.isfinite(place).all()]
    alphas = sum(bool(residue.find_atom("CA", "*", gemmi.Element("C"))) for _, residue in residues)
    if not whole or len(whole) < _LEAST_SHARE * alphas:
        return Assignment(_assign_by_trace(residues), BY_TRACE)
    letters = np.full(len(residues), "C", dtype="<U1")
    backbone = np.array([places[row] for row in whole], dtype=np.float64)
    names = [residues[row][0] for row in whole]
    prolines = np.array([find_parent(residues[row][1].name) == "PRO" for row in whole])
    letters[whole] = assign_backbone(backbone, names, prolines)
    return Assignment(_split([name for name, _ in residues], letters), BY_BONDS)


def assign_backbone(backbone: Floats, chains: Sequence[str], prolines: NDArray[np.bool_]) -> NDArray[np.str_]:
    """A letter for each residue.

    Args:
        backbone: places of N, Cα, C and O, shape (n, 4, 3), Å, in the order of the chains.
        chains: name of each residue's chain.
        prolines: shape (n,): which residues have no hydrogen to give.
    """
    count = len(backbone)
    names = np.array(chains)
    steps = np.linalg.norm(backbone[:-1, 2] - backbone[1:, 0], axis=1)
    is_joined = np.append((steps < _PEPTIDE_A) & (names[:-1] == names[1:]), False)
    piece = np.concatenate(([0], np.cumsum(~is_joined[:-1]))) if count else np.empty(0, dtype=np.int64)
    bonds = _find_bonds(backbone, piece, prolines)
    letters = np.full(count, "C", dtype="<U1")
    for first, last in _find_strands(_find_bridges(bonds, piece), piece):
        letters[first : last + 1] = "E"
    for size, letter, free in _HELICES:
        starts = {a for d, a in bonds if d - a == size and piece[d] == piece[a]}
        for start in sorted(starts):
            own = letters[start : start + size]
            if start - 1 in starts and set(own) <= set(free):
                own[:] = letter
    letters[(letters == "G") | (letters == "I")] = "H"
    return letters


def _read_backbone(residue: gemmi.Residue) -> list[list[float]] | None:
    atoms = [residue.find_atom(name, "*") for name in _ATOMS]
    return [atom.pos.tolist() for atom in atoms] if all(atoms) else None


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


def _assign_by_trace(residues: Sequence[tuple[str, gemmi.Residue]]) -> dict[str, str]:
    chains: dict[str, list[gemmi.Residue]] = {}
    for name, residue in residues:
        chains.setdefault(name, []).append(residue)
    found: dict[str, str] = {}
    for name, own in chains.items():
        atoms = [residue.find_atom("CA", "*", gemmi.Element("C")) for residue in own]
        letters = np.full(len(own), "C", dtype="<U1")
        has_alpha = np.array([bool(atom) for atom in atoms])
        trace = np.array([atom.pos.tolist() for atom in atoms if atom], dtype=np.float64).reshape(-1, 3)
        letters[has_alpha] = assign_secondary(trace)
        found[name] = "".join(letters)
    return found


def _split(names: Sequence[str], letters: NDArray[np.str_]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, letter in zip(names, letters, strict=True):
        found[name] = found.get(name, "") + str(letter)
    return found
