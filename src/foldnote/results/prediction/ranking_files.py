"""Read the ranking files that some programs write beside their structures.

``ranking_debug.json`` of AlphaFold 2 and files like it hold ``order``, the model names from best to worst,
and for each score an object by model name or a list in that order. ``ranking_scores.csv`` of AlphaFold 3
holds one row per sample with its seed, number and unrounded ranking score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from foldnote.results.naming.families import LinkKey, find_link, strip_packing
from foldnote.results.tables.tabular import Scalar, find_figures

_FIGURE_NAMES = {"plddts": "mean_plddt"}


@dataclass(frozen=True)
class Order:
    """The order of the models in one ranking file.

    Attributes:
        folder: folder of the ranking file, in lower case.
        links: link key of each model, best first.
        figures: scores of each model, in the same order.
    """

    folder: str
    links: tuple[LinkKey, ...]
    figures: tuple[Mapping[str, Scalar], ...]


def read_order(content: Any, name: str) -> Order | None:
    """Read the order from the parsed JSON ``content`` of file ``name``; None if it has no list ``order``."""
    names = content.get("order") if isinstance(content, Mapping) else None
    if not isinstance(names, list) or not names or not all(isinstance(each, str) for each in names):
        return None
    folder = str(PurePosixPath(name.lower()).parent)
    links = tuple(LinkKey(folder, find_link(f"{each}.pdb").tokens) for each in names)
    columns = {key: _by_name(values, names) for key, values in content.items() if key != "order"}
    figures = tuple(
        find_figures({_FIGURE_NAMES.get(key, key): column.get(each) for key, column in columns.items()})
        for each in names
    )
    return Order(folder, links, figures)


SAMPLE_SCORE = "ranking_score"
_TABLE = re.compile(r"(?:^|/)([^/]*?)_?ranking_scores\.csv$")


@dataclass(frozen=True)
class SampleScores:
    """The ranking scores of one job's samples.

    Attributes:
        folder: folder of the file, in lower case; "" for the root.
        prediction: the part of the file name before ``ranking_scores.csv``, in lower case; mostly "".
        scores: ``ranking_score`` by seed and sample number; higher is better.
    """

    folder: str
    prediction: str
    scores: Mapping[tuple[int, int], float]

    @property
    def best(self) -> tuple[int, int]:
        """Seed and sample with the highest score."""
        return max(self.scores, key=lambda sample: self.scores[sample])


def read_sample_scores(table: pd.DataFrame, name: str) -> SampleScores | None:
    """Read the ranking scores of a job's samples.

    Args:
        table: one row per sample with the columns ``seed``, ``sample`` and ``ranking_score``.
        name: the file's name.

    Returns:
        None if the file is not named like ``ranking_scores.csv`` or lacks a column.
    """
    plain = strip_packing(name)
    match = _TABLE.search(plain)
    if match is None or not {"seed", "sample", SAMPLE_SCORE} <= set(table.columns):
        return None
    rows = table[["seed", "sample", SAMPLE_SCORE]].apply(pd.to_numeric, errors="coerce").dropna()
    scores = {(int(seed), int(sample)): float(score) for seed, sample, score in rows.itertuples(index=False)}
    parent = str(PurePosixPath(plain).parent)
    return SampleScores("" if parent == "." else parent, match[1], scores) if scores else None


def _by_name(values: object, names: list[str]) -> Mapping[str, Any]:
    if isinstance(values, list) and len(values) == len(names):
        return dict(zip(names, values, strict=True))
    return values if isinstance(values, Mapping) else {}
