"""Read contigs: the parts of a design, in the order of its sequence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from engine_protocol import fail

MOST_RESIDUES = 1000
"""Maximum residues of a design in all chains and copies: memory grows with their square."""
MOST_CHAINS = 20
"""Maximum chains of a design; the following letters are left for ligands."""
BREAK = "/0"
"""Separator between two chains."""
_BREAK = re.compile(r"/0(?=[\s,/]|$)")
_SEPARATORS = re.compile(r"[\s,/]+")
_KEPT = re.compile(r"([A-Za-z]):?(\d{1,4})(?:-([A-Za-z]?)(\d{1,4}))?", re.ASCII)
_DESIGNED = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)


@dataclass(frozen=True)
class Kept:
    """Residues of the structure, ``first`` to ``last``."""

    chain: str
    first: int
    last: int

    def __str__(self) -> str:
        numbers = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.chain}{numbers}"

    @property
    def residues(self) -> Iterator[tuple[str, int]]:
        """Chain and number of each residue."""
        return ((self.chain, number) for number in range(self.first, self.last + 1))


@dataclass(frozen=True)
class Designed:
    """New residues, ``least`` to ``most`` of them."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least}-{self.most}"


Part = Kept | Designed


@dataclass(frozen=True)
class Contig:
    """The chains of a design, each a sequence of parts."""

    chains: tuple[tuple[Part, ...], ...]

    def __str__(self) -> str:
        """Format the contig for RFdiffusion3."""
        return f",{BREAK},".join(",".join(map(str, chain)) for chain in self.chains)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of all chains."""
        return tuple(part for chain in self.chains for part in chain)

    @property
    def kept(self) -> tuple[Kept, ...]:
        """The parts from the structure."""
        return tuple(part for part in self.parts if isinstance(part, Kept))

    @property
    def residues(self) -> set[tuple[str, int]]:
        """Chain and number of each residue of the structure."""
        return {place for part in self.kept for place in part.residues}

    @property
    def lengths(self) -> tuple[int, int]:
        """Minimum and maximum number of residues."""
        sizes = [
            (part.least, part.most) if isinstance(part, Designed) else (part.last - part.first + 1,) * 2
            for part in self.parts
        ]
        return sum(least for least, _ in sizes), sum(most for _, most in sizes)


def read_contig(text: str, setting: str) -> Contig:
    """Return the contig of a setting; fail if it is invalid.

    Parts are separated by commas, spaces or slashes, chains by ``/0``.
    """
    chains = []
    for chain in _BREAK.split(text.strip().strip(",")):
        words = [word for word in _SEPARATORS.split(chain) if word]
        if not words:
            fail(
                f"{setting} has a chain without parts. Put {BREAK} between two chains only, as in"
                f" 60,{BREAK},A1-90."
            )
        chains.append(tuple(_read_part(word, setting) for word in words))
    contig = Contig(tuple(chains))
    if len(chains) > MOST_CHAINS:
        fail(
            f"{setting} has {len(chains)} chains; RFdiffusion3 names them by letters, and at most"
            f" {MOST_CHAINS} are taken here."
        )
    _refuse_repeats(contig.kept, setting)
    return contig


def read_selection(text: str, setting: str) -> tuple[Kept, ...]:
    """Return residues of the structure, such as ``A108 A139-142``."""
    words = [word for word in _SEPARATORS.split(text.strip()) if word]
    parts = [_read_part(word, setting) for word in words]
    for part, word in zip(parts, words, strict=True):
        if isinstance(part, Designed):
            fail(
                f"In {setting}, {word!r} names no chain. Give residues of the structure, such as A108 or"
                " A139-142."
            )
    kept = tuple(part for part in parts if isinstance(part, Kept))
    _refuse_repeats(kept, setting)
    return kept


def read_length(text: str, setting: str) -> Designed:
    """Return a length or a range of lengths, such as ``120`` or ``100-120``."""
    found = _DESIGNED.fullmatch("".join(text.split()))
    if not found:
        fail(f"In {setting}, {text.strip()!r} is neither a length such as 120 nor a range such as 100-120.")
    return _read_designed(found, setting)


def _read_part(word: str, setting: str) -> Part:
    if found := _DESIGNED.fullmatch(word):
        return _read_designed(found, setting)
    found = _KEPT.fullmatch(word)
    if not found:
        _refuse_word(word, setting)
    chain, first, other, last = found.groups()
    if other and other != chain:
        fail(
            f"In {setting}, {word!r} begins in chain {chain} and ends in chain {other}. Give a part for each"
            " chain."
        )
    kept = Kept(chain, int(first), int(last or first))
    if kept.last < kept.first:
        fail(f"In {setting}, {word!r} ends before it begins.")
    return kept


def _refuse_word(word: str, setting: str) -> NoReturn:
    if re.fullmatch(r"\d+(-\d+)?[RDrd]", word):
        fail(
            f"In {setting}, {word!r} asks for new RNA or DNA; RFdiffusion3 designs proteins. Strands of the"
            " structure can be kept."
        )
    if re.fullmatch(r"[A-Za-z]:?\d+[A-Za-z](-.*)?|[A-Za-z]:?\d+-[A-Za-z]?\d+[A-Za-z]", word):
        fail(
            f"In {setting}, {word!r} has an insertion code, which RFdiffusion3 cannot read. Renumber the"
            " chain, or name other residues."
        )
    if re.fullmatch(r"[A-Za-z]:?-\d+.*", word):
        fail(
            f"In {setting}, {word!r} has a negative number, which RFdiffusion3 cannot read. Renumber the"
            " chain."
        )
    if re.fullmatch(r"[A-Za-z0-9]{2,4}:\d+.*|\d+:\d+.*|[A-Za-z]{2,}\d+.*", word):
        fail(
            f"In {setting}, {word!r} belongs to a chain whose name is not a single letter, which RFdiffusion3"
            " cannot read. Rename the chain."
        )
    fail(
        f"In {setting}, {word[:40]!r} is neither a length such as 60 or 60-80 nor residues of the structure"
        " such as"
        f" A5 or A5-45. Parts are separated by commas, chains by {BREAK}."
    )


def _read_designed(found: re.Match[str], setting: str) -> Designed:
    least, most = int(found[1]), int(found[2] or found[1])
    if most < least:
        fail(f"In {setting}, the range {found[0]} ends before it begins.")
    if most == 0:
        fail(f"In {setting}, a length of 0 designs nothing. Leave it out.")
    return Designed(least, most)


def _refuse_repeats(kept: Iterable[Kept], setting: str) -> None:
    seen: set[tuple[str, int]] = set()
    for part in kept:
        for place in part.residues:
            if place in seen:
                fail(f"{setting} names residue {place[0]}{place[1]} twice.")
            seen.add(place)


def name_places(places: Sequence[tuple[str, int]], most: int = 8) -> str:
    """Return residues as ``A20-24, A31``, and the number of parts beyond the first."""
    parts: list[Kept] = []
    for chain, number in places:
        if parts and (parts[-1].chain, parts[-1].last + 1) == (chain, number):
            parts[-1] = Kept(chain, parts[-1].first, number)
        else:
            parts.append(Kept(chain, number, number))
    shown = ", ".join(map(str, parts[:most]))
    return f"{shown} and {len(parts) - most} more" if len(parts) > most else shown
