"""A metric, and the table of those that are known: ``metrics.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Metric:
    """One row of the table.

    Attributes:
        label: what people call it.
        unit: unit or scale in words.
        higher_is_better: the direction; None where neither is better or it depends.
        definition: one sentence.
        names: how programs spell it in their files.
        group: ``confidence``, ``docking``, ``geometry``, ``sequence``, ``molecule`` or ``admet``.
        range: least and greatest value that the definition allows; None where it is open.
        source: who defined it.
        pattern: regular expression over the lower-case name, for families of names; "" without.
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
    """The rows of the table, in its order."""
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
