"""What a structure is made of, as far as a form must know it: chains, their kinds, residues and CDRs.

It serves the choices and checks of a form. It reads the file's first model, draws nothing, and numbers
nothing by itself: CDRs are told only where the file's own numbering shows its scheme.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from foldnote.forms.files.contents import recall
from foldnote.forms.files.file_reference import local_path, settle
from foldnote.text import count

if TYPE_CHECKING:
    import gemmi

_LARGEST_BYTES: Final = 50_000_000
"""Structures beyond this are left to the service, so that typing stays quick."""


@dataclass(frozen=True, slots=True)
class ChainRegion:
    """A named part of a chain, such as a CDR."""

    name: str
    """``CDR-H3``."""
    numbering: str
    """The scheme whose definition this is: ``IMGT`` or ``Kabat``."""
    residues: tuple[str, ...]
    """As numbered in the file, in its order."""


@dataclass(frozen=True, slots=True)
class OutlineChain:
    """One chain of a structure's first model."""

    name: str
    kind: str
    """``protein``, ``DNA``, ``RNA``, ``ligands`` or ``water``."""
    residues: tuple[str, ...]
    """Numbers with insertion codes (``52A``), of the polymer; of everything where there is none."""
    letters: str
    """One-letter codes of ``residues``; ``X`` where there is none."""
    stretches: tuple[ChainRegion, ...] = ()

    @property
    def is_polymer(self) -> bool:
        """Whether the chain is of protein or nucleic acid."""
        return self.kind not in ("ligands", "water")

    @property
    def label(self) -> str:
        """``A · protein, 120 residues``."""
        noun = "residue" if self.kind not in ("DNA", "RNA") else "base"
        return f"{self.name} · {self.kind}, {count(len(self.residues), noun)}"

    @property
    def extent(self) -> str:
        """First and last number: ``1 to 128``."""
        return f"{self.residues[0]} to {self.residues[-1]}" if self.residues else "nothing"


@dataclass(frozen=True, slots=True)
class Outline:
    """The chains of one structure, or those that several structures share."""

    name: str
    """How a sentence calls the structure: ``target.pdb``."""
    chains: tuple[OutlineChain, ...]

    def find(self, name: str) -> OutlineChain | None:
        """The chain of this name."""
        return next((chain for chain in self.chains if chain.name == name), None)

    @property
    def words(self) -> str:
        """``2 chains: H 120, L 107 residues``."""
        shown = [f"{chain.name} {len(chain.residues)}" for chain in self.chains if chain.is_polymer]
        if not shown:
            return count(len(self.chains), "chain")
        more = " …" if len(shown) > 8 else ""
        return f"{count(len(shown), 'chain')}: {', '.join(shown[:8])}{more} residues"


def find_outline(value: Any, uploads: Iterable[str] = ()) -> Outline | None:
    """The outline of the structure, or of all structures of a list, that a file setting holds.

    None where it holds none, or one that lies elsewhere, is too large, or cannot be read.
    """
    if isinstance(value, list | tuple):
        found = [find_outline(item, uploads) for item in value]
        known = [outline for outline in found if outline is not None]
        return _join(known) if known and len(known) == len(found) else None
    if not isinstance(value, str) or not value:
        return None
    if "\n" in value:
        return _read_text(value, "the pasted structure") if len(value) < _LARGEST_BYTES else None
    path = local_path(settle(value, uploads))
    if path is None:
        seen = recall(value)
        return _read_text(seen, value.rpartition("/")[2]) if seen else None
    state = path.stat()
    if state.st_size > _LARGEST_BYTES:
        return None
    return _read_path(str(path), state.st_mtime_ns, state.st_size)


def _join(outlines: list[Outline]) -> Outline:
    first, *rest = outlines
    if not rest:
        return first
    shared = [chain for chain in first.chains if all(other.find(chain.name) for other in rest)]
    return Outline(f"all {len(outlines)} structures", tuple(shared))


@lru_cache(maxsize=16)
def _read_path(path: str, _changed_ns: int, _size: int) -> Outline | None:
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8", "replace")
    except (OSError, EOFError):
        return None
    return _read_text(text, Path(path).name)


@lru_cache(maxsize=16)
def _read_text(text: str, name: str) -> Outline | None:
    import gemmi  # forms without structures need none of it

    try:
        if "_atom_site." in text:
            structure = gemmi.make_structure_from_block(gemmi.cif.read_string(text).sole_block())
        else:
            structure = gemmi.read_pdb_string(text)
    except (ValueError, RuntimeError):
        return None
    if not len(structure) or not len(structure[0]):
        return None
    structure.merge_chain_parts()
    chains = tuple(_read_chain(chain) for chain in structure[0])
    named = tuple(chain for chain in chains if chain.name and chain.residues)
    return Outline(name, named) if named else None


def _read_chain(chain: gemmi.Chain) -> OutlineChain:
    import gemmi

    told = [(residue, gemmi.find_tabulated_residue(residue.name)) for residue in chain]
    polymer = [
        (residue, info)
        for residue, info in told
        if info.is_amino_acid() or info.is_nucleic_acid() or residue.het_flag == "A"
    ]
    if not polymer:
        is_water = bool(told) and all(info.is_water() for _, info in told)
        kind, polymer = "water" if is_water else "ligands", told
    elif sum(info.is_nucleic_acid() for _, info in polymer) * 2 > len(polymer):
        kind = "DNA" if any(residue.name.startswith("D") for residue, _ in polymer) else "RNA"
    else:
        kind = "protein"
    found: dict[str, str] = {}
    for residue, info in polymer:
        letter = info.one_letter_code.strip().upper()
        found.setdefault(f"{residue.seqid.num}{residue.seqid.icode}".strip(), letter or "X")
    stretches = find_cdrs(found) if kind == "protein" else ()
    return OutlineChain(chain.name, kind, tuple(found), "".join(found.values()), stretches)


_MARKS: Final = (
    ("IMGT", "", {"23": "C", "41": "W", "104": "C"}, ((27, 38), (56, 65), (105, 117))),
    ("Kabat", "H", {"22": "C", "36": "W", "92": "C"}, ((31, 35), (50, 65), (95, 102))),
    ("Kabat", "L", {"23": "C", "35": "W", "88": "C", "98": "F"}, ((24, 34), (50, 56), (89, 97))),
)
"""Scheme, kind of chain where the scheme tells it, conserved residues at their numbers, and the three CDRs of
the scheme's own definition (Lefranc et al. 2003; Kabat et al. 1991)."""


def find_cdrs(residues: dict[str, str]) -> tuple[ChainRegion, ...]:
    """The CDRs of a variable domain whose numbering shows its scheme by the conserved residues.

    Args:
        residues: one-letter code of each residue number, in the chain's order.
    """
    for scheme, kind, marks, regions in _MARKS:
        is_scheme = all(residues.get(number) == letter for number, letter in marks.items())
        if not is_scheme or (kind == "H" and not _has_insertions(residues)):
            continue
        return tuple(
            ChainRegion(f"CDR-{kind}{position}", scheme, found)
            for position, (first, last) in enumerate(regions, 1)
            if (found := tuple(number for number in residues if first <= number_of(number) <= last))
        )
    return ()


def _has_insertions(residues: dict[str, str]) -> bool:
    """Whether numbers were given by a scheme: every heavy chain has residues beyond Kabat's 82."""
    return any(number[-1].isalpha() for number in residues)


def number_of(residue: str) -> int:
    """The number of ``52A`` without its insertion code."""
    return int(residue.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
