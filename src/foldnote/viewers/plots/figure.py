"""Draw plots with matplotlib, which is imported on first use."""

from __future__ import annotations

import textwrap
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foldnote.io import save_file
from foldnote.viewers.plots.drawing import Band, Bars, Border, Curve, Dots, Drawing, Label, Mark, Raster

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PIXELS_PER_INCH = 80
_POINTS_PER_PIXEL = 72 / _PIXELS_PER_INCH
_TITLE_LETTER_INCHES = 0.092
"""Mean width in inches of a letter in matplotlib's 12-point titles."""


def make_axes(drawing: Drawing) -> Axes:
    """Return the axes of a new pyplot figure with the drawing's aspect ratio.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib import pyplot

    return pyplot.subplots(figsize=_find_size(drawing), layout="constrained")[1]


def save_figure(drawing: Drawing, title: str, path: Path, dpi: int) -> None:
    """Save a new figure in the format of the file suffix.

    Raises:
        ImportError: matplotlib is not installed.
        ResultError: the file cannot be written; no partial file remains.
    """
    import matplotlib
    from matplotlib.figure import Figure

    figure = Figure(figsize=_find_size(drawing), layout="constrained")
    draw(drawing, title, figure.add_subplot())
    # Keep text editable: as text elements in SVG, with TrueType fonts in PDF.
    with matplotlib.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
        save_drawn(figure, path, dpi=dpi)


def save_drawn(figure: Figure, path: Path, **look: Any) -> None:
    """Save a figure in the format of the file suffix.

    Args:
        figure: the figure.
        path: path of the file; an existing one is replaced.
        look: arguments of matplotlib's ``savefig``.

    Raises:
        ResultError: the file cannot be written; no partial file remains.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower(), **look)
    save_file(path, drawn.getvalue())


def draw(drawing: Drawing, title: str, axes: Axes) -> None:
    """Draw all marks on ``axes``, and set labels, limits and title."""
    x, y = drawing.x, drawing.y
    ends = {"xlim": (x.low, x.high), "ylim": (y.low, y.high)}
    axes.set(**ends, xlabel=_escape(x.label), ylabel=_escape(y.label), title=_break_title(title, axes))
    for mark in drawing.marks:
        _draw_mark(mark, axes)
    axes.set(**ends)
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted.ticks:
            axis.set_ticks(wanted.ticks, labels=wanted.names or None)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(reverse=True)  # the best model is drawn last, above the others


def _break_title(title: str, axes: Axes) -> str:
    """Break the title into lines as wide as the axes, since matplotlib cuts off longer lines."""
    width_inches = axes.get_window_extent().width / axes.figure.dpi
    return _escape(textwrap.fill(title, max(20, int(width_inches / _TITLE_LETTER_INCHES))))


def _escape(text: str) -> str:
    """Escape dollar signs, between which matplotlib would read a formula."""
    return text.replace("$", r"\$")


def _find_size(drawing: Drawing) -> tuple[float, float]:
    return drawing.width / _PIXELS_PER_INCH, drawing.height / _PIXELS_PER_INCH


def _draw_mark(mark: Mark, axes: Axes) -> None:
    ink = axes.xaxis.label.get_color()
    match mark:
        case Band():
            axes.axhspan(mark.low, mark.high, color=mark.color, alpha=0.16, linewidth=0)
        case Curve():
            style = (0, tuple(part / mark.width for part in mark.dash)) if mark.dash else "-"
            (line,) = axes.plot(mark.xs, mark.ys, color=mark.color or ink, label=mark.name or None)
            line.set(linewidth=mark.width, linestyle=style)
        case Dots():
            color, label = mark.color or ink, mark.name or None
            axes.scatter(mark.xs, mark.ys, color=color, alpha=0.8, linewidths=0, label=label)
        case Bars():
            axes.bar(
                mark.edges[:-1], mark.heights, np.diff(mark.edges) * 0.96, align="edge", color=mark.color
            )
        case Border():
            across = axes.axvline if mark.axis == "x" else axes.axhline
            across(mark.place, color=ink, linestyle=(0, (3, 3)), linewidth=1, alpha=0.6)
        case Label():
            _draw_label(mark, axes)
        case Raster():
            _draw_raster(mark, axes)


def _draw_label(label: Label, axes: Axes) -> None:
    aside, ha = (5, "left") if label.anchor == "start" else (-5, "right")
    axes.annotate(
        _escape(label.text),
        (label.x, label.y),
        xytext=(aside * _POINTS_PER_PIXEL, label.rise * _POINTS_PER_PIXEL),
        textcoords="offset points",
        ha=ha,
        va="baseline",
        fontsize=label.size * _POINTS_PER_PIXEL,
    )


def _draw_raster(raster: Raster, axes: Axes) -> None:
    """Draw the matrix at full resolution, with a colour bar."""
    from matplotlib.colors import LinearSegmentedColormap

    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    image = axes.imshow(
        raster.matrix,
        cmap=LinearSegmentedColormap.from_list("foldnote", raster.colors),
        vmin=raster.low,
        vmax=raster.high,
        extent=(left, right, bottom, top),
        aspect="equal" if abs(right - left) == abs(top - bottom) else "auto",
        interpolation="nearest",
    )
    axes.figure.colorbar(image, ax=axes, label=raster.label, extend="max" if raster.has_more else "neither")
