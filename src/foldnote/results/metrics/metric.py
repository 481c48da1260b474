"""A metric: the columns of the table in :mod:`foldnote.results.metrics.rows`."""

from __future__ import annotations

from dataclasses import dataclass


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


SHARE = (0.0, 1.0)
POSITIVE = (0.0, None)
