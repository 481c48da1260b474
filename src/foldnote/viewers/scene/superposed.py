"""Scenes of several structures superposed with :func:`foldnote.results.superpose`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from foldnote.errors import ArgumentError
from foldnote.results import Model, PairingMethod, Result, Structure, Superposition, superpose
from foldnote.text import count
from foldnote.viewers.layouts import find_job_name
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.model import Scene, SceneModel

Item = Structure | Model | Result | str | Path

_STRUCTURAL = (
    "Residues were paired by structural alignment of the Cα atoms, with foldnote's own search for the "
    "highest TM-score (not the TM-align program)."
)


def overlay(
    items: Sequence[Item], *, pairing: PairingMethod = "auto", title: str = "", height_px: int = 440
) -> Scene:
    """Superpose structures on the first one; each has its own colour, RMSD and TM-score.

    Args:
        items: structures, models, results (their first structure) or file paths; at least two.
        pairing: how residues are paired; see :func:`foldnote.results.superpose`.
        title: heading.
        height_px: height of the picture in pixels.

    Raises:
        ArgumentError: there are fewer than two structures, an item has none, or ``pairing`` is unknown.
        UnreadableFileError: a structure cannot be read, or its residues cannot be paired with the first.
    """
    structures = [find_structure(item) for item in items]
    if len(structures) < 2:
        raise ArgumentError("Give at least two structures to superpose.")
    first, *others = structures
    fits = [superpose(first, other, pairing=pairing) for other in others]
    moved = [first, *(_move(fit, other) for fit, other in zip(fits, others, strict=True))]
    names = _name_items(items, structures)
    said = ["reference", *(_describe_fit(fit, names[0]) for fit in fits)]
    notes = (_STRUCTURAL,) if any(fit.pairing == "structure" for fit in fits) else ()
    scene = compose_superposed(moved, names, said, title=title, notes=notes)
    return scene.model_copy(update={"height_px": height_px})


def compose_superposed(
    structures: Sequence[Structure],
    names: Sequence[str],
    said: Sequence[str],
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> Scene:
    """Structures that are superposed already, each in a colour of its own; the first is the reference.

    Args:
        structures: as they lie, at least one.
        names: what to call each.
        said: how each fits, in words.
        title: heading.
        notes: what a reader must know of the superposition.
    """
    scenes = [compose(structure) for structure in structures]
    models = tuple(
        _tint(scene.models[0], place, name, words)
        for place, (scene, name, words) in enumerate(zip(scenes, names, said, strict=True))
    )
    lengths = [count(sum(chain.length for chain in model.chains), "residue") for model in models]
    facts = [(name, f"{length}; {words}") for name, length, words in zip(names, lengths, said, strict=True)]
    return Scene(
        models=models,
        title=title or f"{count(len(models), 'structure')} superposed on {names[0]}",
        facts=tuple(facts),
        notes=tuple(notes),
        rotation=scenes[0].rotation,
    )


def find_structure(item: Item) -> Structure:
    """Return the structure of an item.

    Raises:
        ArgumentError: the result has no structure, or the item has another type.
        UnreadableFileError: the file does not exist.
    """
    if isinstance(item, Structure):
        return item
    if isinstance(item, Model):
        return item.structure
    if isinstance(item, Result):
        if item.structure is None:
            raise ArgumentError(f"{item.name} has no readable structure.")
        return item.structure
    if isinstance(item, str | Path):
        return Structure.open(item)
    raise ArgumentError(
        f"A {type(item).__name__} is not a structure. Pass a structure, a model, a result or a path."
    )


def _move(fit: Superposition, structure: Structure) -> Structure:
    moved = fit.move_structure(structure)
    moved.setup_entities()
    return Structure(structure.name, "mmcif", moved.make_mmcif_document().as_string())


def _name_items(items: Sequence[Item], structures: Sequence[Structure]) -> list[str]:
    """Unique names: the short one, else the longer one, else numbered."""
    choices = [_list_names(item, structure) for item, structure in zip(items, structures, strict=True)]
    names = [choice[0] for choice in choices]
    if len(set(names)) < len(names):
        names = [choice[-1] if names.count(choice[0]) > 1 else choice[0] for choice in choices]
    return [
        f"{name} ({names[: index + 1].count(name)})" if names.count(name) > 1 else name
        for index, name in enumerate(names)
    ]


def _list_names(item: Item, structure: Structure) -> tuple[str, str]:
    """A short and a longer name of an item."""
    if isinstance(item, Result):
        name = find_job_name(item) or item.name
        return name, f"{name}, {structure.name}"
    if isinstance(item, Model):
        return f"Rank {item.rank}", f"{item.prediction} rank {item.rank}".strip()
    if isinstance(item, str | Path):
        path = Path(item)
        return structure.name, f"{path.absolute().parent.name}/{structure.name}"
    return structure.name, structure.name


def _tint(model: SceneModel, place: int, name: str, words: str) -> SceneModel:
    """Colour a model, and add the fit to the legend entry of its first chain."""
    color = palette.chain_color(place)
    chains = tuple(
        chain.model_copy(
            update={"color": color, "label": f"{name} · {chain.label}" + ("" if i else f" · {words}")}
        )
        for i, chain in enumerate(model.chains)
    )
    return model.model_copy(update={"label": name, "chains": chains, "highlights": ()})


def _describe_fit(fit: Superposition, reference: str) -> str:
    score = "" if fit.tm_score is None else f", TM-score {fit.tm_score:.3f}"
    return (
        f"RMSD {fit.rmsd:.2f} Å over {count(fit.aligned, 'pair')} by {fit.pairing} "
        f"({fit.coverage:.0%} of {reference}){score}, {fit.identity:.0%} identical"
    )
