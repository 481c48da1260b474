"""Read an A3M alignment and measure its sequences, as AF-Cluster does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from a3m import read_rows
from engine_protocol import fail
from numpy.typing import NDArray

ALPHABET = "ACDEFGHIKLMNPQRSTVWY-"
"""Letters with a place in the one-hot encoding; any other letter is encoded as all zeros."""
UNKNOWN = len(ALPHABET)
GAP_CUTOFF = 0.25
"""Sequences with this share of gaps or more are left out."""
BLOCK_BYTES = 200_000_000
"""Memory for two blocks of encoded sequences."""

Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class AlignedRows:
    """The query and the sequences that are clustered.

    Attributes:
        query: (header, sequence of the aligned columns).
        headers: headers of the other sequences with few enough gaps.
        rows: their aligned columns.
        notes: what was left out.
    """

    query: tuple[str, str]
    headers: list[str]
    rows: list[str]
    notes: list[str]


def read_msa(path: Path) -> AlignedRows:
    """Return the alignment without insertions and without sequences with many gaps; fail if unreadable."""
    rows = read_rows(path.read_text("utf-8", "replace"), "the alignment")
    aligned = [
        (name[1:].strip() or "unnamed", "".join(c for c in row if c.isupper() or c == "-"))
        for name, row in rows
    ]
    length = len(aligned[0][1])
    if not length:
        fail("The query has no aligned column. Write its residues in capitals.")
    for number, (header, row) in enumerate(aligned, start=1):
        if len(row) != length:
            fail(
                f"Sequence {number} ({header[:60]}) has {len(row)} aligned columns, the query {length}."
                " In A3M every sequence has as many capitals and gaps as the query."
            )
    return choose_rows(aligned, length)


def choose_rows(aligned: Sequence[tuple[str, str]], length: int) -> AlignedRows:
    """Leave out sequences with too many gaps."""
    others = aligned[1:]
    kept = [(header, row) for header, row in others if row.count("-") / length < GAP_CUTOFF]
    notes = []
    if len(kept) < len(others):
        notes.append(
            f"{len(others) - len(kept)} of {len(others)} sequences were left out because"
            f" {GAP_CUTOFF:.0%} or more of their columns are gaps."
        )
    odd = sum(any(letter not in ALPHABET for letter in row) for _, row in kept)
    if odd:
        notes.append(
            f"Sequences with letters other than the 20 amino acids, which are like no other letter: {odd}."
        )
    if not kept:
        fail(
            "No sequence besides the query is left to cluster."
            + (f" {notes[0]}" if notes else " The alignment holds the query only.")
        )
    return AlignedRows(aligned[0], [header for header, _ in kept], [row for _, row in kept], notes)


def encode(rows: Sequence[str]) -> Codes:
    """Return the place of each letter in the alphabet, shape (n, columns)."""
    table = np.full(256, UNKNOWN, dtype=np.uint8)
    table[np.frombuffer(ALPHABET.encode(), dtype=np.uint8)] = np.arange(UNKNOWN, dtype=np.uint8)
    letters = np.frombuffer("".join(rows).encode("ascii", "replace"), dtype=np.uint8)
    return table[letters].reshape(len(rows), -1)


def make_one_hot(codes: Codes) -> NDArray[np.float32]:
    """Return the encoding of the paper, shape (n, 21 columns)."""
    lookup = np.vstack([np.eye(UNKNOWN, dtype=np.float32), np.zeros((1, UNKNOWN), dtype=np.float32)])
    return lookup[codes].reshape(len(codes), -1)


def measure_squares(codes: Codes, others: Codes) -> NDArray[np.float32]:
    """Return the squared Euclidean distances of the encodings, whole numbers, shape (n, m)."""
    known = [(each != UNKNOWN).sum(axis=1) for each in (codes, others)]
    shared = make_one_hot(codes) @ make_one_hot(others).T
    squares: NDArray[np.float32] = (known[0][:, None] + known[1][None, :]).astype(np.float32) - 2 * shared
    return squares


def count_block_rows(columns: int) -> int:
    """Return how many encoded sequences fit into half of the memory for blocks."""
    return max(64, min(4096, BLOCK_BYTES // (2 * 4 * UNKNOWN * columns)))


def vote(codes: Codes) -> str:
    """Return the most frequent letter of each column; the first of the alphabet in a tie."""
    counts = np.stack([(codes == place).sum(axis=0) for place in range(UNKNOWN)])
    return "".join(ALPHABET[place] for place in counts.argmax(axis=0))
