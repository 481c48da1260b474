"""What a docking keeps from a receptor file and what it omits, for a form.

The note ``receptor`` of a file field defines what is kept: the polymer residues that ``residues`` names, and
the metal ions that ``ions`` names. gemmi distinguishes polymers from ligands, as in the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from foldnote.catalog.contents import is_mmcif
from foldnote.forms.files.structure_outline import StructureSource, locate_structure
from foldnote.text import count

if TYPE_CHECKING:
    import gemmi

Point = tuple[float, float, float]
Extent = tuple[Point, Point]
"""Minimum and maximum x, y and z of some atoms, Å."""

_LEAST_ATOMS: Final = 6
"""Minimum number of heavy atoms of a ligand that marks a site; smaller ones are mostly ions and solvent."""
_SHOWN: Final = 4
_PROTONATED: Final = ("HID", "HIE", "HIP")
"""Names of protonated histidine that gemmi does not count as polymer."""


@dataclass(frozen=True, slots=True)
class Site:
    """A ligand in the receptor's file."""

    name: str
    """``STI A 201``; ``STI A 201 (2)`` for the second one with this name."""
    atoms: int
    """Number of heavy atoms."""
    extent: Extent = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReceptorOutline:
    """The receptor as the docking uses it."""

    name: str
    """Name of the file, for messages."""
    residues: Mapping[tuple[str, str], Extent] = field(repr=False)
    """Extent of each kept residue's heavy atoms, by chain and residue number with insertion code."""
    extent: Extent
    sites: tuple[Site, ...]
    """Ligands with at least six heavy atoms, the largest first."""
    words: str
    """What is kept and what is omitted, as sentences."""

    def count_inside(self, box: Extent) -> int:
        """Return the number of kept residues whose extent overlaps the box."""
        return sum(_overlaps(extent, box) for extent in self.residues.values())

    def overlaps(self, box: Extent) -> bool:
        """Return whether the receptor and the box touch."""
        return _overlaps(self.extent, box)


def _overlaps(first: Extent, second: Extent) -> bool:
    """Return whether two boxes touch."""
    edges = zip(*first, *second, strict=True)
    return all(low <= other_high and other_low <= high for low, high, other_low, other_high in edges)


def join_extents(extents: Iterable[Extent]) -> Extent:
    """Return the extent of several extents, of which there is at least one."""
    lows, highs = zip(*extents, strict=True)
    low, high = tuple(map(min, zip(*lows, strict=True))), tuple(map(max, zip(*highs, strict=True)))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def find_receptor(value: Any, uploads: Iterable[str], rule: Any) -> ReceptorOutline | None:
    """Return the receptor that a file setting names.

    Args:
        value: the setting.
        uploads: names of the account's uploads.
        rule: the note ``receptor`` of the field, with the keys ``residues`` and ``ions``.

    Returns:
        None without such a note, for a file that is not available here, or one without a receptor.
    """
    source = locate_structure(value, uploads) if isinstance(rule, Mapping) else None
    if source is None:
        return None
    return _outline(source, str(rule.get("residues", "")), str(rule.get("ions", "")))


@lru_cache(maxsize=4)
def _outline(source: StructureSource, residues: str, ions: str) -> ReceptorOutline | None:
    import gemmi  # deferred: forms without structures do not need it

    text = source.read()
    try:
        kind = gemmi.CoorFormat.Mmcif if is_mmcif(text) else gemmi.CoorFormat.Pdb
        structure = gemmi.read_structure_string(text, format=kind)
    except (ValueError, RuntimeError):
        return None
    if not len(structure) or not len(structure[0]):
        return None
    notes = [f"first of {len(structure)} models"] if len(structure) > 1 else []
    del structure[1:]
    structure.setup_entities()
    if any(site.atom.has_altloc() for site in structure[0].all()):
        notes.append("most occupied of the alternate locations")
        structure.remove_alternative_conformations()
    hydrogens = sum(site.atom.is_hydrogen() for site in structure[0].all())
    structure.remove_hydrogens()
    waters = sum(residue.is_water() for chain in structure[0] for residue in chain)
    structure.remove_waters()
    return _summarise(
        structure, source.name, (set(residues.split()), set(ions.split())), (waters, hydrogens, notes)
    )


def _summarise(
    structure: gemmi.Structure,
    name: str,
    kept_names: tuple[set[str], set[str]],
    counts: tuple[int, int, list[str]],
) -> ReceptorOutline | None:
    inside: dict[tuple[str, str], Extent] = {}
    left_out: list[str] = []
    sites: list[Site] = []
    total = 0
    for chain in structure[0]:
        for residue in chain:
            if not len(residue):
                continue
            total += 1
            extent = _find_extent(residue)
            if _is_kept(residue, *kept_names):
                inside[chain.name, str(residue.seqid)] = extent
                continue
            left_out.append(" ".join(f"{residue.name} {chain.name} {residue.seqid}".split()))
            if len(residue) >= _LEAST_ATOMS and not (_is_polymer(residue) and _has_backbone(residue)):
                repeat = left_out.count(left_out[-1])
                title = left_out[-1] if repeat == 1 else f"{left_out[-1]} ({repeat})"
                sites.append(Site(title, len(residue), extent))
    if not inside:
        return None
    waters, hydrogens, notes = counts
    parts = [f"{_shorten(left_out)}"] if left_out else []
    parts += [count(waters, "water")] if waters else []
    sentences = [f"docked to {len(inside)} of {count(total, 'residue')} without waters"]
    sentences += [f"left out: {', '.join(parts)}"] if parts else []
    sentences += [f"{', '.join(notes)}"] if notes else []
    sentences += [f"{count(hydrogens, 'hydrogen')} replaced"] if hydrogens else []
    sites.sort(key=lambda site: -site.atoms)
    return ReceptorOutline(name, inside, join_extents(inside.values()), tuple(sites), "; ".join(sentences))


def _is_kept(residue: gemmi.Residue, names: set[str], ions: set[str]) -> bool:
    """Return whether a residue is kept as part of the receptor."""
    is_part = _is_polymer(residue) or residue.name in _PROTONATED
    return residue.name in ions or (residue.name in names and is_part)


def _is_polymer(residue: gemmi.Residue) -> bool:
    return residue.entity_type.name == "Polymer"


def _has_backbone(residue: gemmi.Residue) -> bool:
    """Return whether a residue has the atoms that bond a polymer; a ligand may have a nucleotide's name."""
    names = {atom.name for atom in residue}
    return names >= {"N", "CA", "C"} or names >= {"C3'", "C4'", "C5'"}


def _find_extent(residue: gemmi.Residue) -> Extent:
    positions = [atom.pos.tolist() for atom in residue]
    low, high = (tuple(map(pick, zip(*positions, strict=True))) for pick in (min, max))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def _shorten(names: list[str]) -> str:
    further = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {further} more" if further > 0 else "")
