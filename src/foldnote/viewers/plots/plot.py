"""A plot: its drawing as SVG, what it says in words, and the data it is drawn from.

The drawing takes ink and ground from the page, so that it is read in light and dark themes, and needs no
script and no library. Who wants another look goes on with :attr:`Plot.data`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foldnote.errors import ArgumentError
from foldnote.viewers.render.html import read_asset
from foldnote.viewers.render.png import write_png

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 10, 40
_WIDTH = re.compile(r'<svg [^>]*viewBox="0 0 (\d+) ')


@dataclass(frozen=True, eq=False)
class Plot:
    """A drawing with its words and its data.

    Attributes:
        title: heading.
        svg: the drawing.
        words: what it shows, as one or two sentences; its text alternative.
        data: what it is drawn from; the function that made the plot says what a row is.
    """

    title: str
    svg: str = field(repr=False)
    words: str
    data: pd.DataFrame = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Write the drawing into a file, and return its path.

        Args:
            path: ``.svg`` for the drawing with dark ink, or ``.html`` for a page with its title and words.

        Raises:
            ArgumentError: the file's name ends otherwise, such as ``.png``.
        """
        place = Path(path).expanduser()
        ending = place.suffix.lower()
        drawing = self.svg.replace("<svg ", '<svg style="color:#222;background:#fff" ', 1)
        if ending == ".html":
            title, words = escape(self.title), escape(self.words)
            text = (
                f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
                f'<body style="font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto">'
                f"<h1>{title}</h1>{drawing}<p>{words}</p></body></html>\n"
            )
        elif ending == ".svg":
            text = drawing
        else:
            raise ArgumentError(
                f"A plot is written as .svg or .html, not as {ending or 'a name without ending'}:"
                f" save({str(place.with_suffix('.svg'))!r}). Programs such as Inkscape convert SVG to PNG;"
                " .data has the figures to draw it anew.",
            )
        place.write_text(text, "utf-8")
        return place

    def to_html(self) -> str:
        """The drawing under its heading, with its words below, as HTML."""
        found = _WIDTH.search(self.svg)
        width = f' style="width: {found[1]}px"' if found else ""
        return (
            f'<figure class="fnv-view fnv-plot"{width}><style>{read_asset("scene.css")}</style>'
            f'<p class="fnv-head">{escape(self.title)}</p>{self.svg}'
            f"<figcaption>{escape(self.words)}</figcaption></figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"text/html": self.to_html(), "text/plain": f"{self.title}: {self.words}"}


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
        names = self.names or [f"{tick:g}" for tick in ticks]
        return list(zip(ticks, names, strict=True))


class Canvas:
    """The plane of a plot, on which lines and pictures are laid in the units of its axes."""

    def __init__(self, x: Axis, y: Axis, width: int = 560, height: int = 240, label: str = "") -> None:
        """An empty plane of ``width`` times ``height`` pixels; ``label`` says what the drawing shows."""
        self.x, self.y, self.width, self.height = x, y, width, height
        self._label = label
        self._parts: list[str] = []

    def left(self, value: float) -> float:
        """Pixels from the left of a value on the x axis."""
        return round(_LEFT + self.x.place(value) * (self.width - _LEFT - _RIGHT), 1)

    def top(self, value: float) -> float:
        """Pixels from the top of a value on the y axis."""
        return round(_TOP + (1 - self.y.place(value)) * (self.height - _TOP - _BOTTOM), 1)

    def band(self, low: float, high: float, color: str, opacity: float = 0.16) -> None:
        """A horizontal band."""
        top, bottom = self.top(high), self.top(low)
        size = f'width="{self.width - _LEFT - _RIGHT}" height="{round(bottom - top, 1)}"'
        self._parts.append(f'<rect x="{_LEFT}" y="{top}" {size} fill="{color}" opacity="{opacity}"/>')

    def line(
        self, xs: Sequence[float], ys: Sequence[float], color: str, width: float = 1.6, dash: str = ""
    ) -> None:
        """A line through the points; it is interrupted where a value is missing."""
        runs: list[list[str]] = [[]]
        for x, y in zip(xs, ys, strict=True):
            if np.isfinite(y):
                runs[-1].append(f"{self.left(x)},{self.top(y)}")
            elif runs[-1]:
                runs.append([])
        style = f'fill="none" stroke="{color}" stroke-width="{width}"' + (
            f' stroke-dasharray="{dash}"' if dash else ""
        )
        self._parts += [f'<polyline points="{" ".join(run)}" {style}/>' for run in runs if run]

    def dots(self, xs: Sequence[float], ys: Sequence[float], color: str, titles: Sequence[str]) -> None:
        """Dots, each with words that appear under the pointer."""
        for x, y, title in zip(xs, ys, titles, strict=True):
            place = f'cx="{self.left(x)}" cy="{self.top(y)}" r="4"'
            self._parts.append(
                f'<circle {place} fill="{color}" opacity="0.8"><title>{escape(title)}</title></circle>'
            )

    def bar(self, low: float, high: float, value: float, color: str, title: str) -> None:
        """A bar from the x axis to ``value``."""
        left, top = self.left(low), self.top(value)
        width, height = max(1.0, self.left(high) - left - 1), self.top(self.y.low) - top
        size = f'width="{width:.1f}" height="{height:.1f}"'
        self._parts.append(
            f'<rect x="{left}" y="{top}" {size} fill="{color}"><title>{escape(title)}</title></rect>'
        )

    def border(self, x: float | None = None, y: float | None = None) -> None:
        """A dashed line across the plane, such as between chains."""
        ends = (
            f'x1="{self.left(x)}" x2="{self.left(x)}" y1="{_TOP}" y2="{self.height - _BOTTOM}"'
            if x is not None
            else f'x1="{_LEFT}" x2="{self.width - _RIGHT}" y1="{self.top(y or 0)}" y2="{self.top(y or 0)}"'
        )
        self._parts.append(f'<line {ends} stroke="currentColor" stroke-dasharray="3 3" opacity="0.6"/>')

    def raster(self, index: NDArray[np.uint8], colors: NDArray[np.uint8]) -> None:
        """A picture that fills the plane, its first row at the top."""
        data = base64.b64encode(write_png(index, colors)).decode("ascii")
        size = f'width="{self.width - _LEFT - _RIGHT}" height="{self.height - _TOP - _BOTTOM}"'
        place = f'x="{_LEFT}" y="{_TOP}" preserveAspectRatio="none" style="image-rendering:pixelated"'
        self._parts.append(f'<image {place} {size} href="data:image/png;base64,{data}"/>')

    def to_svg(self) -> str:
        """The drawing with its axes."""
        bottom, right = self.height - _BOTTOM, self.width - _RIGHT
        frame = (
            f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="currentColor" opacity="0.7"/>'
        )
        xs = [
            f'<text x="{self.left(v)}" y="{bottom + 15}" text-anchor="middle">{escape(name)}</text>'
            for v, name in self.x.marks
        ]
        ys = [
            f'<text x="{_LEFT - 6}" y="{self.top(v) + 4}" text-anchor="end">{escape(name)}</text>'
            for v, name in self.y.marks
        ]
        across = f'x="{(_LEFT + right) / 2}" y="{self.height - 6}"'
        along = f'transform="translate(12 {(_TOP + bottom) / 2}) rotate(-90)"'
        names = (
            f'<text {across} text-anchor="middle">{escape(self.x.label)}</text>'
            f'<text {along} text-anchor="middle">{escape(self.y.label)}</text>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self._label)}" width="{self.width}" font-size="11" fill="currentColor" '
            f'font-family="system-ui, sans-serif">{"".join([*self._parts, frame, *xs, *ys, names])}</svg>'
        )


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
