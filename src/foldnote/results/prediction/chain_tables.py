"""Read per-chain and per-chain-pair scores from JSON files.

Programs write them as lists, as objects with the keys 0, 1, 2, … or 1, 2, 3, …, as objects keyed by chain
name, or, in OpenFold 3, as objects keyed by pairs of chain names such as ``"(A, B)"``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from foldnote.results.core.numeric import Floats, as_floats, as_matrix

_MAX_VALUES = 10_000
"""Larger tables are ignored."""
_PAIR = re.compile(r"\(\s*([^\s,()]+)\s*,\s*([^\s,()]+)\s*\)")
_SCORE = re.compile(r"ptm|plddt|pae")
"""Occurs in the names of per-chain scores; other objects keyed by chain are not scores."""


def read_chain_tables(content: Mapping[str, Any]) -> dict[str, Floats]:
    """Collect the per-chain tables of a score file under the names that the file uses.

    Args:
        content: the parsed JSON object.

    Returns:
        Float64 arrays of shape (C,) or (C, C) for C chains in the file's order; missing values are NaN.
        Tables given by pairs of chain names are symmetric, with NaN on the diagonal.
    """
    tables: dict[str, Floats] = {}
    order = _find_order(content)
    for key, value in content.items():
        name = str(key).lower()
        if isinstance(value, Mapping) and value and all(_PAIR.fullmatch(str(pair)) for pair in value):
            array = _fill_pairs(value, order)
        elif "chain" not in name or "id" in name.split("_")[-1]:
            continue
        else:
            array = _read_table(value, is_score=_SCORE.search(name) is not None)
        if array is not None and array.size <= _MAX_VALUES:
            tables[str(key)] = array
    return tables


def _read_table(value: object, *, is_score: bool) -> Floats | None:
    plain = _unmap(value, is_score=is_score)
    array = as_matrix(plain) if _is_nested(value) else as_floats(plain)
    if array is None:
        return None
    return (array[0] if array.ndim == 2 and array.shape[0] == 1 < array.shape[1] else array).astype(
        np.float64
    )


def _is_nested(value: object) -> bool:
    if not isinstance(value, Mapping | list) or not value:
        return False
    inner = next(iter(value.values())) if isinstance(value, Mapping) else value[0]
    return isinstance(inner, Mapping | list)


def _unmap(value: object, *, is_score: bool) -> object:
    """Replace objects by lists of their values; None if an object is not keyed by position or chain."""
    if isinstance(value, Mapping):
        keys = list(value)
        counted = [[str(i + first) for i in range(len(keys))] for first in (0, 1)]
        if keys not in counted and not is_score:
            return None
        inner = [value[key] for key in keys]
        rows = [{key: row[key] for key in keys} if _has_keys(row, keys) else row for row in inner]
        return [_unmap(row, is_score=is_score) for row in rows]
    if isinstance(value, list):
        return [_unmap(row, is_score=is_score) for row in value]
    return value


def _has_keys(value: object, keys: list[Any]) -> bool:
    return isinstance(value, Mapping) and set(value) == set(keys)


def _find_order(content: Mapping[str, Any]) -> list[str]:
    """Return the chain names in the order of the first per-chain score that is keyed by name; else []."""
    candidates = (
        [str(name) for name in value]
        for key, value in content.items()
        if isinstance(value, Mapping) and _SCORE.search(str(key).lower()) and not _is_nested(value)
    )
    return next((names for names in candidates if names and not any(map(_PAIR.fullmatch, names))), [])


def _fill_pairs(value: Mapping[str, Any], order: list[str]) -> Floats | None:
    pairs = [match.groups() for pair in value if (match := _PAIR.fullmatch(str(pair)))]
    names = list(dict.fromkeys([*order, *(name for pair in pairs for name in pair)]))
    scores = as_floats(list(value.values()))
    if scores is None or len(names) ** 2 > _MAX_VALUES:
        return None
    matrix = np.full((len(names), len(names)), np.nan)
    for (first, second), score in zip(pairs, scores, strict=True):
        i, j = names.index(first), names.index(second)
        matrix[i, j] = matrix[j, i] = score
    return matrix
