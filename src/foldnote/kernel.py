"""The running kernel: the request that it handles, and what the front end that sent it can show."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any

from foldnote import settings

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
"""MIME type of live widgets. A page made from a saved notebook shows only this type of an output that has
it, if the notebook contains the widget's state, and nothing at all if it cannot load the ipywidgets
program."""


class FrontEnd(Enum):
    """The program that shows the outputs of a cell."""

    OWN = "JupyterLab or Notebook with the lab extension"
    OTHER = "another one that may show widgets"
    NONE = "a program that runs notebooks, such as nbconvert, where nobody works with widgets"


def find_front_end() -> FrontEnd:
    """Identify the front end that sent the current request."""
    content = read_request().get("content") or {}
    if content.get("allow_stdin") is False and not settings.serves_voila():
        return FrontEnd.NONE
    return FrontEnd.OWN if keeps_live_outputs() and settings.has_front_end() else FrontEnd.OTHER


def keeps_live_outputs() -> bool:
    """Return whether the front end keeps showing a widget when its output's text representation is updated.

    JupyterLab and Notebook do, with the lab extension; they are recognised by a cell id in the request
    without the variable that VS Code sets.
    """
    from IPython.core.getipython import get_ipython

    is_known = bool((read_request().get("metadata") or {}).get("cellId"))
    return is_known and "__vsc_ipynb_file__" not in getattr(get_ipython(), "user_ns", {})


def read_request() -> Mapping[str, Any]:
    """Return the execute request that is being handled; empty outside a kernel."""
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return {}
    parent = kernel.get_parent("shell") if hasattr(kernel, "get_parent") else {}
    return parent if isinstance(parent, Mapping) else {}


def runs_in_marimo() -> bool:
    """Return whether the code runs in a marimo notebook, which has no Jupyter kernel."""
    marimo = sys.modules.get("marimo")
    return marimo is not None and bool(marimo.running_in_notebook())
