"""Diagrams of the interactions of a molecule with a structure, for cells and for figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from foldnote.errors import ConfigurationError, UnreadableFileError
from foldnote.io import save_file
from foldnote.results import Molecule, Pose, Structure
from foldnote.results.docking.contacts import read_pocket
from foldnote.results.docking.interactions import detect_interactions, make_interaction_table
from foldnote.viewers.plots.interaction_figure import save_sketch
from foldnote.viewers.plots.plot import MISSING, check_suffix, check_width
from foldnote.viewers.plots.saving import write_saving
from foldnote.viewers.plots.svg import encode
from foldnote.viewers.render.html import write_style
from foldnote.viewers.scene.drawings.interactions import Sketch, describe, sketch, write_sketch

_SUFFIXES = (".svg", ".png", ".pdf")


@dataclass(frozen=True, eq=False)
class InteractionDiagram:
    """A molecule drawn in 2D with the residues that it interacts with.

    Attributes:
        title: heading.
        words: text alternative.
        data: the interactions; columns: :func:`foldnote.results.find_interactions`.
        sketch: the layout.
    """

    title: str
    words: str
    data: pd.DataFrame = field(repr=False)
    sketch: Sketch = field(repr=False)

    @property
    def svg(self) -> str:
        """The diagram as SVG, dark on a white background."""
        return write_sketch(self.sketch)

    def save(self, path: str | Path, *, dpi: int = 300, width_mm: float | None = None) -> Path:
        """Save the diagram in the format of the file suffix, and return its path.

        Args:
            path: ``.svg``, ``.png`` or ``.pdf``. An existing file is overwritten. PNG and PDF are drawn by
                matplotlib, with the molecule as a picture.
            dpi: resolution of a PNG, in dots per inch.
            width_mm: width in print, 40 to 400 mm, such as 85 for a column of a journal; text and lines are
                scaled with the diagram. By default 96 pixels of the diagram are an inch.

        Raises:
            ArgumentError: the suffix is not one of these, or ``width_mm`` is out of range.
            ConfigurationError: matplotlib, which draws ``.png`` and ``.pdf``, is not installed.
            ResultError: the file cannot be written; no partial file remains.
        """
        target = check_suffix(path, "diagram", _SUFFIXES)
        suffix = target.suffix.lower()
        check_width(width_mm, suffix)
        if suffix == ".svg":
            return save_file(target, write_sketch(self.sketch, width_mm=width_mm))
        try:
            save_sketch(self.sketch, target, dpi, width_mm)
        except ImportError as exc:
            raise ConfigurationError(MISSING) from exc
        return target

    def to_html(self) -> str:
        """Return the HTML of the title, the diagram, in light and dark themes, and buttons that save it."""
        source = encode("svg+xml", write_sketch(self.sketch, has_dark=True).encode())
        return (
            f'<figure class="fnv-view fnv-plot" style="width: {self.sketch.width:.0f}px">'
            f'{write_style("scene.css", "plot.css")}<p class="fnv-head">{escape(self.title)}</p>'
            f'<div class="fnv-plane"><img alt="{escape(self.words)}" src="{source}"></div>'
            f"{write_saving(self.title, self.data)}</figure>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"text/html": self.to_html(), "text/plain": f"{self.title}: {self.words}"}


def draw_interactions(
    structure: Structure, molecule: Molecule | Pose, *, title: str = ""
) -> InteractionDiagram:
    """Draw the interactions of a molecule or docked pose with a structure in 2D.

    Interactions are those of :func:`foldnote.results.find_interactions`. Each atom of the molecule has one
    line to a residue, for the first kind in the legend; a residue with another line has no hydrophobic line;
    the arrow of a hydrogen bond points to its acceptor. The data list all interactions.

    Args:
        structure: the receptor.
        molecule: a molecule or pose in the receptor's coordinate frame.
        title: heading; by default the names of both.

    Raises:
        UnreadableFileError: the structure's file is damaged or holds no atoms, or RDKit cannot draw the
            molecule in 2D.
    """
    ligand = molecule.molecule if isinstance(molecule, Pose) else molecule
    interactions = detect_interactions(read_pocket(structure), ligand)
    layout = sketch(ligand, interactions)
    if layout is None:
        raise UnreadableFileError(f"RDKit cannot draw {ligand.name or ligand.file} in 2D.")
    names = [molecule.ligand if isinstance(molecule, Pose) else "", ligand.name, ligand.file]
    heading = title or f"{next(name for name in [*names, 'Molecule'] if name)} in {structure.name}"
    description = describe(interactions, layout.layout.omitted)
    return InteractionDiagram(heading, description, make_interaction_table(interactions), layout)
