"""All checks, by the names that schemas give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from foldnote.catalog.checks import file, molecule, sequence, structure
from foldnote.catalog.checks.row import CheckRow

CHECKS: Final[Mapping[str, CheckRow]] = {
    row.name: row for row in (*sequence.ROWS, *structure.ROWS, *file.ROWS, *molecule.ROWS)
}
"""All checks, by name."""
