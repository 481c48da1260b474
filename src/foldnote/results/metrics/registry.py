"""Known figures of predictions: what each means, its scale, and which direction is better.

One row a metric in ``metrics.toml``, under the names that programs write. A name that is not there is shown
as it stands, and nothing is claimed of it.
"""

from __future__ import annotations

import re

from foldnote.results.metrics.metric import Metric, read_metrics

__all__ = [
    "ENERGY_NAMES",
    "METRICS",
    "RANKING_NAMES",
    "RANK_COLUMNS",
    "Metric",
    "bare_name",
    "find_metric",
    "has_scores",
]

METRICS: tuple[Metric, ...] = read_metrics()

RANKING_NAMES = (
    "ranking_score",
    "sample_ranking_score",
    "ranking_confidence",
    "confidence_score",
    "aggregate_score",
    "iptm+ptm",
    "iptm",
    "Average_i_pTM",
    "ptm",
    "mean_plddt",
)
"""Figures by which programs rank models, the most telling first; higher is better in all."""

RANK_COLUMNS = ("caprieval_rank", "final_rank", "Rank", "rank")
"""Ranks that a program's own table gives its structures; 1 is the best."""

ENERGY_NAMES = ("total_score",)
"""Figures by which programs rank models where a lower one is better."""

_TELLING = frozenset(
    {
        "ptm",
        "iptm",
        "confidence_score",
        "ranking_score",
        "sample_ranking_score",
        "ranking_confidence",
        "aggregate_score",
        "affinity_pred_value",
    }
)
_BARE = re.compile(r"[^a-z0-9+]+")
_PREFIX = re.compile(r"^scores?\.")
"""What stands before a figure of a job in the table of a batch."""
_UNIT = re.compile(r"\s*[\[(][^\[\]()]*[\])]\s*$")


def bare_name(name: str) -> str:
    """``name`` as it is compared: in lower case, without spaces, hyphens and underscores."""
    return _BARE.sub("", name.lower())


_BY_NAME = {bare_name(name): metric for metric in METRICS for name in metric.names}
_PATTERNS = tuple((re.compile(metric.pattern), metric) for metric in METRICS if metric.pattern)


def find_metric(name: str) -> Metric | None:
    """The metric that a file calls ``name``, or None.

    Case, spaces, hyphens and underscores do not count, nor does a unit in brackets at the end, nor the
    ``score.`` before a figure in the table of a batch.
    """
    lower = name.lower().strip()
    return _find(lower) or _find(_PREFIX.sub("", lower))


def _find(lower: str) -> Metric | None:
    found = _BY_NAME.get(bare_name(_UNIT.sub("", lower)))
    return found or next((metric for pattern, metric in _PATTERNS if pattern.search(lower)), None)


def has_scores(names: object) -> bool:
    """Whether a set of figure names is that of a score file, and not of a configuration."""
    return isinstance(names, dict) and any(str(name).lower() in _TELLING for name in names)
