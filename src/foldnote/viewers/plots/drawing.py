"""What a plot shows, as data: marks in the units of two axes, each above those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foldnote.viewers.render.png import write_png
from foldnote.viewers.scene import palette

INK = ""
"""The colour of text: the page's in a cell, matplotlib's own in a figure."""
_MOST_PIXELS = 400
_COLOR_STEPS = 48


@dataclass(frozen=True)
class Axis:
    """One axis: a label with the unit, its ends, and where marks stand with their names.

    Without ``ticks`` there are about five, at round numbers; without ``names`` they are named by number.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Places and words of the marks."""
        ticks = list(self.ticks) or find_ticks(self.low, self.high)
        return list(zip(ticks, self.names or [f"{tick:g}" for tick in ticks], strict=True))


@dataclass(frozen=True)
class Band:
    """A pale horizontal band from ``low`` to ``high``."""

    low: float
    high: float
    color: str


@dataclass(frozen=True)
class Curve:
    """A line through points, interrupted where a value is missing; named ones stand in a legend."""

    xs: Sequence[float]
    ys: Sequence[float]
    color: str = INK
    width: float = 1.6
    dash: Sequence[float] = ()
    name: str = ""


@dataclass(frozen=True)
class Dots:
    """Dots, each with words that appear under the pointer; named ones stand in a legend."""

    xs: Sequence[float]
    ys: Sequence[float]
    color: str
    titles: Sequence[str]
    name: str = ""


@dataclass(frozen=True)
class Bars:
    """The bars of a histogram, each with words that appear under the pointer; one edge more than heights."""

    edges: Sequence[float]
    heights: Sequence[float]
    color: str
    titles: Sequence[str]


@dataclass(frozen=True)
class Label:
    """Words to the right of a place (``start``) or to its left (``end``).

    ``size`` is the height of the letters, ``rise`` how far their feet stand above the place; both in pixels.
    """

    x: float
    y: float
    text: str
    anchor: Literal["start", "end"] = "start"
    size: int = 11
    rise: int = -4


@dataclass(frozen=True)
class Border:
    """A dashed line across the plane at a place of one axis, such as between chains."""

    axis: Literal["x", "y"]
    place: float


@dataclass(frozen=True, eq=False)
class Raster:
    """A matrix that fills the plane, its first row at the top, with a scale of its colours.

    Attributes:
        matrix: shape (n, m); NaN where there is no value, which stays transparent.
        low, high: the values at the ends of the colours.
        colors: from low to high, evenly apart.
        label: quantity with its unit.
        has_more: whether values above ``high`` have its colour.
    """

    matrix: NDArray[np.floating]
    low: float
    high: float
    colors: tuple[str, ...]
    label: str
    has_more: bool = False

    def to_png(self) -> bytes:
        """The matrix as a PNG of at most 400 by 400 pixels, evenly chosen."""
        places = [np.linspace(0, n - 1, min(n, _MOST_PIXELS)).round().astype(int) for n in self.matrix.shape]
        return _write_shades((self.matrix[np.ix_(*places)] - self.low) / (self.high - self.low), self.colors)

    def scale_png(self) -> bytes:
        """The colours from high to low, one pixel wide."""
        return _write_shades(np.linspace(1, 0, _COLOR_STEPS)[:, None], self.colors)


Mark = Band | Curve | Dots | Bars | Border | Label | Raster


@dataclass(frozen=True, eq=False)
class Drawing:
    """The marks of a plot on their axes.

    Attributes:
        x, y: the axes.
        marks: what is drawn.
        width, height: pixels in a cell; a figure of matplotlib has the same shape.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    width: int = 560
    height: int = 240


def find_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About ``count`` round numbers between ``low`` and ``high``, whichever is the greater."""
    if high < low:
        return find_ticks(high, low, count)
    rough = (high - low) / count
    if not np.isfinite([low, high, rough]).all() or rough < np.finfo(float).tiny:
        return [low]
    power = 10.0 ** np.floor(np.log10(rough))
    step = next((power * m for m in (1, 2, 5) if power * m >= rough), power * 10)
    first = np.ceil(low / step - 1e-9)
    return [round(float(step * i), 10) + 0.0 for i in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def _write_shades(shares: NDArray[np.floating], anchors: tuple[str, ...]) -> bytes:
    """A PNG of shares from 0 to 1, transparent where there is none."""
    shares = np.clip(shares, 0, 1) * (_COLOR_STEPS - 1)
    index = np.where(np.isfinite(shares), np.nan_to_num(shares), _COLOR_STEPS).round().astype(np.uint8)
    ramp = palette.ramp(anchors, _COLOR_STEPS)
    colors = [[*(int(color[i : i + 2], 16) for i in (1, 3, 5)), 255] for color in ramp]
    return write_png(index, np.array([*colors, [0, 0, 0, 0]], dtype=np.uint8))
