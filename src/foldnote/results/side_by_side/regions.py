"""Regions of the reference structure: frameworks and CDRs of antibody chains, and residues selected in text.

CDRs are those of the result's own numbering, else those of IMGT as numbered by immunum, where it is installed
(``pip install 'foldnote[numbering]'``). immunum runs locally and has no model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from string import ascii_letters
from typing import Any

from foldnote.errors import ArgumentError
from foldnote.results.sequences.antibody_numbering import Region, locate_region, name_scheme
from foldnote.results.side_by_side.items import ComparedItem
from foldnote.results.structure.chains import Chain
from foldnote.results.structure.structure import Structure

Residue = tuple[str, str]
"""(chain, number with insertion code)"""

_KINDS = {"H": "H", "K": "L", "L": "L", "A": "A", "B": "B", "G": "G", "D": "D"}
"""Letter in the label of a CDR by immunum's chain type; A, B, G and D are T-cell receptors."""
_PARTS = ("fr1", "cdr1", "fr2", "cdr2", "fr3", "cdr3", "fr4")
_SHORTEST = 60
_LEAST_CONFIDENCE = 0.6
_LONGEST = 2_000
_SELECTION = re.compile(r"\s*([^:;]+):\s*([^:;]*)")
_RANGE = re.compile(r"(-?\d+[A-Za-z]?)(?:\s*[-\u2013]\s*(-?\d+[A-Za-z]?))?")


@dataclass(frozen=True)
class StructureRegion:
    """A region of one chain of the reference.

    Attributes:
        label: ``CDR-H3`` or ``H framework``.
        chain: chain name.
        numbers: residue numbers with insertion code.
        is_cdr: whether it is a CDR.
    """

    label: str
    chain: str
    numbers: tuple[str, ...]
    is_cdr: bool

    @property
    def residues(self) -> list[Residue]:
        """(chain, number) of its residues."""
        return [(self.chain, number) for number in self.numbers]


def find_regions(item: ComparedItem) -> tuple[tuple[StructureRegion, ...], str]:
    """Find the frameworks and CDRs of an item's structure.

    Returns:
        For each antibody chain its framework, then its CDRs; and their definition and numbering. Both are
        empty for a structure without a numbered chain.
    """
    if item.structure is None:
        return (), ""
    placed = _place_numbering(item.regions, item.structure)
    if placed:
        definition = name_scheme(item.regions[0].definition)
        return placed, f"CDRs by the {definition} definition, from the numbering of {item.name}"
    regions = [region for chain in item.structure.chains for region in _number_chain(chain)]
    source = f"CDRs by the IMGT definition, from immunum's numbering of {item.name}"
    return tuple(regions), source if regions else ""


def select_residues(
    align: str, structure: Structure, regions: Sequence[StructureRegion]
) -> tuple[list[Residue], str]:
    """Find the residues to which a superposition is fitted.

    Args:
        align: ``all``, ``framework``, the label of a region (``CDR-H3``, ``H framework``), a chain (``H`` or
            ``chain H``), or residues (``H:1-25 30;L:1-20``).
        structure: the reference.
        regions: its regions.

    Returns:
        The residues, empty for ``all``, and a description of them.

    Raises:
        ArgumentError: there is no such region, chain or residue.
    """
    text = align.strip()
    if text == "all":
        return [], "all paired residues"
    chains = {chain.name: chain for chain in structure.chains}
    if text in chains or text.removeprefix("chain ") in chains:
        name = text if text in chains else text.removeprefix("chain ")
        return [(name, number) for number in chains[name].numbers], f"chain {name}"
    selected = [region for region in regions if region.label.lower() == text.lower()]
    if text.lower() == "framework":
        selected = [region for region in regions if not region.is_cdr]
    if selected:
        region_name = "the framework" if text.lower() == "framework" else selected[0].label
        return [residue for region in selected for residue in region.residues], region_name
    parts = [part for part in text.split(";") if part.strip()]
    if parts and all(_SELECTION.fullmatch(part) for part in parts):
        return [residue for part in parts for residue in _read_part(part, structure)], f"residues {text}"
    raise ArgumentError(_explain_choice(align, structure, regions))


def _read_part(part: str, structure: Structure) -> list[Residue]:
    match = _SELECTION.fullmatch(part)
    name, text = (match[1].strip(), match[2]) if match else ("", "")
    chain = next((chain for chain in structure.chains if chain.name == name), None)
    if chain is None:
        names = ", ".join(chain.name for chain in structure.chains)
        raise ArgumentError(f"align={part!r}: {structure.name} has no chain {name!r}; it has {names}.")
    residues: list[Residue] = []
    for entry in text.replace(",", " ").split():
        numbers = _expand(entry, chain.numbers)
        if not numbers:
            raise ArgumentError(
                f"align={part!r}: chain {name} of {structure.name} has no residue {entry}; "
                f"it has {chain.numbers[0]} to {chain.numbers[-1]}."
            )
        residues += [(name, number) for number in numbers]
    return residues


def _expand(entry: str, numbers: Sequence[str]) -> Sequence[str]:
    """Return the residue numbers of a number or range, skipping numbers of a range that the chain lacks."""
    span = _RANGE.fullmatch(entry)
    first, last = (span[1], span[2] or span[1]) if span else (entry, entry)
    if first in numbers and last in numbers:
        return numbers[numbers.index(first) : numbers.index(last) + 1]
    if span is None or span[2] is None:
        return ()
    low, high = (int(end.rstrip(ascii_letters)) for end in (first, last))
    return [number for number in numbers if low <= int(number.rstrip(ascii_letters)) <= high]


def _explain_choice(align: str, structure: Structure, regions: Sequence[StructureRegion]) -> str:
    names = ["'all'", *(f"'chain {chain.name}'" for chain in structure.chains)]
    names += ["'framework'"] if regions else []
    names += [repr(region.label) for region in regions]
    first = structure.chains[0]
    example = f"'{first.name}:{first.numbers[0]}-{first.numbers[-1]}'"
    advice = ""
    if not regions and align.lower().startswith(("framework", "cdr")):
        advice = f" No antibody chain was found in {structure.name}" + (
            "." if _make_annotator() is not None else ": for that, install immunum (foldnote[numbering])."
        )
    return (
        f"align={align!r} is not a part of {structure.name}.{advice} "
        f"Choose one of {', '.join(dict.fromkeys(names))}, or residues such as {example}."
    )


def _place_numbering(regions: Sequence[Region], structure: Structure) -> tuple[StructureRegion, ...]:
    """Return the regions of the first scheme that are found in the structure, by chain."""
    chains = {chain.name: chain for chain in structure.chains}
    own = [
        (region, numbers)
        for region in regions
        if (region.scheme, region.definition) == (regions[0].scheme, regions[0].definition)
        and (numbers := locate_region(region, chains)) is not None
    ]
    structure_regions: list[StructureRegion] = []
    for chain in dict.fromkeys(region.chain for region, _ in own):
        rows = [(region, numbers) for region, numbers in own if region.chain == chain]
        frame = tuple(number for region, numbers in rows if not region.is_cdr for number in numbers)
        structure_regions += (
            [StructureRegion(f"{chain} framework", chain, frame, is_cdr=False)] if frame else []
        )
        structure_regions += [
            StructureRegion(r.label, chain, numbers, is_cdr=True) for r, numbers in rows if r.is_cdr
        ]
    return tuple(structure_regions)


def _number_chain(chain: Chain) -> list[StructureRegion]:
    """Return the framework and CDRs of the first variable domain of a chain; empty if it has none."""
    annotator = _make_annotator()
    if annotator is None or chain.kind != "protein" or not _SHORTEST <= len(chain) <= _LONGEST:
        return []
    numbered, parts = annotator.number(chain.sequence), annotator.segment(chain.sequence)
    if numbered.error or parts.error or numbered.confidence < _LEAST_CONFIDENCE:
        return []
    letter, start = _KINDS.get(numbered.chain, chain.name), len(parts.prefix or "")
    frame: list[str] = []
    cdrs: list[StructureRegion] = []
    for name in _PARTS:
        text = getattr(parts, name) or ""
        if chain.sequence[start : start + len(text)] != text:
            return []
        numbers = chain.numbers[start : start + len(text)]
        start += len(text)
        if name.startswith("fr"):
            frame += numbers
        elif numbers:
            cdrs.append(StructureRegion(f"CDR-{letter}{name[-1]}", chain.name, numbers, is_cdr=True))
    if len(frame) < _SHORTEST // 2:
        return []
    return [StructureRegion(f"{letter} framework", chain.name, tuple(frame), is_cdr=False), *cdrs]


@cache
def _make_annotator() -> Any | None:
    try:
        import immunum
    except ImportError:
        return None
    return immunum.Annotator(chains=list(_KINDS), scheme="imgt")
