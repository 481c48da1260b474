"""Plot phylogenetic trees: branches to scale, with names and support of nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.text import count
from foldnote.viewers.plots.drawing import Axis, Curve, Dots, Drawing, Label, Mark, find_ticks
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.scene import palette

_COLUMNS = ("node", "parent", "branch_length")
_WIDTH = 760
_PLANE_PX = _WIDTH - 64
_TIP_PX, _NARROW_TIP_PX = 17, 4
"""Row height of a tip with and without name."""
_MAX_NAMED = 150
"""Maximum number of tips that are labelled."""
_MAX_NAME_LENGTH = 36
_SMALL_PX = 9
"""Font size of ancestor names."""
_LETTER_SHARE = 0.58
"""Average width of a character relative to the font size."""
_LEFT_PX = 44
"""Margin left of the root for its name."""
_RISES = (3, -10)

_Box = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""


@dataclass(frozen=True, eq=False)
class _Layout:
    """Position of each node, by row: distance from the root and vertical position."""

    parents: list[int]
    depths: list[float]
    lines: list[float]
    tips: list[int]


class _Plane:
    """Pixel geometry of the drawing, with margins for names on both sides."""

    def __init__(self, layout: _Layout, letters: int) -> None:
        depth = max(layout.depths) or 1.0
        room = _LEFT_PX + (letters * 11 * _LETTER_SHARE + 12 if letters else 0.0)
        self._per_pixel = depth / (_PLANE_PX - room)
        self._tip_px = _TIP_PX if letters else _NARROW_TIP_PX
        low = -_LEFT_PX * self._per_pixel
        ticks = find_ticks(0.0, depth)
        names = [f"{tick:g}" for tick in ticks]
        self.x_axis = Axis("Substitutions per site", low, low + _PLANE_PX * self._per_pixel, ticks, names)
        lines = len(layout.tips)
        self.y_axis = Axis("", -0.7, lines - 0.3, (0.0,), ("",))
        self.height = 50 + lines * self._tip_px

    def find_box(self, label: Label) -> _Box:
        """Return the bounding box of a label."""
        x, foot = label.x / self._per_pixel + _LEFT_PX, -label.y * self._tip_px - label.rise
        width = len(label.text) * label.size * _LETTER_SHARE
        left = x + 5 if label.anchor == "start" else x - 5 - width
        return left, foot - label.size * 0.8, left + width, foot + 1


def plot_tree(nodes: pd.DataFrame, title: str = "Tree") -> Plot:
    """Draw a tree from left to right, its branches to scale, with the names and support of its nodes.

    Tips are named if there are at most 150. Ancestors are named if their labels do not overlap others; every
    ancestor has its name as a tooltip.

    Args:
        nodes: one row per node, after its parent: ``node`` and ``parent`` (names; the first node has no
            parent); ``branch_length`` to the parent, in substitutions per site; optionally
            ``branch_support`` in per cent and ``mean_posterior_probability``, 0 to 1. The plot's data.
        title: heading.

    Raises:
        ArgumentError: a column is missing, there are no rows, or a node does not come after its parent.
    """
    missing = [name for name in _COLUMNS if name not in nodes.columns]
    if missing:
        noun = "column" if len(missing) == 1 else "columns"
        has = ", ".join(map(str, nodes.columns)) or "no columns"
        raise ArgumentError(f"The table of nodes has no {noun} {', '.join(missing)}. It has: {has}.")
    if nodes.empty:
        raise ArgumentError("The table of a tree has no nodes.")
    layout = _lay_out(nodes)
    names = [str(name) for name in nodes["node"]]
    is_named = len(layout.tips) <= _MAX_NAMED
    plane = _Plane(layout, max(map(len, map(_shorten, names))) if is_named else 0)
    tips = [Label(layout.depths[tip], layout.lines[tip], _shorten(names[tip])) for tip in layout.tips]
    ancestors = sorted(set(range(len(names))) - set(layout.tips))
    dots = Dots(
        [layout.depths[row] for row in ancestors],
        [layout.lines[row] for row in ancestors],
        palette.CHAINS[0],
        [_describe(nodes.iloc[row]) for row in ancestors],
    )
    marks: list[Mark] = [_draw_branches(layout), dots]
    if is_named:
        labels = [_name_ancestor(nodes.iloc[row]) for row in ancestors]
        marks += [*tips, *_place_labels(plane, tips, dots, labels)]
    drawing = Drawing(plane.x_axis, plane.y_axis, marks, _WIDTH, plane.height)
    return Plot(title, _write_description(nodes, layout, ancestors), nodes, drawing)


def _lay_out(nodes: pd.DataFrame) -> _Layout:
    rows = {str(name): row for row, name in enumerate(nodes["node"])}
    parent_names = nodes["parent"].fillna("").astype(str).tolist()
    lengths = pd.to_numeric(nodes["branch_length"], errors="coerce").fillna(0.0).tolist()
    parents: list[int] = []
    depths: list[float] = []
    for row, name in enumerate(parent_names):
        parent = rows.get(name, -1) if name else -1
        if (name or row) and not -1 < parent < row:
            raise ArgumentError(f"Row {row} of the table of nodes has no parent above it: {name!r}.")
        parents.append(parent)
        depths.append(lengths[row] + (depths[parent] if parent >= 0 else 0.0))
    tips = _order_tips(parents)
    lines = [0.0] * len(parent_names)
    for line, tip in enumerate(tips):
        lines[tip] = float(len(tips) - 1 - line)
    child_lines: dict[int, list[float]] = {}
    for row in reversed(range(len(parent_names))):
        if row in child_lines:
            lines[row] = (min(child_lines[row]) + max(child_lines[row])) / 2
        child_lines.setdefault(parents[row], []).append(lines[row])
    return _Layout(parents, depths, lines, tips)


def _order_tips(parents: list[int]) -> list[int]:
    """Return the rows of the tips from top to bottom, those of each ancestor together: no branches cross."""
    children: dict[int, list[int]] = {}
    for row, parent in enumerate(parents):
        children.setdefault(parent, []).append(row)
    tips: list[int] = []
    stack = [*reversed(children[-1])]
    while stack:
        row = stack.pop()
        below = children.get(row, [])
        tips += [] if below else [row]
        stack += reversed(below)
    return tips


def _draw_branches(layout: _Layout) -> Curve:
    """Return all branches as steps from the parent, in one line with gaps."""
    xs: list[float] = []
    ys: list[float] = []
    for row, parent in enumerate(layout.parents):
        if parent >= 0:
            xs += [layout.depths[parent], layout.depths[parent], layout.depths[row], layout.depths[row]]
            ys += [layout.lines[parent], layout.lines[row], layout.lines[row], np.nan]
    return Curve(xs, ys, width=1.2)


def _place_labels(plane: _Plane, tips: list[Label], dots: Dots, texts: list[str]) -> list[Label]:
    """Place labels of ancestors left of their dots, above or below the branch, if they overlap no other."""
    boxes = [plane.find_box(tip) for tip in tips]
    placed = []
    for x, y, text in zip(dots.xs, dots.ys, texts, strict=True):
        for rise in _RISES:
            label = Label(x, y, text, "end", _SMALL_PX, rise)
            box = plane.find_box(label)
            if box[0] >= 0 and not any(_do_overlap(box, placed_box) for placed_box in boxes):
                boxes.append(box)
                placed.append(label)
                break
    return placed


def _do_overlap(first: _Box, second: _Box) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def _name_ancestor(node: pd.Series) -> str:
    support = _read(node, "branch_support")
    return f"{node['node']}" if support is None else f"{node['node']} {support:.0f}"


def _describe(node: pd.Series) -> str:
    """Return the tooltip of an ancestor."""
    support, probability = _read(node, "branch_support"), _read(node, "mean_posterior_probability")
    parts = [str(node["node"])]
    parts += [] if support is None else [f"support {support:g} %"]
    parts += [] if probability is None else [f"mean probability {probability:.3f}"]
    return ", ".join(parts)


def _read(node: pd.Series, name: str) -> float | None:
    """Return a numeric value of a node; None if missing."""
    value = node.get(name)
    try:
        number = float(value) if value is not None else np.nan
    except (TypeError, ValueError):
        return None
    return None if np.isnan(number) else number


def _shorten(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"


def _write_description(nodes: pd.DataFrame, layout: _Layout, ancestors: list[int]) -> str:
    description = (
        f"{count(len(layout.tips), 'sequence')} and {count(len(ancestors), 'ancestor')};"
        f" the longest path from {nodes['node'].iloc[0]} is {max(layout.depths):.3g} substitutions per site."
    )
    if any(_read(nodes.iloc[row], "branch_support") is not None for row in ancestors):
        description += " Numbers after the names of ancestors are branch support in per cent."
    if len(layout.tips) > _MAX_NAMED:
        description += " There are too many tips to name them in the drawing."
    return description
