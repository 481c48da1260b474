"""Checks an alignment of the user's and writes it as Boltz reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine_protocol import AMINO_ACIDS, clean_sequence, fail

_LETTERS = frozenset(AMINO_ACIDS + "XBZUOJ-")
"""Letters that Boltz has tokens for, and the gap."""


def check_alignment(source: Path, target: Path, number: int) -> str:
    """Write the alignment with a line a sequence; gives its query, the first sequence.

    Boltz takes each line for a sequence of its own and fails on letters that it does not know.
    """
    rows = _read_rows(source.read_text("utf-8", "replace").lstrip("\ufeff"), number)
    query = clean_sequence(rows[0][1])
    if "-" in query:
        fail(f"The first row of alignment {number} has gaps. An A3M file begins with the sequence itself.")
    for place, (_, row) in enumerate(rows, start=1):
        if odd := sorted(set(row.upper()) - _LETTERS):
            fail(f"Row {place} of alignment {number} has {odd[0]!r}; amino-acid letters and '-' are taken.")
        columns = sum(not letter.islower() for letter in row) if place > 1 else len(query)
        if columns != len(query):
            fail(
                f"Row {place} of alignment {number} has {columns} columns (capitals and '-'), and the first"
                f" one {len(query)}. Give an A3M file of one chain."
            )
    lines = [(rows[0][0], query), *rows[1:]]
    target.write_text("".join(f"{name}\n{row}\n" for name, row in lines), "utf-8")
    return query


def _read_rows(text: str, number: int) -> Sequence[tuple[str, str]]:
    rows: list[tuple[str, list[str]]] = []
    for line in filter(None, map(str.strip, text.replace("\x00", "").splitlines())):
        if line.startswith(">"):
            rows.append((line, []))
        elif line.startswith("#"):
            continue
        elif rows:
            rows[-1][1].append("".join(line.split()))
        else:
            fail(f"Alignment {number} is not A3M: text stands before the first name, which begins with '>'.")
    if not rows or not rows[0][1]:
        fail(f"Alignment {number} has no sequence. Give an A3M file.")
    return [(name, "".join(parts)) for name, parts in rows]
