"""The few calls from a lower package to a higher one, imported by name when they are made.

Packages import downwards only. These calls go the other way: the client opens results, and results display
themselves through the viewers, which also draw the box of a form and the result in a cell. The card of a job
asks the catalog, which no viewer imports, what a tool is called. They are collected here so that none is
hidden.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "bundle": "foldnote.viewers",
    "edit_box": "foldnote.viewers",
    "name_tool": "foldnote.catalog.bundle",
    "open_result": "foldnote.results",
    "read_figures": "foldnote.results.batch",
    "show_export": "foldnote.viewers",
    "show_result": "foldnote.viewers",
}


def load(name: str) -> Any:
    """Import the object ``name`` from the package that it is declared for."""
    return getattr(import_module(_HOMES[name]), name)


def find_version() -> str:
    """The version of the installed package; ``0+source`` for sources that are not installed."""
    from importlib.metadata import PackageNotFoundError, version  # deferred: slow to import

    try:
        return version("foldnote")
    except PackageNotFoundError:
        return "0+source"
