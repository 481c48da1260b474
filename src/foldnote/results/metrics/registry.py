"""Look up the definition, scale and direction of a metric by the name that a program writes.

The metrics are listed in ``metrics.toml``. A figure without an entry is shown under its own name, without
unit or direction.
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
"""Figures by which programs rank models, in order of preference; higher is better for all of them."""

RANK_COLUMNS = ("caprieval_rank", "final_rank", "Rank", "rank")
"""Columns in which a program's own table ranks its structures; 1 is best."""

ENERGY_NAMES = ("total_score",)
"""Figures by which programs rank models; lower is better."""

_SCORES = frozenset(
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
_IGNORED = re.compile(r"[^a-z0-9+]+")
_PREFIX = re.compile(r"^scores?\.")
"""Prefix of the columns of scores in the table of a batch."""
_UNIT = re.compile(r"\s*[\[(][^\[\]()]*[\])]\s*$")


def bare_name(name: str) -> str:
    """Reduce ``name`` to lower-case letters, digits and ``+``, for comparison."""
    return _IGNORED.sub("", name.lower())


_BY_NAME = {bare_name(name): metric for metric in METRICS for name in metric.names}
_PATTERNS = tuple((re.compile(metric.pattern), metric) for metric in METRICS if metric.pattern)


def find_metric(name: str) -> Metric | None:
    """Find the metric that programs write as ``name``; None if it is not in the table.

    Case, spaces, hyphens, underscores, a unit in brackets at the end, and the prefix ``score.`` of a batch
    table's columns are ignored.
    """
    lower = name.lower().strip()
    return _find(lower) or _find(_PREFIX.sub("", lower))


def _find(lower: str) -> Metric | None:
    exact = _BY_NAME.get(bare_name(_UNIT.sub("", lower)))
    return exact or next((metric for pattern, metric in _PATTERNS if pattern.search(lower)), None)


def has_scores(figures: object) -> bool:
    """Return whether ``figures`` is a dict with at least one confidence or affinity score.

    Distinguishes score files from configuration files.
    """
    return isinstance(figures, dict) and any(str(name).lower() in _SCORES for name in figures)
