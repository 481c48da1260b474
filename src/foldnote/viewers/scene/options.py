"""Options of a view: colouring, style, values from a table column."""

from __future__ import annotations

import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.viewers.scene.coloring import color_by_column
from foldnote.viewers.scene.model import STYLES, Scene, Style


def choose(
    scene: Scene, color: str | None = None, style: Style | None = None, table: pd.DataFrame | None = None
) -> Scene:
    """The same scene in another colouring and style.

    Args:
        scene: what to show.
        color: ``chain``, the key of one of the scene's colourings, or a column of ``table``.
        style: ``cartoon``, ``sticks``, ``spheres`` or ``surface``.
        table: one row a residue: ``chain``, ``number`` and the column that ``color`` names; numbers
            make a scale, words a colour each.

    Raises:
        ArgumentError: the scene has no such colouring, or there is no such style.
    """
    if style is not None and style not in STYLES:
        raise ArgumentError(f"There is no style {style!r}. Choose one of {', '.join(STYLES)}.")
    if table is not None:
        if color is None:
            raise ArgumentError("Say which column of the table gives the colour: color='COLUMN'.")
        if len(scene.models) != 1:
            raise ArgumentError("A table colours a scene of one model; this one has several.")
        made = color_by_column(table, color, scene.models[0].chains)
        others = [coloring for coloring in scene.colorings if coloring.key != made.key]
        scene = scene.model_copy(update={"colorings": (*others, made)})
    known = ["chain", *(coloring.key for coloring in scene.colorings)]
    if color is not None and color not in known:
        hint = _explain_no_confidence(known) if color == "confidence" else ""
        raise ArgumentError(
            f"This structure cannot be coloured by {color!r}.{hint} "
            f"Choose one of {', '.join(known)}, or give a table."
        )
    changes = {"color": color, "style": style}
    return scene.model_copy(update={key: value for key, value in changes.items() if value is not None})


def _explain_no_confidence(known: list[str]) -> str:
    if "error" in known:
        return " It has no pLDDT, but a predicted error: color='error'."
    advice = (
        " If you know that its B-factors are pLDDT, say b_factors='plddt'." if "b-factor" in known else ""
    )
    return f" It has no confidence: nothing in the result says that there is one.{advice}"
