"""Ways to colour a structure by what is known of its residues.

Only what the structure really has is offered: confidence or a predicted error where there is evidence of one,
the B-factor column where it differs, as B-factors where the file names an experiment. Numbers are shown in
words as well: by the legend, and under the pointer.

Bands of confidence: above 90, 70, 50 and below, in the four colours that the AlphaFold database made usual.
Hydrophobicity: Kyte and Doolittle, J. Mol. Biol. 157, 105-132 (1982).
Secondary structure: see :mod:`foldnote.results.structure.dssp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results import Structure
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Coloring, LegendItem
from foldnote.viewers.scene.traces import ChainTrace, read_traces

Traces = Mapping[str, ChainTrace]
Values = Mapping[str, Sequence[float | None]]
"""A number for each residue of each chain; None where there is none."""

CONFIDENCE_BANDS = (
    (90.0, "#0053d6", "Very high, above 90"),
    (70.0, "#65cbf3", "High, 70 to 90"),
    (50.0, "#ffdb13", "Low, 50 to 70"),
    (-np.inf, "#ff7d45", "Very low, below 50"),
)
_HYDROPATHY = {
    "A": 1.8, "R": -4.5, "N": -3.5, "D": -3.5, "C": 2.5, "Q": -3.5, "E": -3.5, "G": -0.4, "H": -3.2, "I": 4.5,
    "L": 3.8, "K": -3.9, "M": 1.9, "F": 2.8, "P": -1.6, "S": -0.8, "T": -0.7, "W": -0.9, "Y": -1.3, "V": 4.2,
}  # fmt: skip
_SECONDARY = {"H": ("Helix", "#cc3377"), "E": ("Strand", "#e0a800"), "C": ("Coil", "#8f979f")}
_STEPS = 24


@dataclass(frozen=True)
class Scale:
    """A continuous scale of colours.

    Attributes:
        colors: from the low to the high end.
        low, high: the values at its ends.
        unit: what is written behind a value in the legend.
    """

    colors: tuple[str, ...]
    low: float
    high: float
    unit: str = ""

    def place(self, value: float | None) -> int:
        """The place of ``value`` on the scale; -1 for no value."""
        if value is None or not math.isfinite(value):
            return -1
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return max(0, min(len(self.colors) - 1, round(share * (len(self.colors) - 1))))

    @property
    def legend(self) -> tuple[LegendItem, ...]:
        """The two ends and the middle."""
        picks = ((0, self.low), (len(self.colors) // 2, (self.low + self.high) / 2), (-1, self.high))
        return tuple(
            LegendItem(label=f"{value:.3g}{self.unit}".strip(), color=self.colors[place])
            for place, value in picks
        )


def find_colorings(structure: Structure, traces: Traces | None = None) -> tuple[Coloring, ...]:
    """Every colouring that this structure has the data for.

    Args:
        structure: what is to be coloured.
        traces: the course of its chains, if it was read already.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    if not structure.chains:
        return ()
    traces = traces if traces is not None else read_traces(structure)
    makers: tuple[Callable[[Structure, Traces], Coloring | None], ...] = (
        _by_confidence,
        _by_error,
        _by_place,
        _by_secondary,
        _by_hydropathy,
        _by_b_factor,
    )
    return tuple(
        coloring for coloring in (make(structure, traces) for make in makers) if coloring is not None
    )


def color_by_values(
    name: str,
    values: Values,
    *,
    key: str = "values",
    source: str = "",
    scale: Scale | None = None,
    unit: str = "",
) -> Coloring:
    """A colouring by any number that residues have.

    Args:
        name: what the legend says.
        values: for each chain, a number for each of its residues in order; None where there is none.
        key: what Python code calls it.
        source: where the numbers are from.
        scale: colours and their ends; without it viridis-like colours from the lowest to the highest value.
        unit: what is written behind a value.
    """
    known = [v for row in values.values() for v in row if v is not None and np.isfinite(v)]
    ends = (min(known), max(known)) if known else (0.0, 1.0)
    scale = scale or Scale(palette.ramp(palette.SEQUENTIAL, _STEPS), *ends, unit)
    return Coloring(
        key=key,
        name=name,
        source=source,
        palette=scale.colors,
        legend=scale.legend,
        shades=({chain: tuple(scale.place(v) for v in row) for chain, row in values.items()},),
        values=({chain: tuple(_round(v) for v in row) for chain, row in values.items()},),
    )


class _Numbered(Protocol):
    """A chain whose residues are known by number."""

    @property
    def name(self) -> str: ...

    @property
    def numbers(self) -> tuple[str, ...]: ...


def read_column(frame: pd.DataFrame, column: str, chains: Sequence[_Numbered]) -> dict[str, list[object]]:
    """What ``column`` says of each residue.

    Args:
        frame: one row a residue, with ``chain`` and ``number`` (residue number with insertion code).
        column: the column to read.
        chains: the chains to read it for.

    Raises:
        ArgumentError: a column is missing, or no row is about a residue of these chains.
    """
    missing = [name for name in ("chain", "number", column) if name not in frame.columns]
    if missing:
        have = ", ".join(map(str, frame.columns))
        raise ArgumentError(
            f"The table has no column {', '.join(map(repr, missing))}; it has {have}. "
            "To colour residues it needs 'chain', 'number' and the column with the values."
        )
    keys = zip(frame["chain"].astype(str), frame["number"].astype(str).str.strip(), strict=True)
    known = dict(zip(keys, frame[column], strict=True))
    found = {chain.name: [known.get((chain.name, number)) for number in chain.numbers] for chain in chains}
    if not any(value is not None for row in found.values() for value in row):
        names = ", ".join(chain.name for chain in chains)
        raise ArgumentError(
            f"No row of the table is about a residue of the structure, whose chains are {names}. "
            "See that 'chain' and 'number' are written as the structure writes them."
        )
    return found


def color_by_column(frame: pd.DataFrame, column: str, chains: Sequence[_Numbered]) -> Coloring:
    """A colouring by a column of a table: a scale for numbers, a colour for each word otherwise.

    Raises:
        ArgumentError: a column is missing, or no row is about a residue of these chains.
    """
    rows = read_column(frame, column, chains)
    if pd.api.types.is_numeric_dtype(frame[column]) and not pd.api.types.is_bool_dtype(frame[column]):
        numbers = {name: [_to_number(value) for value in row] for name, row in rows.items()}
        return color_by_values(str(column), numbers, key=str(column), source="the given table")
    words = list(dict.fromkeys(str(v) for row in rows.values() for v in row if v is not None))
    colors = tuple(palette.chain_color(index) for index in range(len(words)))
    return Coloring(
        key=str(column),
        name=str(column),
        source="the given table",
        palette=colors,
        legend=tuple(LegendItem(label=w, color=c) for w, c in zip(words, colors, strict=True)),
        shades=(
            {
                name: tuple(-1 if v is None else words.index(str(v)) for v in row)
                for name, row in rows.items()
            },
        ),
    )


def join_colorings(parts: Sequence[Sequence[Coloring]]) -> tuple[Coloring, ...]:
    """The colourings that every one of several models has, for a scene of all of them."""
    shared = [
        key for key in (c.key for c in parts[0]) if all(any(c.key == key for c in own) for own in parts)
    ]
    joined = []
    for key in shared:
        same = [next(c for c in own if c.key == key) for own in parts]
        if all(c.palette == same[0].palette and c.legend == same[0].legend for c in same):
            shades = tuple(shade for c in same for shade in c.shades)
            values = tuple(value for c in same for value in c.values)
            joined.append(same[0].model_copy(update={"shades": shades, "values": values}))
    return tuple(joined)


def _by_confidence(structure: Structure, _: Traces) -> Coloring | None:
    frame = structure.plddt
    if frame is None:
        return None
    rows = read_column(frame, "plddt", structure.chains)
    values = {name: [_to_number(value) for value in row] for name, row in rows.items()}
    floors = [floor for floor, _, _ in CONFIDENCE_BANDS]
    bands = {
        name: tuple(-1 if v is None else next(i for i, floor in enumerate(floors) if v > floor) for v in row)
        for name, row in values.items()
    }
    return Coloring(
        key="confidence",
        name="Confidence (pLDDT, 0 to 100)",
        source=structure.confidence.source if structure.confidence else "",
        palette=tuple(color for _, color, _ in CONFIDENCE_BANDS),
        legend=tuple(LegendItem(label=label, color=color) for _, color, label in CONFIDENCE_BANDS),
        shades=(bands,),
        values=({name: tuple(_round(v) for v in row) for name, row in values.items()},),
    )


def _by_error(structure: Structure, _: Traces) -> Coloring | None:
    frame = structure.predicted_error
    if frame is None:
        return None
    rows = read_column(frame, "error", structure.chains)
    values = {name: [_to_number(value) for value in row] for name, row in rows.items()}
    made = color_by_values(
        "Predicted error (Å, lower is better)",
        values,
        key="error",
        source=structure.b_column.source,
        unit=" Å",
    )
    ends = (", smallest error", "", ", largest error")
    legend = (
        item.model_copy(update={"label": item.label + end})
        for item, end in zip(made.legend, ends, strict=True)
    )
    return made.model_copy(update={"legend": tuple(legend)})


def _by_place(structure: Structure, _: Traces) -> Coloring:
    colors = palette.ramp(palette.RAINBOW, _STEPS)
    shades = {
        chain.name: tuple(Scale(colors, 0, max(len(chain) - 1, 1)).place(i) for i in range(len(chain)))
        for chain in structure.chains
    }
    ends = ("First residue of the chain", "Middle", "Last residue")
    legend = zip(ends, (colors[0], colors[_STEPS // 2], colors[-1]), strict=True)
    return Coloring(
        key="rainbow",
        name="N→C (rainbow)",
        palette=colors,
        legend=tuple(LegendItem(label=label, color=color) for label, color in legend),
        shades=(shades,),
    )


def _by_secondary(structure: Structure, traces: Traces) -> Coloring | None:
    letters = {
        c.name: traces[c.name].secondary for c in structure.chains if c.kind == "protein" and c.name in traces
    }
    if not any(letters.values()):
        return None
    order = tuple(_SECONDARY)
    return Coloring(
        key="secondary",
        name="Secondary structure",
        source=structure.secondary_method,
        palette=tuple(color for _, color in _SECONDARY.values()),
        legend=tuple(LegendItem(label=label, color=color) for label, color in _SECONDARY.values()),
        shades=({name: tuple(order.index(letter) for letter in row) for name, row in letters.items()},),
    )


def _by_hydropathy(structure: Structure, _: Traces) -> Coloring | None:
    proteins = [chain for chain in structure.chains if chain.kind == "protein"]
    if not proteins:
        return None
    values = {chain.name: [_HYDROPATHY.get(letter) for letter in chain.sequence] for chain in proteins}
    scale = Scale(palette.ramp(palette.DIVERGING, _STEPS), -4.5, 4.5)
    made = color_by_values(
        "Hydrophobicity", values, key="hydrophobicity", source="Kyte and Doolittle 1982", scale=scale
    )
    words = ("−4.5, hydrophilic", "0", "4.5, hydrophobic")
    legend = tuple(
        item.model_copy(update={"label": word}) for item, word in zip(made.legend, words, strict=True)
    )
    return made.model_copy(update={"legend": legend, "values": ()})  # the residue's name says the value


def _by_b_factor(structure: Structure, traces: Traces) -> Coloring | None:
    """The column as B-factors where it is known to be them, else without a unit."""
    if structure.plddt is not None or structure.b_column.meaning == "error":
        return None
    values = {name: trace.b_factors for name, trace in traces.items()}
    known = [v for row in values.values() for v in row]
    if not known or max(known) - min(known) < 1e-6:
        return None
    source = structure.b_column.source
    if structure.b_column.meaning == "b-factor":
        return color_by_values("B-factor (Å²)", values, key="b-factor", source=source, unit=" Å²")
    return color_by_values("B-factor column (meaning not stated)", values, key="b-factor", source=source)


def _to_number(value: object) -> float | None:
    number = float(value) if isinstance(value, int | float | np.number) else np.nan
    return number if np.isfinite(number) else None


def _round(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(value, 2)
