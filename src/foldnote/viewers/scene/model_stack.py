"""Scenes of several models of one molecule, one at a time or superposed: predictions, ensembles."""

from __future__ import annotations

from collections.abc import Sequence

from foldnote.errors import UnreadableFileError
from foldnote.results import (
    Ensemble,
    Model,
    Region,
    Structure,
    Superposition,
    find_metric,
    superpose,
    superpose_models,
)
from foldnote.results.metrics.registry import RANKING_NAMES
from foldnote.results.structure.formats import MOLECULE_FORMATS
from foldnote.text import count, format_figure
from foldnote.viewers.scene.compose import compose
from foldnote.viewers.scene.description import Facts
from foldnote.viewers.scene.joint_coloring import color_by_fluctuation, join_colorings
from foldnote.viewers.scene.model import Scene, SceneModel, Step
from foldnote.viewers.scene.model_text import MAX_ATOMS, write_model_text
from foldnote.viewers.scene.superposed import write_moved

MAX_MODELS = 20
"""Maximum number of ranked models in one scene."""
MAX_FRAMES = 50
"""Maximum number of models of an ensemble in one scene."""
_MAX_SCORES = 6


def compose_models(models: Sequence[Model], regions: Sequence[Region] = (), *, title: str = "") -> Scene:
    """Return a scene that shows ranked models one at a time, superposed on the first one.

    Args:
        models: models of one prediction, best first; at least one. At most 20 models and 60,000 atoms are
            drawn.
        regions: regions of a numbering, of which the CDRs are highlighted.
        title: heading.

    Raises:
        UnreadableFileError: the file of the first model is damaged or holds no atoms.
    """
    first = models[0].structure
    base = compose(first, regions, title=title)
    selected, notes = _select_models(models)
    scenes = [base]
    fits: list[Superposition | None] = [None]
    readable = [models[0]]
    for model in selected[1:]:
        try:
            fit = superpose(first, model.structure)
            scenes.append(compose(model.structure, regions))
        except UnreadableFileError as exc:
            notes.append(f"{_name(model)} is not among the models that can be chosen: {exc.message}")
            continue
        fits.append(fit)
        readable.append(model)
    if len(readable) < 2:
        return _add_notes(base, *notes)
    drawn_models = [
        _make_drawn_model(scene.models[0], model.structure, fits[index], index)
        for index, (scene, model) in enumerate(zip(scenes, readable, strict=True))
    ]
    first_name = "rank 1" if readable[0].ranked_by else readable[0].title
    steps = [
        Step(label=_write_label(model), models=(index,), facts=_describe(model, fits[index], first_name))
        for index, model in enumerate(readable)
    ]
    colorings = join_colorings([scene.colorings for scene in scenes])
    keys = [coloring.key for coloring in colorings]
    return base.model_copy(
        update={
            "models": tuple(drawn_models),
            "notes": (*base.notes, *notes),
            "colorings": tuple(colorings),
            "color": base.color if base.color in keys else "chain",
            "facts": (
                *base.facts,
                *((step.label, "; ".join(f"{term} {text}" for term, text in step.facts)) for step in steps),
            ),
            "steps": tuple(steps),
            "step_noun": "model",
            "is_stack": True,
        }
    )


def compose_ensemble(structure: Structure, regions: Sequence[Region] = (), *, title: str = "") -> Scene:
    """Return a scene that steps through the models of one file, superposed on their mean.

    A file of one model, or of models that cannot be superposed, gives the scene of its first model. The
    copies of a biological assembly are shown together.

    Args:
        structure: a file, for example from NMR or a simulation; at most 50 models and 60,000 atoms are drawn.
        regions: regions of a numbering, of which the CDRs are highlighted.
        title: heading.

    Raises:
        UnreadableFileError: the file is damaged or holds no atoms.
    """
    if structure.format in MOLECULE_FORMATS or structure.models < 2 or not structure.chains:
        return compose(structure, regions, title=title)
    try:
        ensemble = superpose_models(structure)
    except UnreadableFileError as exc:
        base = compose(structure, regions, title=title)
        note = f"Only the first of {structure.models} models is shown. {exc.message}"
        return _add_notes(base, note)
    if ensemble.are_copies:
        base = compose(structure.join_models(), regions, title=title)
        note = (
            f"The {len(ensemble)} models of the file are copies of one in different places, as in a file of a"
            " biological assembly. They are shown together; chains of the second are named A-2 and so on."
        )
        return _add_notes(base, note)
    return _stack_ensemble(compose(structure, regions, title=title), structure, ensemble)


def _stack_ensemble(base: Scene, structure: Structure, ensemble: Ensemble) -> Scene:
    """Add the models of an ensemble to the scene of its first model, up to the limits."""
    atoms = max(1, structure.to_gemmi()[0].count_atom_sites())
    number = max(1, min(len(ensemble), MAX_FRAMES, MAX_ATOMS // atoms))
    if number < 2:
        note = f"Only the first of {structure.models} models is drawn, since they are large."
        return _add_notes(base, note)
    texts = [write_model_text(item).text for item in ensemble.split()[:number]]
    model = base.models[0]
    drawn_models = [
        _drop_tags(model, index).model_copy(update={"text": text, "label": f"Model {index + 1}"})
        for index, text in enumerate(texts)
    ]
    kept = [item for item in base.colorings if item.key in ("rainbow", "hydrophobicity")]
    rmsf = color_by_fluctuation(ensemble.rmsf, structure, number)
    omitted = len(ensemble) - number
    notes = [f"The first {number} of {len(ensemble)} models can be chosen."] if omitted else []
    return base.model_copy(
        update={
            "models": tuple(drawn_models),
            "notes": (*base.notes, *notes),
            "colorings": (rmsf, *join_colorings([kept] * number)),
            "color": "rmsf",
            "facts": (*base.facts, ("RMSF", describe_fluctuation(ensemble))),
            "steps": tuple(Step(label=f"Model {index + 1}", models=(index,)) for index in range(number)),
            "step_noun": "model",
            "is_stack": True,
            "is_played": True,
        }
    )


def _add_notes(scene: Scene, *notes: str) -> Scene:
    return scene.model_copy(update={"notes": (*scene.notes, *notes)})


def describe_fluctuation(ensemble: Ensemble) -> str:
    """Describe the mean and largest RMSF of an ensemble, with an explanation."""
    rmsf = ensemble.rmsf["rmsf"]
    chain, number, _ = next(ensemble.rmsf.sort_values("rmsf", ascending=False).itertuples(index=False))
    return (
        f"mean {rmsf.mean():.2f} Å, largest {rmsf.max():.2f} Å at {chain} {number}; root mean "
        f"square distance of each Cα (C3' of nucleic acids) from its mean position over {len(ensemble)} "
        "models, which are superposed on their mean"
    )


def _select_models(models: Sequence[Model]) -> tuple[list[Model], list[str]]:
    """Return the models to draw, and a note if there are more."""
    selected: list[Model] = []
    atoms = 0
    for model in models[:MAX_MODELS]:
        try:
            atoms += model.structure.to_gemmi()[0].count_atom_sites()
        except UnreadableFileError:
            continue
        if selected and atoms > MAX_ATOMS:
            break
        selected.append(model)
    omitted = len(models) - len(selected)
    order = "best" if models[0].ranked_by else "first"
    note = f"The {order} {len(selected)} of {count(len(models), 'model')} can be chosen."
    return selected, [note] if omitted else []


def _make_drawn_model(
    model: SceneModel, structure: Structure, fit: Superposition | None, index: int
) -> SceneModel:
    """Return a model as drawn: superposed, and with tags only in the first."""
    changes = {"text": write_moved(fit, structure)} if fit is not None else {}
    return _drop_tags(model, index).model_copy(update={**changes, "label": structure.name})


def _drop_tags(model: SceneModel, index: int) -> SceneModel:
    if index == 0:
        return model
    marks = tuple(mark.model_copy(update={"tag": "", "centre": None}) for mark in model.highlights)
    return model.model_copy(update={"highlights": marks})


def _name(model: Model) -> str:
    return f"{model.title}, {model.structure.name}" if model.ranked_by else model.structure.name


def _write_label(model: Model) -> str:
    """Write rank, name and the program's ranking score, such as ``Rank 1 · model_1.pdb · pTM 0.81``.

    Unranked models, such as designs, have no rank here either.
    """
    key = next((name for name in (model.ranked_by, *RANKING_NAMES) if _is_figure(model, name)), None)
    figure = f" · {_label(key)} {_write(model.scores[key])}" if key else ""
    rank = f"{model.title} · " if model.ranked_by else ""
    return f"{rank}{model.structure.name.rpartition('/')[2]}{figure}"


def _describe(model: Model, fit: Superposition | None, first: str) -> Facts:
    """Return the scores, confidence, and the distance to the model ``first``."""
    facts = [(_label(key), _write(value)) for key, value in model.scores.items() if _is_figure(model, key)]
    facts = facts[:_MAX_SCORES]
    mean = model.structure.mean_plddt
    if mean is not None:
        facts.append(("Mean pLDDT of the structure", f"{mean:.1f} of 100"))
    if fit is not None:
        tm = "" if fit.tm_score is None else f", TM-score {fit.tm_score:.3f}"
        facts.append((f"To {first}", f"RMSD {fit.rmsd:.2f} Å over {count(fit.aligned, 'pair')}{tm}"))
    return tuple(facts)


def _is_figure(model: Model, name: str) -> bool:
    value = model.scores.get(name)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _label(key: str) -> str:
    metric = find_metric(key)
    return metric.label if metric else key


def _write(value: object) -> str:
    return format_figure(value) if isinstance(value, float) else str(value)
