"""The algorithm of AlphaCutter: which residues are non-globular, and which of the others make a domain.

Tam and Iwasaki: Proteomics (2023), doi:10.1002/pmic.202300176. A stretch of loop or of α-helix that has no
contact far along the chain or with another chain is non-globular from a minimum length on. The rest of the
chain consists of fragments; fragments in contact with each other, of one chain or of several, form one
domain. Fragments that are too short are removed from their domain, then domains that are too small or have
too low a pLDDT.

Two residues are in contact if two of their atoms are at most 4.5 Å apart, as in the authors' program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from near_atoms import find_near
from numpy.typing import NDArray
from protein_files import ProteinResidue

CONTACT_A = 4.5
BREAK_A = 4.5
"""Consecutive Cα atoms further apart than this (Å) are not neighbours in the chain."""
LOOP, HELIX = "-", "H"
"""States of DSSP that count: no state at all, and α-helix; not turns, bends and strands."""

Contacts = NDArray[np.int64]
"""Pairs of indices of residues in contact, shape (n, 2), each in both orders."""


@dataclass(frozen=True)
class CutterSettings:
    """The parameters of the algorithm; lengths are in residues."""

    loop_min: float
    helix_min: float
    fragment_min: float
    domain_min: float
    plddt_min: float
    local_contact_range: float

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> CutterSettings:
        """Read the parameters of a job, with AlphaCutter's defaults for missing ones."""
        return cls(
            loop_min=settings.get("loop_min", 20),
            helix_min=settings.get("helix_min", 30),
            fragment_min=settings.get("fragment_min", 5),
            domain_min=settings.get("domain_min", 0),
            plddt_min=settings.get("pLDDT_min", 0),
            local_contact_range=settings.get("local_contact_range", 5),
        )


@dataclass(frozen=True)
class CutRegion:
    """A stretch of one chain.

    Attributes:
        start, end: indices of its first residue and of the one after its last.
        kind: ``loop``, ``helix`` or ``fragment``.
        domain: number of its domain, from 1; 0 if it was removed.
        reason: why it was removed; empty if it was kept.
    """

    start: int
    end: int
    kind: str
    domain: int = 0
    reason: str = ""

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class ChainLayout:
    """Positions of residues in their chains.

    Attributes:
        chains: name of each residue's chain.
        piece: number of the unbroken piece of chain of each residue.
        place: position along the chain; across a break it increases by the difference of the residue numbers.
    """

    chains: Sequence[str]
    piece: NDArray[np.int64]
    place: NDArray[np.int64]


def lay_out(residues: Sequence[ProteinResidue], alphas: NDArray[np.float64]) -> ChainLayout:
    """Return pieces and positions along the chains.

    Args:
        residues: chain by chain.
        alphas: positions of their Cα atoms, shape (n, 3), Å; NaN if there is none, which breaks the chain.
    """
    piece, place = np.zeros(len(residues), dtype=np.int64), np.zeros(len(residues), dtype=np.int64)
    for index in range(1, len(residues)):
        before, own = residues[index - 1], residues[index]
        is_joined = before.chain == own.chain and np.linalg.norm(alphas[index] - alphas[index - 1]) <= BREAK_A
        step = 1 if is_joined else max(1, read_number(own) - read_number(before))
        piece[index] = piece[index - 1] + (not is_joined)
        place[index] = place[index - 1] + (step if before.chain == own.chain else 1)
    return ChainLayout([residue.chain for residue in residues], piece, place)


def read_number(residue: ProteinResidue) -> int:
    """Return the residue number without its insertion code."""
    return int(residue.number if residue.number[-1].isdigit() else residue.number[:-1])


def find_contacts(residues: Sequence[ProteinResidue]) -> Contacts:
    """Return which residues are in contact."""
    owners = np.array([index for index, residue in enumerate(residues) for _ in residue.atoms])
    points = np.array([atom.pos.tolist() for residue in residues for atom in residue.atoms])
    found = []
    for ones, others in find_near(points, CONTACT_A):
        pairs = np.stack([owners[ones], owners[others]], axis=1)
        found.append(np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0))
    return np.unique(np.concatenate(found), axis=0).astype(np.int64).reshape(-1, 2)


def count_far_contacts(contacts: Contacts, layout: ChainLayout, local_range: float) -> NDArray[np.int64]:
    """Return each residue's number of contacts in other chains or beyond the local range of its own."""
    names = np.array(layout.chains)
    ones, others = contacts[:, 0], contacts[:, 1]
    is_far = np.abs(layout.place[ones] - layout.place[others]) > local_range
    is_far |= names[ones] != names[others]
    return np.bincount(ones[is_far], minlength=len(names)).astype(np.int64)


def cut(
    states: NDArray[np.str_],
    contacts: Contacts,
    layout: ChainLayout,
    plddt: NDArray[np.float64],
    settings: CutterSettings,
) -> list[CutRegion]:
    """Return every region of the protein, in the order of its residues.

    Args:
        states: DSSP letter of each residue.
        contacts: residues in contact.
        layout: positions of residues in their chains.
        plddt: pLDDT of each residue, 0 to 100.
        settings: parameters of the algorithm.
    """
    is_lonely = count_far_contacts(contacts, layout, settings.local_contact_range) == 0
    removed = [
        *_find_runs(is_lonely & (states == LOOP), layout, settings.loop_min, "loop"),
        *_find_runs(is_lonely & (states == HELIX), layout, settings.helix_min, "helix"),
    ]
    fragments = _find_fragments(removed, layout)
    return sorted([*removed, *_join_domains(fragments, contacts, plddt, settings)], key=lambda one: one.start)


def _find_runs(wanted: NDArray[np.bool_], layout: ChainLayout, least: float, kind: str) -> list[CutRegion]:
    """Return unbroken stretches of wanted residues that are long enough to be non-globular.

    A stretch is the union of windows of the minimum length.
    """
    return [
        CutRegion(
            start,
            end,
            kind,
            reason=f"non-globular {kind}: {end - start} residues without a non-local contact",
        )
        for start, end in _find_stretches(wanted, layout.piece)
        if end - start >= least
    ]


def _find_fragments(removed: Sequence[CutRegion], layout: ChainLayout) -> list[CutRegion]:
    is_kept = np.ones(len(layout.piece), dtype=bool)
    for region in removed:
        is_kept[region.start : region.end] = False
    return [CutRegion(start, end, "fragment") for start, end in _find_stretches(is_kept, layout.piece)]


def _find_stretches(wanted: NDArray[np.bool_], piece: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the starts and ends of runs of wanted residues within a piece of chain."""
    found = []
    start = None
    for index, is_wanted in enumerate(wanted):
        if start is not None and (not is_wanted or piece[index] != piece[start]):
            found.append((start, index))
            start = None
        if is_wanted and start is None:
            start = index
    return [*found, (start, len(wanted))] if start is not None else found


def _join_domains(
    fragments: Sequence[CutRegion], contacts: Contacts, plddt: NDArray[np.float64], settings: CutterSettings
) -> list[CutRegion]:
    """Return the fragments with the numbers of their domains, or the reason for their removal."""
    found = []
    number = 0
    for members in _find_groups(fragments, contacts, len(plddt)):
        short = [one for one in members if len(one) < settings.fragment_min]
        reason = f"fragment of fewer than {settings.fragment_min:g} residues"
        found += [CutRegion(one.start, one.end, one.kind, reason=reason) for one in short]
        long = [one for one in members if len(one) >= settings.fragment_min]
        if not long:
            continue
        size = sum(len(one) for one in long)
        mean = float(np.concatenate([plddt[one.start : one.end] for one in long]).mean())
        reason = ""
        if size < settings.domain_min:
            reason = f"domain of {size} residues, fewer than {settings.domain_min:g}"
        elif mean < settings.plddt_min:
            reason = f"domain with a mean pLDDT of {mean:.1f}, below {settings.plddt_min:g}"
        number += not reason
        found += [
            CutRegion(one.start, one.end, one.kind, domain=0 if reason else number, reason=reason)
            for one in long
        ]
    return found


def _find_groups(fragments: Sequence[CutRegion], contacts: Contacts, count: int) -> list[list[CutRegion]]:
    """Group fragments in contact, directly or through others, in the order of their first residues."""
    owner = np.full(count, -1)
    for index, one in enumerate(fragments):
        owner[one.start : one.end] = index
    group = list(range(len(fragments)))

    def find(index: int) -> int:
        while group[index] != index:
            group[index] = group[group[index]]
            index = group[index]
        return index

    pairs = owner[contacts]
    pairs = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
    for one, other in np.unique(pairs, axis=0).tolist():
        first, second = sorted((find(one), find(other)))
        group[second] = first
    groups: dict[int, list[CutRegion]] = {}
    for index, one in enumerate(fragments):
        groups.setdefault(find(index), []).append(one)
    return list(groups.values())
