"""Assign rows of score tables to the structures of a result.

A table belongs to structures if a text column names them: by file name, by stem, or by a path that ends in
one. Its other scalar values are then scores of that model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath

import pandas as pd

from foldnote.results.naming.families import is_chosen, strip_packing
from foldnote.results.naming.file_kinds import is_side_structure
from foldnote.results.tables.tabular import Scalar, find_figures

MAX_ROWS = 100_000
_RANKED, _MODEL = re.compile(r"^\d+_"), re.compile(r"_model_?\d+$")


def find_stem(name: str) -> str:
    """Return the file name without folder, compression and extension, in lower case."""
    path = PurePosixPath(strip_packing(name.replace("\\", "/")))
    return path.stem if path.suffix in (".pdb", ".cif", ".mmcif", ".bcif", ".ent", ".sdf") else path.name


def find_core(name: str) -> str:
    """Return the stem without a leading rank and a trailing model number, as design tables name designs."""
    return _MODEL.sub("", _RANKED.sub("", find_stem(name)))


def find_rows(
    tables: Iterable[tuple[str, pd.DataFrame]], structures: Iterable[str]
) -> dict[str, dict[str, Scalar]]:
    """Return the scores of each structure that a table names, by file name of the structure.

    A table is about the structures in its folder and below, or about all if there are none. Names that match
    several structures are ignored, as are several rows for one structure, which describe its parts.

    Args:
        tables: (file name, table) pairs.
        structures: file names of the structures.
    """
    everything = list(structures)
    rows_by_structure: dict[str, dict[str, Scalar]] = {}
    for name, table in tables:
        folder = str(PurePosixPath(name).parent)
        nearby = [
            candidate for candidate in everything if folder == "." or candidate.startswith(f"{folder}/")
        ] or everything
        by_stem: dict[str, list[str]] = defaultdict(list)
        for candidate in nearby:
            by_stem[find_stem(candidate)].append(candidate)
        column = _find_naming_column(table, set(by_stem))
        if column is None:
            by_stem = defaultdict(list)
            designs = [candidate for candidate in nearby if is_chosen(candidate)]
            for candidate in designs or [
                candidate for candidate in nearby if not is_side_structure(candidate)
            ]:
                by_stem[find_core(candidate)].append(candidate)
            column = _find_naming_column(table, set(by_stem))
        if column is None:
            continue
        meant_by = [_choose(cell, by_stem.get(find_stem(cell), [])) for cell in table[column].astype(str)]
        counts = Counter(meant_by)
        rows = table.drop(columns=column).to_dict("records")
        for meant, row in zip(meant_by, rows, strict=True):
            figures = find_figures({str(key): _plain(value) for key, value in row.items()})
            if meant is not None and counts[meant] == 1:
                figures_of_row = rows_by_structure.setdefault(meant, {})
                figures_of_row |= {key: value for key, value in figures.items() if key not in figures_of_row}
    return rows_by_structure


def _choose(cell: str, candidates: list[str]) -> str | None:
    """Return the structure that a cell names: the only candidate, or the only path ending with it."""
    if len(candidates) > 1:
        ending = "/" + cell.replace("\\", "/").lower().lstrip("./")
        ending = strip_packing(ending)
        candidates = [
            candidate for candidate in candidates if f"/{strip_packing(candidate)}".endswith(ending)
        ]
    return candidates[0] if len(candidates) == 1 else None


def _find_naming_column(table: pd.DataFrame, stems: set[str]) -> str | None:
    if len(table) > MAX_ROWS:
        return None
    for column in table.select_dtypes(include=["object", "string"]).columns:
        if table[column].map(lambda value: find_stem(str(value)) in stems).any():
            return str(column)
    return None


def _plain(value: object) -> object:
    """Return a numpy scalar as a Python value; missing values as None."""
    plain = value.item() if hasattr(value, "item") else value
    return None if plain is pd.NA or plain is pd.NaT else plain
