"""A plot: its drawing, what it says in words, and the data it is drawn from.

A cell shows it as SVG. For figures matplotlib draws the same, on axes of the caller's or into a file; it is
an extra of the package and imported when it is first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldnote.errors import ArgumentError, ConfigurationError
from foldnote.viewers.plots.drawing import Drawing
from foldnote.viewers.plots.figure import draw, make_axes, save_figure
from foldnote.viewers.plots.svg import write_image, write_svg
from foldnote.viewers.render.html import read_asset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SUFFIXES = (".svg", ".pdf", ".png", ".html")
_MISSING = (
    "Figures are drawn by matplotlib, which is not installed here: pip install 'foldnote[plots]'. "
    "Without it a plot is shown in cells and saved as .svg and .html."
)


@dataclass(frozen=True, eq=False)
class Plot:
    """A drawing with its words and its data.

    Attributes:
        title: heading.
        words: what it shows, as one or two sentences; its text alternative.
        data: what it is drawn from; the function that made the plot says what a row is.
        drawing: its axes and marks.
    """

    title: str
    words: str
    data: pd.DataFrame = field(repr=False)
    drawing: Drawing = field(repr=False)

    @property
    def svg(self) -> str:
        """The drawing of the cell, in dark ink on a white ground."""
        return write_svg(self.drawing)

    def to_matplotlib(self, ax: Axes | None = None) -> Axes:
        """Draw the plot with matplotlib, in the style that is set there.

        Args:
            ax: the axes to draw on; without them a new figure of pyplot is made.

        Returns:
            The axes, to be changed at will; ``ax.figure`` is the figure.

        Raises:
            ConfigurationError: matplotlib is not installed.
        """
        try:
            ax = ax or make_axes(self.drawing)
        except ImportError as exc:
            raise ConfigurationError(_MISSING) from exc
        draw(self.drawing, self.title, ax)
        return ax

    def save(self, path: str | Path, *, dpi: int = 300) -> Path:
        """Write the plot into a file, as its suffix says, and return its path.

        Args:
            path: ``.svg`` or ``.pdf`` for a figure whose text can be edited, ``.png`` for its pixels,
                ``.html`` for a page with title, drawing and words. An existing file is replaced. All but
                the page are drawn by matplotlib; without it ``.svg`` is the drawing of the cell.
            dpi: dots per inch of a PNG, and of a matrix inside a PDF or SVG.

        Raises:
            ArgumentError: the file's name ends otherwise.
            ConfigurationError: matplotlib, which draws ``.pdf`` and ``.png``, is not installed.
        """
        place = Path(path).expanduser()
        suffix = place.suffix.lower()
        if suffix not in _SUFFIXES:
            raise ArgumentError(
                f"A plot is saved as {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}, not as"
                f" {suffix or 'a name without a suffix'}: save({str(place.with_suffix('.svg'))!r})."
            )
        if suffix == ".html":
            place.write_text(self._write_page(), "utf-8")
            return place
        try:
            save_figure(self.drawing, self.title, place, dpi)
        except ImportError as exc:
            if suffix != ".svg":
                raise ConfigurationError(_MISSING) from exc
            place.write_text(self.svg, "utf-8")
        return place

    def to_html(self) -> str:
        """The drawing under its heading, with its words below, as HTML."""
        return (
            f'<figure class="fnv-view fnv-plot" style="width: {self.drawing.width}px">'
            f"<style>{read_asset('scene.css')}</style>"
            f'<p class="fnv-head">{escape(self.title)}</p>{write_image(self.drawing, self.words)}'
            f"<figcaption>{escape(self.words)}</figcaption></figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"text/html": self.to_html(), "text/plain": f"{self.title}: {self.words}"}

    def _write_page(self) -> str:
        title, words = escape(self.title), escape(self.words)
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
            f'<body style="font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto">'
            f"<h1>{title}</h1>{self.svg}<p>{words}</p></body></html>\n"
        )
