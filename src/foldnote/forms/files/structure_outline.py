"""The chains of a structure's first model with kinds, residues and CDRs, for a form's choices and checks.

Nothing is renumbered: CDRs are identified only if the numbering of the file shows its scheme.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from foldnote.catalog.contents import is_mmcif, read_residue_number
from foldnote.forms.files.contents import recall
from foldnote.forms.files.file_reference import local_path, resolve_file
from foldnote.forms.files.polymer_residues import find_polymer, is_nucleotide, is_water
from foldnote.text import count

if TYPE_CHECKING:
    import gemmi

_LARGEST_BYTES: Final = 50_000_000
"""Maximum size of a structure that is read, so that typing stays fast."""


class ChainRegion(NamedTuple):
    """A named part of a chain, such as a CDR."""

    name: str
    """``CDR-H3``."""
    numbering: str
    """The scheme that defines the region: ``IMGT`` or ``Kabat``."""
    residues: tuple[str, ...]
    """Residue numbers with insertion codes, in the order of the file."""


class OutlineChain(NamedTuple):
    """One chain of a structure's first model."""

    name: str
    kind: str
    """``protein``, ``DNA``, ``RNA``, ``ligands`` or ``water``."""
    residues: tuple[str, ...]
    """Residue numbers with insertion codes (``52A``) of the polymer; without a polymer, of all residues."""
    letters: str
    """One-letter codes of ``residues``; ``X`` for those without one."""
    stretches: tuple[ChainRegion, ...] = ()

    @property
    def is_polymer(self) -> bool:
        """Whether the chain is protein or nucleic acid."""
        return self.kind not in ("ligands", "water")

    @property
    def label(self) -> str:
        """``A · protein, 120 residues``."""
        noun = "residue" if self.kind not in ("DNA", "RNA") else "base"
        return f"{self.name} · {self.kind}, {count(len(self.residues), noun)}"

    @property
    def extent(self) -> str:
        """First and last residue: ``1 to 128``."""
        return f"{self.residues[0]} to {self.residues[-1]}" if self.residues else "nothing"


class Outline(NamedTuple):
    """The chains of one structure, or those common to several structures."""

    name: str
    """Name of the structure, for messages: ``target.pdb``."""
    chains: tuple[OutlineChain, ...]
    unnamed: int = 0
    """Number of chains without a name; they are not among ``chains``, since no setting can refer to them."""
    others: Mapping[str, int] = MappingProxyType({})
    """Number of residues outside of polymers, by type: ``ligand``, ``ion``, ``water``."""

    def find(self, name: str) -> OutlineChain | None:
        """Return the chain of this name; None without one."""
        return next((chain for chain in self.chains if chain.name == name), None)

    @property
    def words(self) -> str:
        """``2 chains: H 120, L 107 residues, 3 waters``; ``1 chain: A 1 residue, 1 chain without a name``."""
        polymers = [chain for chain in self.chains if chain.is_polymer]
        listed = [f"{chain.name} {len(chain.residues):,}" for chain in polymers[:8]]
        text = count(len(polymers or self.chains), "chain") if self.chains else ""
        if listed:
            noun = "residue" if len(polymers) == len(polymers[0].residues) == 1 else "residues"
            text += f": {', '.join(listed)}{' …' if len(polymers) > 8 else ''} {noun}"
        unnamed = f"{count(self.unnamed, 'chain')} without a name" if self.unnamed else ""
        further = [count(number, kind) for kind, number in self.others.items()]
        return ", ".join(filter(None, (text, unnamed, *further)))


def find_outline(value: Any, uploads: Iterable[str] = ()) -> Outline | None:
    """Return the outline of the structure that a file setting names, or of all structures of a list.

    None if a structure is not available here, is larger than 50 MB, or cannot be read.
    """
    if isinstance(value, list | tuple):
        outlines = [find_outline(item, uploads) for item in value]
        complete = [outline for outline in outlines if outline is not None and outline.chains]
        return _join(complete) if complete and len(complete) == len(outlines) else None
    source = locate_structure(value, uploads)
    return _read_outline(source) if source is not None else None


class StructureSource(NamedTuple):
    """Where the text of a structure is available; equal if the contents are unchanged."""

    name: str
    """Name of the structure, for messages: ``target.pdb``."""
    text: str = ""
    """The contents; empty for a file on this computer."""
    path: str = ""
    changed_ns: int = 0
    """Time of the file's last change, in nanoseconds since 1970."""
    size_bytes: int = 0

    def read(self) -> str:
        """Return the contents; empty if the file cannot be read any more."""
        if not self.path:
            return self.text
        try:
            data = Path(self.path).read_bytes()
            unpacked = gzip.decompress(data) if self.path.endswith(".gz") else data
        except (OSError, EOFError):
            return ""
        return unpacked.decode("utf-8", "replace")


def locate_structure(value: Any, uploads: Iterable[str] = ()) -> StructureSource | None:
    """Locate the structure that a file setting names; None if unavailable or larger than 50 MB."""
    if not isinstance(value, str) or not value:
        return None
    if "\n" in value:
        return StructureSource("the pasted structure", value) if len(value) < _LARGEST_BYTES else None
    path = local_path(resolve_file(value, uploads))
    if path is None:
        cached = recall(value)
        return StructureSource(value.rpartition("/")[2], cached) if cached else None
    state = path.stat()
    if state.st_size > _LARGEST_BYTES:
        return None
    return StructureSource(path.name, path=str(path), changed_ns=state.st_mtime_ns, size_bytes=state.st_size)


def _join(outlines: list[Outline]) -> Outline:
    first, *others = outlines
    if not others:
        return first
    shared = [chain for chain in first.chains if all(outline.find(chain.name) for outline in others)]
    return Outline(f"all {len(outlines)} structures", tuple(shared))


@lru_cache(maxsize=16)
def _read_outline(source: StructureSource) -> Outline | None:
    import gemmi  # deferred: forms without structures do not need it

    text = source.read()
    try:
        if is_mmcif(text):
            structure = gemmi.make_structure_from_block(gemmi.cif.read_string(text).sole_block())
        else:
            structure = gemmi.read_pdb_string(text)
    except (ValueError, RuntimeError):
        return None
    if not len(structure) or not len(structure[0]):
        return None
    structure.merge_chain_parts()
    outside = dict.fromkeys(("ligand", "ion", "water"), 0)
    chains = tuple(_read_chain(chain, outside) for chain in structure[0])
    present = [chain for chain in chains if chain.residues]
    named = tuple(chain for chain in present if chain.name)
    present_kinds = {kind: number for kind, number in outside.items() if number}
    return Outline(source.name, named, len(present) - len(named), present_kinds) if present else None


def _read_chain(chain: gemmi.Chain, outside: dict[str, int]) -> OutlineChain:
    """Return one chain; its residues outside the polymer are counted in ``outside``."""
    from foldnote.residue_names import find_letter

    residues = list(chain)
    polymer = find_polymer(residues)
    nucleotides = [residue for residue in polymer if is_nucleotide(residue)]
    listed = polymer or residues
    inside = {id(residue) for residue in polymer}
    for residue in residues:
        if id(residue) not in inside and residue.name not in _CAPS:
            outside["water" if is_water(residue) else "ion" if len(residue) == 1 else "ligand"] += 1
    if not polymer:
        kind = "water" if residues and all(map(is_water, residues)) else "ligands"
    elif len(nucleotides) * 2 > len(polymer):
        kind = "DNA" if any(residue.name.startswith("D") for residue in polymer) else "RNA"
    else:
        kind = "protein"
    letters: dict[str, str] = {}
    for residue in listed:
        letter = find_letter(residue.name) if polymer else "X"
        letters.setdefault(f"{residue.seqid.num}{residue.seqid.icode}".strip(), letter)
    stretches = find_cdrs(letters) if kind == "protein" else ()
    return OutlineChain(chain.name, kind, tuple(letters), "".join(letters.values()), stretches)


_CAPS: Final = ("ACE", "FOR", "NH2", "NHE", "NMA", "NME")
"""Capping groups at the ends of a chain."""
_MARKS: Final = (
    ("IMGT", "", {"23": "C", "41": "W", "104": "C"}, ((27, 38), (56, 65), (105, 117))),
    ("Kabat", "H", {"22": "C", "36": "W", "92": "C"}, ((31, 35), (50, 65), (95, 102))),
    ("Kabat", "L", {"23": "C", "35": "W", "88": "C", "98": "F"}, ((24, 34), (50, 56), (89, 97))),
)
"""Scheme, chain type (empty for either), conserved residues by number, and first and last residue of the
three CDRs in the definition of the scheme (Lefranc et al. 2003; Kabat et al. 1991)."""


def find_cdrs(residues: dict[str, str]) -> tuple[ChainRegion, ...]:
    """Return the CDRs of a variable domain; empty if the conserved residues do not show a numbering scheme.

    Args:
        residues: one-letter code of each residue number, in the order of the chain.
    """
    for scheme, kind, marks, regions in _MARKS:
        is_scheme = all(residues.get(number) == letter for number, letter in marks.items())
        if not is_scheme or (kind == "H" and not _has_insertions(residues)):
            continue
        return tuple(
            ChainRegion(f"CDR-{kind}{position}", scheme, members)
            for position, (first, last) in enumerate(regions, 1)
            if (
                members := tuple(
                    number for number in residues if first <= read_residue_number(number) <= last
                )
            )
        )
    return ()


def _has_insertions(residues: dict[str, str]) -> bool:
    """Return whether residues have insertion codes, as 82A to 82C in every Kabat-numbered heavy chain."""
    return any(number[-1].isalpha() for number in residues)
