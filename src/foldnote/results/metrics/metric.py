"""The record of one metric, and the reader of the table of known metrics, ``metrics.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Metric:
    """One metric of the table.

    Attributes:
        label: the usual name, for headings and axes.
        unit: the unit or scale, such as ``Å`` or ``0 to 1``.
        higher_is_better: None where neither direction is better or it depends on the question.
        definition: what the metric measures, in one sentence.
        names: the names under which programs write it.
        group: ``confidence``, ``docking``, ``geometry``, ``sequence``, ``molecule`` or ``admet``.
        range: smallest and largest value that the definition allows; None where there is no limit.
        source: the publication or program that defined it; "" where none is given.
        pattern: regular expression searched for in the lower-case name, for families of names; "" for none.
    """

    label: str
    unit: str
    higher_is_better: bool | None
    definition: str
    names: tuple[str, ...]
    group: str = "confidence"
    range: tuple[float | None, float | None] = (None, None)
    source: str = ""
    pattern: str = ""


def read_metrics() -> tuple[Metric, ...]:
    """Read ``metrics.toml``, keeping its order."""
    table = tomllib.loads((files(__package__) / "metrics.toml").read_text("utf-8"))
    return tuple(_read_metric(row, table["sources"]) for row in table["metric"])


def _read_metric(row: Mapping[str, Any], sources: Mapping[str, str]) -> Metric:
    source = row.get("source", "")
    return Metric(
        label=row["label"],
        unit=row["unit"],
        higher_is_better=row.get("higher_is_better"),
        definition=row["definition"],
        names=tuple(row["names"]),
        group=row.get("group", "confidence"),
        range=(row.get("least"), row.get("greatest")),
        source=sources.get(source, source),
        pattern=row.get("pattern", ""),
    )
