"""Colourings of a structure by residue properties, and the choice among them.

A structure has only the colourings that it has data for: confidence or predicted error if the result gives
one, and the B-factor column if it varies (called B-factors if the file names an experiment). Values are also
shown in the legend and on hover.

Confidence bands: above 90, 70, 50 and below, in the four colours of the AlphaFold database.
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
from foldnote.viewers.scene.model import STYLES, Coloring, LegendItem, Scene, Style
from foldnote.viewers.scene.traces import ChainTrace, read_traces

Traces = Mapping[str, ChainTrace]
Values = Mapping[str, Sequence[float | None]]
"""Values per residue, by chain name; None for a residue without one."""

CONFIDENCE_BANDS = (
    (90.0, "#0053d6", "Very high, above 90"),
    (70.0, "#65cbf3", "High, 70 to 90"),
    (50.0, "#ffdb13", "Low, 50 to 70"),
    (-math.inf, "#ff7d45", "Very low, below 50"),
)
_HYDROPATHY = {
    "A": 1.8, "R": -4.5, "N": -3.5, "D": -3.5, "C": 2.5, "Q": -3.5, "E": -3.5, "G": -0.4, "H": -3.2, "I": 4.5,
    "L": 3.8, "K": -3.9, "M": 1.9, "F": 2.8, "P": -1.6, "S": -0.8, "T": -0.7, "W": -0.9, "Y": -1.3, "V": 4.2,
}  # fmt: skip
_SECONDARY = {"H": ("Helix", "#cc3377"), "E": ("Strand", "#b88600"), "C": ("Coil", "#868e96")}
_STEPS = 24


@dataclass(frozen=True)
class Scale:
    """A continuous colour scale.

    Attributes:
        colors: ``#rrggbb``, from low to high.
        low, high: the values of the first and the last colour.
        unit: suffix of values in the legend.
    """

    colors: tuple[str, ...]
    low: float
    high: float
    unit: str = ""

    def find_index(self, value: float | None) -> int:
        """Return the index of the colour of ``value``, clipped to the scale; -1 for a missing value."""
        if value is None or not math.isfinite(value):
            return -1
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return max(0, min(len(self.colors) - 1, round(share * (len(self.colors) - 1))))

    def make_legend(self, ends: Sequence[str] = ("", "", "")) -> tuple[LegendItem, ...]:
        """Return the legend entries for the lowest, middle and highest value, with the suffixes ``ends``."""
        values = (self.low, (self.low + self.high) / 2, self.high)
        labels = [
            f"{value:.3g}{self.unit}{end}".replace("-", "−") for value, end in zip(values, ends, strict=True)
        ]
        return _make_legend(labels, (self.colors[0], self.colors[len(self.colors) // 2], self.colors[-1]))


def find_colorings(structure: Structure, traces: Traces | None = None) -> tuple[Coloring, ...]:
    """Return every colouring that this structure has data for.

    Args:
        structure: the structure to colour.
        traces: its backbone traces, if they were already read.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms.
    """
    if not structure.chains:
        return ()
    known_traces = traces if traces is not None else read_traces(structure)
    colorings = (make(structure, known_traces) for make in _MAKERS)
    return tuple(coloring for coloring in colorings if coloring is not None)


def color_by_values(
    name: str,
    values: Values,
    *,
    key: str,
    source: str,
    scale: Scale | None = None,
    unit: str = "",
    ends: Sequence[str] = ("", "", ""),
) -> Coloring:
    """Return a colouring by numeric values of residues.

    Args:
        name: name in the legend.
        values: for each chain, one value per residue in file order; None for a missing value.
        key: name in Python code.
        source: source of the values.
        scale: colour scale; by default blue to orange from the lowest to the highest value.
        unit: suffix of values in the legend.
        ends: suffixes of the lowest, middle and highest value in the legend.
    """
    numbers = [v for row in values.values() for v in row if v is not None and math.isfinite(v)]
    span = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
    scale = scale or Scale(palette.ramp(palette.MAGNITUDE, _STEPS), *span, unit)
    return Coloring(
        key=key,
        name=name,
        source=source,
        palette=scale.colors,
        legend=scale.make_legend(ends),
        shades=({chain: tuple(scale.find_index(v) for v in row) for chain, row in values.items()},),
        values=(_round(values),),
    )


class _Numbered(Protocol):
    """A chain with residue numbers."""

    @property
    def name(self) -> str: ...

    @property
    def numbers(self) -> tuple[str, ...]: ...


def read_column(frame: pd.DataFrame, column: str, chains: Sequence[_Numbered]) -> dict[str, list[object]]:
    """Return the values of a column for each residue, by chain name; None for residues without a row.

    Args:
        frame: one row per residue, with ``chain`` and ``number`` (residue number with insertion code).
        column: the column to read.
        chains: the chains to look up.

    Raises:
        ArgumentError: a column is missing, or no row matches a residue of these chains.
    """
    missing = [name for name in ("chain", "number", column) if name not in frame.columns]
    if missing:
        have = ", ".join(map(str, frame.columns))
        raise ArgumentError(
            f"The table has no column {', '.join(map(repr, missing))}; it has {have}. "
            "Colouring residues requires 'chain', 'number' and the column with the values."
        )
    keys = zip(frame["chain"].astype(str), frame["number"].astype(str).str.strip(), strict=True)
    values = dict(zip(keys, frame[column], strict=True))
    columns = {chain.name: [values.get((chain.name, number)) for number in chain.numbers] for chain in chains}
    if not any(value is not None for row in columns.values() for value in row):
        names = ", ".join(chain.name for chain in chains)
        raise ArgumentError(
            f"No row of the table matches a residue of the structure, whose chains are {names}. "
            "Write 'chain' and 'number' as in the structure file."
        )
    return columns


def color_by_column(frame: pd.DataFrame, column: str, chains: Sequence[_Numbered]) -> Coloring:
    """Return a colouring by a table column: a continuous scale for numbers, else one colour per category.

    Raises:
        ArgumentError: a column is missing, or no row matches a residue of these chains.
    """
    rows = read_column(frame, column, chains)
    if pd.api.types.is_numeric_dtype(frame[column]) and not pd.api.types.is_bool_dtype(frame[column]):
        return color_by_values(str(column), _to_numbers(rows), key=str(column), source="the given table")
    categories = list(dict.fromkeys(str(v) for row in rows.values() for v in row if v is not None))
    positions = {category: position for position, category in enumerate(categories)}
    colors = tuple(palette.chain_color(index) for index in range(len(categories)))
    return Coloring(
        key=str(column),
        name=str(column),
        source="the given table",
        palette=colors,
        legend=_make_legend(categories, colors),
        shades=({name: tuple(positions.get(str(v), -1) for v in row) for name, row in rows.items()},),
    )


def choose(
    scene: Scene, color: str | None = None, style: Style | None = None, table: pd.DataFrame | None = None
) -> Scene:
    """Return a copy of a scene with another initial colouring or style.

    Args:
        scene: the scene to copy.
        color: ``chain``, the key of one of the scene's colourings, or a column of ``table``.
        style: ``cartoon``, ``sticks``, ``spheres`` or ``surface``.
        table: one row per residue, with ``chain``, ``number`` and the column ``color``; numbers give a
            continuous scale, text one colour per value.

    Raises:
        ArgumentError: the scene has no such colouring, the style is unknown, or the table does not fit.
    """
    if style is not None and style not in STYLES:
        raise ArgumentError(f"There is no style {style!r}. Choose one of {', '.join(STYLES)}.")
    if table is not None:
        if color is None:
            raise ArgumentError("Name the column of the table to colour by: color='COLUMN'.")
        if len(scene.models) != 1:
            raise ArgumentError("A table can only colour a scene with one model; this scene has several.")
        table_coloring = color_by_column(table, color, scene.models[0].chains)
        kept = [coloring for coloring in scene.colorings if coloring.key != table_coloring.key]
        scene = scene.model_copy(update={"colorings": (*kept, table_coloring)})
    keys = ["chain", *(coloring.key for coloring in scene.colorings)]
    if color is not None and color not in keys:
        hint = _explain_no_confidence(keys) if color == "confidence" else ""
        raise ArgumentError(
            f"This structure cannot be coloured by {color!r}.{hint} "
            f"Choose one of {', '.join(keys)}, or pass a table."
        )
    changes = {"color": color, "style": style}
    return scene.model_copy(update={key: value for key, value in changes.items() if value is not None})


def _explain_no_confidence(keys: Sequence[str]) -> str:
    if "error" in keys:
        return " It has no pLDDT, but it has a predicted error: color='error'."
    advice = " If its B-factor column holds pLDDT, pass b_factors='plddt'." if "b-factor" in keys else ""
    return f" The result gives no confidence for it.{advice}"


def _by_confidence(structure: Structure, _: Traces) -> Coloring | None:
    frame, confidence = structure.plddt, structure.confidence
    if frame is None:
        return None
    values = _to_numbers(read_column(frame, "plddt", structure.chains))
    floors = [floor for floor, _, _ in CONFIDENCE_BANDS]
    colors = tuple(color for _, color, _ in CONFIDENCE_BANDS)
    return Coloring(
        key="confidence",
        name="Confidence (pLDDT, 0 to 100)",
        source=confidence.source if confidence else "",
        palette=colors,
        legend=_make_legend([label for _, _, label in CONFIDENCE_BANDS], colors),
        shades=({name: tuple(_find_band(value, floors) for value in row) for name, row in values.items()},),
        values=(_round(values),),
    )


def _find_band(value: float | None, floors: Sequence[float]) -> int:
    return -1 if value is None else next(index for index, floor in enumerate(floors) if value > floor)


def _by_error(structure: Structure, _: Traces) -> Coloring | None:
    frame = structure.predicted_error
    if frame is None:
        return None
    return color_by_values(
        "Predicted error (Å, lower is better)",
        _to_numbers(read_column(frame, "error", structure.chains)),
        key="error",
        source=structure.b_column.source,
        unit=" Å",
        ends=(", smallest error", "", ", largest error"),
    )


def _by_position(structure: Structure, _: Traces) -> Coloring:
    colors = palette.ramp(palette.RAINBOW, _STEPS)
    shades = {}
    for chain in structure.chains:
        length = len(chain)
        scale = Scale(colors, 0, max(length - 1, 1))
        shades[chain.name] = tuple(scale.find_index(index) for index in range(length))
    ends = ("First residue of the chain", "Middle", "Last residue")
    return Coloring(
        key="rainbow",
        name="N→C (rainbow)",
        palette=colors,
        legend=_make_legend(ends, (colors[0], colors[_STEPS // 2], colors[-1])),
        shades=(shades,),
    )


def _by_secondary(structure: Structure, traces: Traces) -> Coloring | None:
    proteins = [chain.name for chain in structure.chains if chain.kind == "protein" and chain.name in traces]
    letters = {name: traces[name].secondary for name in proteins}
    if not any(letters.values()):
        return None
    colors, order = tuple(color for _, color in _SECONDARY.values()), tuple(_SECONDARY)
    return Coloring(
        key="secondary",
        name="Secondary structure",
        source=structure.secondary_method,
        palette=colors,
        legend=_make_legend([label for label, _ in _SECONDARY.values()], colors),
        shades=({name: tuple(order.index(letter) for letter in row) for name, row in letters.items()},),
    )


def _by_hydropathy(structure: Structure, _: Traces) -> Coloring | None:
    proteins = [chain for chain in structure.chains if chain.kind == "protein"]
    if not proteins:
        return None
    coloring = color_by_values(
        "Hydrophobicity",
        {chain.name: [_HYDROPATHY.get(letter) for letter in chain.sequence] for chain in proteins},
        key="hydrophobicity",
        source="Kyte and Doolittle 1982",
        scale=Scale(palette.ramp(palette.SIGNED, _STEPS), -4.5, 4.5),
        ends=(", hydrophilic", "", ", hydrophobic"),
    )
    return coloring.model_copy(update={"values": ()})  # the residue name implies the value


def _by_b_factor(structure: Structure, traces: Traces) -> Coloring | None:
    """Return the B-factor column; without a unit unless it is known to hold B-factors."""
    column = structure.b_column
    if structure.plddt is not None or column.meaning == "error":
        return None
    values = {name: trace.b_factors for name, trace in traces.items()}
    numbers = [v for row in values.values() for v in row]
    if not numbers or max(numbers) - min(numbers) < 1e-6:
        return None
    is_b_factor = column.meaning == "b-factor"
    name = "B-factor (Å²)" if is_b_factor else "B-factor column (meaning not stated)"
    return color_by_values(
        name, values, key="b-factor", source=column.source, unit=" Å²" if is_b_factor else ""
    )


_MAKERS: tuple[Callable[[Structure, Traces], Coloring | None], ...] = (
    _by_confidence, _by_error, _by_position, _by_secondary, _by_hydropathy, _by_b_factor,
)  # fmt: skip


def _make_legend(labels: Sequence[str], colors: Sequence[str]) -> tuple[LegendItem, ...]:
    return tuple(LegendItem(label=label, color=color) for label, color in zip(labels, colors, strict=True))


def _to_numbers(rows: Mapping[str, Sequence[object]]) -> dict[str, list[float | None]]:
    return {name: [_to_number(value) for value in row] for name, row in rows.items()}


def _to_number(value: object) -> float | None:
    number = float(value) if isinstance(value, int | float | np.number) else math.nan
    return number if math.isfinite(number) else None


def _round(values: Values) -> dict[str, tuple[float | None, ...]]:
    return {name: tuple(v and round(v, 2) for v in map(_to_number, row)) for name, row in values.items()}
