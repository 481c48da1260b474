"""Measured values as people write them into tables: numbers, marks for missing ones, limits such as ``>100``.

Only single cells are recognized here; whether a column is one of measured values is for those who type it.
"""

from __future__ import annotations

import re

_MISSING = frozenset({
    "-", "--", "–", "—", "?", "nd", "na", "nan", "none", "null", "missing", "notdetermined", "notdetected",
    "notmeasured", "notavailable",
})  # fmt: skip
_LIMIT = re.compile(r"(<=|>=|[<>≤≥~≈])\s*(?=[\d.,+-])")


def is_missing_mark(cell: str) -> bool:
    """Whether a cell says that there is no value: ``n. d.``, ``N/A``, ``#N/A``, ``-``."""
    return re.sub(r"[\s./#]", "", cell).casefold() in _MISSING


def split_limit(cell: str) -> tuple[str, str]:
    """The relation and the number of a limit, ``(">", "100")``; any other cell has no relation."""
    found = _LIMIT.match(cell)
    return (found[1], cell[found.end() :].strip()) if found else ("", cell)
