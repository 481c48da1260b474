"""Scores of chains and of pairs of chains in a JSON file, whichever way a program nests them.

Lists; objects whose keys are 0, 1, 2 … or 1, 2, 3 …; objects by the names of chains; and objects by pairs of
names, ``"(A, B)"``, as OpenFold 3 writes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from foldnote.results.core.numeric import Floats, as_floats, as_matrix

_LARGEST = 10_000
"""Values of the largest table that is kept."""
_PAIR = re.compile(r"\(\s*([^\s,()]+)\s*,\s*([^\s,()]+)\s*\)")
_SCORE = re.compile(r"ptm|plddt|pae")
"""What the name of a score of chains holds; objects by names may hold anything else."""


def read_chain_tables(content: Mapping[str, Any]) -> dict[str, Floats]:
    """Arrays of shape (C,) or (C, C) by the file's own names, C chains in the file's order, NaN for no value.

    Scores of pairs are the same in both directions, and have no value for a chain with itself.
    """
    found: dict[str, Floats] = {}
    order = _find_order(content)
    for key, value in content.items():
        name = str(key).lower()
        if isinstance(value, Mapping) and value and all(_PAIR.fullmatch(str(pair)) for pair in value):
            array = _fill_pairs(value, order)
        elif "chain" not in name or "id" in name.split("_")[-1]:
            continue
        else:
            array = _read_table(value, is_score=_SCORE.search(name) is not None)
        if array is not None and array.size <= _LARGEST:
            found[str(key)] = array
    return found


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
    """Lists in place of objects; ``null`` inside becomes NaN."""
    if isinstance(value, Mapping):
        keys = list(value)
        counted = [[str(i + first) for i in range(len(keys))] for first in (0, 1)]
        if keys not in counted and not is_score:
            return None
        inner = [value[key] for key in keys]
        rows = [{key: each[key] for key in keys} if _has_keys(each, keys) else each for each in inner]
        return [_unmap(each, is_score=is_score) for each in rows]
    if isinstance(value, list):
        return [_unmap(each, is_score=is_score) for each in value]
    return value


def _has_keys(value: object, keys: list[Any]) -> bool:
    return isinstance(value, Mapping) and set(value) == set(keys)


def _find_order(content: Mapping[str, Any]) -> list[str]:
    """The names of chains in the order of the scores that are given by them."""
    named = (
        [str(name) for name in value]
        for key, value in content.items()
        if isinstance(value, Mapping) and _SCORE.search(str(key).lower()) and not _is_nested(value)
    )
    return next((names for names in named if names and not any(map(_PAIR.fullmatch, names))), [])


def _fill_pairs(value: Mapping[str, Any], order: list[str]) -> Floats | None:
    pairs = [found.groups() for pair in value if (found := _PAIR.fullmatch(str(pair)))]
    names = list(dict.fromkeys([*order, *(name for pair in pairs for name in pair)]))
    scores = as_floats(list(value.values()))
    if scores is None or len(names) ** 2 > _LARGEST:
        return None
    matrix = np.full((len(names), len(names)), np.nan)
    for (one, other), score in zip(pairs, scores, strict=True):
        i, j = names.index(one), names.index(other)
        matrix[i, j] = matrix[j, i] = score
    return matrix
