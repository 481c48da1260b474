"""Diagrams of a molecule in 2D with the residues that it interacts with, as SVG.

Kinds of interactions differ in colour and in dashes; the colours are those of Okabe and Ito ("Color Universal
Design", 2008), darker on white and paler on black if the contrast requires it. Colours are attributes of the
elements, so that graphics programs can read them; on a page, a style for dark themes overrides them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from foldnote.results.docking.interactions import KINDS, Interaction
from foldnote.results.molecules.molecule import Molecule
from foldnote.text import count
from foldnote.viewers.scene.drawings.interaction_layout import (
    LABEL_HEIGHT_PX,
    Board,
    ContactLine,
    DiagramLayout,
    ResidueLabel,
    lay_out,
)
from foldnote.viewers.scene.drawings.molecules import DARK, Points, Skeleton, find_key, make_skeleton

MAX_WIDTH_PX = 760.0
_SCALE, _MIN_SCALE = 20.0, 9.0
"""Pixels per Å of the molecule."""
LEGEND_PX = 22.0
SAMPLE_PX = 30.0
_ARROW_PX = 7.0
INK, GROUND = "#222222", "#ffffff"
_FONT = "font-family='system-ui,Helvetica,Arial,sans-serif'"


@dataclass(frozen=True)
class Look:
    """Appearance of a kind of interaction.

    Attributes:
        name: its name in legends.
        color: colour on white.
        dark: colour on black.
        dashes: lengths of strokes and gaps, in pixels; empty for a solid line.
        width: width of the line in pixels.
    """

    name: str
    color: str
    dark: str
    dashes: tuple[float, ...]
    width: float


LOOKS: dict[str, Look] = {
    "covalent": Look("Covalent or clash", "#222222", "#e4e4e4", (), 3.0),
    "metal": Look("Metal", "#6a3d9a", "#c4a3f0", (), 1.8),
    "ionic": Look("Ionic", "#c04a00", "#ff8a4c", (9, 3), 2.4),
    "hydrogen bond": Look("Hydrogen bond", "#0072b2", "#56b4e9", (6, 4), 1.8),
    "water bridge": Look("Water bridge", "#00838f", "#6fe3ee", (2, 4), 1.8),
    "halogen bond": Look("Halogen bond", "#8a6d00", "#f0e442", (12, 3, 2, 3), 1.8),
    "pi stacking": Look("π stacking", "#00795a", "#3ccfa4", (2, 3, 7, 3), 1.8),
    "cation-pi": Look("Cation–π", "#b0477f", "#e79cc4", (3, 3), 2.4),
    "hydrophobic": Look("Hydrophobic", "#6e6e6e", "#a8a8a8", (1.5, 4), 1.5),
}
"""Appearance by kind, in the order of legends."""


@dataclass(frozen=True, eq=False)
class Sketch:
    """A diagram independent of the output format.

    Attributes:
        skeleton: the molecule.
        scale: pixels per Å of the molecule.
        layout: the residues around it.
        found: the interactions.
    """

    skeleton: Skeleton = field(repr=False)
    scale: float
    layout: DiagramLayout
    found: tuple[Interaction, ...]

    @property
    def width(self) -> float:
        """Width in pixels."""
        minimum = max((_measure_item(LOOKS[kind].name) for kind in self.kinds), default=0.0) + 24
        return float(max(self.layout.high[0] - self.layout.low[0], minimum))

    @property
    def height(self) -> float:
        """Height in pixels, with the legend."""
        rows = len(self.list_legend())
        return float(self.layout.high[1] - self.layout.low[1] + (rows * LEGEND_PX + 8 if rows else 0))

    @property
    def kinds(self) -> list[str]:
        """The kinds of interactions that are drawn, in the order of the legend."""
        present = {bar.found.kind for label in self.layout.labels for bar in label.bars}
        return [kind for kind in KINDS if kind in present]

    def list_legend(self) -> list[list[tuple[str, float]]]:
        """Return the rows of the legend: (kind, left end in pixels) of each entry."""
        rows: list[list[tuple[str, float]]] = []
        left = np.inf
        for kind in self.kinds:
            size = _measure_item(LOOKS[kind].name)
            if left + size > self.width - 12:
                rows.append([])
                left = 12.0
            rows[-1].append((kind, left))
            left += size
        return rows


def sketch(molecule: Molecule, interactions: Sequence[Interaction]) -> Sketch | None:
    """Lay out the diagram of a molecule's interactions; None if the molecule cannot be drawn in 2D."""
    return sketch_all([molecule], [interactions])[0]


def sketch_all(
    molecules: Sequence[Molecule], interactions: Sequence[Sequence[Interaction]]
) -> list[Sketch | None]:
    """Lay out several diagrams; poses of one molecule share its drawing."""
    boards: dict[object, tuple[Skeleton, float, Board] | None] = {}
    sketches: list[Sketch | None] = []
    for molecule, pose_interactions in zip(molecules, interactions, strict=True):
        key = find_key(molecule)
        if key not in boards:
            boards[key] = _make_board(molecule)
        board = boards[key]
        sketches.append(
            Sketch(board[0], board[1], lay_out(pose_interactions, board[2]), tuple(pose_interactions))
            if board
            else None
        )
    return sketches


def _make_board(molecule: Molecule) -> tuple[Skeleton, float, Board] | None:
    skeleton = make_skeleton(molecule)
    if skeleton is None:
        return None
    extent = float(np.ptp(skeleton.positions, axis=0).max(initial=1.0))
    scale = float(np.clip((MAX_WIDTH_PX - 260) / max(extent, 1.0), _MIN_SCALE, _SCALE))
    spots = skeleton.draw(scale)[1]
    ends = np.array([spots[[a, b]] for a, b in skeleton.bonds], np.float64).reshape(-1, 2, 2)
    return skeleton, scale, Board(spots, skeleton.places, ends)


def write_sketch(diagram: Sketch, *, has_dark: bool = False, width_mm: float | None = None) -> str:
    """Write a diagram as SVG.

    Args:
        diagram: the diagram.
        has_dark: whether to include a style for dark themes.
        width_mm: width on paper; None for a size in pixels.
    """
    size = f"width='{diagram.width:.0f}' height='{diagram.height:.0f}'"
    if width_mm is not None:
        size = f"width='{width_mm:g}mm' height='{width_mm * diagram.height / diagram.width:.2f}mm'"
    low = diagram.layout.low
    elements = diagram.skeleton.draw(diagram.scale)[0]
    bars = [bar for label in diagram.layout.labels for bar in label.bars]
    parts = [
        *(_write_line(bar) for bar in bars),
        elements,
        *(_write_figure(bar) for bar in bars if bar.spot is not None),
        *(_write_label(label) for label in diagram.layout.labels),
    ]
    style = f"<style>svg{{background:{GROUND}}}{_DARK if has_dark else ''}</style>"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' {size}"
        f" viewBox='0 0 {diagram.width:.0f} {diagram.height:.0f}'>{style}"
        f"<rect width='100%' height='100%' fill='{GROUND}' class='g'/>"
        f"<g transform='translate({-low[0]:.1f} {-low[1]:.1f})'>{''.join(parts)}</g>"
        f"{_write_legend(diagram)}</svg>"
    )


def describe(interactions: Sequence[Interaction], omitted: int = 0) -> str:
    """Describe the interactions in words, by kind: the text alternative of a diagram."""
    if not interactions:
        return "No interaction by these criteria."
    parts = []
    for kind in KINDS:
        of_kind = [item for item in interactions if item.kind == kind]
        if of_kind:
            texts = [f"{name_owner(item)} {item.distance:.1f} Å" for item in of_kind]
            parts.append(f"{LOOKS[kind].name}: {', '.join(texts)}")
    omission = f" For {count(omitted, 'residue')} there was no space in the diagram." if omitted else ""
    return f"{'. '.join(parts)}.{omission}"


def name_owner(interaction: Interaction) -> str:
    """Return the residue of an interaction: ``MET A 318``."""
    chain, number, name = interaction.owner
    return " ".join(part for part in (name, chain, number) if part)


def find_arrow(bar: ContactLine) -> Points | None:
    """Return the corners of the arrow at a hydrogen bond's acceptor, shape (3, 2); None without one."""
    if bar.found.kind != "hydrogen bond" or bar.found.donor not in ("receptor", "ligand"):
        return None
    back, tip = (bar.start, bar.end) if bar.found.donor == "receptor" else (bar.end, bar.start)
    ray = (tip - back) / max(float(np.linalg.norm(tip - back)), 1e-9)
    normal = np.array([-ray[1], ray[0]])
    base = tip - ray * _ARROW_PX
    return np.array([tip, base + normal * _ARROW_PX / 2, base - normal * _ARROW_PX / 2])


def _measure_item(name: str) -> float:
    return SAMPLE_PX + 6 + 6.6 * len(name) + 18


def _find_index(kind: str) -> int:
    return list(LOOKS).index(kind)


def _write_stroke(kind: str) -> str:
    look = LOOKS[kind]
    dashes = f" stroke-dasharray='{' '.join(f'{part:g}' for part in look.dashes)}'" if look.dashes else ""
    cap = " stroke-linecap='round'" if kind == "hydrophobic" else ""
    return f"class='k{_find_index(kind)}' stroke='{look.color}' stroke-width='{look.width:g}'{dashes}{cap}"


def _write_line(bar: ContactLine) -> str:
    (x, y), (to_x, to_y) = bar.start, bar.end
    kind = bar.found.kind
    line = f"<line x1='{x:.1f}' y1='{y:.1f}' x2='{to_x:.1f}' y2='{to_y:.1f}' {_write_stroke(kind)}/>"
    color, index = LOOKS[kind].color, _find_index(kind)
    arrow = find_arrow(bar)
    if arrow is not None:
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in arrow)
        line += f"<polygon points='{corners}' fill='{color}' class='kf{index}'/>"
    if len(bar.found.ligand_rows) > 2:
        line += f"<circle cx='{to_x:.1f}' cy='{to_y:.1f}' r='3.5' fill='{color}' class='kf{index}'/>"
    return line


def _write_figure(bar: ContactLine) -> str:
    if bar.spot is None:
        return ""
    kind, (x, y) = bar.found.kind, bar.spot
    return (
        f"<text x='{x:.1f}' y='{y + 4:.1f}' font-size='11' text-anchor='middle' {_FONT}"
        f" fill='{LOOKS[kind].color}' stroke='{GROUND}' stroke-width='4' stroke-linejoin='round'"
        f" paint-order='stroke' class='kf{_find_index(kind)} h'>{bar.found.distance:.1f}</text>"
    )


def _write_label(label: ResidueLabel) -> str:
    x, y = label.center - np.array([label.width, LABEL_HEIGHT_PX]) / 2
    is_dotted = " stroke-dasharray='1.5 3'" if label.kind == "hydrophobic" else ""
    return (
        f"<rect x='{x:.1f}' y='{y:.1f}' width='{label.width:.1f}' height='{LABEL_HEIGHT_PX:g}' rx='11'"
        f" fill='{GROUND}' stroke='{LOOKS[label.kind].color}' stroke-width='1.5'{is_dotted}"
        f" class='k{_find_index(label.kind)} g'/>"
        f"<text x='{label.center[0]:.1f}' y='{label.center[1] + 4.3:.1f}' font-size='12' font-weight='600'"
        f" text-anchor='middle' {_FONT} fill='{INK}' class='i'>{escape(label.text)}</text>"
    )


def _write_legend(diagram: Sketch) -> str:
    top = float(diagram.layout.high[1] - diagram.layout.low[1]) + 4
    parts = []
    for row, entries in enumerate(diagram.list_legend()):
        y = top + row * LEGEND_PX + LEGEND_PX / 2
        for kind, left in entries:
            parts.append(
                f"<line x1='{left:.0f}' y1='{y:.0f}' x2='{left + SAMPLE_PX:.0f}' y2='{y:.0f}'"
                f" {_write_stroke(kind)}/><text x='{left + SAMPLE_PX + 6:.0f}' y='{y + 4:.0f}'"
                f" font-size='12' {_FONT} fill='{INK}' class='i'>{escape(LOOKS[kind].name)}</text>"
            )
    return "".join(parts)


_DARK = (
    DARK[:-1]
    + "".join(
        f".k{place}{{stroke:{look.dark}}}.kf{place}{{fill:{look.dark}}}"
        for place, look in enumerate(LOOKS.values())
    )
    + ".i{fill:#ddd}.g{fill:#111}.h{stroke:#111}}"
)
"""Style of diagrams in dark themes; it completes the rule of :data:`DARK`."""
