"""Plots as data: axes, and marks in data coordinates that are drawn in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foldnote.viewers.render.png import write_png
from foldnote.viewers.scene import palette

TEXT_COLOR = ""
"""Placeholder of the text colour: that of the page in a cell, matplotlib's in a figure."""
DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3), (1, 2))
"""Dashes of successive lines of a plot, which differ also in greyscale."""
Shape = tuple[tuple[float, float], ...]
"""Corners of a dot in pixels from its point, to the right and upwards; empty for a circle."""
_CROSS = ((0, 1.7), (2.7, 4.4), (4.4, 2.7), (1.7, 0), (4.4, -2.7), (2.7, -4.4))
SHAPES: tuple[Shape, ...] = (
    (),
    ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
    ((0, 4.6), (4.6, -3.6), (-4.6, -3.6)),
    ((0, 5), (5, 0), (0, -5), (-5, 0)),
    ((0, -4.6), (4.6, 3.6), (-4.6, 3.6)),
    (*_CROSS, *((-x, -y) for x, y in _CROSS)),
    ((-1.5, 4.6), (1.5, 4.6), (1.5, -4.6), (-1.5, -4.6)),
)
"""Shapes of the dots of successive series, which differ also in greyscale."""
DASH_SHAPE: Shape = ((-4.6, 1.3), (4.6, 1.3), (4.6, -1.3), (-4.6, -1.3))
"""Shape of dots without a series."""
WEDGE_SHAPE: Shape = ((-4.6, -4.6), (4.6, -4.6), (-4.6, 4.6))
"""Shape of the dots of all further series."""
STAR_SHAPE: Shape = (
    *((0, 6.4), (1.6, 2.2), (6.1, 2), (2.6, -0.8), (3.8, -5.2), (0, -2.7)),
    *((-3.8, -5.2), (-2.6, -0.8), (-6.1, 2), (-1.6, 2.2)),
)
"""Shape of a dot to be found among all others."""
MAX_PIXELS = 400
"""Maximum number of rows and of columns of a matrix in a cell."""
_COLOR_STEPS = 48
_RESOLUTION = 1e-12
"""Smallest distance of ticks, relative to the numbers."""


@dataclass(frozen=True)
class Axis:
    """One axis: label with unit, limits, tick positions and tick labels.

    Without ``ticks`` there are about five at round numbers; without ``names`` the labels are the numbers.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Return (position, label) of each tick."""
        ticks = list(self.ticks) or find_ticks(self.low, self.high)
        return list(zip(ticks, self.names or _write_ticks(ticks), strict=True))


@dataclass(frozen=True)
class Band:
    """A translucent horizontal band from ``low`` to ``high``."""

    low: float
    high: float
    color: str


@dataclass(frozen=True)
class Curve:
    """A line through points, with gaps at missing values.

    Lines with a name are in the legend of a figure, and in a cell if ``is_listed``, since the names of many
    models would take the space of the plot there.
    """

    xs: Sequence[float]
    ys: Sequence[float]
    color: str = TEXT_COLOR
    width: float = 1.6
    dash: Sequence[float] = ()
    name: str = ""
    is_listed: bool = False


@dataclass(frozen=True)
class Dots:
    """Dots, each with a tooltip; series with a name are in the legend."""

    xs: Sequence[float]
    ys: Sequence[float]
    color: str
    titles: Sequence[str]
    name: str = ""
    shape: Shape = ()


@dataclass(frozen=True)
class Bars:
    """Bars of a histogram, each with a tooltip; n + 1 edges for n heights."""

    edges: Sequence[float]
    heights: Sequence[float]
    color: str
    titles: Sequence[str]


@dataclass(frozen=True)
class Label:
    """Text to the right (``start``) or left (``end``) of a point.

    ``size`` is the font size and ``rise`` the height of the baseline above the point, both in pixels.
    """

    x: float
    y: float
    text: str
    anchor: Literal["start", "end"] = "start"
    size: int = 11
    rise: int = -4


@dataclass(frozen=True)
class Border:
    """A dashed line across the plot at a position on one axis, such as between chains."""

    axis: Literal["x", "y"]
    place: float


@dataclass(frozen=True, eq=False)
class Raster:
    """A matrix that fills the plot, first row at the top, with a colour bar.

    Attributes:
        matrix: shape (n, m); NaN is transparent.
        low, high: the values of the first and the last colour.
        colors: ``#rrggbb`` at equal intervals from low to high.
        label: quantity with unit.
        has_more: whether some values exceed ``high``; they have its colour.
    """

    matrix: NDArray[np.floating]
    low: float
    high: float
    colors: tuple[str, ...]
    label: str
    has_more: bool = False

    def to_png(self) -> bytes:
        """Return the matrix as a PNG of at most 400 × 400 pixels, each the mean of the cells in its place."""
        means = _average_blocks(self.matrix, MAX_PIXELS)
        return _write_shades((means - self.low) / (self.high - self.low), self.colors)

    def scale_png(self) -> bytes:
        """Return the PNG of the colour bar from high to low, one pixel wide."""
        return _write_shades(np.linspace(1, 0, _COLOR_STEPS)[:, None], self.colors)


Mark = Band | Curve | Dots | Bars | Border | Label | Raster


@dataclass(frozen=True, eq=False)
class Drawing:
    """The marks of a plot on their axes.

    Attributes:
        x, y: the axes.
        marks: the marks, in drawing order.
        width, height: size in a cell in pixels; matplotlib figures have the same aspect ratio.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    width: int = 560
    height: int = 240


def find_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about ``count`` round numbers between ``low`` and ``high``, in either order."""
    if high < low:
        return find_ticks(high, low, count)
    rough = (high - low) / count
    smallest_step = max(np.finfo(float).tiny, _RESOLUTION * max(abs(low), abs(high)))
    if not np.isfinite([low, high, rough]).all() or rough < smallest_step:
        return [low]
    power = 10.0 ** np.floor(np.log10(rough))
    step = next((power * m for m in (1, 2, 5) if power * m >= rough), power * 10)
    first, decimals = np.ceil(low / step - 1e-9), max(0, 1 - int(np.floor(np.log10(step))))
    last = np.floor(high / step + 1e-9)
    return [round(float(step * i), decimals) + 0.0 for i in np.arange(first, last + 1)]


def find_whole_ticks(maximum: float) -> list[float]:
    """Return about five whole numbers from 0 to ``maximum``, for an axis of counts."""
    return [tick for tick in find_ticks(0, maximum) if tick == round(tick)]


def _write_ticks(ticks: Sequence[float]) -> list[str]:
    """Return the ticks with as many digits as tell them apart, at least six."""
    steps = [abs(b - a) for a, b in pairwise(ticks) if b != a]
    largest = max((abs(tick) for tick in ticks), default=0.0)
    digits = int(np.ceil(np.log10(largest / min(steps)))) + 1 if steps and largest else 0
    return [f"{tick:.{max(6, digits)}g}" for tick in ticks]


def _average_blocks(matrix: NDArray[np.floating], maximum: int) -> NDArray[np.floating]:
    """Average blocks of cells, leaving out NaN, so that at most ``maximum`` rows and columns remain."""
    if max(matrix.shape) <= maximum:
        return matrix
    is_present = ~np.isnan(matrix)
    sums, counts = np.where(is_present, matrix, 0.0), is_present.astype(float)
    for axis, size in enumerate(matrix.shape):
        if size > maximum:
            starts = np.arange(maximum) * size // maximum
            sums, counts = (np.add.reduceat(values, starts, axis=axis) for values in (sums, counts))
    means: NDArray[np.floating] = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return means


def _write_shades(shares: NDArray[np.floating], anchors: tuple[str, ...]) -> bytes:
    """Return the PNG of values from 0 to 1; non-finite values are transparent."""
    shares = np.clip(shares, 0, 1) * (_COLOR_STEPS - 1)
    index = np.where(np.isfinite(shares), np.nan_to_num(shares), _COLOR_STEPS).round().astype(np.uint8)
    ramp = palette.ramp(anchors, _COLOR_STEPS)
    colors = [[*(int(color[i : i + 2], 16) for i in (1, 3, 5)), 255] for color in ramp]
    return write_png(index, np.array([*colors, [0, 0, 0, 0]], dtype=np.uint8))
