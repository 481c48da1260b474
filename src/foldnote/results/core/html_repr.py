"""Registry of the functions that display results in notebooks.

What draws registers its functions when it is loaded, which is when something is shown first. Without it the
words of ``repr`` stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foldnote import late

Bundle = Mapping[str, Any]
_displays: list[Callable[[Any], list[Bundle]]] = []
_part_displays: list[Callable[[Any], Bundle]] = []


def register_display(display: Callable[[Any], list[Bundle]]) -> None:
    """Let ``display`` turn results into mime bundles when a notebook shows them."""
    _displays[:] = [display]


def register_part_display(display: Callable[[Any], Bundle]) -> None:
    """Let ``display`` turn parts of results, such as a structure, into a mime bundle."""
    _part_displays[:] = [display]


def show_result(result: object) -> list[Bundle]:
    """The mime bundles of a result."""
    display = _find(_displays)
    return display(result) if display else [{"text/plain": repr(result)}]


class NotebookRepr:
    """A part of a result that a notebook shows in full, with words for those who listen."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:  # noqa: ARG002
        display = _find(_part_displays)
        return dict(display(self)) if display else {"text/plain": repr(self)}


def _find(registered: list[Callable[[Any], Any]]) -> Callable[[Any], Any] | None:
    if not registered:
        late.load("show_result")  # the room that draws registers its functions when it is loaded
    return registered[-1] if registered else None
