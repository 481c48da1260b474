"""Keys of the executing notebook cell, under which a form finds the job that it submitted before.

The front end sends the cell's id with each execution. Without an id (in a console, a script, an old front
end) there is no key, and the form does not remember its job.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from foldnote.kernel import read_request

_RANDOM_ID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[0-9a-f]{8,32}$")
"""Pattern of ids that JupyterLab and nbformat generate; other ids were chosen by a person and may not be
unique."""

_form_counts: dict[str, int] = {}
_counted_execution: list[str] = [""]


class CellKey(NamedTuple):
    """The keys under which the form of an executing cell is remembered.

    Attributes:
        exact: key from the notebook's path and the cell id, which distinguishes copies of a notebook.
        moved: key from the cell id alone, with which a renamed notebook finds its jobs; None if the id is not
            random and may therefore occur in other notebooks.
    """

    exact: str
    moved: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All keys, the most specific first."""
        return (self.exact,) if self.moved is None else (self.exact, self.moved)


def cell_key(tool_type: str) -> CellKey | None:
    """Return the key of the form for ``tool_type`` in the executing cell; None if no cell is executing.

    A second form for the same tool in one execution gets a different key (``…#2``).
    """
    parent = read_request()
    cell_id = (parent.get("metadata") or {}).get("cellId")
    if not isinstance(cell_id, str) or not cell_id:
        return None
    name = f"{cell_id}/{tool_type}"
    execution = str((parent.get("header") or {}).get("msg_id"))
    if execution != _counted_execution[0]:
        _form_counts.clear()
        _counted_execution[0] = execution
    _form_counts[name] = _form_counts.get(name, 0) + 1
    if _form_counts[name] > 1:
        name = f"{name}#{_form_counts[name]}"
    return CellKey(f"{_notebook_path()}#{name}", f"#{name}" if _RANDOM_ID.match(cell_id) else None)


def _notebook_path() -> str:
    """Return the notebook's path when its kernel started; empty if unknown."""
    from IPython.core.getipython import get_ipython

    names = getattr(get_ipython(), "user_ns", {})
    return str(names.get("__vsc_ipynb_file__") or names.get("__session__") or "")
