"""Functions that show jobs and structures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from foldnote.client import BatchHandle, JobHandle
from foldnote.client.downloads.public_structures import find_structure_file
from foldnote.client.tables.job_list import JobList
from foldnote.errors import (
    ArgumentError,
    JobFailedError,
    JobStoppedError,
    NotFoundError,
    UnfinishedJobError,
    UnreadableFileError,
)
from foldnote.io import names_path
from foldnote.models.job import PIPELINE
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments
from foldnote.notebook.live_outputs import (
    NotebookBatch,
    NotebookJob,
    NotebookRun,
    make_live,
    make_live_batch,
    make_live_run,
)
from foldnote.results import (
    Comparison,
    Model,
    Molecule,
    PairingMethod,
    Result,
    StatedMeaning,
    Structure,
)
from foldnote.results import compare as _compare
from foldnote.results.naming.file_kinds import FileKind, find_kind
from foldnote.results.provenance.identity import find_title
from foldnote.results.side_by_side.items import ComparedItem, Source, make_item
from foldnote.viewers import (
    Grid,
    Scene,
    choose,
    compose_molecules,
    compose_result,
    find_structure,
    make_grid,
    overlay,
)
from foldnote.viewers.scene.model import Style
from foldnote.viewers.scene.model_stack import compose_ensemble

if TYPE_CHECKING:
    from foldnote.viewers import Explorer


@check_arguments
def job(job_name: str, /, *, profile: str | None = None) -> NotebookJob | NotebookBatch | NotebookRun:
    """Return a job by its name; the name of a batch or of a pipeline run returns the batch or the run.

    Raises:
        NotFoundError: there is no such job.
    """
    client = connection.find_client(profile)
    found = client.jobs.get(job_name)
    if found.tool == PIPELINE:
        return make_live_run(found)
    return make_live_batch(client.batches.get(job_name)) if found.record.is_batch else make_live(found)


@check_arguments
def jobs(limit: int = 50, *, profile: str | None = None) -> JobList[NotebookJob]:
    """List jobs, newest first: a table in a cell; ``[:5]`` takes rows, ``.to_frame()`` makes a DataFrame.

    Args:
        limit: the most rows.
        profile: which service; by default the active profile's.
    """
    return connection.find_client(profile).jobs.list(limit=limit).with_rows(make_live)


Viewable = Result | Structure | Model | Molecule | Scene | str | Path


@check_arguments
def view(
    item: Viewable | Sequence[Viewable],
    /,
    *,
    color: str | None = None,
    style: Style | None = None,
    table: pd.DataFrame | None = None,
    pairing: PairingMethod = "auto",
    b_factors: StatedMeaning | None = None,
    assembly: str | None = None,
) -> Scene:
    """Return a structure as a Scene: plain data that a cell draws; ``.py3dmol()`` returns a py3Dmol view.

    Args:
        item: a result (its first structure, with CDRs marked if it has a numbering, or a receptor with its
            poses), a model, a structure, a scene, the path of a structure file, or an id, which is fetched
            once and only if no file has that name: of the Protein Data Bank (``1ubq``) or the AlphaFold
            Database (``AF-P69905-F1`` or UniProt's ``P69905``). Several in a list are superposed on the
            first, with RMSD and TM-score. Molecules, in a file (SDF, MOL2, PDBQT, SMILES) or a list, are
            shown one at a time, also drawn in 2D.
        color: ``chain``, ``confidence``, ``error``, ``rainbow``, ``secondary``, ``hydrophobicity``,
            ``b-factor``, as far as the structure has the data, or a column of ``table``; the page offers the
            same choice.
        style: ``cartoon``, ``sticks``, ``spheres`` or ``surface``.
        table: one row per residue, with ``chain``, ``number`` and the column that ``color`` names.
        pairing: how residues of several structures are paired: ``auto`` (by residue number where they share
            a numbering, else by sequence), ``numbers``, ``sequence`` or ``structure``.
        b_factors: the meaning of one structure's B-factor column, where the file does not state it:
            ``plddt``, or ``error`` in Å. The legend says that you stated it.
        assembly: name of one structure's biological assembly, such as ``"1"``, as its file describes it.

    Raises:
        UnreadableFileError: the structure cannot be read, or cannot be superposed on the first.
        ArgumentError: the structure cannot be coloured in this way, there is no such style, pairing or
            assembly, or B-factors cannot have the stated meaning, or the database has no structure with this
            id.
        ServiceUnreachableError: the database of an id cannot be reached.
        RequestTimeoutError: the database of an id did not answer in time.
        TransportError: the database of an id answered with an error.
    """
    found = _find_files(item)
    stated = found if b_factors is None else _state(found, b_factors)
    shown = stated if assembly is None else _assemble(stated, assembly)
    return choose(_find_scene(shown, pairing), color, style, table)


@check_arguments
def grid(
    items: Sequence[Viewable], /, *, columns: int = 2, color: str | None = None, style: Style | None = None
) -> Grid:
    """Return the structures side by side, rotated together.

    Args:
        items: what :func:`view` takes, one per picture.
        columns: number of columns in a wide enough page, 1 to 6.
        color: see :func:`view`.
        style: see :func:`view`.

    Raises:
        UnreadableFileError: a structure cannot be read.
        ArgumentError: there is nothing to show, or a structure cannot be coloured in this way.
    """
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise ArgumentError(f"Give a list of structures, not {type(items).__name__}.")
    return make_grid([view(item, color=color, style=style) for item in items], columns)


Comparable = JobHandle | Result | Structure | Model | str | Path


@check_arguments
def compare(
    *items: Comparable | Sequence[Comparable],
    align: str = "all",
    pairing: PairingMethod = "auto",
    profile: str | None = None,
) -> Comparison:
    """Compare jobs or structures: superposed, by region, by sequence, by settings and by scores.

    A cell shows everything; ``.table``, ``.settings``, ``.scores``, ``.deviations`` and ``.alignments`` are
    the data. The first structure is the reference. Jobs are shown under their labels, else their names; those
    without a result are compared by their settings.

    Args:
        items: 2 to 20 jobs, names of jobs, results, models, structures or paths, or one list of them. Text is
            the path of a file if there is one, else the name of a job.
        align: what is superposed: ``all``, ``framework``, a chain (``chain H``), a CDR (``CDR-H3``), or
            residues of the reference (``H:1-25 30;L:1-20``).
        pairing: how residues are paired; see :func:`view`.
        profile: the service of jobs that are given by name; by default the active profile's.

    Raises:
        ArgumentError: there are fewer than 2 or more than 20, one is a batch or of another type, there is no
            such file or job, or the reference has no such region, chain or residue.
        UnreadableFileError: a file is damaged.
    """
    only = items[0] if len(items) == 1 else None
    given = only if isinstance(only, Sequence) and not isinstance(only, str) else items
    sources = [_find_source(item, profile) for item in given]
    return _compare(sources, align=align, pairing=pairing)


def _find_source(item: Any, profile: str | None) -> Source | ComparedItem:
    """Return a job's result, or its settings if it has none; any other item unchanged."""
    if isinstance(item, str) and not names_path(item):
        try:
            item = job(item, profile=profile)
        except NotFoundError as exc:
            raise ArgumentError(f"There is neither a file nor a job {item!r:.80}.") from exc
    if isinstance(item, BatchHandle):
        raise ArgumentError(
            f"{item.job_name} is a batch. Compare some of its jobs: "
            f"fn.compare(fn.batch({item.job_name!r}).subjobs()[:2]). To compare two batches, join their"
            " tables: first.results().merge(second.results(), on=[…])."
        )
    if not isinstance(item, JobHandle):
        return item  # type: ignore[no-any-return]
    shown = item.label or item.job_name
    try:
        return make_item(item.result(), shown)
    except (JobFailedError, JobStoppedError, UnfinishedJobError, NotFoundError):
        problem = f"it has no result ({item.record.word.lower()})"
        record = item.record
        return ComparedItem(
            shown, item.tool, record.settings, record.score or {}, problem=problem, is_job=True
        )


@check_arguments
def explore(
    item: Result | Structure | Model | str | Path, /, *, b_factors: StatedMeaning | None = None
) -> Explorer:
    """Show a structure whose selected residues are linked in 3D, sequence, plots and Python.

    ``explorer.selection`` is a list of (chain, number) pairs that can be read, set and observed.

    Args:
        item: a result (its best model, with the CDRs of its numbering), a model, a structure, the path of a
            structure file, or an id as in :func:`view`.
        b_factors: see :func:`view`.

    Raises:
        UnreadableFileError: the structure cannot be read.
        ArgumentError: it has no chains, the B-factors cannot have the stated meaning, or the database has no
            structure with this id.
        ServiceUnreachableError: the database of an id cannot be reached.
        RequestTimeoutError: the database of an id did not answer in time.
        TransportError: the database of an id answered with an error.
    """
    from foldnote.viewers.explorer.explorer import explore as make_explorer

    _refuse_job(item)
    item = find_structure_file(item) if isinstance(item, str) else item
    if b_factors is not None:
        return make_explorer(_state(item, b_factors))
    if isinstance(item, Result):
        shown = item.models[0] if item.models else find_structure(item)
        name = shown.structure.name if isinstance(shown, Model) else shown.name
        regions = item.regions  # reading them reveals damaged files
        damaged = [] if regions else [p for p in item.problems if find_kind(p.name) is FileKind.NUMBERING]
        notes = [f"The CDRs are not marked: {problem.message}" for problem in damaged]
        return make_explorer(shown, title=f"{find_title(item)} · {name}", regions=regions, notes=notes)
    return make_explorer(item if isinstance(item, Model) else find_structure(item))


def _find_files(item: Viewable | Sequence[Viewable]) -> Viewable | Sequence[Viewable]:
    """Replace each id in an item by the path of its file."""
    for one in item if isinstance(item, list | tuple) else [item]:
        _refuse_job(one)
    if isinstance(item, str):
        return find_structure_file(item)
    if isinstance(item, list | tuple):
        return [find_structure_file(one) if isinstance(one, str) else one for one in item]
    return item


def _refuse_job(item: object) -> None:
    if isinstance(item, JobHandle):
        raise ArgumentError(f"{item.job_name} is a job; give its result, which job.result() returns.")


def _state(item: Viewable | Sequence[Viewable], b_factors: StatedMeaning) -> Structure | Model:
    """Apply the stated meaning of B-factors to one structure or model."""
    if not isinstance(item, Result | Structure | Model | str | Path):
        raise ArgumentError("b_factors is about one structure; give a structure, model, result or path.")
    found = item.models[0] if isinstance(item, Result) and item.models else item
    stated = find_structure(found).state_b_factors(b_factors)
    return replace(found, structure=stated) if isinstance(found, Model) else stated


def _assemble(item: Viewable | Sequence[Viewable], assembly: str) -> Structure:
    """Build a biological assembly of one structure."""
    if not isinstance(item, Result | Structure | Model | str | Path):
        raise ArgumentError("assembly is about one structure; give a structure, model, result or path.")
    return find_structure(item).make_assembly(str(assembly))


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
            raise UnreadableFileError(f"{item.name} contains no readable structure.")
        return scene
    return compose_ensemble(find_structure(item))
