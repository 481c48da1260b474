"""The tools of a service: a list with search, a table in a cell, and a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from foldnote.catalog.search_words import write_search_text
from foldnote.models import Tool
from foldnote.models.html_repr import show_grid, write_grid
from foldnote.text import count

if TYPE_CHECKING:
    import pandas as pd

_NEAREST = ("runs", "installable", "adapter", "elsewhere")
"""Statuses of tools, by how much a tool needs before it runs, least first."""
_COLUMNS = ("tool", "name", "what it does", "status", "method")


class ToolList(tuple[Tool, ...]):
    """Tools in the service's order, shown as a table in a cell.

    ``unread`` holds the entries of the service's catalog that could not be read.
    """

    unread: tuple[Any, ...] = ()

    @overload
    def __getitem__(self, position: SupportsIndex) -> Tool: ...
    @overload
    def __getitem__(self, position: slice) -> ToolList: ...

    def __getitem__(self, position: SupportsIndex | slice) -> Tool | ToolList:
        found = super().__getitem__(position)
        return found if isinstance(found, Tool) else ToolList(found)

    def search(
        self,
        words: str = "",
        *,
        family: str | None = None,
        modality: str | None = None,
        function: str | None = None,
        runs_here: bool = False,
    ) -> ToolList:
        """Filter tools by all given criteria, ignoring case; those that run here come first.

        Args:
            words: each must occur, in any order, in a tool's type, name, description, family, modalities,
                functions or method, or among common words for its functions, such as CDR for numbering.
            family: e.g. ``structure-prediction``.
            modality: e.g. ``antibody``.
            function: e.g. ``docking``; all of its words must occur in one of the tool's functions.
            runs_here: only tools that the service can run now.
        """
        found = [
            tool
            for tool in self
            if (tool.available or not runs_here)
            and (family is None or _is(family, (tool.family,)))
            and (modality is None or _is(modality, tool.modalities))
            and (function is None or _names(function, tool.functions))
            and all(word in write_search_text(tool) for word in words.lower().split())
        ]
        nearest = ToolList(sorted(found, key=lambda tool: _NEAREST.index(tool.status)))
        nearest.unread = self.unread
        return nearest

    def to_frame(self) -> pd.DataFrame:
        """Convert the list to a DataFrame.

        Returns:
            One row per tool, with the index ``type`` (str) and the columns

            - ``name`` (str): display name
            - ``family`` (str), ``modalities`` and ``functions`` (str, separated by commas)
            - ``runs`` (bool): whether the service can run it now
            - ``status`` (str): ``runs``, ``installable``, ``adapter`` or ``elsewhere`` (see `Tool.status`)
            - ``method`` (str): the method that is actually run; missing if the tool does not run or the
              service does not say
            - ``reason`` (str): why it does not run; missing if it does
            - ``description`` (str)
        """
        import pandas as pd

        columns: dict[str, Any] = {
            "name": [tool.label for tool in self],
            "family": [tool.family for tool in self],
            "modalities": [", ".join(tool.modalities) for tool in self],
            "functions": [", ".join(tool.functions) for tool in self],
            "runs": [tool.available for tool in self],
            "status": [tool.status for tool in self],
            "method": [tool.engine.method if tool.engine else None for tool in self],
            "reason": [None if tool.available else tool.unavailable_reason for tool in self],
            "description": [tool.description for tool in self],
        }
        kinds = {name: "bool" if name == "runs" else "str" for name in columns}
        made = {name: pd.Series(values, dtype=kinds[name]) for name, values in columns.items()}
        return pd.DataFrame(made).set_index(pd.Index([tool.type for tool in self], dtype="str", name="type"))

    def __repr__(self) -> str:
        return write_grid(self._title(), _COLUMNS, map(_row, self))

    def _repr_html_(self) -> str:
        return show_grid(self._title(), _COLUMNS, map(_row, self))

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        printer.text(repr(self))

    def _title(self) -> str:
        if not self:
            return "No matching tools. fn.tools() lists all of them."
        running = sum(tool.available for tool in self)
        availability = f"{running} of them run{'s' if running == 1 else ''} here"
        if len(self) == 1:
            availability = "which runs here" if running else "which does not run here"
        unread = (
            f"; {count(len(self.unread), 'entry', 'entries')} of the catalog could not be read"
            if self.unread
            else ""
        )
        return f"{len(self)} tool{'s' if len(self) != 1 else ''}, {availability}{unread}"


def _row(tool: Tool) -> tuple[str, str, str, str, str]:
    return (
        tool.type,
        tool.label,
        tool.description or ", ".join(tool.functions),
        tool.status,
        tool.engine.method if tool.engine else "",
    )


def _is(wanted: str, words: tuple[str, ...]) -> bool:
    return _plain(wanted) in {_plain(word) for word in words}


def _names(wanted: str, functions: tuple[str, ...]) -> bool:
    """Return whether one function has all words of ``wanted``, as small-molecule-docking has docking."""
    words = set(_plain(wanted).split("-"))
    return any(words <= set(_plain(function).split("-")) for function in functions)


def _plain(word: str) -> str:
    return word.lower().replace("_", "-").replace(" ", "-")
