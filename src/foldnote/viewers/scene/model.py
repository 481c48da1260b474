"""A Scene: the content of a 3D view as plain data.

It holds the structure's text, the colours of chains and residues, the highlighted regions and the text
alternative. It contains no drawing code: py3Dmol, standalone pages and the lab extension draw the same JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

from foldnote.viewers.scene import palette

if TYPE_CHECKING:
    from foldnote.viewers.render.py3dmol import SceneView


Style = Literal["cartoon", "sticks", "spheres", "surface"]
STYLES: tuple[Style, ...] = get_args(Style)
_MAX_HYDROPHOBIC = 6
"""Maximum number of hydrophobic contacts of a step that are shown at first; more would hide the other
interactions."""


class _Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SceneChain(_Plain):
    """One chain, with its label and colour."""

    name: str
    """The author's chain name, as in the structure."""
    label: str
    """Label in the legend, such as ``Heavy chain H``."""
    kind: str = "protein"
    """``protein``, ``DNA``, ``RNA``, ``DNA/RNA hybrid`` or ``other``."""
    length: int = Field(ge=0)
    """Number of residues with coordinates."""
    numbers: tuple[str, ...] = ()
    """Residue numbers with insertion code, such as ``112A``."""
    sequence: str = ""
    """One-letter code of each residue."""
    is_trace: bool = False
    """Whether the chain has one atom per residue, so that a cartoon cannot be drawn."""
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")


class Highlight(_Plain):
    """A region of a chain that is marked in the picture and listed in the legend."""

    label: str
    """Full name, such as ``CDR-H3``."""
    tag: str = ""
    """Short label drawn in the picture; empty for none."""
    chain: str
    numbers: tuple[str, ...]
    """Residue numbers with insertion code, such as ``112A``."""
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")
    sequence: str = ""
    """One-letter sequence, shown in the legend."""
    centre: tuple[float, float, float] | None = None
    """Position of the tag in Å; None for no tag."""


class LegendItem(_Plain):
    """An entry in the legend of a colouring."""

    label: str
    color: str = Field(pattern=r"^#[0-9a-fA-F]{6}$")


class Coloring(_Plain):
    """A colour for each residue, by one property."""

    key: str
    """Name in Python code, such as ``confidence``."""
    name: str
    """Name in the legend, with the unit, such as ``Confidence (pLDDT, 0 to 100)``."""
    source: str = ""
    """Source of the property: a file, a scale or a method."""
    palette: tuple[str, ...]
    """Colours as ``#rrggbb``."""
    legend: tuple[LegendItem, ...]
    shades: tuple[dict[str, tuple[int, ...]], ...]
    """For each model and chain, the index of each residue's colour in the palette; -1 for none."""
    values: tuple[dict[str, tuple[float | None, ...]], ...] = ()
    """For each model and chain, the value of each residue, shown on hover; empty if it is not numeric."""


class SceneModel(_Plain):
    """One structure in a scene."""

    name: str
    label: str = ""
    """Label among several models; if empty, the name is used."""
    format: Literal["pdb", "mmcif", "sdf", "mol2", "pdbqt"]
    text: str = Field(repr=False)
    color: str = Field(default="#2e8b57", pattern=r"^#[0-9a-fA-F]{6}$")
    """Colour of the carbon atoms of a small molecule, or of a guest."""
    chains: tuple[SceneChain, ...] = ()
    ligands: tuple[str, ...] = ()
    """Residue names drawn as sticks."""
    guests: tuple[str, ...] = ()
    """Residues of ``ligands`` whose carbon atoms have ``color``, as for a guest in its host."""
    ions: tuple[str, ...] = ()
    """Residue names of monatomic ligands, drawn as spheres."""
    waters: tuple[str, ...] = ()
    """Residue names of waters, which are not drawn."""
    is_reduced: bool = False
    """Whether the text has one atom per residue, each drawn as a sphere (very large structures)."""
    highlights: tuple[Highlight, ...] = ()

    @property
    def is_molecule(self) -> bool:
        """Whether it is a small molecule rather than a structure with chains."""
        return self.format in ("sdf", "mol2", "pdbqt")


class Line(_Plain):
    """A dashed line between two points, such as a hydrogen bond."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    """End points in Å."""
    label: str = ""
    """Label at the midpoint, such as ``2.9 Å``."""
    kind: str = "hydrogen bond"
    """Kind of interaction or bond, as named in legends."""
    color: str = palette.BOND


class Step(_Plain):
    """One of several models that are shown one at a time, such as a pose."""

    label: str
    """Label next to the arrow buttons, such as ``−7.4 kcal/mol``."""
    models: tuple[int, ...]
    """Indices of the models that only this step shows."""
    contacts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(chain, residue numbers) of the first model that are also drawn as sticks."""
    lines: tuple[Line, ...] = ()
    """Dashed lines in this step."""
    hydrophobic: tuple[Line, ...] = ()
    """Hydrophobic contacts, which a reader can show and hide, since there are often many."""
    drawing: str = Field(default="", repr=False)
    """SVG shown next to the facts, such as the 2D structure of a molecule."""
    drawing_words: str = ""
    """Text alternative of a drawing that shows more than a molecule and can be saved separately."""
    facts: tuple[tuple[str, str], ...] = ()
    """(term, description) pairs, shown below the picture during this step."""


class Interface(_Plain):
    """The interface between two chains of the first structure of a scene."""

    chain: str
    other_chain: str
    numbers: tuple[str, ...]
    """Residues of ``chain`` in contact with the other chain."""
    other_numbers: tuple[str, ...]
    contacts: int = Field(ge=0)
    """Number of residue pairs in contact."""
    bridges: int = Field(ge=0)
    """Number of residue pairs that form a salt bridge."""
    buried_area: float
    """Surface area that both chains bury together, Å²."""
    hydrogen_bonds: tuple[Line, ...] = ()
    salt_bridges: tuple[Line, ...] = ()


class AssemblyCopies(_Plain):
    """The copies of one chain in an assembly, and their positions."""

    chain: str
    numbers: tuple[str, ...] | None
    """Residue numbers with insertion code; None for the whole chain."""
    copies: tuple[tuple[int, tuple[float, ...]], ...]
    """(number, operation) of each copy: rows of a rotation matrix, each followed by its translation in Å."""


class SceneAssembly(_Plain):
    """A biological assembly that a reader can view instead of the file's content."""

    label: str
    """Its name in the file, oligomeric state and source, such as ``Assembly 1: dimeric (author)``."""
    atoms: int = Field(ge=0)
    """Number of its atoms, with waters and hydrogens."""
    is_too_large: bool = False
    """Whether a page could not draw it in full."""
    parts: tuple[AssemblyCopies, ...]


class Scene(_Plain):
    """Everything that a viewer needs to draw and describe a picture."""

    models: tuple[SceneModel, ...]
    title: str = ""
    marking: str = ""
    """Heading of the highlights in the legend: what they are, and by which definition."""
    facts: tuple[tuple[str, str], ...] = ()
    """The text alternative: (term, description) pairs."""
    notes: tuple[str, ...] = ()
    """Caveats, as sentences."""
    colorings: tuple[Coloring, ...] = ()
    """Colourings to choose from, in addition to colours by chain."""
    color: str = "chain"
    """Key of the initial colouring, or ``chain``."""
    style: Style = "cartoon"
    """Initial representation of polymers."""
    steps: tuple[Step, ...] = ()
    """Steps to page through; the first is shown initially."""
    interfaces: tuple[Interface, ...] = ()
    """Interfaces between chains, the largest first, listed below the picture."""
    assemblies: tuple[SceneAssembly, ...] = ()
    """Biological assemblies of the displayed structure that differ from the file's content."""
    step_noun: str = "pose"
    """Noun for one step."""
    is_stack: bool = False
    """Whether the steps are models of one molecule, which can also be shown superposed."""
    is_played: bool = False
    """Whether the steps can be played one after the other, as for the models of an ensemble."""
    rotation: tuple[float, float, float, float] | None = None
    """Initial rotation: axis (x, y, z) and angle in degrees."""
    fill: float = 1.25
    """Initial zoom beyond the fit of the bounding sphere of all atoms, which leaves wide margins."""
    group: Literal["chain", "job", "structure"] = "chain"
    """What each colour stands for without a colouring; superposed structures have one colour each."""
    height_px: int = Field(default=440, ge=120, le=4000)

    @property
    def described(self) -> tuple[SceneModel, ...]:
        """The models that legend and label describe: all, or the first of a stack."""
        return self.models[:1] if self.is_stack else self.models

    @property
    def has_few_hydrophobic(self) -> bool:
        """Whether no step has more than six hydrophobic contacts, so that they are shown at first."""
        return max((len(step.hydrophobic) for step in self.steps), default=0) <= _MAX_HYDROPHOBIC

    @property
    def coloring(self) -> Coloring | None:
        """The initial colouring; None for colours by chain."""
        return next((coloring for coloring in self.colorings if coloring.key == self.color), None)

    def to_json(self) -> str:
        """Return the scene as JSON text."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a scene from JSON text.

        Raises:
            ValueError: the text is not a scene.
        """
        return cls.model_validate_json(text)

    def py3dmol(self) -> SceneView:
        """Return a :class:`py3Dmol.view` of this scene, which accepts every 3Dmol.js call."""
        return _drawers[-1][0](self)

    def save(self, path: str | Path) -> Path:
        """Write the scene as a script of PyMOL (``.pml``) or ChimeraX (``.cxc``), with its structure files.

        Representations, colours, hydrogen bonds of a pose and the initial orientation are converted; legend,
        labels and notes are not. The files of ``view.pml`` are ``view-1.pdb``, ``view-2.cif``, …; existing
        ones are replaced.

        Args:
            path: path of the script; its folder is created if absent.

        Returns:
            The path of the script.

        Raises:
            ArgumentError: the name has another suffix.
            ResultError: a file cannot be written; no partial file remains.
        """
        return _drawers[-1][2](self, path)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return _drawers[-1][1](self)


Renderer = Callable[[Scene], "SceneView"]
Display = Callable[[Scene], dict[str, str]]
Writer = Callable[[Scene, str | Path], Path]
_drawers: list[tuple[Renderer, Display, Writer]] = []


def register_drawers(renderer: Renderer, display: Display, writer: Writer) -> None:
    """Use ``renderer`` in :meth:`Scene.py3dmol`, ``display`` in notebooks, ``writer`` in :meth:`Scene.save`.

    :mod:`foldnote.viewers` calls this when it is imported, so that this module need not import drawing code.
    """
    _drawers[:] = [(renderer, display, writer)]
