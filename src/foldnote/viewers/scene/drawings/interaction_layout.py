"""Lay out a diagram of interactions: residues around a molecule drawn in 2D, without overlaps.

Each residue is placed at the point of a grid around the molecule where its lines are shortest and cross the
fewest bonds and lines, and where its label covers nothing. The residues are placed one after the other, then
each is placed again while the others stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from foldnote.results.docking.interactions import KINDS, Interaction
from foldnote.viewers.scene.drawings.molecules import Points

LABEL_HEIGHT_PX = 22.0
LETTER_PX = 7.6
"""Width of a letter of a residue's label in a wide font."""
_PADDING_PX = 8.0
_FIGURE_PX = (26.0, 13.0)
"""Width and height of a distance label."""
_STEP_PX = 18.0
_NEAREST_PX, _FARTHEST_PX = 42.0, 132.0
"""Minimum and maximum distance of a label's centre from the nearest atom."""
_SHOWN_PX = 34.0
"""Minimum length of a line with a distance label."""
_GAP_PX = 7.0
_ATOM_PX = 11.0
"""Radius of an atom's letters."""
_MARGIN_PX = 12.0
_CROSSING, _COVERING = 90.0, 400.0
"""Costs, in pixels of a line, of crossing a bond, an atom or a line and of passing a label."""
_ROUNDS = 2
_SHORTLIST = 160
"""Number of lowest-cost points that are tried first."""
MAX_RESIDUES = 30

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ContactLine:
    """A line from a residue to the molecule.

    Attributes:
        found: the interaction.
        start: end at the residue's label, shape (2,), in pixels.
        end: end at the molecule.
        spot: centre of the distance beside it; None if there is no room for one, or none is shown.
    """

    found: Interaction
    start: Points
    end: Points
    spot: Points | None = None


@dataclass(frozen=True, eq=False)
class ResidueLabel:
    """A residue with its lines.

    Attributes:
        text: name, chain and number.
        center: centre of the label, shape (2,), in pixels.
        width: its width in pixels.
        bars: its lines.
    """

    text: str
    center: Points
    width: float
    bars: tuple[ContactLine, ...] = field(repr=False)

    @property
    def kind(self) -> str:
        """The interaction kind that comes first in legends."""
        return min((bar.found.kind for bar in self.bars), key=KINDS.index)


@dataclass(frozen=True, eq=False)
class DiagramLayout:
    """Labels around a molecule.

    Attributes:
        labels: the residues.
        low: minimum x and y of all, shape (2,), in pixels of the molecule's drawing.
        high: maximum x and y.
        omitted: residues for which there was no space.
    """

    labels: tuple[ResidueLabel, ...]
    low: Points
    high: Points
    omitted: int


@dataclass(frozen=True, eq=False)
class _Residue:
    text: str
    width: float
    found: tuple[Interaction, ...]
    ends: Points
    """End points of its lines at the molecule, shape (n, 2)."""


class Board:
    """A molecule drawn in 2D, and the possible positions of labels around it; for all of its poses."""

    def __init__(self, spots: Points, places: Sequence[int], bonds: Points) -> None:
        """Make the grid of points.

        Args:
            spots: positions of the drawn atoms, shape (n, 2), in pixels.
            places: the drawn atom of each row of the molecule, -1 for none.
            bonds: both ends of each bond, shape (b, 2, 2), in pixels.
        """
        self.spots = spots
        self.places = places
        self._bonds = bonds
        self.grid = _make_grid(spots)
        self._costs: dict[tuple[float, float], Points] = {}

    def measure_line(self, end: Points) -> Points:
        """Return the cost of a line from each point of the grid to ``end``: its length and its crossings."""
        key = (round(float(end[0]), 1), round(float(end[1]), 1))
        if key not in self._costs:
            self._costs[key] = self._measure_line(end)
        return self._costs[key]

    def _measure_line(self, end: Points) -> Points:
        ray = self.grid - end
        lengths = np.linalg.norm(ray, axis=1)
        stop = end + ray * (4.0 / np.maximum(lengths, 4.0))[:, None]  # next to the atom's own bonds
        starts, stops = self.grid[:, None], stop[:, None]
        crossed = _cross(starts, stops, self._bonds[None, :, 0], self._bonds[None, :, 1]).sum(axis=1)
        other_atoms = self.spots[np.linalg.norm(self.spots - end, axis=1) > _ATOM_PX * 2]
        touched = (_measure_gap(starts, stops, other_atoms[None]) < _ATOM_PX).sum(axis=1)
        return np.asarray(lengths + _CROSSING * (crossed + touched))


def lay_out(interactions: Sequence[Interaction], board: Board) -> DiagramLayout:
    """Place the residues of some interactions around a molecule.

    Args:
        interactions: interactions; at most 30 residues are shown, with hydrophobic contacts last.
        board: the molecule.
    """
    spots, grid = board.spots, board.grid
    residues = _list_residues(interactions, board)
    drawn = residues[:MAX_RESIDUES]
    points: list[int] = [-1] * len(drawn)
    base = [_measure_base(residue, board) for residue in drawn]
    order = sorted(range(len(drawn)), key=lambda i: float(base[i].min(initial=np.inf)))
    for _ in range(_ROUNDS):
        for i in order:
            placed = [(drawn[j], grid[points[j]]) for j in order if j != i and points[j] >= 0]
            points[i] = _choose(drawn[i], grid, base[i], placed)
    labels = [
        _make_label(residue, grid[point]) for residue, point in zip(drawn, points, strict=True) if point >= 0
    ]
    labels = _place_figures(labels, spots)
    corners = [spots - _ATOM_PX * 2.5, spots + _ATOM_PX * 2.5]
    for label in labels:
        half = np.array([label.width, LABEL_HEIGHT_PX]) / 2
        corners.append(np.array([label.center - half, label.center + half]))
    extent_points = np.vstack(corners)
    low, high = extent_points.min(axis=0) - _MARGIN_PX, extent_points.max(axis=0) + _MARGIN_PX
    return DiagramLayout(tuple(labels), low, high, len(residues) - len(labels))


def _choose(residue: _Residue, grid: Points, base: Points, placed: Sequence[tuple[_Residue, Points]]) -> int:
    """Return the point of lowest cost for a residue given the others; -1 if there is no space."""
    order = np.argsort(base, kind="stable")
    for candidates in (order[:_SHORTLIST], order[_SHORTLIST:]):
        cost = base[candidates] + _measure_others(residue, grid[candidates], placed)
        if len(cost) and np.isfinite(cost.min()):
            return int(candidates[cost.argmin()])
    return -1


def _choose_lines(interactions: Sequence[Interaction]) -> list[Interaction]:
    """Return the interactions of a residue that get a line: one per atom; hydrophobic only if alone."""
    lines: dict[tuple[int, ...], Interaction] = {}
    for interaction in sorted(
        interactions, key=lambda interaction: (KINDS.index(interaction.kind), interaction.distance)
    ):
        if interaction.kind != "hydrophobic" or not lines:
            lines.setdefault(interaction.ligand_rows, interaction)
    return list(lines.values())


def _list_residues(interactions: Sequence[Interaction], board: Board) -> list[_Residue]:
    def owner(item: Interaction) -> tuple[str, str, str]:
        return item.owner

    residues = []
    for (chain, number, name), group in groupby(sorted(interactions, key=owner), owner):
        drawn = [item for item in group if all(board.places[row] >= 0 for row in item.ligand_rows)]
        if drawn:
            lines = tuple(_choose_lines(drawn))
            text = " ".join(part for part in (name, chain, number) if part)
            ends = [
                board.spots[[board.places[row] for row in item.ligand_rows]].mean(axis=0) for item in lines
            ]
            width = LETTER_PX * len(text) + 2 * _PADDING_PX
            residues.append(_Residue(text, width, lines, np.array(ends)))
    return sorted(residues, key=lambda item: min(KINDS.index(line.kind) for line in item.found))


def _make_grid(spots: Points) -> Points:
    """Return the points around the molecule, shape (g, 2)."""
    low, high = spots.min(axis=0) - _FARTHEST_PX, spots.max(axis=0) + _FARTHEST_PX
    x, y = np.meshgrid(np.arange(low[0], high[0], _STEP_PX), np.arange(low[1], high[1], _STEP_PX))
    grid = np.column_stack([x.ravel(), y.ravel()])
    nearest = np.linalg.norm(grid[:, None] - spots[None], axis=2).min(axis=1)
    return np.asarray(grid[(nearest >= _NEAREST_PX) & (nearest <= _FARTHEST_PX)])


def _measure_base(residue: _Residue, board: Board) -> Points:
    """Return the cost of each point of the grid for an isolated residue, shape (g,)."""
    half = np.array([residue.width / 2, LABEL_HEIGHT_PX / 2])
    margin = half + _GAP_PX + _ATOM_PX
    is_near = np.all(np.abs(board.grid[:, None] - board.spots[None]) < margin, axis=2)
    cost = np.where(np.any(is_near, axis=1), np.inf, 0.0)
    for interaction, end in zip(residue.found, residue.ends, strict=True):
        cost += board.measure_line(end)
        if interaction.kind != "hydrophobic":
            rays = np.abs(board.grid - end)
            visible = np.linalg.norm(rays, axis=1) * (1 - (half / np.maximum(rays, 1e-9)).min(axis=1))
            cost += np.where(visible < _SHOWN_PX, 2 * (_SHOWN_PX - visible), 0.0)
    return cost


def _measure_others(residue: _Residue, grid: Points, placed: Sequence[tuple[_Residue, Points]]) -> Points:
    """Return the cost of each point for a residue given the placed ones, shape (g,)."""
    if not placed:
        return np.zeros(len(grid))
    centers = np.array([center for _, center in placed])
    widths = np.array([placed_residue.width for placed_residue, _ in placed])
    halves = np.column_stack([(residue.width + widths) / 2, np.full(len(placed), LABEL_HEIGHT_PX)]) + _GAP_PX
    is_taken = (np.abs(grid[:, None] - centers[None]) < halves[None]).all(axis=2).any(axis=1)
    cost = np.where(is_taken, np.inf, 0.0)
    starts = np.array([center for placed_residue, center in placed for _ in placed_residue.ends])
    stops = np.vstack([placed_residue.ends for placed_residue, _ in placed])
    cost += _COVERING * _pass_labels(starts[None], stops[None], grid[:, None], residue.width).sum(axis=1)
    for end in residue.ends:
        lines = np.broadcast_to(end, (len(grid), 1, 2))
        cost += _COVERING * _pass_labels(grid[:, None], lines, centers[None], widths).sum(axis=1)
        is_apart = np.linalg.norm(stops - end, axis=1) > 1.0
        cost += _CROSSING * _cross(grid[:, None], lines, starts[None, is_apart], stops[None, is_apart]).sum(
            axis=1
        )
    return cost


def _cross(starts: Points, ends: Points, first: Points, second: Points) -> Flags:
    """Return which of the lines between ``starts`` and ``ends``, shapes (g, 2), cross another line."""

    def side(a: Points, b: Points, c: Points) -> Points:
        u, v = b - a, c - a
        return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    is_apart = side(starts, ends, first) * side(starts, ends, second) < 0
    return np.asarray(is_apart & (side(first, second, starts) * side(first, second, ends) < 0))


def _measure_gap(starts: Points, ends: Points, spot: Points) -> Points:
    """Return the distances of a point from lines, shape (g,)."""
    ray = ends - starts
    along = ((spot - starts) * ray).sum(axis=-1) / np.maximum((ray**2).sum(axis=-1), 1e-9)
    nearest = starts + np.clip(along, 0, 1)[..., None] * ray
    return np.asarray(np.linalg.norm(nearest - spot, axis=-1))


def _pass_labels(starts: Points, ends: Points, centers: Points, widths: Points | float) -> Flags:
    """Return which of the lines pass a label of this width, tested at three points along its middle."""
    reach = np.zeros_like(centers)
    reach[..., 0] = np.asarray(widths) / 2 - 10
    gaps = [_measure_gap(starts, ends, centers + part * reach) for part in (-1.0, 0.0, 1.0)]
    return np.asarray(np.min(gaps, axis=0) < LABEL_HEIGHT_PX / 2 + 4)


def _make_label(residue: _Residue, center: Points) -> ResidueLabel:
    bars = []
    for interaction, end in zip(residue.found, residue.ends, strict=True):
        ray = center - end
        length = max(float(np.linalg.norm(ray)), 1e-9)
        is_ring = len(interaction.ligand_rows) > 2
        stop = end + ray / length * (0.0 if is_ring else _ATOM_PX)
        half = np.array([residue.width / 2, LABEL_HEIGHT_PX / 2]) + 2
        share = float(np.min(half / np.maximum(np.abs(ray), 1e-9)))
        bars.append(ContactLine(interaction, center - ray * min(share, 1.0), stop))
    return ResidueLabel(residue.text, center, residue.width, tuple(bars))


def _place_figures(labels: Sequence[ResidueLabel], spots: Points) -> list[ResidueLabel]:
    """Place a distance next to each non-hydrophobic line, where it covers no label, atom or distance."""
    boxes = [(label.center, np.array([label.width, LABEL_HEIGHT_PX]) / 2) for label in labels]
    boxes += [(spot, np.array([_ATOM_PX, _ATOM_PX])) for spot in spots]
    half = np.array(_FIGURE_PX) / 2
    placed = []
    for label in labels:
        bars = []
        for bar in label.bars:
            spot = None if bar.found.kind == "hydrophobic" else _find_spot(bar, boxes, half)
            if spot is not None:
                boxes.append((spot, half))
            bars.append(replace(bar, spot=spot))
        placed.append(replace(label, bars=tuple(bars)))
    return placed


def _find_spot(bar: ContactLine, boxes: Sequence[tuple[Points, Points]], half: Points) -> Points | None:
    centers = np.array([center for center, _ in boxes])
    halves = np.array([size for _, size in boxes])
    ray = bar.end - bar.start
    normal = np.array([-ray[1], ray[0]]) / max(float(np.linalg.norm(ray)), 1e-9)
    shift_px = float(np.abs(normal) @ half) + 2
    offsets = [(0.0, part) for part in (0.5, 0.4, 0.6, 0.3, 0.7)]
    offsets += [(side * shift_px, part) for part in (0.5, 0.4, 0.6, 0.3, 0.7) for side in (1, -1)]
    for shift, part in offsets:
        spot = bar.start + ray * part + normal * shift
        if not (np.abs(centers - spot) < halves + half + 1).all(axis=1).any():
            return np.asarray(spot)
    return None
