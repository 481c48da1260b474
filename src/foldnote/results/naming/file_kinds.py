"""Kinds of files, determined by name patterns.

Contents are considered only where the name is not sufficient: a JSON file may be a table, scores or something
else (see :mod:`foldnote.results.tables.tabular`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath

from foldnote.results.naming.families import strip_packing


class FileKind(StrEnum):
    """Kind of a file; the value is the word shown to users."""

    STRUCTURE = "structure"
    NUMBERING = "numbering"
    TABLE = "table"
    SCORES = "scores"
    MANIFEST = "manifest"
    DATA = "data"
    ARRAY = "array"
    ALIGNMENT = "alignment"
    MOLECULE = "molecule"
    PICTURE = "picture"
    LOG = "log"
    OTHER = "other"


EXPORT_NAME = "foldnote-export.json"
"""Description in a file that a colleague exported (:mod:`foldnote.results.exported`)."""

PATTERNS: tuple[tuple[str, FileKind], ...] = (
    (r"(^|/)manifest\.json$", FileKind.MANIFEST),
    (rf"^{re.escape(EXPORT_NAME)}$", FileKind.OTHER),
    (r"(^|/)score\.json$", FileKind.SCORES),
    (r"(^|[/_.-])numbering\.csv$", FileKind.NUMBERING),
    (r"_local_pairwise_qa\.cif$", FileKind.OTHER),
    (r"\.(pdb\d?|ent|cif|mmcif|pdbx|bcif)$", FileKind.STRUCTURE),
    (r"(\.(csv|tsv|jsonl|ndjson|parquet|pqt|m8|fxout|sc)|_\d+_\d+(_byres)?\.txt)$", FileKind.TABLE),
    (r"\.json$", FileKind.DATA),
    (r"\.(npz|npy)$", FileKind.ARRAY),
    (r"\.(a3m|a2m|fasta|fas|fa|faa|fna|sto|sth|stk|stockholm|aln|clustal|clw)$", FileKind.ALIGNMENT),
    (r"\.(sdf|sd|mol2?|pdbqt|smi|smiles|cxsmiles)$", FileKind.MOLECULE),
    (r"\.(png|jpe?g|svg|pdf|gif)$", FileKind.PICTURE),
    (r"(\.(log|out|err)|(^|/)log\.txt)$", FileKind.LOG),
)
"""Patterns for names in lower case, without a compression suffix; the first match counts."""

_COMPILED = tuple((re.compile(pattern), kind) for pattern, kind in PATTERNS)
_NUMBERS = re.compile(r"(\d+)")
_BEST_FIRST = (("unrelaxed", 1), ("input", 2), ("_unrefined", 2), ("template", 3), ("_traj", 3))
_SIDE_FOLDERS = frozenset(
    [
        "trajectory", "traj", "rejected", "mpnn", "templates", "intermediate_designs",
        "intermediate_designs_inverse_folded", "before_refolding",
    ]
)  # fmt: skip
"""Folders of intermediate and rejected structures."""


_WORKING_FOLDER = re.compile(r"(^|/)(msas?|[^/]*_env)/")


def is_working_file(name: str) -> bool:
    """Return whether a file is in a working folder of a sequence search."""
    return _WORKING_FOLDER.search(name.lower()) is not None


def find_kind(name: str) -> FileKind:
    """Return the kind of the file called ``name``."""
    plain = strip_packing(name)
    return next((kind for pattern, kind in _COMPILED if pattern.search(plain)), FileKind.OTHER)


def is_side_structure(name: str) -> bool:
    """Return whether a structure's name marks it as not final: an input, a template, an intermediate."""
    path = PurePosixPath(name.lower())
    is_aside = not _SIDE_FOLDERS.isdisjoint(path.parts[:-1])
    return is_aside or any(word in path.name for word, order in _BEST_FIRST if order > 1)


def structure_order(name: str) -> tuple[object, ...]:
    """Return the sorting key for structures, the most relevant first.

    Results come before inputs and templates, relaxed before unrelaxed, outer folders before inner ones; then
    names are in natural order (``rank_2`` before ``rank_10``).
    """
    plain = PurePosixPath(name.lower())
    demoted = max((order for word, order in _BEST_FIRST if word in plain.name), default=0)
    demoted = max(demoted, 0 if _SIDE_FOLDERS.isdisjoint(plain.parts[:-1]) else 2)
    pieces = [(int(p), "") if p.isdigit() else (-1, p) for p in _NUMBERS.split(str(plain)) if p]
    return (demoted, len(plain.parts), pieces)
