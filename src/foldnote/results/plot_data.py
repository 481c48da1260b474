"""Tables and arrays for plots.

For plots of aligned errors, :class:`foldnote.results.Pae` has the data (``matrix`` in Å, ``borders``,
``chains``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results.core.numeric import Floats
from foldnote.results.metrics.registry import find_metric
from foldnote.results.prediction.model import Model
from foldnote.results.sequences.alignment import Alignment

PLDDT_COLUMNS = ["prediction", "rank", "model", "position", "chain", "number", "residue", "plddt"]
_MAX_ROWS = 2000


def list_plddt(models: Sequence[Model]) -> pd.DataFrame:
    """Return the pLDDT of every residue of every model, for lines per rank.

    Returns:
        One row per polymer residue: ``prediction`` str, ``rank`` int64, ``model`` str, ``position`` int64
        (from 1, counted through all chains), ``chain``, ``number``, ``residue`` str, ``plddt`` float64 (0 to
        100). Models without a pLDDT, or whose file is damaged, are left out.
    """
    parts = []
    for model in models:
        try:
            plddt = model.plddt
        except UnreadableFileError:
            continue
        if plddt is not None:
            labels: dict[str, str | int] = {
                "prediction": model.prediction,
                "rank": model.rank,
                "model": model.name,
            }
            parts.append(plddt.assign(position=np.arange(1, len(plddt) + 1), **labels)[PLDDT_COLUMNS])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=PLDDT_COLUMNS)


def list_chain_starts(plddt: pd.DataFrame) -> pd.DataFrame:
    """Return the first residue of each chain in one model's rows of :func:`list_plddt`.

    Returns:
        One row per chain: ``chain`` str, ``position`` int64 of its first residue.
    """
    is_first = plddt["chain"] != plddt["chain"].shift()
    return plddt.loc[is_first, ["chain", "position"]].reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Coverage and identity of an alignment, for a plot.

    Attributes:
        columns: one row per alignment column: ``position`` int64 (from 1), ``residue`` str (of the query),
            ``sequences`` int64 (number with a residue there), ``share`` float64 (their fraction, 0 to 1),
            ``chain`` int64 (from 0; always 0 if the file does not separate chains).
        rows: float32, shape (r, L): identity to the query (0 to 1) of each sequence where it has a residue,
            NaN where it has a gap; the most similar sequence first. At most 2,000 rows, evenly sampled.
        depth: number of sequences in the file, including the query.
        borders: int64: first column of each chain except the first.
    """

    columns: pd.DataFrame
    rows: NDArray[np.float32]
    depth: int
    borders: NDArray[np.int64]


def make_coverage(alignment: Alignment) -> Coverage:
    """Return the coverage and identity of an alignment.

    Raises:
        UnreadableFileError: the sequences have different lengths.
    """
    length = alignment.length
    chains = np.zeros(length, dtype=np.int64)
    for border in alignment.borders:
        chains[border:] += 1
    columns = pd.DataFrame(
        {
            "position": np.arange(1, length + 1),
            "residue": pd.Series(list(alignment.query), dtype="str"),
            "sequences": alignment.coverage,
            "share": alignment.coverage / alignment.depth,
            "chain": chains,
        }
    )
    order = np.argsort(-np.nan_to_num(alignment.identity, nan=-1.0), kind="stable")
    if len(order) > _MAX_ROWS:
        order = order[np.linspace(0, len(order) - 1, _MAX_ROWS).astype(int)]
    identities = np.where(alignment.is_residue[order], alignment.identity[order, None], np.nan)
    return Coverage(columns, identities.astype(np.float32), alignment.depth, alignment.borders)


@dataclass(frozen=True, eq=False)
class Distribution:
    """Histogram of a column.

    Attributes:
        name: the column.
        label: label of the axis, with the unit if known.
        higher_is_better: direction of the metric; None if unknown.
        edges: float64, shape (n + 1,): edges of the bins.
        counts: int64, shape (n,): rows in each bin.
        missing: rows without a value.
    """

    name: str
    label: str
    higher_is_better: bool | None
    edges: Floats
    counts: NDArray[np.int64]
    missing: int


def make_distribution(frame: pd.DataFrame, name: str, *, bins: int | None = None) -> Distribution:
    """Return a histogram of one column.

    Args:
        frame: any table.
        name: the column.
        bins: number of bins; by default by the Freedman-Diaconis rule, at most 100.

    Raises:
        ArgumentError: there is no such column, or it has no finite numbers.
    """
    if name not in frame.columns:
        raise ArgumentError(f"The table has no column {name!r}; it has {', '.join(map(str, frame.columns))}.")
    numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    values = numbers[np.isfinite(numbers)]
    if len(values) == 0:
        raise ArgumentError(f"The column {name!r} has no finite numbers.")
    counts, edges = np.histogram(values, bins=bins or _count_bins(values))
    metric = find_metric(name)
    return Distribution(
        name=name,
        label=f"{metric.label} ({metric.unit})" if metric else name,
        higher_is_better=metric.higher_is_better if metric else None,
        edges=edges.astype(np.float64),
        counts=counts.astype(np.int64),
        missing=int(len(numbers) - len(values)),
    )


def _count_bins(values: Floats) -> int:
    low, high = np.percentile(values, [25, 75])
    width = 2 * (high - low) / np.cbrt(len(values))
    spread = float(np.ptp(values))
    return int(np.clip(np.ceil(spread / width), 1, 100)) if width > 0 else min(10, len(values))
