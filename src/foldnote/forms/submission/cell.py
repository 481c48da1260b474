"""Which notebook cell is running: the name under which a form finds the job it submitted before.

The front end sends the cell's id with every execution. Without one (a console, a script, an old front end)
there is no key, and a form then remembers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_RANDOM_ID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[0-9a-f]{8,32}$")
"""What JupyterLab and nbformat make up for a cell; an id of another form was given by a person."""

_seen: dict[str, int] = {}
_seen_in: list[str] = [""]


@dataclass(frozen=True)
class CellKey:
    """The names under which the form of an executing cell is remembered.

    Attributes:
        exact: made of the notebook's path and the cell; two copies of a notebook are told apart by it.
        moved: made of the cell alone, so that a renamed notebook finds its jobs; None where the cell's id is
            not random enough to mean one cell of all notebooks.
    """

    exact: str
    moved: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the surest first."""
        return (self.exact,) if self.moved is None else (self.exact, self.moved)


def cell_key(tool_type: str) -> CellKey | None:
    """The key of the form for ``tool_type`` in the executing cell, or None when no cell is executing.

    A second form for the same tool in one execution gets a key of its own (``…#2``).
    """
    parent = _parent_message()
    cell_id = (parent.get("metadata") or {}).get("cellId")
    if not isinstance(cell_id, str) or not cell_id:
        return None
    name = f"{cell_id}/{tool_type}"
    execution = str((parent.get("header") or {}).get("msg_id"))
    if execution != _seen_in[0]:
        _seen.clear()
        _seen_in[0] = execution
    _seen[name] = _seen.get(name, 0) + 1
    if _seen[name] > 1:
        name = f"{name}#{_seen[name]}"
    return CellKey(f"{_notebook_path()}#{name}", f"#{name}" if _RANDOM_ID.match(cell_id) else None)


def keeps_live_outputs() -> bool:
    """Whether the front end shows a widget on while the text that stands for it is renewed.

    JupyterLab and Notebook do, with the lab extension; they send the cell's id and VS Code its own mark.
    """
    from IPython.core.getipython import get_ipython

    is_known = bool((_parent_message().get("metadata") or {}).get("cellId"))
    return is_known and "__vsc_ipynb_file__" not in getattr(get_ipython(), "user_ns", {})


def _notebook_path() -> str:
    """Where the notebook stood when its kernel started; empty where the kernel was not told."""
    from IPython.core.getipython import get_ipython

    names = getattr(get_ipython(), "user_ns", {})
    return str(names.get("__vsc_ipynb_file__") or names.get("__session__") or "")


def _parent_message() -> Mapping[str, Any]:
    """The execute request that is being served; empty outside a kernel."""
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return {}
    parent = kernel.get_parent("shell") if hasattr(kernel, "get_parent") else {}
    return parent if isinstance(parent, Mapping) else {}
