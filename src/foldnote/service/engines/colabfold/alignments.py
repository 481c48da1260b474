"""The user's own alignment, checked against the sequence and written as ColabFold reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from engine_protocol import clean_sequence, fail

_HEAD = re.compile(r"#([0-9]+(?:,[0-9]+)*)\t([0-9]+(?:,[0-9]+)*)")


def write_alignment(source: Path, chains: Sequence[str], target: Path) -> None:
    """Write the alignment for the program; ends with a sentence for the user where it does not fit.

    The alignment of one chain, or of one that is there several times, is plain A3M. That of a complex of
    different chains is the A3M that ColabFold itself writes: a first line with lengths and numbers of copies.
    """
    text = source.read_text("utf-8", "replace").replace("\x00", "").lstrip("\ufeff")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        fail("The alignment is empty. Give an A3M file.")
    unique = list(dict.fromkeys(chains))
    copies = [chains.count(chain) for chain in unique]
    own_head = f"#{','.join(str(len(chain)) for chain in unique)}\t{','.join(map(str, copies))}"
    has_head = _HEAD.fullmatch(lines[0]) is not None
    if has_head and lines[0] != own_head:
        fail("The first line of the alignment is about other chains than the job's, or in another order.")
    if not has_head and len(unique) > 1:
        fail(
            "The alignment of a complex of different chains must be an A3M file that ColabFold wrote, whose"
            " first line has the lengths of the chains; this is the alignment of one chain."
        )
    rows = read_rows(lines)
    check_rows(rows, "".join(unique))
    head = f"{own_head}\n" if has_head or copies != [1] else ""
    target.write_text(head + "".join(f"{name}\n{row}\n" for name, row in rows), "utf-8")


def read_rows(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Names, each with '>', and sequences, whose lines are joined."""
    rows: list[tuple[str, str]] = []
    parts: list[str] = []
    name = ""
    for line in [*lines, ">"]:
        if line.startswith(">"):
            if name:
                rows.append((name, "".join(parts)))
            elif parts:
                fail("The alignment is not A3M: text stands before the first name, which begins with '>'.")
            name, parts = line, []
        elif not line.startswith("#"):
            parts.append("".join(line.split()))
    if not rows:
        fail("The alignment has no sequence. Give an A3M file.")
    return rows


def check_rows(rows: Sequence[tuple[str, str]], query: str) -> None:
    """The first sequence is that of the job, and every other one has its columns: capitals and '-'."""
    if clean_sequence(rows[0][1]) != query:
        fail(
            "The first sequence of the alignment is not that of the job. An A3M file begins with the sequence"
            " itself, without gaps."
        )
    for number, (_, row) in enumerate(rows[1:], start=2):
        odd = sorted({letter for letter in row if not _is_letter(letter)})
        if odd:
            fail(f"Sequence {number} of the alignment has {odd[0]!r}; letters and '-' are taken.")
        columns = sum(not letter.islower() for letter in row)
        if columns != len(query):
            fail(
                f"Sequence {number} of the alignment has {columns} columns (capitals and '-'), and the first"
                f" one {len(query)}. Give an A3M file."
            )


def _is_letter(letter: str) -> bool:
    return letter == "-" or (letter.isascii() and letter.isalpha())
