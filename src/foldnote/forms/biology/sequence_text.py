"""Parse pasted sequences: raw, wrapped, numbered or FASTA, in upper or lower case.

`read_sequence` removes header lines, white space, position numbers, and the first and last line of a sequence
in GenBank, EMBL or UniProt format, and converts to upper case. The catalog validates the letters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from foldnote.text import count

_POSITION = re.compile(r"(?<!\S)\d+(?!\S)")
"""A number between blocks of letters, at an end of a line, or in a line of numbers above the letters."""

_FIRST_LINE = re.compile(r"\A\s*(?:ORIGIN[ \t]*|SQ[ \t]+SEQUENCE\b.*)\n(?=\s*\S)", re.IGNORECASE)
"""The line before the sequence in GenBank, EMBL and UniProt entries."""
_LAST_LINE = re.compile(r"\s//\s*\Z")
"""The end of such an entry."""


class SequenceText(NamedTuple):
    """The chains of a text, and what was cleaned."""

    chains: tuple[str, ...]
    """Upper-case letters; empty chains are kept, so that validation reports a stray separator."""
    names: tuple[str, ...] = ()
    """Header of each chain's FASTA record; empty if there are none, or not one per chain."""
    notes: tuple[str, ...] = ()
    """Descriptions of what was cleaned."""


def read_sequence(text: str, separator: str | None = None) -> SequenceText:
    """Return the chains in ``text``: FASTA records, or raw letters split at ``separator`` if given."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\ufeff")
    if text.lstrip().startswith((">", ";")):
        return _read_fasta(text, separator)
    if not text.strip():
        return SequenceText(())
    letters, notes = _clean(text)
    return SequenceText(_split(letters, separator), (), notes)


def _read_fasta(text: str, separator: str | None) -> SequenceText:
    names: list[str] = []
    bodies: list[list[str]] = []
    for line in text.splitlines():
        if line.lstrip().startswith((">", ";")):
            names.append(line.strip()[1:].strip())
            bodies.append([])
        else:
            bodies[-1].append(line)
    cleaned = [_clean("\n".join(body)) for body in bodies]
    chains = [chain for letters, _ in cleaned for chain in _split(letters, separator)]
    is_several = len(names) > 1
    header = f"{count(len(names), 'FASTA record')} read as chains" if is_several else _header_note(names[0])
    cleaning_notes = dict.fromkeys(note for _, notes in cleaned for note in notes)
    own_names = tuple(names) if len(names) == len(chains) else ()
    return SequenceText(tuple(chains), own_names, (header, *cleaning_notes))


def _split(letters: str, separator: str | None) -> tuple[str, ...]:
    return tuple(letters.split(separator)) if separator else (letters,)


def _header_note(name: str) -> str:
    title = name if len(name) <= 40 else f"{name[:39]}…"
    return f"FASTA header “{title}” removed" if title else "FASTA header removed"


def _clean(text: str) -> tuple[str, tuple[str, ...]]:
    notes = []
    body = _LAST_LINE.sub("", _FIRST_LINE.sub("", text))
    if body != text:
        notes.append("lines around the sequence removed")
    unnumbered = _POSITION.sub("", body)
    if not unnumbered.strip():
        unnumbered = body
    if unnumbered != body:
        notes.append("position numbers removed")
    letters = re.sub(r"\s+", "", unnumbered)
    if letters != letters.upper():
        notes.append("converted to upper case")
    return letters.upper(), tuple(notes)
