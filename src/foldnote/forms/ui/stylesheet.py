"""The style sheet of a form, which is part of its header.

Colours come from JupyterLab's variables, else VS Code's, else fixed ones; lighter tones are mixed from them,
so that contrast is kept in light and dark themes. A field is a grid with the label above its control, and
help and errors below it; the form's width determines the number of columns.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Literal

_OWN = ".foldnote-form "
_FOLDER = Path(__file__).parent.parent


Part = Literal["form", "rows", "code", "batch", "science"]


@cache
def read_style(part: Part = "form") -> str:
    """Return the minified style sheet, with its rules nested into one for ``.foldnote-form``."""
    text = (_FOLDER / f"{part}.css").read_text(encoding="utf-8")
    text = re.sub(r"\s*\n\s*", "", text)
    if part == "form":
        end = text.index("}") + 1
        return f"{text[: end - 1]}}}{_nest(text[end:])}"
    return _nest(text)


def _nest(rules: str) -> str:
    tight = re.sub(r"\s*([{};,])\s*", r"\1", rules.replace(_OWN, "")).replace(";}", "}")
    return f".foldnote-form{{{tight}}}"
