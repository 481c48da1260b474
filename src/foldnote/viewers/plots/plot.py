"""A plot: its drawing, text alternative and data.

Cells show it as SVG. matplotlib, an optional dependency imported on first use, draws it on given axes or
into a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldnote.errors import ArgumentError, ConfigurationError
from foldnote.io import save_file
from foldnote.viewers.plots.drawing import Drawing
from foldnote.viewers.plots.figure import draw, make_axes, save_figure
from foldnote.viewers.plots.saving import write_saving
from foldnote.viewers.plots.svg import write_image, write_svg
from foldnote.viewers.render.html import read_asset, write_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SUFFIXES = (".svg", ".pdf", ".png", ".html")
_NARROWEST_MM, _WIDEST_MM = 40, 400
MISSING = (
    "Figures are drawn by matplotlib, which is not installed here: pip install 'foldnote[plots]'. "
    "Without it a plot is shown in cells and saved as .svg and .html."
)


def check_suffix(path: str | Path, subject: str, suffixes: Sequence[str]) -> Path:
    """Return the path of a file to save; ``~`` is the user's home.

    Args:
        path: the given path.
        subject: name of what is saved, for messages.
        suffixes: the allowed suffixes, in lower case.

    Raises:
        ArgumentError: the suffix is not one of these.
    """
    target = Path(path).expanduser()
    suffix = target.suffix.lower()
    if suffix not in suffixes:
        raise ArgumentError(
            f"A {subject} is saved as {', '.join(suffixes[:-1])} or {suffixes[-1]}, not as"
            f" {suffix or 'a name without a suffix'}: save({str(target.with_suffix('.svg'))!r})."
        )
    return target


def check_width(width_mm: float | None, suffix: str) -> None:
    """Check the width of a figure in print in mm, and that its format has one.

    Raises:
        ArgumentError: the width is out of range, or the figure is a page.
    """
    if width_mm is None:
        return
    if suffix == ".html":
        raise ArgumentError("width_mm is for figures in print: save them as .svg, .pdf or .png.")
    if not _NARROWEST_MM <= width_mm <= _WIDEST_MM:
        raise ArgumentError(
            f"width_mm is the width in mm, {_NARROWEST_MM} to {_WIDEST_MM}, not {width_mm:g}."
        )


@dataclass(frozen=True, eq=False)
class Plot:
    """A drawing with its text alternative and data.

    Attributes:
        title: heading.
        words: text alternative, one or two sentences.
        data: the plotted data; see the plotting function for its rows and columns.
        drawing: its axes and marks.
    """

    title: str
    words: str
    data: pd.DataFrame = field(repr=False)
    drawing: Drawing = field(repr=False)

    @property
    def svg(self) -> str:
        """The drawing as SVG, dark on a white background."""
        return write_svg(self.drawing)

    def to_matplotlib(self, ax: Axes | None = None) -> Axes:
        """Draw the plot with matplotlib, in its current style.

        Args:
            ax: the axes to draw on; by default a new pyplot figure is created.

        Returns:
            The axes; ``ax.figure`` is the figure.

        Raises:
            ConfigurationError: matplotlib is not installed.
        """
        try:
            ax = ax or make_axes(self.drawing)
        except ImportError as exc:
            raise ConfigurationError(MISSING) from exc
        draw(self.drawing, self.title, ax)
        return ax

    def save(self, path: str | Path, *, dpi: int = 300, width_mm: float | None = None) -> Path:
        """Save the plot in the format of the file suffix, and return its path.

        Args:
            path: ``.svg`` or ``.pdf`` (with editable text), ``.png``, or ``.html`` for a page with title,
                drawing and description. An existing file is overwritten. All but ``.html`` are drawn by
                matplotlib; without it ``.svg`` is the drawing shown in cells.
            dpi: resolution of a PNG, and of a matrix in a PDF or SVG, in dots per inch.
            width_mm: width in print, 40 to 400 mm, such as 85 for a column of a journal; text is then 5 to 8
                points high. By default the figure is for a screen: 80 pixels of the drawing per inch, with
                text of 10 to 12 points, in matplotlib's current style.

        Raises:
            ArgumentError: the suffix is not one of these, or ``width_mm`` is out of range or for a page.
            ConfigurationError: matplotlib, which draws ``.pdf``, ``.png`` and all figures of a given width,
                is not installed.
            ResultError: the file cannot be written; no partial file remains.
        """
        target = check_suffix(path, "plot", _SUFFIXES)
        suffix = target.suffix.lower()
        check_width(width_mm, suffix)
        if suffix == ".html":
            return save_file(target, self._write_page())
        try:
            save_figure(self.drawing, self.title, target, dpi, width_mm)
        except ImportError as exc:
            if suffix != ".svg" or width_mm is not None:
                raise ConfigurationError(MISSING) from exc
            save_file(target, self.svg)
        return target

    def to_html(self) -> str:
        """Return the HTML of title, drawing and description, with buttons that save drawing and data."""
        return (
            f'<figure class="fnv-view fnv-plot" style="width: {self.drawing.width}px">'
            f"{write_style('scene.css', 'plot.css')}"
            f'<p class="fnv-head">{escape(self.title)}</p>{write_image(self.drawing, self.words)}'
            f"<figcaption>{escape(self.words)}</figcaption>{write_saving(self.title, self.data)}</figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"text/html": self.to_html(), "text/plain": f"{self.title}: {self.words}"}

    def _write_page(self) -> str:
        title, description = escape(self.title), escape(self.words)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{read_asset('page.css')}svg{{max-width:100%;height:auto}}</style></head>"
            f"<body><main><h1>{title}</h1>{self.svg}<p>{description}</p></main></body></html>\n"
        )
