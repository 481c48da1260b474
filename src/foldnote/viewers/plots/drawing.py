"""What a plot shows, mark by mark in the units of its axes: as SVG for a cell, and on axes of matplotlib.

A cell holds the SVG as an image: sanitisers of notebooks that are not trusted take SVG elements out of HTML,
and leave images. Its style follows the theme through the ``color-scheme`` of the page.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from foldnote.viewers.render.png import write_png
from foldnote.viewers.scene import palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = ""
"""The colour of text: the page's in a cell, matplotlib's own in a figure."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 10, 40
_SCALE_PX = 62
"""Room for a scale of colours."""
_DOT_PX = 4
_MOST_PIXELS = 400
_COLOR_STEPS = 48
_LIGHT = "svg{color:#222;background:#fff}"
_DARK = "@media(prefers-color-scheme:dark){svg{color:#ddd;background:#111}}"


@dataclass(frozen=True)
class Axis:
    """One axis of a plot.

    Attributes:
        label: quantity with its unit.
        low, high: its ends.
        ticks: where marks stand; by default about five round numbers.
        names: what is written at the marks; by default the numbers.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[float] = ()
    names: Sequence[str] = ()

    def place(self, value: float) -> float:
        """``value`` as a share of the axis, 0 at its low end."""
        return (value - self.low) / (self.high - self.low) if self.high != self.low else 0.5

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Places and words of the marks."""
        ticks = list(self.ticks) or find_ticks(self.low, self.high)
        return list(zip(ticks, self.names or [f"{tick:g}" for tick in ticks], strict=True))


@dataclass(frozen=True)
class Plane:
    """The axes and the size in pixels of a plot's SVG, with room for ``right`` pixels beside it."""

    x: Axis
    y: Axis
    width: int
    height: int
    right: int = _RIGHT

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, width and height of what the axes enclose, in pixels."""
        return _LEFT, _TOP, self.width - _LEFT - self.right, self.height - _TOP - _BOTTOM

    def left(self, value: float) -> float:
        """Pixels from the left of a value on the x axis."""
        left, _, width, _ = self.box
        return round(left + self.x.place(value) * width, 1)

    def top(self, value: float) -> float:
        """Pixels from the top of a value on the y axis."""
        _, top, _, height = self.box
        return round(top + (1 - self.y.place(value)) * height, 1)


Box = tuple[float, float, float, float, str]
"""Left, top, width and height in pixels, and the words that appear there under the pointer."""


class Mark(Protocol):
    """A part of a drawing."""

    def write(self, plane: Plane) -> str:
        """The mark as SVG."""

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib."""

    def list_boxes(self, plane: Plane) -> Sequence[Box]:  # noqa: ARG002
        """What appears under the pointer, and where; by default nothing."""
        return ()


@dataclass(frozen=True)
class Band(Mark):
    """A horizontal band from ``low`` to ``high``."""

    low: float
    high: float
    color: str

    def write(self, plane: Plane) -> str:
        """The mark as SVG."""
        left, _, width, _ = plane.box
        top = plane.top(self.high)
        size = f'width="{width}" height="{plane.top(self.low) - top:.1f}"'
        return f'<rect x="{left}" y="{top}" {size} fill="{self.color}" opacity="0.16"/>'

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib."""
        axes.axhspan(self.low, self.high, color=self.color, alpha=0.16, linewidth=0)


@dataclass(frozen=True)
class Curve(Mark):
    """A line through points, interrupted where a value is missing; named ones stand in a legend."""

    xs: Sequence[float]
    ys: Sequence[float]
    color: str = INK
    width: float = 1.6
    dash: Sequence[float] = ()
    name: str = ""

    def write(self, plane: Plane) -> str:
        """The mark as SVG."""
        runs: list[list[str]] = [[]]
        for x, y in zip(self.xs, self.ys, strict=True):
            if np.isfinite(y):
                runs[-1].append(f"{plane.left(x)},{plane.top(y)}")
            elif runs[-1]:
                runs.append([])
        return "".join(f'<polyline points="{" ".join(run)}" {self.stroke}/>' for run in runs if run)

    @property
    def stroke(self) -> str:
        """The look of the line as attributes of SVG."""
        dash = f' stroke-dasharray="{" ".join(f"{part:g}" for part in self.dash)}"' if self.dash else ""
        return f'fill="none" stroke="{self.color or "currentColor"}" stroke-width="{self.width}"{dash}'

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib."""
        style = (0, tuple(part / self.width for part in self.dash)) if self.dash else "-"
        color = self.color or axes.xaxis.label.get_color()
        axes.plot(
            self.xs, self.ys, color=color, linewidth=self.width, linestyle=style, label=self.name or None
        )


@dataclass(frozen=True)
class Dots(Mark):
    """Dots, each with words that appear under the pointer."""

    xs: Sequence[float]
    ys: Sequence[float]
    color: str
    titles: Sequence[str]

    def write(self, plane: Plane) -> str:
        """The mark as SVG."""
        dots = "".join(
            f'<circle cx="{plane.left(x)}" cy="{plane.top(y)}" r="{_DOT_PX}" fill="{self.color}"/>'
            for x, y in zip(self.xs, self.ys, strict=True)
        )
        return f'<g opacity="0.8">{dots}</g>'

    def list_boxes(self, plane: Plane) -> Sequence[Box]:
        """The words of each dot."""
        size = 2 * _DOT_PX
        return [
            (plane.left(x) - _DOT_PX, plane.top(y) - _DOT_PX, size, size, title)
            for x, y, title in zip(self.xs, self.ys, self.titles, strict=True)
        ]

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib."""
        axes.scatter(self.xs, self.ys, color=self.color, alpha=0.8, linewidths=0)


@dataclass(frozen=True)
class Bars(Mark):
    """The bars of a histogram, each with words that appear under the pointer."""

    edges: Sequence[float]
    heights: Sequence[float]
    color: str
    titles: Sequence[str]

    def write(self, plane: Plane) -> str:
        """The mark as SVG."""
        return "".join(
            f'<rect x="{left}" y="{top}" width="{width:.1f}" height="{height:.1f}" fill="{self.color}"/>'
            for left, top, width, height, _ in self.list_boxes(plane)
        )

    def list_boxes(self, plane: Plane) -> Sequence[Box]:
        """The place and the words of each bar."""
        lefts, bottom = [plane.left(edge) for edge in self.edges], plane.top(plane.y.low)
        tops = [plane.top(height) for height in self.heights]
        return [
            (left, top, max(1.0, right - left - 1), bottom - top, title)
            for left, right, top, title in zip(lefts, lefts[1:], tops, self.titles, strict=False)
        ]

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib."""
        axes.bar(self.edges[:-1], self.heights, np.diff(self.edges) * 0.96, align="edge", color=self.color)


@dataclass(frozen=True)
class Border(Mark):
    """A dashed line across the plane at a place of one axis, such as between chains."""

    axis: Literal["x", "y"]
    place: float

    def write(self, plane: Plane) -> str:
        """The mark as SVG."""
        left, top, width, height = plane.box
        at = plane.left(self.place) if self.axis == "x" else plane.top(self.place)
        ends = (
            f'x1="{at}" x2="{at}" y1="{top}" y2="{top + height}"'
            if self.axis == "x"
            else f'x1="{left}" x2="{left + width}" y1="{at}" y2="{at}"'
        )
        return f'<line {ends} stroke="currentColor" stroke-dasharray="3 3" opacity="0.6"/>'

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib."""
        across = axes.axvline if self.axis == "x" else axes.axhline
        across(self.place, color=axes.xaxis.label.get_color(), linestyle=(0, (3, 3)), linewidth=1, alpha=0.6)


@dataclass(frozen=True, eq=False)
class Raster(Mark):
    """A matrix that fills the plane, its first row at the top, with a scale of its colours.

    Attributes:
        matrix: shape (n, m); NaN where there is no value, which stays transparent.
        low, high: the values at the ends of the colours.
        colors: from low to high, evenly apart.
        label: quantity with its unit.
        end: what is written behind the highest value, such as ``+``.
    """

    matrix: NDArray[np.floating]
    low: float
    high: float
    colors: tuple[str, ...]
    label: str
    end: str = ""

    def write(self, plane: Plane) -> str:
        """The mark as SVG; of a large matrix at most 400 rows and columns, evenly chosen."""
        left, top, width, height = plane.box
        parts = [_write_image(self.to_png(), left, top, width, height)]
        at, scale = left + width + 10, np.linspace(1, 0, _COLOR_STEPS)[:, None]
        parts.append(_write_image(_write_shades(scale, self.colors), at, top, 10, height))
        for share, value, end in (
            (0, self.high, self.end),
            (0.5, (self.low + self.high) / 2, ""),
            (1, self.low, ""),
        ):
            parts.append(
                f'<text x="{at + 14}" y="{top + 9 + share * (height - 10):.1f}">{value:g}{end}</text>'
            )
        turn = f'transform="translate({at + 48} {top + height / 2}) rotate(-90)"'
        return "".join([*parts, f'<text {turn} text-anchor="middle">{escape(self.label)}</text>'])

    def to_png(self) -> bytes:
        """The matrix as a PNG of at most 400 x 400 pixels."""
        places = [np.linspace(0, n - 1, min(n, _MOST_PIXELS)).round().astype(int) for n in self.matrix.shape]
        return _write_shades((self.matrix[np.ix_(*places)] - self.low) / (self.high - self.low), self.colors)

    def draw(self, axes: Axes) -> None:
        """Add the mark to axes of matplotlib, all of its values as one image."""
        from matplotlib.colors import LinearSegmentedColormap

        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        image = axes.imshow(
            self.matrix,
            cmap=LinearSegmentedColormap.from_list("foldnote", self.colors),
            vmin=self.low,
            vmax=self.high,
            extent=(left, right, bottom, top),
            aspect="equal" if abs(right - left) == abs(top - bottom) else "auto",
            interpolation="nearest",
        )
        axes.figure.colorbar(image, ax=axes, label=self.label, extend="max" if self.end else "neither")


@dataclass(frozen=True, eq=False)
class Drawing:
    """The marks of a plot on their axes.

    Attributes:
        x, y: the axes.
        marks: what is drawn, each above those before it.
        width, height: pixels in a cell; a figure of matplotlib has the same shape.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    width: int = 560
    height: int = 240

    def to_svg(self, style: str = _LIGHT) -> str:
        """The drawing as SVG, by default in dark ink on a white ground."""
        plane = self._plane
        left, top, width, height = plane.box
        size = f'x="{left}" y="{top}" width="{width}" height="{height}"'
        frame = f'<rect {size} fill="none" stroke="currentColor" opacity="0.5"/>'
        xs = [
            f'<text x="{plane.left(v)}" y="{top + height + 15}" text-anchor="middle">{escape(name)}</text>'
            for v, name in self.x.marks
        ]
        ys = [
            f'<text x="{left - 6}" y="{plane.top(v) + 4}" text-anchor="end">{escape(name)}</text>'
            for v, name in self.y.marks
        ]
        across = f'x="{left + width / 2}" y="{self.height - 6}"'
        along = f'transform="translate(12 {top + height / 2}) rotate(-90)"'
        names = (
            f'<text {across} text-anchor="middle">{escape(self.x.label)}</text>'
            f'<text {along} text-anchor="middle">{escape(self.y.label)}</text>'
        )
        marks = [mark.write(plane) for mark in self.marks]
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" font-size="11" fill="currentColor" '
            f'font-family="system-ui, sans-serif"><style>{style}</style>'
            f"{''.join([*marks, frame, *xs, *ys, names])}</svg>"
        )

    def to_html(self, label: str) -> str:
        """The drawing as an image, described by ``label``, with the words that appear under the pointer."""
        data = base64.b64encode(self.to_svg(_LIGHT + _DARK).encode()).decode("ascii")
        image = (
            f'<img alt="{escape(label)}" width="{self.width}" height="{self.height}" '
            f'src="data:image/svg+xml;base64,{data}">'
        )
        spots = [self._write_spot(*box) for mark in self.marks for box in mark.list_boxes(self._plane)]
        return f'<div class="fnv-plane">{image}{"".join(spots)}</div>'

    @property
    def _plane(self) -> Plane:
        has_scale = any(isinstance(mark, Raster) for mark in self.marks)
        return Plane(self.x, self.y, self.width, self.height, _SCALE_PX if has_scale else _RIGHT)

    def _write_spot(self, left: float, top: float, width: float, height: float, title: str) -> str:
        x, y = 100 / self.width, 100 / self.height
        place = f"left:{left * x:.1f}%;top:{top * y:.1f}%;width:{width * x:.1f}%;height:{height * y:.1f}%"
        return f'<i style="{place}" title="{escape(title)}"></i>'

    def draw(self, axes: Axes) -> None:
        """Draw everything on axes of matplotlib, and name these."""
        axes.set(xlim=(self.x.low, self.x.high), ylim=(self.y.low, self.y.high))
        for mark in self.marks:
            mark.draw(axes)
        axes.set(xlim=(self.x.low, self.x.high), ylim=(self.y.low, self.y.high))
        axes.set(xlabel=self.x.label, ylabel=self.y.label)
        for axis, wanted in ((axes.xaxis, self.x), (axes.yaxis, self.y)):
            if wanted.ticks:
                axis.set_ticks(wanted.ticks, labels=wanted.names or None)
        if len(axes.get_legend_handles_labels()[0]) > 1:
            axes.legend(reverse=True)  # the best model is drawn last, above the others


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


def _write_image(png: bytes, left: float, top: float, width: float, height: float) -> str:
    size = f'x="{left}" y="{top}" width="{width}" height="{height}" preserveAspectRatio="none"'
    data = base64.b64encode(png).decode("ascii")
    return f'<image {size} style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'


def _write_shades(shares: NDArray[np.floating], anchors: tuple[str, ...]) -> bytes:
    """A PNG of shares from 0 to 1, transparent where there is none."""
    last = _COLOR_STEPS - 1
    shares = np.clip(shares, 0, 1)
    index = np.where(np.isfinite(shares), np.nan_to_num(shares) * last, _COLOR_STEPS).round().astype(np.uint8)
    ramp = palette.ramp(anchors, _COLOR_STEPS)
    colors = [[*(int(color[i : i + 2], 16) for i in (1, 3, 5)), 255] for color in ramp]
    return write_png(index, np.array([*colors, [0, 0, 0, 0]], dtype=np.uint8))
