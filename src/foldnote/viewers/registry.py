"""Registry of views: one function per tool, from a result to the items to show, in order.

Programs register a function with :func:`register_view`; packages declare an entry point in the group
``foldnote.views`` whose name is the tool type. This module only finds the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any, TypeVar

from foldnote.errors import ConfigurationError
from foldnote.results import Result

ENTRY_POINT_GROUP = "foldnote.views"

View = Callable[[Result], Sequence[Any]]
"""Returns bundles, scenes, structures, plots, grids, DataFrames or objects with ``_repr_mimebundle_``."""

ViewFunction = TypeVar("ViewFunction", bound=View)

_registered: dict[str, View] = {}
_builtin: dict[str, View] = {}


def register_view(tool: str, function: View) -> None:
    """Register ``function`` as the view of a tool's results, replacing the current one.

    Args:
        tool: the tool type, such as ``"vina"``.
        function: takes a :class:`foldnote.results.Result` and returns a list of items to show, in order:
            scenes, structures, plots, grids, DataFrames, mime bundles (``table_bundle(frame, "Title")``), or
            other objects with an HTML representation. :func:`foldnote.viewers.default_view` returns the
            items of a tool without a view. Provenance and the list of files are always appended. If the
            function raises, the default view is shown with the error.
    """
    _registered[tool] = function


def unregister_view(tool: str) -> None:
    """Remove the registered view of a tool, if there is one."""
    _registered.pop(tool, None)


def builtin_view(tool: str) -> Callable[[ViewFunction], ViewFunction]:
    """Decorate the built-in view of a tool; registered views and entry points take precedence.

    It registers the function when its module is imported, which `foldnote.viewers` does.
    """

    def register(function: ViewFunction) -> ViewFunction:
        _builtin[tool] = function
        return function

    return register


def find_view(tool: str) -> View | None:
    """Return the view of a tool: the registered one, an entry point's or the built-in one, if any.

    Raises:
        ConfigurationError: the entry point cannot be loaded.
    """
    return _registered.get(tool) or _load_entry_point(tool) or _builtin.get(tool)


def _load_entry_point(tool: str) -> View | None:
    points = sorted(entry_points(group=ENTRY_POINT_GROUP, name=tool), key=lambda point: point.value)
    if not points:
        return None
    try:
        view: View = points[0].load()
    except Exception as exc:  # code of another package may raise anything
        raise ConfigurationError(
            f"The entry point {points[0].value!r} of {ENTRY_POINT_GROUP} cannot be loaded: {exc}"
        ) from exc
    return view
