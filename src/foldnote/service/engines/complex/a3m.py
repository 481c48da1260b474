"""Read users' A3M alignments and check their rows against the columns of the first one.

It runs inside the engines' own environments and uses only the standard library. A row is a name, which begins
with '>', and a sequence; ``subject`` describes the alignment, for the middle of a sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from engine_protocol import clean_sequence, fail


def read_alignment(path: Path, subject: str, letters: Collection[str]) -> list[tuple[str, str]]:
    """Return the rows of the alignment of one protein; the first is its sequence, in capitals.

    Args:
        path: path of the A3M file.
        subject: description of the alignment.
        letters: capitals that the method accepts, and '-'.
    """
    rows = read_rows(path.read_text("utf-8", "replace"), subject)
    query = clean_sequence(rows[0][1])
    if "-" in query:
        fail(f"The first sequence of {subject} has gaps. An A3M file begins with the sequence itself.")
    check_rows(rows, query, subject, letters)
    return [(rows[0][0], query), *rows[1:]]


def read_rows(text: str, subject: str) -> list[tuple[str, str]]:
    """Return the rows of an A3M text, one line each; comments, blanks and null characters are skipped."""
    rows: list[tuple[str, list[str]]] = []
    for line in filter(None, map(str.strip, text.replace("\x00", "").lstrip("\ufeff").splitlines())):
        if line.startswith(">"):
            rows.append((line, []))
        elif line.startswith("#"):
            continue
        elif rows:
            rows[-1][1].append("".join(line.split()))
        else:
            told = "text stands before the first name, which begins with '>'"
            fail(f"{subject.capitalize()} is not A3M: {told}.")
    if not rows or not rows[0][1]:
        fail(f"{subject.capitalize()} has no sequence. Give an A3M file.")
    return [(name, "".join(parts)) for name, parts in rows]


def check_rows(rows: Sequence[tuple[str, str]], query: str, subject: str, letters: Collection[str]) -> None:
    """Check that every row has known letters and, except for the query, which is first, its columns."""
    for number, (_, row) in enumerate(rows, start=1):
        if odd := sorted({letter for letter in row if letter.upper() not in letters}):
            fail(f"Sequence {number} of {subject} has {odd[0]!r}; letters of amino acids and '-' are taken.")
        columns = sum(not letter.islower() for letter in row) if number > 1 else len(query)
        if columns != len(query):
            fail(
                f"Sequence {number} of {subject} has {columns} columns (capitals and '-'), and the first one"
                f" {len(query)}. Give an A3M file."
            )


def write_rows(rows: Iterable[tuple[str, str]], path: Path, head: str = "") -> None:
    """Write two lines per row, below the line ``head`` if there is one."""
    path.write_text(head + "".join(f"{name}\n{row}\n" for name, row in rows), "utf-8")
