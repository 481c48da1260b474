"""The column of a table that holds molecules, and their drawings, which are shown instead of the text."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Final, TypedDict

import pandas as pd

from foldnote.viewers.scene.drawings.thumbnails import HEIGHT, WIDTH, Thumbnail, draw_thumbnails

MAX_DRAWN: Final = 1000
"""Maximum number of different molecules of a table that are drawn."""
_MOLECULE_NAMES: Final = re.compile(r"smiles|ligand|molecule|compound", re.I)
_MAX_SAMPLED: Final = 20
"""Number of values that are read to decide whether a column holds molecules."""


class ColumnPictures(TypedDict):
    """The pictures of one column.

    ``drawn`` maps the column's texts to drawings of molecules, or to PNG files as base64. A text without a
    picture is shown itself.
    """

    column: str
    width: int
    height: int
    drawn: dict[str, Thumbnail] | dict[str, str]


def find_molecule_column(frame: pd.DataFrame) -> str | None:
    """Return the first column with a name for molecules whose texts are SMILES; None if there is none."""
    for name, values in frame.items():
        if _MOLECULE_NAMES.search(str(name)) and not pd.api.types.is_numeric_dtype(values):
            texts = [text for text in dict.fromkeys(values.dropna().astype(str)) if text][:_MAX_SAMPLED]
            if texts and _are_smiles(texts):
                return str(name)
    return None


def _are_smiles(texts: list[str]) -> bool:
    """Return whether at least half of the texts are SMILES; a batch may have invalid ones."""
    chem: Any = import_module("rdkit.Chem")
    with import_module("rdkit.rdBase").BlockLogs():
        valid = sum(chem.MolFromSmiles(text, sanitize=False) is not None for text in texts)
    return 2 * valid >= len(texts)


def draw_column(frame: pd.DataFrame, *, time_limit_s: float | None = None) -> ColumnPictures | None:
    """Return the drawings of the molecules of a table, each drawn once; None if it has no molecules.

    Args:
        frame: the table, whose column names are unique.
        time_limit_s: time limit for drawing in seconds; the next call draws the rest.
    """
    name = find_molecule_column(frame) if frame.columns.is_unique else None
    if name is None:
        return None
    texts = [*dict.fromkeys(frame[name].dropna().astype(str))][:MAX_DRAWN]
    return ColumnPictures(
        column=name, width=WIDTH, height=HEIGHT, drawn=draw_thumbnails(texts, time_limit_s=time_limit_s)
    )
