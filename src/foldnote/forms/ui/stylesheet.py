"""The style sheet of a form, put once into each form's header.

Colours come from JupyterLab's variables, then VS Code's, then plain ones; softer tones are mixed from them,
so that contrast holds in light and dark themes alike. The widgets' own boxes become grids: label above,
control, help and errors below; the width of the form, not of the window, decides how many fields stand side
by side.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

_OWN = ".foldnote-form "


Part = Literal["form", "rows", "code", "batch", "science"]


@cache
def read_style(part: Part = "form") -> str:
    """One of the style sheets, shorter: it travels with every form that shows such a part.

    Its rules are nested into one for the form, which says once what each of them says in the file.
    """
    text = files("foldnote.forms").joinpath(f"{part}.css").read_text(encoding="utf-8")
    text = re.sub(r"\s*\n\s*", "", text)
    if part == "form":
        end = text.index("}") + 1
        return f"{text[: end - 1]}}}{_nest(text[end:])}"
    return _nest(text)


def _nest(rules: str) -> str:
    tight = re.sub(r"\s*([{};,])\s*", r"\1", rules.replace(_OWN, "")).replace(";}", "}")
    return f".foldnote-form{{{tight}}}"
