"""Positions of the stages of a pipeline and of the connections between them.

Stages are numbered in running order, so each takes files only from lower numbers. A wide page has a column
for each depth, a narrow one a row for each stage with connections in lanes at the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Sources = Sequence[Sequence[int]]
"""For each stage, the numbers of the stages whose files it takes."""


@dataclass(frozen=True)
class Columns:
    """The layout of a wide page.

    Attributes:
        depths: column of each stage.
        rows: row of each stage in its column, in units of a row; halves centre short columns.
        height: number of rows of the longest column.
        links: a connection across the gap after a column: column, row before and row behind the gap, target
            stage, or None if it continues through the next column.
        passes: column and row of a connection that passes through a column.
    """

    depths: tuple[int, ...]
    rows: tuple[float, ...]
    height: int
    links: tuple[tuple[int, float, float, int | None], ...]
    passes: tuple[tuple[int, float], ...]

    @property
    def count(self) -> int:
        """Number of columns."""
        return max(self.depths, default=-1) + 1


def find_depths(sources: Sources) -> list[int]:
    """Return the column of each stage: one after the last stage whose files it takes."""
    depths: list[int] = []
    for own_sources in sources:
        depths.append(1 + max((depths[source] for source in own_sources), default=-1))
    return depths


def place_columns(sources: Sources) -> Columns:
    """Place the stages in columns; a connection across several columns has its own row in each."""
    depths = find_depths(sources)
    slots: list[list[tuple[int, int | None]]] = [[] for _ in range(max(depths, default=-1) + 1)]
    for stage, depth in enumerate(depths):
        slots[depth].append((stage, None))
    for source in range(len(sources)):  # connections of one source share their path
        targets = [depths[target] for target, own_sources in enumerate(sources) if source in own_sources]
        for depth in range(depths[source] + 1, max(targets, default=0)):
            slots[depth].append((source, depth))
    slot_rows: dict[tuple[int, int | None], float] = {}
    height = max((len(column) for column in slots), default=0)
    for column in slots:
        order = sorted(column, key=lambda slot: _mean_row(slot, sources, slot_rows, depths))
        start = (height - len(column)) / 2
        slot_rows |= {slot: start + index for index, slot in enumerate(order)}
    links: list[tuple[int, float, float, int | None]] = []
    for target, own_sources in enumerate(sources):
        for source in own_sources:
            column_before = depths[target] - 1
            links.append(
                (
                    column_before,
                    _find_exit_row(slot_rows, depths, source, column_before),
                    slot_rows[target, None],
                    target,
                )
            )
    passes = [(source, depth) for source, depth in slot_rows if depth is not None]
    for source, depth in passes:
        exit_row = _find_exit_row(slot_rows, depths, source, depth - 1)
        links.append((depth - 1, exit_row, slot_rows[source, depth], None))
    rows = tuple(slot_rows[stage, None] for stage in range(len(sources)))
    through = tuple((depth, slot_rows[source, depth]) for source, depth in passes)
    return Columns(tuple(depths), rows, height, tuple(links), through)


def _find_exit_row(
    slot_rows: dict[tuple[int, int | None], float], depths: Sequence[int], source: int, depth: int
) -> float:
    """Return the row in which a connection of ``source`` leaves the column ``depth``."""
    return slot_rows[source, None if depths[source] == depth else depth]


def _mean_row(
    slot: tuple[int, int | None],
    sources: Sources,
    slot_rows: dict[tuple[int, int | None], float],
    depths: Sequence[int],
) -> float:
    """Return the mean row of the connected predecessors, which keeps connections short with few crossings."""
    stage, depth = slot
    if depth is not None:
        return _find_exit_row(slot_rows, depths, stage, depth - 1)
    before = depths[stage] - 1
    rows = [_find_exit_row(slot_rows, depths, source, before) for source in sources[stage]]
    return sum(rows) / len(rows) if rows else float(stage)


def assign_lanes(sources: Sources) -> dict[int, int]:
    """Return the lane, counted from the stages to the left, of each stage whose files are taken.

    A lane is taken from its stage to the last one that takes its files.
    """
    ends = {taken_stage: stage for stage, own_sources in enumerate(sources) for taken_stage in own_sources}
    lanes: dict[int, int] = {}
    free_from: list[int] = []
    for source in sorted(ends):
        lane = next((index for index, free_at in enumerate(free_from) if free_at <= source), len(free_from))
        free_from[lane : lane + 1] = [ends[source]]
        lanes[source] = lane
    return lanes
