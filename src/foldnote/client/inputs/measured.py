"""Measured values in tables as people write them: numbers, marks of missing values, limits such as ``>100``.

This module recognises single cells; the caller decides whether a column holds measured values.
"""

from __future__ import annotations

import re

_MISSING = frozenset({
    "-", "--", "–", "—", "?", "nd", "na", "nan", "none", "null", "missing", "notdetermined", "notdetected",
    "notmeasured", "notavailable",
})  # fmt: skip
_LIMIT = re.compile(r"(<=|>=|[<>≤≥~≈])\s*(?=[\d.,+-])")


def is_missing_mark(cell: str) -> bool:
    """Return whether a cell marks a missing value: ``n. d.``, ``N/A``, ``#N/A``, ``-``."""
    return re.sub(r"[\s./#]", "", cell).casefold() in _MISSING


def split_limit(cell: str) -> tuple[str, str]:
    """Return the relation and the number of a limit, ``(">", "100")``; the relation is empty without one."""
    found = _LIMIT.match(cell)
    return (found[1], cell[found.end() :].strip()) if found else ("", cell)
