"""The user's own alignment, checked against the sequence and written in ColabFold's format."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from pathlib import Path

from a3m import check_rows, read_rows, write_rows
from engine_protocol import clean_sequence, fail

SUBJECT = "the alignment"
_HEAD = re.compile(r"#([0-9]+(?:,[0-9]+)*)\t([0-9]+(?:,[0-9]+)*)")
_LETTERS = frozenset(string.ascii_uppercase + "-")


def write_alignment(source: Path, chains: Sequence[str], target: Path) -> None:
    """Write the alignment for the program; fail if it does not match.

    The alignment of one chain, or of one with several copies, is plain A3M. That of a complex of different
    chains is the A3M that ColabFold itself writes: a first line with lengths and numbers of copies.
    """
    text = source.read_text("utf-8", "replace")
    rows = read_rows(text, SUBJECT)
    unique = list(dict.fromkeys(chains))
    copies = [chains.count(chain) for chain in unique]
    own_head = f"#{','.join(str(len(chain)) for chain in unique)}\t{','.join(map(str, copies))}"
    first = text.replace("\x00", "").lstrip("\ufeff").strip().splitlines()[0].strip()
    has_head = _HEAD.fullmatch(first) is not None
    if has_head and first != own_head:
        fail("The first line of the alignment is about other chains than the job's, or in another order.")
    if not has_head and len(unique) > 1:
        fail(
            "The alignment of a complex of different chains must be an A3M file that ColabFold wrote, whose"
            " first line has the lengths of the chains; this is the alignment of one chain."
        )
    query = "".join(unique)
    if clean_sequence(rows[0][1]) != query:
        fail(
            "The first sequence of the alignment is not that of the job. An A3M file begins with the sequence"
            " itself, without gaps."
        )
    check_rows(rows, query, SUBJECT, _LETTERS)
    write_rows(rows, target, f"{own_head}\n" if has_head or copies != [1] else "")
