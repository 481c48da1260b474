"""Checks: rules that JSON Schema keywords cannot express.

A tool's schema names rows of `CHECKS` under ``x-foldnote.check``; to add a rule, add a row in a module of
this package. The modules are imported when the first value is checked. A check sees one field and the other
settings only; it cannot tell whether an upload exists or a service can run the tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding

if TYPE_CHECKING:
    from foldnote.catalog.checks.registry import CHECKS


def run_checks(value: Any, context: CheckContext) -> Iterator[Finding]:
    """Run the checks that the field's schema names.

    Unknown checks are skipped, as are checks that expect another kind of value: another service's schema may
    allow a number for a file.
    """
    names = context.notes.get("check") or ()
    if not names:
        return
    from foldnote.catalog.checks.registry import CHECKS

    for name in names:
        row = CHECKS.get(name)
        if row and row.matches_type(value):
            yield from row.rule(value, context)


__all__ = ["CHECKS", "CheckContext", "CheckRow", "Finding", "run_checks"]


def __getattr__(name: str) -> Any:
    if name == "CHECKS":
        from foldnote.catalog.checks.registry import CHECKS

        return CHECKS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
