"""Which notebook cell is running: the name under which a form finds the job it submitted before.

The front end sends the cell's id with every execution. Without one (a console, a script, an old front end)
there is no key, and a form then remembers nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_seen: dict[str, int] = {}
_seen_in: list[str] = [""]


def cell_key(tool_type: str) -> str | None:
    """The key of the form for ``tool_type`` in the executing cell, or None when no cell is executing.

    Cell ids are unique within a notebook only, so the notebook's path is part of the key where the kernel
    knows it. A second form for the same tool in one execution gets a key of its own (``…#2``).
    """
    parent = _parent_message()
    cell_id = (parent.get("metadata") or {}).get("cellId")
    if not isinstance(cell_id, str) or not cell_id:
        return None
    key = f"{_notebook_path()}#{cell_id}/{tool_type}"
    execution = str((parent.get("header") or {}).get("msg_id"))
    if execution != _seen_in[0]:
        _seen.clear()
        _seen_in[0] = execution
    _seen[key] = _seen.get(key, 0) + 1
    return key if _seen[key] == 1 else f"{key}#{_seen[key]}"


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
