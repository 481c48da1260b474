"""The graph of a pipeline on its card: its stages with their states, and the files that they pass on.

The HTML is the same while the pipeline runs and in the saved notebook. Connections are only visual; the
accessible name of each stage lists its inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

import traitlets

from foldnote.client.tables.batch_results import SheetRow
from foldnote.live_widget import LiveWidget, write_module
from foldnote.models import Job, JobStatus
from foldnote.models.extensions import ALIGNMENT
from foldnote.text import count, format_duration, texts_in, visible
from foldnote.viewers.card.card_html import draw_icon, find_appearance, name_tool
from foldnote.viewers.card.stage_layout import Columns, assign_lanes, place_columns
from foldnote.viewers.render.html import read_asset

_NODE_PX, _ROW_PX, _GAP_PX, _LANE_PX = 54, 64, 40, 12
_MAX_COLUMNS = 5
_NUMBERED = re.compile(r"(.+)-\d+")


@dataclass(frozen=True)
class StageInput:
    """Files that a stage takes from an earlier one: index of that stage, and path in its result."""

    stage: int
    path: str


@dataclass(frozen=True)
class StageNode:
    """A stage of a pipeline.

    Attributes:
        name: the stage's name.
        job_name: name of its job, or of the first of several.
        tool: its tool's type.
        jobs: the records of its jobs; None where one was deleted. A stage has several jobs if it takes all
            models of an earlier stage.
        inputs: the files that it takes from earlier stages.
    """

    name: str
    job_name: str
    tool: str
    jobs: tuple[Job | None, ...]
    inputs: tuple[StageInput, ...]


def read_stages(rows: Sequence[SheetRow]) -> list[StageNode]:
    """Return the stages of a pipeline in their order, from its rows.

    If a service does not report settings, the inputs of a stage are unknown; each stage then follows the
    previous one.
    """
    nodes: list[StageNode] = []
    indices: dict[str, int] = {}
    for row in rows:
        name = str(row.inputs.get("stage", row.name))
        first = indices.get(_stem(name), -1)
        if first >= 0 and _is_variant(nodes[first], row.job):
            nodes[first] = replace(nodes[first], jobs=(*nodes[first].jobs, row.job))
            continue
        tool = str(row.inputs.get("tool", ""))
        inputs = () if row.job is None else tuple(dict.fromkeys(_find_inputs(row.job, indices)))
        indices[name] = len(nodes)
        nodes.append(StageNode(name, row.name, tool, (row.job,), inputs))
    if any(job is not None and job.settings for node in nodes for job in node.jobs):
        return nodes
    return [
        replace(node, inputs=(StageInput(index - 1, ""),) if index else ())
        for index, node in enumerate(nodes)
    ]


def _stem(name: str) -> str:
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else ""


def _is_variant(node: StageNode, job: Job | None) -> bool:
    """Return whether a job is another one of the same stage: same tool and settings, with another file."""
    first = node.jobs[0]
    if first is None or job is None or job.tool_type != first.tool_type or not node.inputs:
        return False
    first_settings, settings = first.settings, job.settings
    changed = [
        key for key in first_settings.keys() | settings.keys() if first_settings.get(key) != settings.get(key)
    ]
    pairs = [(str(first_settings.get(key, "")), str(settings.get(key, ""))) for key in changed]
    return bool(pairs) and all("/" in a and a.partition("/")[0] == b.partition("/")[0] for a, b in pairs)


def _find_inputs(job: Job, indices: dict[str, int]) -> Iterator[StageInput]:
    for text in texts_in([job.settings, (job.extensions or {}).get(ALIGNMENT, "")]):
        head, mark, path = text.partition("/")
        if mark and head in indices and "\n" not in text:
            yield StageInput(indices[head], path)


def write_graph(nodes: Sequence[StageNode]) -> str:
    """Return the graph as HTML; empty for fewer than two stages."""
    if len(nodes) < 2:
        return ""
    sources = [sorted({source.stage for source in node.inputs}) for node in nodes]
    columns, lanes = place_columns(sources), assign_lanes(sources)
    rail_px = 14 + _LANE_PX * (max(lanes.values(), default=-1) + 1) if lanes else 0
    items = [
        f'<li style="--d:{depth};--y:{_px(row * _ROW_PX)};--n:{index}">{_write_node(node, nodes)}</li>'
        for index, (node, depth, row) in enumerate(zip(nodes, columns.depths, columns.rows, strict=True))
    ]
    layers = columns.count if columns.count <= _MAX_COLUMNS else 0
    height = _px((columns.height - 1) * _ROW_PX + _NODE_PX)
    style = f"--l:{max(columns.count, 1)};--h:{height};--c:{len(nodes)};--r:{rail_px}px"
    connections = _draw_rails(sources, lanes, rail_px) + ("" if not layers else _draw_gaps(columns))
    return (
        f'<div class="fnc-graph"><div class="fnc-plan fnc-layers-{layers}" style="{style}">{connections}'
        f'<ol aria-label="Stages of the pipeline">{"".join(items)}</ol></div></div>'
    )


def _write_node(node: StageNode, nodes: Sequence[StageNode]) -> str:
    key, state, share = _describe_state(node)
    inputs = [f"{source.path or 'files'} of {nodes[source.stage].name}" for source in node.inputs]
    tool = name_tool(node.tool)
    description = f"{node.name}: {tool}, {state}" + (f"; takes {', '.join(inputs)}" if inputs else "")
    reason = next((job.reason for job in node.jobs if job is not None and job.reason), "")
    title = escape(visible(". ".join(filter(None, [description, reason]))), quote=True)
    bar = "" if share is None else f'<i class="fnc-done" style="width:{round(100 * share)}%"></i>'
    number = f" · {count(len(node.jobs), 'job')}" if len(node.jobs) > 1 else ""
    return (
        f'<button type="button" class="fnc-node fnc-at-{key}" data-fn-stage="{escape(node.job_name)}"'
        f' title="{title}" aria-label="{title}">'
        f'<span class="fnc-state">{draw_icon(key)}</span><b>{escape(visible(node.name))}</b>'
        f"<small>{escape(visible(state))}{number} · {escape(tool)}</small>{bar}</button>"
    )


def _describe_state(node: StageNode) -> tuple[str, str, float | None]:
    """Return the word for the style sheet, the state in words, and the progress (0 to 1) while it runs."""
    jobs = [job for job in node.jobs if job is not None]
    if not jobs:
        return "stopped", "deleted", None
    if len(jobs) > 1 and len({job.word for job in jobs}) > 1:
        ended = sum(job.is_final for job in jobs)
        failed = sum(job.is_failed for job in jobs)
        state = f"{ended} of {len(jobs)} ended" + (f", {failed} failed" if failed else "")
        return "failed" if failed else "running", state, ended / len(jobs)
    job = jobs[0]
    appearance, seconds = find_appearance(job), job.duration_s
    if job.is_not_run:
        return "stopped", "not run", None
    if job.status is JobStatus.IN_QUEUE:
        return appearance.key, (job.message or appearance.words).rstrip(".").replace("the stage ", ""), None
    if job.reused_from:
        return appearance.key, f"Reused from {job.reused_from}", None
    state = appearance.words
    if job.status is JobStatus.RUNNING and job.progress is not None:
        state = f"{state}, {round(100 * job.progress)} %"
    elif seconds is not None:
        state = f"{state}, {format_duration(seconds)}"
    return appearance.key, state, job.progress if job.status is JobStatus.RUNNING else None


def _draw_rails(sources: Sequence[Sequence[int]], lanes: dict[int, int], rail_px: int) -> str:
    """Draw the connections of a narrow page: from a stage to its lane, down, and into each stage using it."""
    if not lanes:
        return ""
    lines = []
    for target, own_sources in enumerate(sources):
        for source in own_sources:
            x = rail_px - 10 - _LANE_PX * lanes[source]
            start, end = source * _ROW_PX + _NODE_PX - 16, target * _ROW_PX + 16
            lines.append(f"M{rail_px} {start}H{x + 4}q-4 0-4 4V{end - 4}q0 4 4 4H{rail_px - 5}")
            lines.append("m-1-3.5 5 3.5-5 3.5")
    height = len(sources) * _ROW_PX
    path = f'<path d="{"".join(lines)}"/>'
    return f'<svg class="fnc-rails" aria-hidden="true" width="{rail_px}" height="{height}">{path}</svg>'


def _draw_gaps(columns: Columns) -> str:
    """Draw the connections of a wide page: curves in the gaps between columns, and lines through columns."""
    height = columns.height * _ROW_PX
    parts = []
    for gap in range(columns.count - 1):
        lines = []
        for column, start, end, target in columns.links:
            if column == gap:
                y, z, tip = _middle(start), _middle(end), _GAP_PX - 1 if target is None else _GAP_PX - 5
                lines.append(f"M0 {y}C{_GAP_PX / 2:g} {y} {_GAP_PX / 2:g} {z} {tip} {z}")
                lines.append("" if target is None else "m-1-3.5 5 3.5-5 3.5")
        parts.append(
            f'<svg class="fnc-gap" aria-hidden="true" style="--d:{gap}" width="{_GAP_PX}" height="{height}">'
            f'<path d="{"".join(lines)}"/></svg>'
        )
    for depth, row in columns.passes:
        parts.append(f'<i class="fnc-pass" style="--d:{depth};top:{_middle(row)}px"></i>')
    return "".join(parts)


def _middle(row: float) -> str:
    return f"{row * _ROW_PX + _NODE_PX / 2:g}"


def _px(value: float) -> str:
    return f"{value:g}px"


class StageGraph(LiveWidget):
    """The graph of a running pipeline; a focused stage keeps the focus when a state changes."""

    _esm = write_module(read_asset("stage_graph.js"))
    _css = read_asset("card.css")
    _html = traitlets.Unicode().tag(sync=True)

    def show(self, nodes: Sequence[StageNode]) -> None:
        """Show the stages as they are now."""
        html = write_graph(nodes)
        if html != self._html:
            self._html = html
