"""Calls from a lower module to a higher one, imported by name when they are made.

Imports point downwards only. A few calls go upwards: the client opens results, results display themselves
through the viewers, and the viewers draw the box editor of a form and the result in a cell. The card of a job
asks the catalog, which no viewer imports, for the display name of a tool, and opens forms, which themselves
end in a card. They are listed here so that none is hidden.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "bundle": "foldnote.viewers",
    "edit_box": "foldnote.viewers",
    "form": "foldnote.notebook.forms",
    "make_page": "foldnote.viewers.display.page",
    "name_tool": "foldnote.catalog.bundle",
    "open_result": "foldnote.results",
    "read_figures": "foldnote.results.batch",
    "show_export": "foldnote.viewers",
    "show_result": "foldnote.viewers",
}


def load(name: str) -> Any:
    """Import the object ``name`` from the package that is declared for it."""
    return getattr(import_module(_HOMES[name]), name)


def find_version() -> str:
    """Return the version of the installed package; ``0+source`` for sources that are not installed."""
    from importlib.metadata import PackageNotFoundError, version  # deferred: slow to import

    try:
        return version("foldnote")
    except PackageNotFoundError:
        return "0+source"
