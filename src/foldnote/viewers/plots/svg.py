"""Write drawings as SVG, for cells and pages.

Cells embed the SVG as an image, because the sanitizers of untrusted notebooks remove SVG elements but keep
images. It follows light and dark themes through the ``color-scheme`` of the page.
"""

from __future__ import annotations

import base64
from html import escape

import numpy as np

from foldnote.viewers.plots.drawing import (
    Band,
    Bars,
    Border,
    Curve,
    Dots,
    Drawing,
    Label,
    Mark,
    Raster,
    Shape,
)

_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 10, 40
_SCALE_PX = 72
"""Width of the colour bar with its labels."""
_LEGEND_PX = 122
"""Minimum space for the legend."""
_LETTER_PX = 6.8
"""Width of a letter of the legend in a wide font."""
_DIGIT_PX = 6.6
"""Width of a digit at a tick in a wide font."""
_NAMES_SHARE = 0.25
"""Largest part of the width for the names at the ticks of the y axis; longer names are shortened."""
_NAME_PX = 26
"""Width of the turned label of the y axis, with its distance from the ticks."""
_NAME = 30
"""Maximum length of a name in the legend; longer ones are shortened."""
_DOT_PX = 4
_SAMPLE_PX = 24
"""Length of the piece of a line in the legend."""
_LABEL_PX = 5
"""Distance of a label from its point."""
_LIGHT = "svg{color:#222;background:#fff}"
_DARK = "@media(prefers-color-scheme:dark){svg{color:#ddd;background:#111}}"


def write_svg(drawing: Drawing) -> str:
    """Return the drawing as SVG, dark on a white background."""
    return _Writer(drawing).write(_LIGHT)


def write_image(drawing: Drawing, label: str) -> str:
    """Return HTML of the drawing as an image with alternative text ``label`` and tooltips."""
    writer = _Writer(drawing)
    size = f'width="{drawing.width}" height="{drawing.height}"'
    source = encode("svg+xml", writer.write(_LIGHT + _DARK).encode())
    image = f'<img alt="{escape(label)}" {size} src="{source}">'
    return f'<div class="fnv-plane">{image}{"".join(map(writer.write_tooltips, drawing.marks))}</div>'


def encode(kind: str, data: bytes) -> str:
    """Return an image as a data URL."""
    return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"


class _Writer:
    """Writes one drawing; maps data coordinates to pixels."""

    def __init__(self, drawing: Drawing) -> None:
        has_scale = any(isinstance(mark, Raster) for mark in drawing.marks)
        self._drawing = drawing
        self._legend_marks = [
            mark
            for mark in drawing.marks
            if (isinstance(mark, Dots) or (isinstance(mark, Curve) and mark.is_listed)) and mark.name
        ]
        longest = max((len(_shorten(mark.name)) for mark in self._legend_marks), default=0)
        has_lines = any(isinstance(mark, Curve) for mark in self._legend_marks)
        legend = max(_LEGEND_PX, round(longest * _LETTER_PX) + 26 + (_SAMPLE_PX if has_lines else 0))
        right_space = _SCALE_PX if has_scale else legend if self._legend_marks else _RIGHT
        y_names, x_names = ([name for _, name in axis.marks] or [""] for axis in (drawing.y, drawing.x))
        self._max_letters = int(_NAMES_SHARE * drawing.width / _DIGIT_PX)
        widest = min(self._max_letters, max(map(len, y_names))) * _DIGIT_PX
        self._left = max(_LEFT, round(widest) + _NAME_PX)
        self._width = (
            drawing.width
            - self._left
            - max(right_space, round(min(self._max_letters, len(x_names[-1])) * _DIGIT_PX / 2))
        )
        self._height = drawing.height - _TOP - _BOTTOM

    def _x(self, value: float) -> float:
        axis = self._drawing.x
        return round(self._left + _share(value, axis.low, axis.high) * self._width, 1)

    def _y(self, value: float) -> float:
        axis = self._drawing.y
        return round(_TOP + (1 - _share(value, axis.low, axis.high)) * self._height, 1)

    def write(self, style: str) -> str:
        """Return the SVG of the marks, and of the frame and axes above them."""
        x, y, width, height = self._drawing.x, self._drawing.y, self._drawing.width, self._drawing.height
        bottom = _TOP + self._height
        parts = [f"<style>{style}</style>", *map(self._write_mark, self._drawing.marks)]
        size = f'x="{self._left}" y="{_TOP}" width="{self._width}" height="{self._height}"'
        parts.append(f'<rect {size} fill="none" stroke="currentColor" opacity="0.5"/>')
        parts += [_text(name, self._x(value), bottom + 15) for value, name in x.marks]
        parts += [
            _text(_shorten(name, self._max_letters), self._left - 6, self._y(value) + 4, "end")
            for value, name in y.marks
        ]
        parts += [self._write_name(row, mark) for row, mark in enumerate(reversed(self._legend_marks))]
        label = _shorten(x.label, int(width / _LETTER_PX))
        parts.append(_text(label, self._left + self._width / 2, height - 6))
        label = _shorten(y.label, int(height / _LETTER_PX))
        parts.append(_text(label, 12, _TOP + self._height / 2, turn=True))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-size="11" fill="currentColor" font-family="system-ui, sans-serif">'
            f"{''.join(parts)}</svg>"
        )

    def _write_mark(self, mark: Mark) -> str:
        match mark:
            case Band():
                top, bottom = self._y(mark.high), self._y(mark.low)
                box = f'x="{self._left}" y="{top}" width="{self._width}" height="{bottom - top:.1f}"'
                return f'<rect {box} fill="{mark.color}" opacity="0.16"/>'
            case Curve():
                return self._write_curve(mark)
            case Dots():
                points = zip(map(self._x, mark.xs), map(self._y, mark.ys), strict=True)
                dots = (_write_dot(x, y, mark.shape) for x, y in points)
                return f'<g fill="{mark.color or "currentColor"}" opacity="0.8">{"".join(dots)}</g>'
            case Bars():
                boxes = (
                    f'<rect x="{left}" y="{top}" width="{width:.1f}" height="{height:.1f}"/>'
                    for left, top, width, height in self._list_boxes(mark)
                )
                return f'<g fill="{mark.color}">{"".join(boxes)}</g>'
            case Border():
                x, y = self._x(mark.place), self._y(mark.place)
                across = (
                    f"M{x} {_TOP}v{self._height}" if mark.axis == "x" else f"M{self._left} {y}h{self._width}"
                )
                return f'<path d="{across}" stroke="currentColor" stroke-dasharray="3 3" opacity="0.6"/>'
            case Label():
                aside = _LABEL_PX if mark.anchor == "start" else -_LABEL_PX
                x, y = round(self._x(mark.x) + aside, 1), round(self._y(mark.y) - mark.rise, 1)
                return f'<g font-size="{mark.size}">{_text(mark.text, x, y, mark.anchor)}</g>'
            case Raster():
                return self._write_raster(mark)

    def _write_name(self, row: int, group: Dots | Curve) -> str:
        """Return a line of the legend: a dot or a piece of the line, and the name of its group."""
        left, middle = self._left + self._width + 12, _TOP + 8 + 16 * row
        color, name = group.color or "currentColor", _shorten(group.name)
        if isinstance(group, Dots):
            dot = f'<g fill="{color}">{_write_dot(left, middle, group.shape)}</g>'
            return dot + _text(name, left + 9, middle + 4, "start")
        start = left - _DOT_PX
        line = f'<path d="M{start} {middle}h{_SAMPLE_PX}" {_write_stroke(group)}/>'
        return line + _text(name, start + _SAMPLE_PX + 5, middle + 4, "start")

    def _write_curve(self, curve: Curve) -> str:
        runs: list[list[str]] = [[]]
        for x, y in zip(curve.xs, curve.ys, strict=True):
            if np.isfinite(y):
                runs[-1].append(f"{self._x(x)},{self._y(y)}")
            elif runs[-1]:
                runs.append([])
        style = _write_stroke(curve)
        return "".join(f'<polyline points="{" ".join(run)}" {style}/>' for run in runs if run)

    def _write_raster(self, raster: Raster) -> str:
        """Return the matrix, and a colour bar labelled at low, middle and high."""
        left, middle = self._left + self._width + 10, (raster.low + raster.high) / 2
        names = (f"{raster.high:.3g}{'+' if raster.has_more else ''}", f"{middle:.3g}", f"{raster.low:.3g}")
        tops = (_TOP + 9, _TOP + 4 + self._height / 2, _TOP + self._height)
        return "".join(
            [
                self._write_png(raster.to_png(), self._left, self._width),
                self._write_png(raster.scale_png(), left, 10),
                *(_text(name, left + 14, top, "start") for name, top in zip(names, tops, strict=True)),
                _text(raster.label, left + 58, _TOP + self._height / 2, turn=True),
            ]
        )

    def _write_png(self, png: bytes, left: float, width: float) -> str:
        size = f'x="{left}" y="{_TOP}" width="{width}" height="{self._height}" preserveAspectRatio="none"'
        return f'<image {size} style="image-rendering:pixelated" href="{encode("png", png)}"/>'

    def _list_boxes(self, mark: Dots | Bars) -> list[tuple[float, float, float, float]]:
        """Return the left, top, width and height of each dot or bar in pixels."""
        if isinstance(mark, Dots):
            points = zip(map(self._x, mark.xs), map(self._y, mark.ys), strict=True)
            return [(x - _DOT_PX, y - _DOT_PX, 2 * _DOT_PX, 2 * _DOT_PX) for x, y in points]
        bottom, lefts = self._y(self._drawing.y.low), list(map(self._x, mark.edges))
        sides = zip(lefts, lefts[1:], map(self._y, mark.heights), strict=False)
        return [(left, top, max(1.0, right - left - 1), bottom - top) for left, right, top in sides]

    def write_tooltips(self, mark: Mark) -> str:
        """Return the HTML of the tooltips of dots and bars, positioned in per cent of the image."""
        if not isinstance(mark, Dots | Bars):
            return ""
        x, y = 100 / self._drawing.width, 100 / self._drawing.height
        return "".join(
            f'<i style="left:{left * x:.1f}%;top:{top * y:.1f}%;width:{width * x:.1f}%;'
            f'height:{height * y:.1f}%" title="{escape(title)}"></i>'
            for (left, top, width, height), title in zip(self._list_boxes(mark), mark.titles, strict=True)
        )


def _write_dot(x: float, y: float, shape: Shape) -> str:
    if not shape:
        return f'<circle cx="{x}" cy="{y}" r="{_DOT_PX}"/>'
    corners = " ".join(f"{round(x + right, 1)},{round(y - up, 1)}" for right, up in shape)
    return f'<polygon points="{corners}"/>'


def _write_stroke(curve: Curve) -> str:
    dash = f' stroke-dasharray="{" ".join(map(str, curve.dash))}"' if curve.dash else ""
    return f'fill="none" stroke="{curve.color or "currentColor"}" stroke-width="{curve.width}"{dash}'


def _shorten(name: str, limit: int = _NAME) -> str:
    return name if len(name) <= limit else f"{name[: limit - 1]}…"


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high != low else 0.5


def _text(text: str, x: float, y: float, anchor: str = "middle", *, turn: bool = False) -> str:
    position = f'transform="translate({x} {y}) rotate(-90)"' if turn else f'x="{x}" y="{y}"'
    return f'<text {position} text-anchor="{anchor}">{escape(text)}</text>'
