"""Registry of the functions that display results in notebooks.

The viewers register their functions when they are imported, at the first display. Without them ``repr`` is
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foldnote import late

Bundle = Mapping[str, Any]
_displays: list[Callable[[Any], list[Bundle]]] = []
_part_displays: list[Callable[[Any], Bundle]] = []


def register_display(display: Callable[[Any], list[Bundle]]) -> None:
    """Display results in notebooks by the MIME bundles that ``display`` returns."""
    _displays[:] = [display]


def register_part_display(display: Callable[[Any], Bundle]) -> None:
    """Display parts of results, such as a structure, by the MIME bundle that ``display`` returns."""
    _part_displays[:] = [display]


def show_result(result: object) -> list[Bundle]:
    """Return the MIME bundles of a result."""
    display = _find(_displays)
    return display(result) if display else [{"text/plain": repr(result)}]


class NotebookRepr:
    """A part of a result with a notebook display, which includes a text alternative."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ARG002
        display = _find(_part_displays)
        return dict(display(self)) if display else {"text/plain": repr(self)}


def _find(registered: list[Callable[[Any], Any]]) -> Callable[[Any], Any] | None:
    if not registered:
        late.load("show_result")  # importing the viewers registers their functions
    return registered[-1] if registered else None
