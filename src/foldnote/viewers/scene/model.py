"""A Scene: what a 3D view shows, as plain data.

It holds the structure's text, which chain has which colour, which stretches are marked and what is written in
words beside the picture. It knows no JavaScript and draws nothing: py3Dmol draws it in a cell, a standalone
page draws it, a panel of the lab extension can draw the same JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from foldnote.viewers.render.py3dmol import SceneView


Style = Literal["cartoon", "sticks", "spheres", "surface"]
STYLES: tuple[Style, ...] = get_args(Style)


class _Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SceneChain(_Plain):
    """One chain and how it is shown."""

    name: str
    """The author's chain name, as in the structure."""
    label: str
    """Words for the legend, such as ``Heavy chain H``."""
    kind: str = "protein"
    """``protein``, ``DNA``, ``RNA``, ``DNA/RNA hybrid`` or ``other``."""
    length: int = Field(ge=0)
    """Residues that are present."""
    numbers: tuple[str, ...] = ()
    """Number of each residue with insertion code, such as ``112A``."""
    sequence: str = ""
    """One letter for each."""
    is_trace: bool = False
    """Whether only the course of the chain is known (one atom a residue), so that no ribbon can be drawn."""
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")


class Highlight(_Plain):
    """A stretch of residues that is marked in the picture and named in the legend."""

    label: str
    """Full name, such as ``CDR-H3``."""
    tag: str = ""
    """Short name written into the picture; empty for none."""
    chain: str
    numbers: tuple[str, ...]
    """Residue numbers with insertion code, such as ``112A``."""
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")
    sequence: str = ""
    """One-letter residues, shown in the legend."""
    centre: tuple[float, float, float] | None = None
    """Where the tag is written, in Å; without it there is no tag."""


class LegendItem(_Plain):
    """A line of a colouring's legend."""

    label: str
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")


class Coloring(_Plain):
    """A way to colour residues one by one, by a property of theirs."""

    key: str
    """What Python code calls it, such as ``confidence``."""
    name: str
    """What people read, with the unit, such as ``Confidence (pLDDT, 0 to 100)``."""
    source: str = ""
    """Where the property is from: a file, a scale, a method."""
    palette: tuple[str, ...]
    """Colours as ``#rrggbb``."""
    legend: tuple[LegendItem, ...]
    shades: tuple[dict[str, tuple[int, ...]], ...]
    """For each model and chain, the place of each residue's colour in the palette; -1 for none."""
    values: tuple[dict[str, tuple[float | None, ...]], ...] = ()
    """For each model and chain, the property itself, as far as it is a number; shown under the pointer."""


class SceneModel(_Plain):
    """One structure in a scene."""

    name: str
    label: str = ""
    """What people call it among several models; the name without one."""
    format: Literal["pdb", "mmcif", "sdf", "mol2", "pdbqt"]
    text: str = Field(repr=False)
    color: str = Field(default="#2e8b57", pattern=r"^#[0-9a-fA-F]{6}$")
    """Of a small molecule, the colour of its carbons."""
    chains: tuple[SceneChain, ...] = ()
    ligands: tuple[str, ...] = ()
    """Residue names drawn as sticks."""
    ions: tuple[str, ...] = ()
    """Residue names of single atoms, drawn as spheres."""
    waters: tuple[str, ...] = ()
    """Residue names of waters, which are not drawn."""
    is_reduced: bool = False
    """Whether the text has one atom a residue, as of a large structure; each is drawn as a ball."""
    highlights: tuple[Highlight, ...] = ()

    @property
    def is_molecule(self) -> bool:
        """Whether it is a small molecule and no structure of chains."""
        return self.format in ("sdf", "mol2", "pdbqt")


class Line(_Plain):
    """A dashed line between two places, such as a hydrogen bond."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    """Both in Å."""
    label: str = ""
    """What is written at its middle, such as ``2.9 Å``."""


class Step(_Plain):
    """One of several models that are seen in turn, such as a pose."""

    label: str
    """What is written beside the arrows, such as ``−7.4 kcal/mol``."""
    models: tuple[int, ...]
    """Places of the models that are seen in this step only."""
    contacts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Chains and residue numbers of the first model that are drawn as sticks besides."""
    lines: tuple[Line, ...] = ()
    """Dashed lines of this step."""
    drawing: str = Field(default="", repr=False)
    """An SVG that is shown beside the words, such as the 2D drawing of a molecule."""
    facts: tuple[tuple[str, str], ...] = ()
    """Pairs of a term and what is to be said of it, shown below the picture while the step is seen."""


class Scene(_Plain):
    """Everything that a viewer needs to draw a picture and to describe it."""

    models: tuple[SceneModel, ...]
    title: str = ""
    marking: str = ""
    """What the highlights are and by whose definition; heads their part of the legend."""
    facts: tuple[tuple[str, str], ...] = ()
    """The text alternative: pairs of a term and what is to be said of it."""
    notes: tuple[str, ...] = ()
    """Sentences that a reader of the picture must know."""
    colorings: tuple[Coloring, ...] = ()
    """Colours to choose from, besides those of the chains."""
    color: str = "chain"
    """The key of the colouring that is shown first, or ``chain``."""
    style: Style = "cartoon"
    """How polymers are drawn at first."""
    steps: tuple[Step, ...] = ()
    """What is seen in turn; the first step at the beginning."""
    step_noun: str = "pose"
    """What one step is called."""
    rotation: tuple[float, float, float, float] | None = None
    """Axis (x, y, z) and angle in degrees, by which the picture is turned at the beginning."""
    height_px: int = Field(default=440, ge=120, le=4000)

    @property
    def coloring(self) -> Coloring | None:
        """The colouring that is shown first; None for the colours of the chains."""
        return next((coloring for coloring in self.colorings if coloring.key == self.color), None)

    def to_json(self) -> str:
        """The scene as JSON text."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The scene in JSON text.

        Raises:
            ValueError: it is not a scene.
        """
        return cls.model_validate_json(text)

    def py3dmol(self) -> SceneView:
        """A genuine :class:`py3Dmol.view` of this scene: every call that 3Dmol.js knows works on it."""
        return _drawers[-1][0](self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return _drawers[-1][1](self)


Renderer = Callable[[Scene], "SceneView"]
Display = Callable[[Scene], dict[str, str]]
_drawers: list[tuple[Renderer, Display]] = []


def register_drawers(renderer: Renderer, display: Display) -> None:
    """Draw scenes with ``renderer`` in :meth:`Scene.py3dmol` and with ``display`` in notebooks.

    :mod:`foldnote.viewers` does so when it is imported, before any scene exists: a scene is data and imports
    nothing that draws it.
    """
    _drawers[:] = [(renderer, display)]
