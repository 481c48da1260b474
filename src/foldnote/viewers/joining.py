"""Structures laid over each other in one scene, by the fits of :func:`foldnote.results.superpose`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foldnote.errors import BadRequestError
from foldnote.results import Model, Result, Structure, Superposition, superpose
from foldnote.viewers import palette
from foldnote.viewers.compose import compose
from foldnote.viewers.describe import count
from foldnote.viewers.scene import Scene, SceneModel

Item = Structure | Model | Result | str | Path


def overlay(items: Sequence[Item], *, title: str = "", height_px: int = 440) -> Scene:
    """Structures laid over the first one, each in a colour of its own, with RMSD and TM-score.

    Args:
        items: structures, models, results (their first structure) or paths of files; at least two.
        title: heading.
        height_px: height of the picture.

    Raises:
        BadRequestError: there are fewer than two.
        UnreadableFileError: one cannot be read.
        FoldnoteError: one has no chain in common with the first.
    """
    structures = [find_structure(item) for item in items]
    if len(structures) < 2:
        raise BadRequestError("Give at least two structures to lay over each other.")
    first, *others = structures
    fits = [superpose(first, other) for other in others]
    moved = [first, *(_move(fit, other) for fit, other in zip(fits, others, strict=True))]
    scenes = [compose(structure) for structure in moved]
    said = ["held in place", *(_describe_fit(fit) for fit in fits)]
    names = [_name_item(item, structure) for item, structure in zip(items, structures, strict=True)]
    models = tuple(
        _tint(scene.models[0], place, name, words)
        for place, (scene, name, words) in enumerate(zip(scenes, names, said, strict=True))
    )
    facts = [(m.label, f"{m.name}, {_count_residues(m)}; {w}") for m, w in zip(models, said, strict=True)]
    return Scene(
        models=models,
        title=title or f"{count(len(models), 'structure')} laid over {first.name}",
        facts=tuple(facts),
        rotation=scenes[0].rotation,
        height_px=height_px,
    )


def find_structure(item: Item) -> Structure:
    """The structure that is meant.

    Raises:
        BadRequestError: a result holds none, or the thing is none.
        UnreadableFileError: there is no such file.
    """
    if isinstance(item, Structure):
        return item
    if isinstance(item, Model):
        return item.structure
    if isinstance(item, Result):
        if item.structure is None:
            raise BadRequestError(f"{item.name} holds no structure that can be read.")
        return item.structure
    if isinstance(item, str | Path):
        return Structure.open(item)
    raise BadRequestError(
        f"A {type(item).__name__} is no structure. Give a structure, a model, a result or a path."
    )


def _move(fit: Superposition, structure: Structure) -> Structure:
    moved = fit.move_structure(structure)
    moved.setup_entities()
    return Structure(structure.name, "mmcif", moved.make_mmcif_document().as_string())


def _name_item(item: Item, structure: Structure) -> str:
    return f"Rank {item.rank}" if isinstance(item, Model) else structure.name


def _tint(model: SceneModel, place: int, name: str, words: str) -> SceneModel:
    """The model in one colour; its first chain's line in the legend says how it fits."""
    color = palette.chain_color(place)
    chains = tuple(
        chain.model_copy(
            update={"color": color, "label": f"{name} · {chain.label}" + ("" if i else f" · {words}")}
        )
        for i, chain in enumerate(model.chains)
    )
    return model.model_copy(update={"label": name, "chains": chains, "highlights": ()})


def _count_residues(model: SceneModel) -> str:
    return count(sum(chain.length for chain in model.chains), "residue")


def _describe_fit(fit: Superposition) -> str:
    score = "" if fit.tm_score is None else f", TM-score {fit.tm_score:.3f}"
    return f"RMSD {fit.rmsd:.2f} Å over {count(fit.aligned, 'pair')}{score}, {fit.identity:.0%} identical"
