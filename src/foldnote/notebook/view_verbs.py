"""Functions that show jobs and structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from foldnote.client.tables.job_list import JobList
from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.notebook import connection
from foldnote.notebook.live_outputs import NotebookBatch, NotebookJob, make_live, make_live_batch
from foldnote.notebook.verbs import verb
from foldnote.results import Model, Molecule, PairingMethod, Result, StatedMeaning, Structure
from foldnote.viewers import (
    Grid,
    Scene,
    choose,
    compose,
    compose_molecules,
    compose_result,
    find_structure,
    make_grid,
    overlay,
)
from foldnote.viewers.scene.model import Style

if TYPE_CHECKING:
    from foldnote.viewers import Explorer


@verb
def job(job_name: str, /, *, profile: str | None = None) -> NotebookJob | NotebookBatch:
    """A job by its name; the name of a batch gives the batch, as :func:`batch` does.

    Raises:
        NotFoundError: there is no such job.
    """
    client = connection.find_client(profile)
    found = client.jobs.get(job_name)
    return make_live_batch(client.batches.get(job_name)) if found.record.is_batch else make_live(found)


@verb
def jobs(limit: int = 50, *, profile: str | None = None) -> JobList[NotebookJob]:
    """Jobs, newest first: a table in a cell, ``[0]`` and ``[:5]`` take rows, ``.to_frame()`` is a DataFrame.

    Args:
        limit: the most rows.
        profile: which service; by default the active profile's.
    """
    return connection.find_client(profile).jobs.list(limit=limit).with_rows(make_live)


Viewable = Result | Structure | Model | Molecule | Scene | str | Path


@verb
def view(
    item: Viewable | Sequence[Viewable],
    /,
    *,
    color: str | None = None,
    style: Style | None = None,
    table: pd.DataFrame | None = None,
    pairing: PairingMethod = "auto",
    b_factors: StatedMeaning | None = None,
) -> Scene:
    """A structure as a Scene: plain data that a cell draws; ``.py3dmol()`` returns a py3Dmol view.

    Args:
        item: a result (its first structure, with CDRs marked if it has a numbering, or a receptor with its
            poses), a model, a structure, a scene, or the path of a structure file. Several in a list are
            superposed on the first, with RMSD and TM-score. Molecules, in a file (SDF, MOL2, PDBQT, SMILES)
            or a list, are shown one at a time, also drawn in 2D.
        color: ``chain``, ``confidence``, ``error``, ``rainbow``, ``secondary``, ``hydrophobicity``,
            ``b-factor``, as far as the structure has the data, or a column of ``table``; the page offers the
            same choice.
        style: ``cartoon``, ``sticks``, ``spheres`` or ``surface``.
        table: one row a residue, with ``chain``, ``number`` and the column that ``color`` names.
        pairing: how residues of several structures are paired: ``auto`` (by residue number where they share
            a numbering, else by sequence), ``numbers``, ``sequence`` or ``structure``.
        b_factors: the meaning of one structure's B-factor column, where the file does not state it:
            ``plddt``, or ``error`` in Å. The legend says that you stated it.

    Raises:
        UnreadableFileError: the structure cannot be read, or cannot be superposed on the first.
        ArgumentError: the structure cannot be coloured so, there is no such style or pairing, or B-factors
            cannot have the stated meaning.
    """
    stated = item if b_factors is None else _state(item, b_factors)
    return choose(_find_scene(stated, pairing), color, style, table)


@verb
def grid(
    items: Sequence[Viewable], /, *, columns: int = 2, color: str | None = None, style: Style | None = None
) -> Grid:
    """Structures side by side, rotated together.

    Args:
        items: what :func:`view` takes, one per picture.
        columns: number of columns in a wide enough page, 1 to 6.
        color: see :func:`view`.
        style: see :func:`view`.

    Raises:
        UnreadableFileError: a structure cannot be read.
        ArgumentError: there is nothing to show, or a structure cannot be coloured so.
    """
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise ArgumentError(f"Give a list of structures, not {type(items).__name__}.")
    return make_grid([view(item, color=color, style=style) for item in items], columns)


@verb
def explore(
    item: Result | Structure | Model | str | Path, /, *, b_factors: StatedMeaning | None = None
) -> Explorer:
    """A structure whose residues can be selected in 3D, sequence, plots or Python and are marked in all.

    ``explorer.selection`` is a list of (chain, number) pairs that can be read, set and observed.

    Args:
        item: a result (its best model), a model, a structure, or the path of a structure file.
        b_factors: see :func:`view`.

    Raises:
        UnreadableFileError: the structure cannot be read.
        ArgumentError: it has no chains, or the B-factors cannot have the stated meaning.
    """
    from foldnote.viewers.explorer.explorer import explore as make_explorer

    if b_factors is not None:
        return make_explorer(_state(item, b_factors))
    if isinstance(item, Result) and item.models:
        return make_explorer(item.models[0])
    return make_explorer(item if isinstance(item, Model) else find_structure(item))


def _state(item: Viewable | Sequence[Viewable], b_factors: StatedMeaning) -> Structure | Model:
    """One structure or model with the stated meaning of its B-factors."""
    if not isinstance(item, Result | Structure | Model | str | Path):
        raise ArgumentError("b_factors is about one structure; give a structure, model, result or path.")
    found = item.models[0] if isinstance(item, Result) and item.models else item
    stated = find_structure(found).state_b_factors(b_factors)
    return replace(found, structure=stated) if isinstance(found, Model) else stated


def _find_scene(item: Viewable | Sequence[Viewable], pairing: PairingMethod) -> Scene:
    if isinstance(item, Scene):
        return item
    if isinstance(item, Molecule):
        return compose_molecules([item])
    if not isinstance(item, Result | Structure | Model | str | Path | Sequence):
        told = "Give a structure, a model, a result, a path, or a list of them"
        raise ArgumentError(f"{told}, not {type(item).__name__}.")
    if not isinstance(item, Result | Structure | Model | str | Path):
        molecules = [one for one in item if isinstance(one, Molecule)]
        if molecules and len(molecules) == len(item):
            return compose_molecules(molecules)
        if any(isinstance(one, Scene) for one in item):
            raise ArgumentError("Scenes cannot be superposed; give structures, models, results or paths.")
        if molecules:
            raise ArgumentError("Molecules and structures cannot be superposed; give one kind.")
        return overlay([one for one in item if not isinstance(one, Scene | Molecule)], pairing=pairing)
    if isinstance(item, Result):
        scene = compose_result(item)
        if scene is None:
            raise UnreadableFileError(f"{item.name} holds no structure that can be read.")
        return scene
    return compose(find_structure(item))
