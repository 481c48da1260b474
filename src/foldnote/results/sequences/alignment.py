"""Read sequences and alignments in FASTA, a3m, a2m, Stockholm and Clustal format.

The first sequence is the query, and the columns are its residues: insertions relative to it (lower case in
a3m and a2m) are dropped. Sequences of unequal length are kept as a list of unaligned sequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.errors import UnreadableFileError
from foldnote.results.core.html_repr import NotebookRepr
from foldnote.results.core.numeric import Floats
from foldnote.results.naming.families import strip_packing

GAP = "-"
_IS_RESIDUE = ~np.isin(np.arange(256), list(b"-.~ "))
_INSERTED = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyz.")
_LENGTHS = re.compile(r"#\s*(\d+(?:,\d+)*)\t(\d+(?:,\d+)*)\s*$")
_CLUSTAL_LINE = re.compile(r"(\S+)\s+([A-Za-z\-.*~]+)(?:\s+\d+)?\s*$")
_CLUSTAL_HEADS = ("CLUSTAL", "MUSCLE ", "PROBCONS", "MSAPROBS", "KALIGN")
"""First words, in upper case, of files in Clustal's format, by the programs that write them."""
_LETTERS = re.compile(r"[A-Za-z\-.*~]*\Z")
_CHAIN_BREAKS = re.compile(r"[/:]")
_HEADER_FIGURE = re.compile(r"(?:^|[\s,;|])([A-Za-z]\w{0,40})=(-?\d+(?:\.\d+)?(?:[eE]-?\d+)?)(?=$|[\s,;|])")


@dataclass(frozen=True, eq=False)
class Alignment(NotebookRepr):
    """Sequences, the query first; aligned if all have the same length.

    Attributes:
        name: file name.
        names: first word of each header, one per sequence.
        descriptions: the rest of each header.
        sequences: the sequences, with ``-`` for gaps.
        chain_lengths: number of residues of each chain, if the file says that its columns are several chains
            joined; else empty.
        chain_copies: number of copies of each of these chains.
    """

    name: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    sequences: tuple[str, ...]
    chain_lengths: tuple[int, ...] = ()
    chain_copies: tuple[int, ...] = ()

    @property
    def depth(self) -> int:
        """Number of sequences, the query included."""
        return len(self.sequences)

    def __len__(self) -> int:
        """Return the number of sequences, the query included."""
        return len(self.sequences)

    @property
    def is_aligned(self) -> bool:
        """Whether all sequences have the same length."""
        return len({len(sequence) for sequence in self.sequences}) == 1

    @property
    def length(self) -> int:
        """Number of columns, L.

        Raises:
            UnreadableFileError: the sequences are of unequal length.
        """
        if not self.is_aligned:
            raise UnreadableFileError(
                f"{self.name} holds sequences of unequal length; it is a list of sequences, not an alignment."
            )
        return len(self.sequences[0])

    @property
    def query(self) -> str:
        """The first sequence."""
        return self.sequences[0]

    @cached_property
    def letters(self) -> NDArray[np.uint8]:
        """ASCII codes of the letters in upper case, shape (depth, L).

        Raises:
            UnreadableFileError: the sequences are of unequal length.
        """
        codes = "".join(self.sequences).upper().encode("ascii", "replace")
        return np.frombuffer(codes, dtype=np.uint8).reshape(self.depth, self.length)

    @cached_property
    def is_residue(self) -> NDArray[np.bool_]:
        """True for residues, False for gaps; shape (depth, L).

        Raises:
            UnreadableFileError: the sequences are of unequal length.
        """
        return np.asarray(_IS_RESIDUE[self.letters])

    @property
    def coverage(self) -> NDArray[np.int64]:
        """Number of sequences with a residue in each column, shape (L,).

        Raises:
            UnreadableFileError: the sequences are of unequal length.
        """
        return np.asarray(self.is_residue.sum(axis=0, dtype=np.int64))

    @cached_property
    def identity(self) -> Floats:
        """Fraction of residues identical to the query, 0 to 1, shape (depth,).

        Computed over the columns where both have a residue; NaN for a sequence without such columns. Equal
        letters are identical, ``X`` with ``X`` included, as in BLAST and MMseqs2. Superpositions do not count
        them, since their ``X`` are residues of different kinds.

        Raises:
            UnreadableFileError: the sequences are of unequal length.
        """
        shared = self.is_residue & self.is_residue[0]
        equal = (self.letters == self.letters[0]) & shared
        with np.errstate(invalid="ignore"):
            return np.asarray(equal.sum(axis=1) / shared.sum(axis=1), dtype=np.float64)

    @property
    def borders(self) -> NDArray[np.int64]:
        """First column of every chain except the first, shape (number of chains - 1,); empty if unknown."""
        lengths = [
            n for n, copies in zip(self.chain_lengths, self.chain_copies, strict=True) for _ in range(copies)
        ]
        if not self.is_aligned or sum(lengths) != self.length:
            lengths = list(self.chain_lengths)
        if not self.is_aligned or sum(lengths) != self.length:
            return np.empty(0, dtype=np.int64)
        return np.cumsum(lengths)[:-1].astype(np.int64)

    def to_frame(self) -> pd.DataFrame:
        """Tabulate the sequences.

        Returns:
            One row per sequence: ``name`` str, ``description`` str, ``sequence`` str, ``residues`` int64
            (without gaps), ``identity`` float64 (to the query, 0 to 1; missing if not aligned), then one
            float64 column for each figure that the headers give as ``name=value``.
        """
        counts = [sum(letter not in "-.~ " for letter in sequence) for sequence in self.sequences]
        identity = self.identity if self.is_aligned else np.full(self.depth, np.nan)
        heads = zip(self.names, self.descriptions, strict=True)
        figures = pd.DataFrame(
            [{k: float(v) for k, v in _HEADER_FIGURE.findall(" ".join(head))} for head in heads]
        )
        frame = pd.DataFrame(
            {
                "name": pd.Series(self.names, dtype="str"),
                "description": pd.Series(self.descriptions, dtype="str"),
                "sequence": pd.Series(self.sequences, dtype="str"),
                "residues": pd.Series(counts, dtype="int64"),
                "identity": identity,
            }
        )
        return frame.join(figures[[column for column in figures.columns if column not in frame.columns]])

    def __repr__(self) -> str:
        size = (
            f"{self.depth:,} × {self.length:,}"
            if self.is_aligned
            else f"{self.depth:,} sequences, not aligned"
        )
        return f"<Alignment {self.name}: {size}>"


def read_alignment(data: bytes, name: str) -> Alignment:
    """Read sequences in a format recognised by the content.

    Args:
        data: the file's content, decompressed.
        name: the file's name; lower-case letters are insertions if it ends in ``.a3m`` or ``.a2m``.

    Raises:
        UnreadableFileError: it holds no sequence, or a sequence with characters other than letters and gaps.
    """
    text = data.decode("utf-8", "replace").replace("\x00", "")
    start = text.lstrip()[:200]
    lengths: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    if start.startswith("# STOCKHOLM"):
        records = _read_stockholm(text)
    elif start.upper().startswith(_CLUSTAL_HEADS):
        records = _read_clustal(text)
    else:
        lengths = _read_lengths(start)
        records = _read_fasta(text, has_insertions=strip_packing(name).endswith((".a3m", ".a2m")))
    if not records:
        raise UnreadableFileError(f"{name} holds no sequence.")
    parts = _CHAIN_BREAKS.split(records[0][1])
    if len(parts) > 1:
        lengths = (tuple(len(part) for part in parts), (1,) * len(parts))
        records = [(header, _CHAIN_BREAKS.sub("", sequence)) for header, sequence in records]
    for header, sequence in records:
        if not _LETTERS.match(sequence):
            raise UnreadableFileError(
                f"{name} is not a sequence file: {header[:40]!r} has characters other than letters and gaps."
            )
    heads = [header.split(None, 1) for header, _ in records]
    return Alignment(
        name=name,
        names=tuple(head[0] if head else "" for head in heads),
        descriptions=tuple(head[1] if len(head) > 1 else "" for head in heads),
        sequences=tuple(sequence.replace(".", GAP).replace("~", GAP) for _, sequence in records),
        chain_lengths=lengths[0],
        chain_copies=lengths[1],
    )


def _read_lengths(start: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Read chain lengths and copies from a first line such as ``#42,17<tab>2,1``, as in ColabFold."""
    match = _LENGTHS.match(start.split("\n", 1)[0])
    if not match:
        return (), ()
    lengths, copies = (tuple(int(part[:9]) for part in match[i].split(",")) for i in (1, 2))
    return (lengths, copies) if len(lengths) == len(copies) and max(copies) <= 1000 else ((), ())


def _read_fasta(text: str, *, has_insertions: bool) -> list[tuple[str, str]]:
    records = []
    for header, lines in _split_fasta(text):
        sequence = "".join("".join(lines).split())
        records.append((header, sequence.translate(_INSERTED) if has_insertions else sequence.rstrip("*")))
    return records


def _split_fasta(text: str) -> Iterator[tuple[str, list[str]]]:
    header: str | None = None
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(">"):
            if header is not None:
                yield header, lines
            header, lines = line[1:].strip(), []
        elif header is not None and not line.startswith((";", "#")):
            lines.append(line)
    if header is not None:
        yield header, lines


def _read_stockholm(text: str) -> list[tuple[str, str]]:
    """Read the first alignment of a Stockholm file and join its blocks."""
    parts: dict[str, list[str]] = {}
    notes: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("//"):
            break
        fields = line.split()
        if line.startswith("#=GS") and len(fields) > 3 and fields[2] == "DE":
            notes[fields[1]] = " ".join(fields[3:])
        elif len(fields) == 2 and not line.startswith("#"):
            parts.setdefault(fields[0], []).append(fields[1])
    return [(f"{name} {notes.get(name, '')}".strip(), "".join(pieces)) for name, pieces in parts.items()]


def _read_clustal(text: str) -> list[tuple[str, str]]:
    parts: dict[str, list[str]] = {}
    for line in text.splitlines()[1:]:
        match = _CLUSTAL_LINE.match(line) if line and not line[0].isspace() else None
        if match:
            parts.setdefault(match[1], []).append(match[2])
    return [(name, "".join(pieces)) for name, pieces in parts.items()]
