"""Parts of a scene for a script of another viewer: structure files, visible models and colours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foldnote.io import save_files
from foldnote.viewers.render.styles import list_hidden
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.model import Line, Scene, SceneChain, SceneModel

_SUFFIXES = {"mmcif": "cif"}
_UNUSUAL = re.compile(r"[^\w'*+.-]")
_CHUNK = 100
"""Number of residues named in one command."""


@dataclass(frozen=True)
class ScriptModel:
    """A model of a scene with its file.

    Attributes:
        number: position in the scene, from 1.
        file: name of the structure file beside the script.
        model: the model.
        is_shown: whether it is visible at first.
    """

    number: int
    file: str
    model: SceneModel
    is_shown: bool


@dataclass(frozen=True)
class ColoredResidues:
    """Residues of a chain with one colour; no numbers for the whole chain."""

    chain: str
    color: str
    numbers: tuple[str, ...] = ()


def write_name(name: str) -> str:
    """Return a chain's or residue's name as part of a command, which it can neither end nor begin.

    A file may contain any text as a name. Characters that no valid name needs become underscores, so that the
    command selects nothing.
    """
    return _UNUSUAL.sub("_", name)


def name_models(scene: Scene, script: Path) -> list[ScriptModel]:
    """Return the models of a scene with their files beside its script."""
    hidden = set(list_hidden(scene))
    models = []
    for index, model in enumerate(scene.models):
        suffix = _SUFFIXES.get(model.format, model.format)
        name = f"{script.stem}-{index + 1}.{suffix}"
        models.append(ScriptModel(index + 1, name, model, index not in hidden))
    return models


def save_with_models(script: Path, lines: Sequence[str], models: Sequence[ScriptModel]) -> None:
    """Write a script and the structure files beside it, all or none; existing ones are replaced.

    Raises:
        ResultError: a file cannot be written.
    """
    files = {script.with_name(script_model.file): script_model.model.text for script_model in models}
    save_files(script, "\n".join([*lines, ""]), files)


def list_colored_residues(scene: Scene, script_model: ScriptModel) -> Iterator[ColoredResidues]:
    """Yield the colours of a model's chains in order of application: chains first, then their residues."""
    coloring = scene.coloring
    for chain in script_model.model.chains:
        if coloring is None:
            yield ColoredResidues(chain.name, chain.color)
            continue
        yield ColoredResidues(chain.name, palette.UNKNOWN)
        shades = (
            coloring.shades[script_model.number - 1] if script_model.number <= len(coloring.shades) else {}
        )
        own = shades.get(chain.name, ())
        for shade, color in enumerate(coloring.palette):
            yield from _color_residues(chain.name, color, _list_shaded(chain, own, shade))
    for mark in script_model.model.highlights if coloring is None else ():
        yield from _color_residues(mark.chain, mark.color, mark.numbers)


def list_first_lines(scene: Scene) -> tuple[Line, ...]:
    """Return the lines initially shown in the first step: hydrophobic contacts only if they are few."""
    if not scene.steps:
        return ()
    first = scene.steps[0]
    return (*first.lines, *(first.hydrophobic if scene.has_few_hydrophobic else ()))


def list_contacts(scene: Scene) -> list[ColoredResidues]:
    """Return the residues in contact with the first step, in chunks."""
    contacts = scene.steps[0].contacts if scene.steps else ()
    return [part for chain, numbers in contacts for part in _color_residues(chain, palette.TOUCHED, numbers)]


def _list_shaded(chain: SceneChain, shades: Sequence[int], shade: int) -> tuple[str, ...]:
    return tuple(number for number, own in zip(chain.numbers, shades, strict=False) if own == shade)


def _color_residues(chain: str, color: str, numbers: Sequence[str]) -> Iterator[ColoredResidues]:
    for begin in range(0, len(numbers), _CHUNK):
        yield ColoredResidues(chain, color, tuple(numbers[begin : begin + _CHUNK]))
