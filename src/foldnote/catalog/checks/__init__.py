"""The registry of checks: rules that JSON Schema's keywords cannot express.

A tool's schema names rows of `CHECKS` under ``x-foldnote.check``; a new rule is a new row in one of this
package's modules. A check sees one field and the other settings, and nothing of the outside world: whether
an upload exists, or a service can run the tool, is not asked here.
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


def run_checks(value: Any, place: CheckContext) -> Iterator[Finding]:
    """The findings of the checks that the field's notes name.

    Unknown names are skipped, as are rules for another kind of value: a foreign schema may
    allow a number where a file is named.
    """
    for name in place.notes.get("check") or ():
        row = CHECKS.get(name)
        if row and row.fits(value):
            yield from row.rule(value, place)


__all__ = ["CHECKS", "CheckRow", "Finding", "Place", "run_checks"]
