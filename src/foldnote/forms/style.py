"""The style sheet of a form, put once into each form's header.

Colours come from JupyterLab's variables, then VS Code's, then plain ones; softer tones are mixed from them,
so that contrast holds in light and dark themes alike. The widgets' own boxes become grids: label above,
control, help and errors below; the width of the form, not of the window, decides how many fields stand side
by side.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def read_style() -> str:
    """The text of ``form.css``."""
    return files("foldnote.forms").joinpath("form.css").read_text(encoding="utf-8")
