"""Scenes of several structures superposed with :func:`foldnote.results.superpose`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gemmi

from foldnote.errors import ArgumentError
from foldnote.results import Model, PairingMethod, Result, Structure, Superposition, superpose
from foldnote.results.side_by_side.comparison import Comparison
from foldnote.results.side_by_side.items import name_sources
from foldnote.text import count, join_words
from foldnote.viewers.scene import palette
from foldnote.viewers.scene.compose import compose, mark_region
from foldnote.viewers.scene.joint_coloring import color_by_deviation, join_colorings
from foldnote.viewers.scene.model import Scene, SceneModel
from foldnote.viewers.scene.model_text import write_model_text
from foldnote.viewers.scene.traces import read_traces

Item = Structure | Model | Result | str | Path

_SAME_A = 0.005
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
    first, *mobile = structures
    fits = [superpose(first, structure, pairing=pairing) for structure in mobile]
    names = name_sources(items)
    descriptions = ["reference", *(_describe_fit(fit, names[0]) for fit in fits)]
    scene = compose_superposed(
        structures, names, descriptions, fits, title=title, notes=_list_notes(names, fits)
    )
    return scene.model_copy(update={"height_px": height_px})


def compose_comparison(comparison: Comparison) -> Scene | None:
    """Return the superposed structures of a comparison, with the CDRs of the reference; None without any.

    Raises:
        UnreadableFileError: a structure's file is damaged or holds no atoms.
    """
    structures, fits = comparison.structures, list(comparison.fits.values())
    if not fits:
        return None
    names = list(structures)
    descriptions = ["reference", *(_describe_fit(fit, names[0]) for fit in fits)]
    scene = compose_superposed(
        list(structures.values()),
        names,
        descriptions,
        fits,
        title=f"{count(len(names), 'structure')} superposed on {names[0]}, by {comparison.align}",
        notes=_list_notes(names, fits),
        is_brief=True,
    )
    first = scene.models[0]
    traces = read_traces(structures[names[0]])
    marks = tuple(
        mark_region(region.label, region.chain, region.numbers, traces, first.chains[0].color)
        for region in comparison.regions
        if region.is_cdr
    )
    marked = first.model_copy(update={"highlights": marks})
    is_jobs = all(item.is_job for item in comparison.items)
    return scene.model_copy(
        update={
            "models": (marked, *scene.models[1:]),
            "marking": comparison.region_source if marks else "",
            "group": "job" if is_jobs else "structure",
        }
    )


def _list_notes(names: Sequence[str], fits: Sequence[Superposition]) -> tuple[str, ...]:
    """List caveats about the pairing, and structures that cannot be seen behind the reference."""
    pairing = (_STRUCTURAL,) if any(fit.pairing == "structure" for fit in fits) else ()
    covered = [name for name, fit in zip(names[1:], fits, strict=True) if _is_covered(fit)]
    if not covered:
        return pairing
    verb = "lies" if len(covered) == 1 else "lie"
    hidden = f"{join_words(covered, 'and')} {verb} exactly on {names[0]}, so the picture shows one."
    return (hidden, *pairing)


def _is_covered(fit: Superposition) -> bool:
    """Return whether each residue of the superposed structure coincides with its partner in the reference."""
    return fit.rmsd < _SAME_A and fit.mobile_coverage == 1.0


def compose_superposed(
    structures: Sequence[Structure],
    names: Sequence[str],
    descriptions: Sequence[str],
    fits: Sequence[Superposition] = (),
    *,
    title: str = "",
    notes: Sequence[str],
    is_brief: bool = False,
) -> Scene:
    """Return a scene of several structures, each in its own colour; the first is the reference.

    Args:
        structures: at least one.
        names: the name of each.
        descriptions: a description of each fit.
        fits: superpositions of the others on the first; without them the structures are drawn in their own
            coordinates.
        title: heading.
        notes: caveats about the superposition.
        is_brief: omit the descriptions of the fits from the legend.
    """
    scenes = [compose(structure, with_interfaces=False) for structure in structures]
    texts = [scene.models[0].text for scene in scenes]
    if fits:
        moved = [write_moved(fit, mobile) for fit, mobile in zip(fits, structures[1:], strict=True)]
        texts = [texts[0], *moved]
    models = tuple(
        _color_model(scene.models[0], index, name, "" if is_brief else description, text)
        for index, (scene, name, description, text) in enumerate(
            zip(scenes, names, descriptions, texts, strict=True)
        )
    )
    lengths = [count(sum(chain.length for chain in model.chains), "residue") for model in models]
    facts = [
        (name, f"{length}; {description}")
        for name, length, description in zip(names, lengths, descriptions, strict=True)
    ]
    deviation = [color_by_deviation(structures, [fit.pairs for fit in fits])] if fits else []
    return Scene(
        models=models,
        title=title or f"{count(len(models), 'structure')} superposed on {names[0]}",
        facts=tuple(facts),
        notes=tuple(dict.fromkeys([*notes, *(note for scene in scenes for note in scene.notes)])),
        colorings=(*deviation, *join_colorings([scene.colorings for scene in scenes])),
        group="structure",
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
        f"An object of the type {type(item).__name__} is not a structure. Pass a structure, a model, a result"
        " or a path."
    )


def write_moved(fit: Superposition, structure: Structure) -> str:
    """Return the text from which the superposed structure is drawn: its first model, in the file's format."""
    moved = fit.move_structure(structure)
    del moved[1:]
    moved.setup_entities()
    if structure.format == "pdb":
        text = moved.make_pdb_string(gemmi.PdbWriteOptions(minimal=True))
    else:
        text = moved.make_mmcif_document().as_string()
    return write_model_text(Structure(structure.name, structure.format, text)).text


def _color_model(model: SceneModel, index: int, name: str, description: str, text: str) -> SceneModel:
    """Colour a model, place it, and add the fit to the legend entry of its first chain."""
    color = palette.structure_color(index)
    chains = tuple(
        chain.model_copy(
            update={
                "color": color,
                "label": f"{name} · {chain.label}" + (f" · {description}" if description and not i else ""),
            }
        )
        for i, chain in enumerate(model.chains)
    )
    changes = {"label": name, "color": color, "chains": chains, "highlights": (), "text": text}
    return model.model_copy(update=changes)


def _describe_fit(fit: Superposition, reference: str) -> str:
    score = "" if fit.tm_score is None else f", TM-score {fit.tm_score:.3f}"
    return (
        f"RMSD {fit.rmsd:.2f} Å over {count(fit.aligned, 'pair')} by {fit.pairing} "
        f"({fit.coverage:.0%} of {reference}){score}, {fit.identity:.0%} identical"
    )
