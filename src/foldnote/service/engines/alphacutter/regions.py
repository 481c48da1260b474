"""The algorithm of AlphaCutter: which residues are non-globular, and which of the others make a domain.

Tam and Iwasaki: Proteomics (2023), doi:10.1002/pmic.202300176. A stretch of loop, or of α-helix, that touches
nothing far along the chain and no other chain is non-globular from a length on. What lies between such
stretches are fragments; fragments that touch each other, of one chain or of several, are one domain.
Fragments that are too short are dropped from their domain, then domains that are too small or have too low a
pLDDT.

Two residues touch where two of their atoms are at most 4.5 Å apart, as in the authors' program.
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
"""States of DSSP that count: no state at all, and α-helix; turns, bends and strands are neither."""

Contacts = NDArray[np.int64]
"""Pairs of places of residues that touch, shape (n, 2), each in both orders."""


@dataclass(frozen=True)
class CutterSettings:
    """The numbers that decide; lengths are in residues."""

    loop_min: float
    helix_min: float
    fragment_min: float
    domain_min: float
    plddt_min: float
    local_contact_range: float

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> CutterSettings:
        """The numbers of a job, with AlphaCutter's own where one is missing."""
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
        start, end: places of its first residue and of the one behind its last.
        kind: ``loop``, ``helix`` or ``fragment``.
        domain: number of the domain that it belongs to, from 1; 0 where it was removed.
        reason: why it was removed; empty where it was kept.
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
    """Where residues stand in their chains.

    Attributes:
        chains: name of each residue's chain.
        piece: number of the unbroken piece of chain that each residue is in.
        place: place along the chain; across a break it goes on by the difference of the residue numbers.
    """

    chains: Sequence[str]
    piece: NDArray[np.int64]
    place: NDArray[np.int64]


def lay_out(residues: Sequence[ProteinResidue], alphas: NDArray[np.float64]) -> ChainLayout:
    """Pieces and places along the chains.

    Args:
        residues: chain by chain.
        alphas: places of their Cα atoms, shape (n, 3), Å; NaN where there is none, which breaks the chain.
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
    """The residue number without its insertion code."""
    return int(residue.number if residue.number[-1].isdigit() else residue.number[:-1])


def find_contacts(residues: Sequence[ProteinResidue]) -> Contacts:
    """Which residues touch."""
    owners = np.array([index for index, residue in enumerate(residues) for _ in residue.atoms])
    points = np.array([atom.pos.tolist() for residue in residues for atom in residue.atoms])
    found = []
    for ones, others in find_near(points, CONTACT_A):
        pairs = np.stack([owners[ones], owners[others]], axis=1)
        found.append(np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0))
    return np.unique(np.concatenate(found), axis=0).astype(np.int64).reshape(-1, 2)


def count_far_contacts(contacts: Contacts, layout: ChainLayout, local_range: float) -> NDArray[np.int64]:
    """How many residues each one touches in other chains or beyond the local range of its own."""
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
    """Every region of the protein, in the order of its residues.

    Args:
        states: the letter of DSSP for each residue.
        contacts: which residues touch.
        layout: where residues stand in their chains.
        plddt: pLDDT of each residue, 0 to 100.
        settings: the numbers that decide.
    """
    is_lonely = count_far_contacts(contacts, layout, settings.local_contact_range) == 0
    removed = [
        *_find_runs(is_lonely & (states == LOOP), layout, settings.loop_min, "loop"),
        *_find_runs(is_lonely & (states == HELIX), layout, settings.helix_min, "helix"),
    ]
    fragments = _find_fragments(removed, layout)
    return sorted([*removed, *_join_domains(fragments, contacts, plddt, settings)], key=lambda one: one.start)


def _find_runs(wanted: NDArray[np.bool_], layout: ChainLayout, least: float, kind: str) -> list[CutRegion]:
    """Unbroken stretches of wanted residues that are long enough to be non-globular.

    They are what windows of the least length cover together.
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
    """Starts and ends of runs of wanted residues within a piece of chain."""
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
    """The fragments with the numbers of their domains, or the reason why they were removed."""
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
    """Fragments that touch each other directly or through others, in the order of their first residues."""
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
