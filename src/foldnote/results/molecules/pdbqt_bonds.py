"""Bonds and hydrogens of a ligand in PDBQT, which has neither, from the SMILES that Meeko writes beside it.

``REMARK SMILES IDX`` pairs atoms of the SMILES with atoms of the file, ``REMARK H PARENT`` atoms of the
SMILES with the hydrogens that the file has of them, both counted from 1. RDKit reads the SMILES.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from foldnote.results.molecules.molecule import BondRow

_SMILES = re.compile(r"^REMARK SMILES (?!IDX\b)(\S{1,2000})[ \t]*$", re.M)
_PAIRS = re.compile(r"^REMARK (SMILES IDX|H PARENT)((?:[ \t]+\d{1,6})*)[ \t]*$", re.M)


@dataclass(frozen=True)
class _Graph:
    """A molecule without places: elements, hydrogens left out counted, bonds as (atom, atom, order)."""

    elements: tuple[str, ...]
    hydrogens: int
    bonds: tuple[BondRow, ...]


@dataclass(frozen=True)
class Chemistry:
    """What a SMILES tells of a ligand.

    Attributes:
        elements: number of atoms of each element, every hydrogen counted.
        bonds: pairs of rows of the file's atoms with their order, 1.5 where aromatic.
    """

    elements: Mapping[str, int]
    bonds: tuple[BondRow, ...]


def find_chemistry(remarks: str, rows: Mapping[int, int], elements: Sequence[str]) -> Chemistry | None:
    """Formula and bonds of a ligand, or None without a SMILES of just these atoms.

    Args:
        remarks: a text with the remarks.
        rows: the row of each atom, by its number in the file.
        elements: the element of each row.
    """
    found = _SMILES.search(remarks)
    graph = _read_graph(found[1]) if found else None
    if graph is None:
        return None
    pairs = _read_pairs(remarks, "SMILES IDX", rows)
    parents = _read_pairs(remarks, "H PARENT", rows)
    if pairs is None or parents is None or not _is_whole(graph, dict(pairs), elements):
        return None
    places = dict(pairs)
    used = set(places.values())
    bonds = [(places[a], places[b], order) for a, b, order in graph.bonds if a in places and b in places]
    bonds += [(places[parent], row, 1.0) for parent, row in parents if parent in places and row not in used]
    counts = Counter(graph.elements)
    counts["H"] += graph.hydrogens
    return Chemistry({symbol: count for symbol, count in counts.items() if count}, tuple(bonds))


def _is_whole(graph: _Graph, places: Mapping[int, int], elements: Sequence[str]) -> bool:
    """Whether the heavy atoms of SMILES and file are the same, one for one and element by element."""
    named = {atom for atom, symbol in enumerate(graph.elements) if symbol != "H"}
    paired = {row for row in places.values() if elements[row] != "H"}
    heavy = {row for row, symbol in enumerate(elements) if symbol != "H"}
    fits = all(
        atom < len(graph.elements) and graph.elements[atom] == elements[row] for atom, row in places.items()
    )
    return fits and named <= set(places) and paired == heavy and len(set(places.values())) == len(places)


def _read_pairs(remarks: str, kind: str, rows: Mapping[int, int]) -> list[tuple[int, int]] | None:
    """Atoms of the SMILES (from 0) with rows of the file; None where a number is none of the file's."""
    texts = [found[2].split() for found in _PAIRS.finditer(remarks) if found[1] == kind]
    numbers = [int(number) for text in texts for number in text]
    if len(numbers) % 2 or any(number not in rows for number in numbers[1::2]):
        return None
    return [(atom - 1, rows[number]) for atom, number in zip(numbers[::2], numbers[1::2], strict=True)]


@lru_cache(maxsize=512)
def _read_graph(smiles: str) -> _Graph | None:
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule: Any = Chem.MolFromSmiles(smiles)
    if molecule is None or not molecule.GetNumAtoms():
        return None
    atoms = list(molecule.GetAtoms())
    return _Graph(
        elements=tuple(str(atom.GetSymbol()) for atom in atoms),
        hydrogens=sum(int(atom.GetTotalNumHs()) for atom in atoms),
        bonds=tuple(
            (int(bond.GetBeginAtomIdx()), int(bond.GetEndAtomIdx()), float(bond.GetBondTypeAsDouble()))
            for bond in molecule.GetBonds()
        ),
    )
