"""Settings and scores of several jobs side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from foldnote.results.metrics.registry import find_metric
from foldnote.results.side_by_side.items import ComparedItem

_DIRECTIONS = {True: "higher", False: "lower", None: ""}


def compare_settings(items: Sequence[ComparedItem]) -> pd.DataFrame:
    """Tabulate the settings that are not the same in all items with settings.

    Returns:
        One row per setting that differs, ``setting`` (str, with dots in nested ones) as the index; one column
        per item, object: the value, None where the item has no such setting. Empty if nothing differs.
    """
    described = [item for item in items if item.settings]
    flat = {item.name: dict(_flatten(item.settings)) for item in described}
    names = list(dict.fromkeys(name for settings in flat.values() for name in settings))
    rows = {name: [settings.get(name) for settings in flat.values()] for name in names}
    different = {
        name: values
        for name, values in rows.items()
        if len({json.dumps(value, sort_keys=True, default=str) for value in values}) > 1
    }
    index = pd.Index(list(different), name="setting", dtype=object)
    columns = {
        name: pd.Series([values[column] for values in different.values()], index=index, dtype=object)
        for column, name in enumerate(flat)
    }
    return pd.DataFrame(columns, index=index)


def compare_scores(items: Sequence[ComparedItem]) -> pd.DataFrame:
    """Tabulate the scores of all items.

    Returns:
        One row per score, ``score`` (str, as in the files) as the index; ``unit`` str ("" if unknown),
        ``better`` str (``higher``, ``lower`` or "" if neither or unknown), then one column per item, object:
        the value, None where the item has none. Empty without scores.
    """
    names = list(dict.fromkeys(name for item in items for name in item.scores))
    metrics = [find_metric(name) for name in names]
    index = pd.Index(names, name="score", dtype=object)
    front = {
        "unit": pd.Series([metric.unit if metric else "" for metric in metrics], index=index, dtype=object),
        "better": pd.Series(
            [_DIRECTIONS[metric.higher_is_better if metric else None] for metric in metrics],
            index=index,
            dtype=object,
        ),
    }
    columns = {
        item.name: pd.Series([item.scores.get(name) for name in names], index=index, dtype=object)
        for item in items
        if item.scores
    }
    frame = pd.DataFrame(front | {name: column for name, column in columns.items() if name not in front})
    return frame if columns else frame.iloc[:0]


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
