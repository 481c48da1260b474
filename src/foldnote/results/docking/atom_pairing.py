"""Pairings of the atoms of two copies of a molecule that its symmetry allows, and the best of them.

A pairing keeps elements, connections and the order of localized bonds. Delocalized bonds are all equivalent,
whichever resonance form or tautomer a file has: aromatic and conjugated bonds (as RDKit finds them), and the
bonds of terminal N, O, S and Se at one atom, one of which is double. Formal charges are ignored, since a
resonance form has them at one of several equivalent atoms.

Terminal atoms of one element at one atom, such as the oxygens of a phosphate, are permuted separately:
inositol hexakisphosphate has 559,872 pairings, but only 12 without these permutations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from foldnote.errors import ArgumentError
from foldnote.results.core.numeric import Floats, Rows

MAX_PAIRINGS = 100_000
"""Maximum number of symmetric pairings; a molecule with more is refused."""
_MAX_LEAVES = 6
"""Maximum number of terminal atoms at one atom that are permuted separately."""
_DELOCALIZED = 1.5
_LEAF_ELEMENTS = ("N", "O", "S", "Se")

Bonds = tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, eq=False)
class HeavyGraph:
    """Heavy atoms of a molecule.

    Attributes:
        elements: element of each atom.
        bonds: pairs of atoms with the bond order, 1.5 for aromatic bonds; NaN if unknown.
        charges: formal charge of each atom, 0 if unknown.
        positions: float64, shape (n, 3), Å.
    """

    elements: tuple[str, ...]
    bonds: Bonds
    charges: tuple[int, ...]
    positions: Floats

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for poses of one molecule from one program."""
        return (self.elements, self.bonds, self.charges)


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Atoms and bonds to be paired.

    Attributes:
        elements: element of each atom.
        bonds: pairs of atoms with the order that a pairing keeps.
    """

    elements: tuple[str, ...]
    bonds: Bonds = field(repr=False)

    @cached_property
    def leaves(self) -> dict[int, tuple[int, ...]]:
        """Interchangeable terminal atoms at one atom, two or more, by the first of them."""
        degrees = np.bincount([end for *ends, _ in self.bonds for end in ends], minlength=len(self.elements))
        groups: dict[tuple[int, str, float], list[int]] = defaultdict(list)
        for first, second, order in self.bonds:
            for end, centre in ((first, second), (second, first)):
                if degrees[end] == 1 < degrees[centre]:
                    groups[centre, self.elements[end], order].append(end)
        return {min(own): tuple(sorted(own)) for own in groups.values() if 1 < len(own) <= _MAX_LEAVES}

    @cached_property
    def rows(self) -> list[int]:
        """The atoms, with only the first of each set of interchangeable ones."""
        others = {row for own in self.leaves.values() for row in own[1:]}
        return [row for row in range(len(self.elements)) if row not in others]

    @cached_property
    def molecule(self) -> Any:
        """An RDKit molecule of these rows, in which isotopes mark the first of interchangeable atoms."""
        from rdkit import Chem

        kinds = {
            2.0: Chem.BondType.DOUBLE,
            3.0: Chem.BondType.TRIPLE,
            _DELOCALIZED: Chem.BondType.ONEANDAHALF,
        }
        indices = {row: index for index, row in enumerate(self.rows)}
        pattern: Any = Chem.RWMol()
        for row in self.rows:
            atom: Any = Chem.Atom(0 if self.elements[row] == "X" else self.elements[row])
            atom.SetNoImplicit(True)
            atom.SetIsotope(len(self.leaves.get(row, ())))
            pattern.AddAtom(atom)
        for first, second, order in self.bonds:
            if first in indices and second in indices:
                pattern.AddBond(indices[first], indices[second], kinds.get(order, Chem.BondType.SINGLE))
        return pattern


@dataclass(frozen=True, eq=False)
class Pairings:
    """Pairings of the atoms of two copies.

    Attributes:
        first: one copy.
        second: the other copy.
        images: rows of ``second`` for the rows of ``first.rows``, shape (k, m).
    """

    first: _Pattern
    second: _Pattern
    images: Rows

    def find_best(self, costs: Floats, other_costs: Floats | float = 0.0) -> tuple[float, Rows]:
        """Find the pairing with the lowest sum of costs; return the sum and each atom's partner.

        Args:
            costs: of each atom of the first with each of the second, shape (n, n).
            other_costs: further costs of each pairing, shape (k,).
        """
        rows, leaves = self.first.rows, self.first.leaves
        single = [column for column, row in enumerate(rows) if row not in leaves]
        totals = costs[np.array(rows)[single], self.images[:, single]].sum(axis=1) + other_costs
        orders: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {}
        for column in (column for column, row in enumerate(rows) if row in leaves):
            own = leaves[rows[column]]
            partners, inverse = np.unique(self.images[:, column], return_inverse=True)
            for head in partners.tolist():
                orders[own[0], head] = min(
                    (float(costs[list(own), list(other)].sum()), other)
                    for other in permutations(self.second.leaves[head])
                )
            totals += np.array([orders[own[0], head][0] for head in partners.tolist()])[inverse]
        best = int(np.argmin(totals))
        images = np.empty(len(self.first.elements), dtype=np.int64)
        images[rows] = self.images[best]
        for head, own in leaves.items():
            images[list(own)] = orders[head, int(images[head])][1]
        return float(totals[best]), images


def pair_atoms(graph: HeavyGraph, copy: HeavyGraph) -> Rows | None:
    """Return the row of ``copy``, whose bond orders are unknown, for each atom of ``graph``.

    Of several pairings of elements and connections, the one in which bonds of high order are shortest is
    returned.

    Returns:
        Rows, shape (n,); None if they are different molecules.

    Raises:
        ArgumentError: the molecule is too symmetric.
    """
    if sorted(graph.elements) != sorted(copy.elements) or len(graph.bonds) != len(copy.bonds):
        return None
    first, second = (
        _Pattern(molecule.elements, _set_orders(molecule.bonds, 1.0)) for molecule in (graph, copy)
    )
    pairings = _list_pairings(first, second)
    if not len(pairings.images):
        return None
    column = {row: index for index, row in enumerate(first.rows)}
    leaves = {row for own in first.leaves.values() for row in own}
    strain, costs = np.zeros(len(pairings.images)), np.zeros((len(graph.elements), len(copy.elements)))
    lengths = _measure_bonds(copy)
    for start, stop, order in graph.bonds:
        weight = 1.0 if np.isnan(order) else order
        end = next((row for row in (start, stop) if row in leaves), None)
        if end is not None:
            costs[end] = weight * lengths
        else:
            ends = [copy.positions[pairings.images[:, column[row]]] for row in (start, stop)]
            strain += weight * np.linalg.norm(ends[0] - ends[1], axis=1)
    return pairings.find_best(costs, strain)[1]


def _measure_bonds(graph: HeavyGraph) -> Floats:
    """Return the length of a bond of each atom, the only one of terminal atoms, Å; shape (n,)."""
    lengths = np.zeros(len(graph.elements))
    for first, second, _ in graph.bonds:
        lengths[[first, second]] = np.linalg.norm(graph.positions[first] - graph.positions[second])
    return lengths


def list_symmetries(graph: HeavyGraph) -> Pairings:
    """Return the pairings of a molecule with itself.

    Raises:
        ArgumentError: the molecule is too symmetric.
    """
    pattern = _Pattern(graph.elements, _find_delocalized(graph))
    return _list_pairings(pattern, pattern)


def measure_least_rmsd(symmetries: Pairings, points: Floats, others: Floats) -> float:
    """Return the lowest RMSD of two sets of positions (n, 3) over all pairings, without superposition."""
    squares = ((points[:, None, :] - others[None, :, :]) ** 2).sum(axis=2)
    return float(np.sqrt(symmetries.find_best(squares)[0] / len(points)))


def _list_pairings(first: _Pattern, second: _Pattern) -> Pairings:
    if len(first.rows) != len(second.rows):
        return Pairings(first, second, np.empty((0, len(first.rows)), dtype=np.int64))
    matches = second.molecule.GetSubstructMatches(first.molecule, uniquify=False, maxMatches=MAX_PAIRINGS)
    if len(matches) >= MAX_PAIRINGS:
        raise ArgumentError(
            f"The atoms of the ligand can be paired in more than {MAX_PAIRINGS:,} symmetric ways, too many"
            " for a symmetry-corrected RMSD."
        )
    rows = np.array(second.rows, dtype=np.int64)
    images = rows[np.array(matches, dtype=np.int64).reshape(len(matches), len(first.rows))]
    return Pairings(first, second, images)


def _set_orders(bonds: Sequence[tuple[int, int, float]], order: float) -> Bonds:
    return tuple((first, second, order) for first, second, _ in bonds)


def _find_delocalized(graph: HeavyGraph) -> Bonds:
    """Return the bonds, with the order 1.5 for all that are delocalized."""
    molecule = _make_molecule(graph)
    joint = {
        row for row, bond in enumerate(molecule.GetBonds()) if bond.GetIsAromatic() or bond.GetIsConjugated()
    }
    ends: dict[tuple[int, str], list[int]] = defaultdict(list)
    degrees = np.bincount([end for *pair, _ in graph.bonds for end in pair], minlength=len(graph.elements))
    for row, (first, second, _) in enumerate(graph.bonds):
        for end, centre in ((first, second), (second, first)):
            if degrees[end] == 1 and graph.elements[end] in _LEAF_ELEMENTS:
                ends[centre, graph.elements[end]].append(row)
    for rows in ends.values():
        if any(graph.bonds[row][2] == 2.0 for row in rows):
            joint.update(rows)
    return tuple(
        (first, second, _DELOCALIZED if row in joint else order)
        for row, (first, second, order) in enumerate(graph.bonds)
    )


def _make_molecule(graph: HeavyGraph) -> Any:
    """Make an RDKit molecule with aromatic and conjugated bonds perceived, however the file writes them."""
    from rdkit import Chem, rdBase

    kinds = {2.0: Chem.BondType.DOUBLE, 3.0: Chem.BondType.TRIPLE, 1.5: Chem.BondType.AROMATIC}
    molecule: Any = Chem.RWMol()
    for element, charge in zip(graph.elements, graph.charges, strict=True):
        atom: Any = Chem.Atom(0 if element == "X" else element)
        atom.SetFormalCharge(charge)
        molecule.AddAtom(atom)
    for first, second, order in graph.bonds:
        molecule.AddBond(first, second, kinds.get(order, Chem.BondType.SINGLE))
        if order == 1.5:
            molecule.GetBondBetweenAtoms(first, second).SetIsAromatic(True)
            for row in (first, second):
                molecule.GetAtomWithIdx(row).SetIsAromatic(True)
    Chem.FastFindRings(molecule)
    with rdBase.BlockLogs():
        molecule.UpdatePropertyCache(strict=False)
        if not any(bond.GetIsAromatic() for bond in molecule.GetBonds()):
            Chem.SetAromaticity(molecule)
        Chem.SetConjugation(molecule)
    return molecule
