"""Draw plots with matplotlib, which is imported on first use."""

from __future__ import annotations

import textwrap
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from foldnote.io import save_file
from foldnote.viewers.plots.drawing import Axis, Band, Bars, Border, Curve, Dots, Drawing, Label, Mark, Raster

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PIXELS_PER_INCH = 80
_POINTS_PER_PIXEL = 72 / _PIXELS_PER_INCH
_TITLE_LETTER_INCHES = 0.092
"""Mean width in inches of a letter in matplotlib's 12-point titles."""
_TITLE_SHARE = 0.94
"""Share of the width that a title may fill, since a label of the y axis in several lines narrows the axes."""
_LABEL_LINES = 3
_MM_PER_INCH = 25.4
_PRINT_SCALE = 0.7
"""Size of text and lines in print, relative to matplotlib's default of 10 points."""
_LABEL_GAP = 0.02
"""Space beside a label, as a part of the width of the axes."""
_LABEL_SCALE = 0.62
"""Least size of labels in print, relative to a figure of no given width."""
_PRINT_STYLE = {
    "font.size": 7, "axes.titlesize": 8, "legend.fontsize": 6, "lines.markersize": 3.6, "axes.linewidth": 0.6,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "patch.linewidth": 0.6, "axes.titlepad": 4, "legend.framealpha": 0.7, "legend.borderpad": 0.3,
}  # fmt: skip
"""matplotlib's settings for figures of a given width."""


def make_axes(drawing: Drawing) -> Axes:
    """Return the axes of a new pyplot figure with the drawing's aspect ratio.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib import pyplot

    return pyplot.subplots(figsize=_find_size(drawing), layout="constrained")[1]


def save_figure(drawing: Drawing, title: str, path: Path, dpi: int, width_mm: float | None = None) -> None:
    """Save a new figure in the format of the file suffix.

    Args:
        drawing: the axes and marks.
        title: heading of the figure.
        path: path of the file; an existing one is replaced.
        dpi: resolution in dots per inch.
        width_mm: width for print, with text of 5 to 8 points; None for 80 pixels of the drawing per inch,
            with text of 10 to 12 points.

    Raises:
        ImportError: matplotlib is not installed.
        ResultError: the file cannot be written; no partial file remains.
    """
    import matplotlib
    from matplotlib.figure import Figure

    # Keep text editable: as text elements in SVG, with TrueType fonts in PDF.
    style: Any = {"svg.fonttype": "none", "pdf.fonttype": 42}
    size, scale = _find_size(drawing), 1.0
    if width_mm is not None:
        size, scale = _find_print_size(drawing, width_mm)
        style |= _PRINT_STYLE
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        draw(drawing, title, axes, scale)
        if width_mm is not None:
            _fit_labels(figure, axes)
        save_drawn(figure, path, dpi=dpi)


def save_drawn(figure: Figure, path: Path, **options: Any) -> None:
    """Save a figure in the format of the file suffix.

    Args:
        figure: the figure.
        path: path of the file; an existing one is replaced.
        options: arguments of matplotlib's ``savefig``.

    Raises:
        ResultError: the file cannot be written; no partial file remains.
    """
    buffer = BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower(), **options)
    save_file(path, buffer.getvalue())


def draw(drawing: Drawing, title: str, axes: Axes, scale: float = 1.0) -> None:
    """Draw all marks on ``axes``, lines and labels scaled by ``scale``, and set axis labels and title."""
    x, y = drawing.x, drawing.y
    ends = {"xlim": (x.low, x.high), "ylim": (y.low, y.high)}
    axes.set(**ends, title=_break_title(title, axes))
    axes.set(xlabel=_break_label(x.label, axes, "width"), ylabel=_break_label(y.label, axes, "height"))
    for mark in drawing.marks:
        _draw_mark(mark, axes, scale)
    axes.set(**ends)
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted.ticks:
            axis.set_ticks(wanted.ticks, labels=wanted.names or None)
            if wanted.names and not any(wanted.names):
                axis.set_tick_params(length=0)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(reverse=True)  # the best model is drawn last, above the others


def _break_title(title: str, axes: Axes) -> str:
    """Break the title into lines as wide as the axes, since matplotlib cuts off longer lines."""
    letters = _count_letters(axes, "width", float(axes.title.get_fontsize())) * _TITLE_SHARE
    return _escape(textwrap.fill(title, max(20, int(letters))))


def _break_label(label: str, axes: Axes, side: Literal["width", "height"]) -> str:
    """Break an axis label into at most three lines as long as the side of the axes along which it runs."""
    letters = _count_letters(axes, side, float(axes.xaxis.label.get_fontsize()))
    return _escape(textwrap.fill(label, max(20, letters), max_lines=_LABEL_LINES, placeholder=" …"))


def _count_letters(axes: Axes, side: Literal["width", "height"], points: float) -> int:
    """Return how many letters of a size in points fit along a side of the axes."""
    inches = float(getattr(axes.get_window_extent(), side)) / axes.figure.dpi
    return int(inches / (_TITLE_LETTER_INCHES * points / 12))


def _escape(text: str) -> str:
    """Escape dollar signs, between which matplotlib would read a formula."""
    return text.replace("$", r"\$")


def _find_size(drawing: Drawing) -> tuple[float, float]:
    return drawing.width / _PIXELS_PER_INCH, drawing.height / _PIXELS_PER_INCH


def _find_print_size(drawing: Drawing, width_mm: float) -> tuple[tuple[float, float], float]:
    """Return width and height in inches, and the scale of lines and labels.

    The height shrinks no more than the text, except that of a square matrix. Labels shrink with the width,
    but not below 5 points.
    """
    width, height = _find_size(drawing)
    shrunk = width_mm / _MM_PER_INCH / width
    is_matrix = _is_square(drawing.x, drawing.y) and any(isinstance(each, Raster) for each in drawing.marks)
    has_labels = any(isinstance(mark, Label) for mark in drawing.marks)
    size = width_mm / _MM_PER_INCH, height * (shrunk if is_matrix else max(shrunk, _PRINT_SCALE))
    return size, min(_PRINT_SCALE, max(shrunk, _LABEL_SCALE)) if has_labels else _PRINT_SCALE


def _is_square(x: Axis, y: Axis) -> bool:
    return abs(x.high - x.low) == abs(y.high - y.low)


def _fit_labels(figure: Figure, axes: Axes) -> None:
    """Extend the x axis to the ends of the labels, and hide those left of their point that overlap others."""
    from matplotlib.text import Annotation

    labels = [text for text in axes.texts if isinstance(text, Annotation)]
    tips = [label for label in labels if label.get_horizontalalignment() == "left"]
    ancestors = [label for label in labels if label not in tips]
    if not labels:
        return
    figure.draw_without_rendering()
    (low, high), width = axes.get_xlim(), axes.bbox.width
    for label in labels:
        x, room = label.xy[0], width * (1 - _LABEL_GAP) - label.get_window_extent().width
        if room > 0 and label in tips:
            high = max(high, low + (x - low) * width / room)
        elif room > 0:
            low = min(low, high - (high - x) * width / room)
    axes.set_xlim(low, high)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in tips]
    for label in ancestors:
        box = label.get_window_extent()
        if any(box.overlaps(other_box) for other_box in boxes):
            label.set_visible(False)
        else:
            boxes.append(box)


def _draw_mark(mark: Mark, axes: Axes, scale: float) -> None:
    ink = axes.xaxis.label.get_color()
    match mark:
        case Band():
            axes.axhspan(mark.low, mark.high, color=mark.color, alpha=0.16, linewidth=0)
        case Curve():
            style = (0, tuple(part / mark.width for part in mark.dash)) if mark.dash else "-"
            (line,) = axes.plot(mark.xs, mark.ys, color=mark.color or ink, label=mark.name or None)
            line.set(linewidth=mark.width * scale, linestyle=style)
        case Dots():
            color, label = mark.color or ink, mark.name or None
            marker: Any = mark.shape or "o"
            axes.scatter(mark.xs, mark.ys, color=color, alpha=0.8, linewidths=0, label=label, marker=marker)
        case Bars():
            axes.bar(
                mark.edges[:-1], mark.heights, np.diff(mark.edges) * 0.96, align="edge", color=mark.color
            )
        case Border():
            across = axes.axvline if mark.axis == "x" else axes.axhline
            across(mark.place, color=ink, linestyle=(0, (3, 3)), linewidth=scale, alpha=0.6)
        case Label():
            _draw_label(mark, axes, scale)
        case Raster():
            _draw_raster(mark, axes)


def _draw_label(label: Label, axes: Axes, scale: float) -> None:
    points = _POINTS_PER_PIXEL * scale
    aside, ha = (5, "left") if label.anchor == "start" else (-5, "right")
    axes.annotate(
        _escape(label.text),
        (label.x, label.y),
        xytext=(aside * points, label.rise * points),
        textcoords="offset points",
        ha=ha,
        va="baseline",
        fontsize=label.size * points,
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
    label = _break_label(raster.label, axes, "height")
    axes.figure.colorbar(image, ax=axes, label=label, extend="max" if raster.has_more else "neither")
