"""Rows of score tables that are about structures of the same result.

A table belongs to the structures where a column of texts names them: by file name, by stem, or by a path that
ends in one. Its other single figures are then figures of that model.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

import pandas as pd

from foldnote.results.families import strip_packing
from foldnote.results.tables import Scalar, find_figures

MOST_ROWS = 100_000


def find_stem(name: str) -> str:
    """File name without folder, compression and extension, in lower case."""
    path = PurePosixPath(strip_packing(name.replace("\\", "/")))
    return path.stem if path.suffix in (".pdb", ".cif", ".mmcif", ".bcif", ".ent", ".sdf") else path.name


def find_rows(tables: Iterable[pd.DataFrame], structures: Iterable[str]) -> dict[str, dict[str, Scalar]]:
    """Figures of each structure that a table names, by the structure's stem.

    Args:
        tables: candidate tables.
        structures: file names of the structures.
    """
    stems = {find_stem(name) for name in structures}
    found: dict[str, dict[str, Scalar]] = {}
    for table in tables:
        column = _find_naming_column(table, stems)
        if column is None:
            continue
        named = table[column].map(lambda value: find_stem(str(value)))
        for stem, row in zip(named, table.drop(columns=column).to_dict("records"), strict=True):
            if stem in stems:
                figures = find_figures({str(key): _plain(value) for key, value in row.items()})
                found.setdefault(stem, {}).update(
                    {key: value for key, value in figures.items() if key not in found.get(stem, {})}
                )
    return found


def _find_naming_column(table: pd.DataFrame, stems: set[str]) -> str | None:
    if len(table) > MOST_ROWS:
        return None
    for column in table.select_dtypes(include=["object", "string"]).columns:
        if table[column].map(lambda value: find_stem(str(value)) in stems).any():
            return str(column)
    return None


def _plain(value: object) -> object:
    """A numpy scalar as the Python value it stands for; missing values as None."""
    plain = value.item() if hasattr(value, "item") else value
    return None if plain is pd.NA or plain is pd.NaT else plain
