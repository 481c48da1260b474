"""The registry of checks: rules that JSON Schema keywords cannot express.

A tool's schema names rows of `CHECKS` under ``x-foldnote.check``; to add a rule, add a row in a module of
this package. A check sees one field and the other settings only; it cannot tell whether an upload exists or a
service can run the tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from foldnote.catalog.checks import file, molecule, sequence, structure
from foldnote.catalog.checks.row import CheckContext, CheckRow, Finding

CHECKS: Final[Mapping[str, CheckRow]] = {
    row.name: row for row in (*sequence.ROWS, *structure.ROWS, *file.ROWS, *molecule.ROWS)
}
"""All checks, by name."""


def run_checks(value: Any, context: CheckContext) -> Iterator[Finding]:
    """Run the checks that the field's schema names.

    Unknown checks are skipped, as are checks that expect another kind of value: another service's schema may
    allow a number for a file.
    """
    for name in context.notes.get("check") or ():
        row = CHECKS.get(name)
        if row and row.fits(value):
            yield from row.rule(value, context)


__all__ = ["CHECKS", "CheckContext", "CheckRow", "Finding", "run_checks"]
