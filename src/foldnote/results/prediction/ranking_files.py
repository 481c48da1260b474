"""Lists of models in their order, as some programs leave them beside the structures.

One such file is a JSON object with ``order``, a list of model names from the best, and one object a figure
with its value for every model, or a list of the values in that order. Another is a table with one row a
sample: its seed, its number and the score by which the program ranked it, which score files give rounded.
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
    """One list.

    Attributes:
        folder: the folder that the file is in.
        links: what the names of each model's files have in common, from the best model.
        figures: single figures of each, in the same order.
    """

    folder: str
    links: tuple[LinkKey, ...]
    figures: tuple[Mapping[str, Scalar], ...]


def read_order(content: Any, name: str) -> Order | None:
    """The order in the JSON ``content`` of the file ``name``, or None when it holds none."""
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
    """A table of the samples of one job.

    Attributes:
        folder: the folder that the file is in, in lower case.
        prediction: what stands before ``ranking_scores.csv`` in its name, in lower case; mostly "".
        scores: ``ranking_score`` by seed and sample, higher is better.
    """

    folder: str
    prediction: str
    scores: Mapping[tuple[int, int], float]

    @property
    def best(self) -> tuple[int, int]:
        """Seed and sample with the highest score."""
        return max(self.scores, key=lambda sample: self.scores[sample])


def read_sample_scores(table: pd.DataFrame, name: str) -> SampleScores | None:
    """The scores in the table of the file ``name``, or None when it is no table of samples."""
    plain = strip_packing(name)
    found = _TABLE.search(plain)
    if found is None or not {"seed", "sample", SAMPLE_SCORE} <= set(table.columns):
        return None
    rows = table[["seed", "sample", SAMPLE_SCORE]].apply(pd.to_numeric, errors="coerce").dropna()
    scores = {(int(seed), int(sample)): float(score) for seed, sample, score in rows.itertuples(index=False)}
    parent = str(PurePosixPath(plain).parent)
    return SampleScores("" if parent == "." else parent, found[1], scores) if scores else None


def _by_name(values: object, names: list[str]) -> Mapping[str, Any]:
    if isinstance(values, list) and len(values) == len(names):
        return dict(zip(names, values, strict=True))
    return values if isinstance(values, Mapping) else {}
