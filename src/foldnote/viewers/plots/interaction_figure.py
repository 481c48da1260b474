"""Draw diagrams of interactions with matplotlib, which is imported on first use."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from foldnote.viewers.plots.figure import save_drawn
from foldnote.viewers.scene.drawings.interaction_layout import LABEL_HEIGHT_PX, ContactLine
from foldnote.viewers.scene.drawings.interactions import (
    GROUND,
    INK,
    LEGEND_PX,
    LOOKS,
    SAMPLE_PX,
    Sketch,
    find_arrow,
)

_PIXELS_PER_INCH = 96
_MM_PER_INCH = 25.4
_FINE = 4.0
"""Factor by which the picture of the molecule is larger than on a page."""


def save_sketch(diagram: Sketch, path: Path, dpi: int, width_mm: float | None = None) -> None:
    """Save a diagram in the format of the file suffix; data coordinates are those of the layout.

    Args:
        diagram: the diagram.
        path: path of the file; an existing one is replaced.
        dpi: resolution in dots per inch.
        width_mm: width of the figure, with text and lines in proportion; None for 96 pixels per inch.

    Raises:
        ImportError: matplotlib is not installed.
        ResultError: the file cannot be written; no partial file remains.
    """
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.image import imread

    width = diagram.width / _PIXELS_PER_INCH if width_mm is None else width_mm / _MM_PER_INCH
    points = 72 * width / diagram.width  # per pixel of the diagram
    figure = Figure(figsize=(width, diagram.height * width / diagram.width))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    low = diagram.layout.low
    axes.set_xlim(low[0], low[0] + diagram.width)
    axes.set_ylim(low[1] + diagram.height, low[1])
    bars = [bar for label in diagram.layout.labels for bar in label.bars]
    for bar in bars:
        _draw_line(axes, bar, points)
    picture, _ = diagram.skeleton.draw(diagram.scale, is_png=True, zoom=_FINE)
    pixels = imread(BytesIO(picture))
    height, width = pixels.shape[:2]
    axes.imshow(
        pixels, extent=(0, width / _FINE, height / _FINE, 0), aspect="auto", zorder=3, interpolation="lanczos"
    )
    for bar in bars:
        _write_figure(axes, bar, points)
    for label in diagram.layout.labels:
        x, y = label.center
        look = LOOKS[label.kind]
        is_dotted = label.kind == "hydrophobic"
        _write_pill(axes, x, y, label.width, look.color, points, is_dotted=is_dotted)
        axes.text(x, y, label.text, size=12 * points, weight="bold", color=INK, ha="center", va="center",
                  zorder=6)  # fmt: skip
    _draw_legend(axes, diagram, points)
    with matplotlib.rc_context({"pdf.fonttype": 42}):  # editable text
        save_drawn(figure, path, dpi=dpi, facecolor=GROUND)


def _draw_line(axes: Any, bar: ContactLine, points: float) -> None:
    look = LOOKS[bar.found.kind]
    ends = np.array([bar.start, bar.end])
    axes.plot(ends[:, 0], ends[:, 1], **_style(bar.found.kind, points), zorder=2)
    arrow = find_arrow(bar)
    if arrow is not None:
        axes.fill(arrow[:, 0], arrow[:, 1], color=look.color, linewidth=0, zorder=2)
    if len(bar.found.ligand_rows) > 2:
        axes.plot(*bar.end, "o", color=look.color, markersize=7 * points, zorder=4)


def _style(kind: str, points: float) -> dict[str, Any]:
    look = LOOKS[kind]
    # matplotlib measures dashes in line widths
    dashes = (0, tuple(part / look.width for part in look.dashes)) if look.dashes else "-"
    return {"color": look.color, "linewidth": look.width * points, "linestyle": dashes}


def _write_figure(axes: Any, bar: ContactLine, points: float) -> None:
    from matplotlib.patheffects import withStroke

    if bar.spot is not None:
        axes.text(
            *bar.spot, f"{bar.found.distance:.1f}", size=11 * points, color=LOOKS[bar.found.kind].color,
            ha="center", va="center", zorder=5,
            path_effects=[withStroke(linewidth=4 * points, foreground=GROUND)],
        )  # fmt: skip


def _write_pill(
    axes: Any, x: float, y: float, width: float, color: str, points: float, *, is_dotted: bool
) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (x - width / 2, y - LABEL_HEIGHT_PX / 2)
    pill = FancyBboxPatch(
        corner, width, LABEL_HEIGHT_PX, boxstyle="round,pad=0,rounding_size=11", facecolor=GROUND,
        edgecolor=color, linewidth=1.5 * points, linestyle=(0, (1, 2)) if is_dotted else "-", zorder=6,
    )  # fmt: skip
    axes.add_patch(pill)


def _draw_legend(axes: Any, diagram: Sketch, points: float) -> None:
    left, top = diagram.layout.low[0], diagram.layout.high[1] + 4
    for row, entries in enumerate(diagram.list_legend()):
        y = top + (row + 0.5) * LEGEND_PX
        for kind, place in entries:
            axes.plot([left + place, left + place + SAMPLE_PX], [y, y], **_style(kind, points))
            axes.text(left + place + SAMPLE_PX + 6, y, LOOKS[kind].name, size=12 * points, color=INK,
                      va="center")  # fmt: skip
