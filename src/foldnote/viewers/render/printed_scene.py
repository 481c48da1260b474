"""HTML of scenes on paper: a still image with its legend, the first step's diagram, and the description."""

from __future__ import annotations

import base64
from html import escape

from foldnote.viewers.render.caption import (
    write_description,
    write_interfaces,
    write_label,
    write_legend,
    write_notes,
    write_panel,
)
from foldnote.viewers.render.still_image import draw_printed_picture
from foldnote.viewers.scene.model import Scene, Step

FIGURE_ZOOM, SMALL_ZOOM = 4, 2
"""Pixels per screen pixel of a still image, for a figure and for one of many small figures."""


def write_printed_scene(scene: Scene) -> str:
    """Return the figure of a scene; of several steps, such as poses, only the first is shown."""
    legend = write_legend(scene)
    picture = write_printed_picture(scene, FIGURE_ZOOM)
    first = _write_step(scene.steps[0]) if scene.steps and not scene.is_stack else ""
    return (
        f'<div class="fnv-view"><figure class="fnv-figure"><p class="fnv-head">{escape(scene.title)}</p>'
        f"{picture}{legend}</figure>{first}{write_interfaces(scene)}"
        f"{write_notes(scene.notes)}{write_description(scene)}</div>"
    )


def write_printed_picture(scene: Scene, zoom: int) -> str:
    """Return the still image of a scene as an HTML element; empty if there is nothing to draw."""
    png = draw_printed_picture(scene, zoom)
    if png is None:
        return ""
    source = f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
    return f'<img class="fnv-still" alt="{escape(write_label(scene))}" src="{source}">'


def write_small_figure(scene: Scene, caption: str) -> str:
    """Return a small figure of one of many scenes: the diagram of its first step, or else its still image."""
    diagram = write_drawing(scene.steps[0]) if scene.steps and scene.steps[0].drawing else ""
    picture = diagram or write_printed_picture(scene, SMALL_ZOOM)
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>" if picture else ""


def write_drawing(step: Step) -> str:
    """Return the diagram of a step as an HTML element; empty without one."""
    if not step.drawing:
        return ""
    source = base64.b64encode(step.drawing.encode()).decode("ascii")
    description = escape(step.drawing_words or f"2D drawing of {step.label}")
    return f'<img alt="{description}" src="data:image/svg+xml;base64,{source}">'


def _write_step(step: Step) -> str:
    """Return the diagram and the facts of one step."""
    head = f'<p class="fnv-sub">{escape(step.label)}</p>'
    return (
        f'<figure class="fnv-step">{head}{write_drawing(step)}</figure>'
        f'<div class="fnv-words">{write_panel(step)}</div>'
    )
