"""What a lower room calls in a higher one, by name and loaded when it is called.

Rooms import downwards only. These few calls go the other way: the client hands a result to who reads it, and
a result shows itself by who draws it. They stand here, so that none of them is hidden.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_HOMES = {"open_result": "foldnote.results", "show_result": "foldnote.viewers"}


def load(name: str) -> Any:
    """The object ``name`` of the room that it is declared for."""
    return getattr(import_module(_HOMES[name]), name)


def find_version() -> str:
    """The version of the package that is installed; ``0+source`` for sources that were never installed."""
    try:
        return version("foldnote")
    except PackageNotFoundError:
        return "0+source"
