"""Layouts of results: one function per tool, built in, registered by a program or named by a package.

A function takes a result and returns what to show, in order. A program registers one with
:func:`register_view`; a package names one as an entry point of the group ``foldnote.views`` whose name is the
tool type. This module only finds the function; the summary of the run stands below whatever it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any

from foldnote.errors import ConfigurationError
from foldnote.results import Result

ENTRY_POINT_GROUP = "foldnote.views"

View = Callable[[Result], Sequence[Any]]
"""Returns bundles, scenes, structures, plots, grids, DataFrames, or whatever has ``_repr_mimebundle_``."""

_registered: dict[str, View] = {}
_ours: dict[str, View] = {}


def register_view(tool: str, function: View) -> None:
    """Let ``function`` lay out the results of a tool, in place of the layout so far.

    Args:
        tool: the tool type, such as ``"vina"``.
        function: takes a :class:`foldnote.results.Result` and returns a list of what to show, in order:
            scenes, structures, plots, grids, DataFrames, mime bundles (``table_bundle(frame, "Title")``), or
            other objects that show themselves as HTML. :func:`foldnote.viewers.default_view` gives what
            a tool without a function shows. Provenance and the list of files always follow. Where the
            function fails, the default is shown with the reason.
    """
    _registered[tool] = function


def unregister_view(tool: str) -> None:
    """Remove the registered layout of a tool, if there is one."""
    _registered.pop(tool, None)


def register_ours(tool: str, function: View) -> None:
    """The layout that this package has for a tool; registered ones and entry points go before it."""
    _ours[tool] = function


def find_view(tool: str) -> View | None:
    """The function for a tool: the registered one, else an entry point's, else ours.

    Raises:
        ConfigurationError: the entry point cannot be loaded.
    """
    return _registered.get(tool) or _load_entry_point(tool) or _ours.get(tool)


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


def find_job_name(result: Result) -> str:
    """The job whose result it is, by its manifest or what the client knows of the job; "" where unknown."""
    return _find_origin(result, result.manifest.job_name if result.manifest else "", "JobName", "jobName")


def find_tool_type(result: Result) -> str:
    """The tool whose result it is, by its manifest or what the client knows of the job; "" where unknown."""
    return _find_origin(result, result.manifest.tool if result.manifest else "", "Type", "type")


def _find_origin(result: Result, stated: str | None, *spellings: str) -> str:
    job = result.origin.get("job", {})
    return stated or next((str(job[name]) for name in spellings if job.get(name)), "")
