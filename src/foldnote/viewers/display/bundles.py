"""Mime bundles of results: the outputs that a notebook shows and saves.

Each bundle has ``text/html`` and ``text/plain``, which front ends without HTML and screen readers use.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from pathlib import PurePosixPath
from typing import Any, Protocol

import pandas as pd

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Alignment, Molecule, Result, Structure, find_metric
from foldnote.results.molecules.molecule_files import make_property_table
from foldnote.results.naming.file_kinds import is_working_file
from foldnote.results.provenance.identity import find_title, find_tool_type
from foldnote.results.structure.unsupported import explain_unsupported
from foldnote.settings import EMBEDDED
from foldnote.text import count, format_figure, join_words, mark_code, visible
from foldnote.viewers.display.batch_rows import (
    NAME,
    REASON,
    STATE,
    BatchRow,
    count_states,
    describe_opening,
    read_rows,
    tabulate_rows,
)
from foldnote.viewers.display.batches import list_interactions, list_tables
from foldnote.viewers.display.geometry_notes import note_geometry
from foldnote.viewers.display.summary import write_files, write_summary
from foldnote.viewers.plots.ensemble_plots import plot_rmsf
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.prediction_plots import plot_coverage, plot_pae, plot_plddt
from foldnote.viewers.registry import find_view
from foldnote.viewers.render.caption import write_notes
from foldnote.viewers.render.html import name_content, write_style
from foldnote.viewers.render.paper import is_paper
from foldnote.viewers.render.printed_scene import write_small_figure
from foldnote.viewers.render.py3dmol import render
from foldnote.viewers.render.still_image import ROW_HEIGHT, ROW_WIDTH, draw_row_picture
from foldnote.viewers.scene.docking_view import compose_poses
from foldnote.viewers.scene.model import Scene
from foldnote.viewers.scene.model_stack import compose_ensemble, compose_models
from foldnote.viewers.scene.molecule_view import compose_molecules
from foldnote.viewers.tables.molecule_column import ColumnPictures, find_molecule_column
from foldnote.viewers.tables.printed_table import MAX_ROWS
from foldnote.viewers.tables.table import RowSteps, write_plain_table, write_table

Bundle = dict[str, str]
Inputs = Mapping[str, Mapping[str, Any]]
"""Columns of the user's table by job, each with its value."""
_STAND_IN = "This ran with stand-in weights, random numbers for testing: nothing here is a prediction."

MAX_SAVED_CHARACTERS = 300_000
"""Maximum total size of the results that are saved with the table of a batch and open without a service."""

MAX_PRINTED_JOBS, MAX_PICTURED_JOBS = 6, 60
"""Maximum number of jobs of a batch whose results are printed in full, or shown as small pictures."""
_STRUCTURE = "structure"
"""Column of the pictures of structures in the table of a batch."""


class Displayable(Protocol):
    """An object with a mime bundle, such as a plot or a grid."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any: ...


Item = Result | Structure | Scene | pd.DataFrame | Displayable | Mapping[str, Any]


def bundle(item: Item, *, title: str = "") -> Bundle:
    """Return one mime bundle that shows all of ``item``.

    Raises:
        UnreadableFileError: a structure's file is damaged or holds no atoms.
        ArgumentError: the item has no HTML representation.
    """
    if isinstance(item, Mapping):
        return _check_bundle(item, "A mime bundle without text/html cannot be shown.")
    if isinstance(item, Result):
        return join_bundles(result_bundles(item))
    if isinstance(item, pd.DataFrame):
        return table_bundle(item, title)
    if not isinstance(item, Structure | Scene):
        return _read_mimebundle(item)
    scene = item if isinstance(item, Scene) else compose_ensemble(item, title=title)
    html, plain = render(scene)._repr_mimebundle_().values()
    return {"text/html": html, "text/plain": plain}


def result_bundles(result: Result, inputs: Inputs | None = None) -> list[Bundle]:
    """Return the view of a result for its tool, followed by the provenance and the list of files.

    Tools without a view use :func:`default_view`, as do tools whose view fails, with the reason.

    Args:
        result: the result.
        inputs: for a batch, columns of the user's table that its archive does not have, by job.
    """
    warnings = [message_bundle(_STAND_IN)] if result.manifest and result.manifest.has_stand_ins else []
    layout = _batch_bundles(result, inputs=inputs) if result.jobs and inputs else _tool_bundles(result)
    parts = [part for part in [*warnings, *layout] if part]
    return [*(parts or _explain_nothing(result)), _summary_bundle(result)]


def _explain_nothing(result: Result) -> list[Bundle]:
    """Explain why nothing of a result is drawn; empty if its summary has content."""
    if result.problems or write_summary(result):
        return []
    reasons = list(filter(None, (explain_unsupported(file.name) for file in result.files)))
    sentences = reasons[:3] or [
        "foldnote cannot display any of these files; result.read(name) returns the content of one"
    ]
    return [text_bundle("\n".join(f"{sentence}." for sentence in sentences))]


def show_result(result: Result) -> list[Bundle]:
    """Show the whole view of ``result`` in the running cell and return its mime bundles."""
    from IPython.display import publish_display_data

    bundles = result_bundles(result)
    for part in bundles:
        publish_display_data(dict(part))  # type: ignore[no-untyped-call]
    return bundles


def default_view(result: Result, without: Collection[str] = (), *, with_scene: bool = True) -> list[Bundle]:
    """Return the default view: the structure, plots, then every table.

    For a batch: the table of its jobs, whose rows open the job's own view, then the joined tables of all
    jobs, folded.

    Args:
        result: what to show.
        without: names of tables, and of sequence files with scores, to leave out.
        with_scene: whether the structure is shown.
    """
    if result.jobs:
        return _batch_bundles(result)
    scene, structure = lay_out_structure(result) if with_scene else (None, {})
    parts = [structure, *_plot_bundles(result)]
    parts += _design_tables(result, without)
    covered, tables = _molecule_tables(result, scene)
    parts += [table for table in tables if not without]
    hidden = {*covered, *without, *filter(is_working_file, result.tables)}
    parts += [_named_table(result, name) for name in result.tables if name not in hidden]
    parts.append(_score_table(result))
    return [part for part in parts if part]


def _batch_bundles(result: Result, *, with_rows: bool = True, inputs: Inputs | None = None) -> list[Bundle]:
    """Return the table of jobs, and below it the tables and problems of all jobs."""
    problems = [
        f"{name}/{problem.name}: {problem.message}"
        for name, job in result.jobs.items()
        for problem in job.problems
    ]
    notes = [message_bundle("\n".join(problems))] if problems else []
    address = result.origin.get("service", {}).get("address")
    profile = EMBEDDED if address == EMBEDDED else ""  # other addresses may belong to several profiles
    joined = _print_jobs(result) if is_paper() else [_joined_bundle(result)]
    table = batch_table_bundle(result, profile, inputs) if with_rows else {}
    return [part for part in [table, *joined, *notes] if part]


def _print_jobs(result: Result) -> list[Bundle]:
    """Show a batch on paper: few jobs in full; of many, small pictures and the joined tables."""
    if len(result.jobs) <= MAX_PRINTED_JOBS:
        parts = [[heading_bundle(name, 3), *result_bundles(job)] for name, job in result.jobs.items()]
        return [part for bundles in parts for part in bundles]
    tables = [
        (title, table)
        for title, table in list_tables(result)
        if title == "Poses" or not _repeats(table, result.pose_table)
    ]
    printed = [table_bundle(table, title) for title, table in tables if len(table) <= MAX_ROWS]
    omitted = [f"{title} ({count(len(table), 'row')})" for title, table in tables if len(table) > MAX_ROWS]
    note = f"Too long to print; see the result: {join_words(omitted, 'and')}."
    return [_picture_jobs(result), *printed, *([text_bundle(note)] if omitted else [])]


def _repeats(table: pd.DataFrame, poses: pd.DataFrame) -> bool:
    """Return whether a table has as many rows as the table of the poses, and no other columns."""
    return len(table) == len(poses) and set(table.columns) - {"pose"} <= set(poses.columns)


def _picture_jobs(result: Result) -> Bundle:
    """Return a small picture of each of the first jobs, with the score for comparing them."""
    pictures: list[tuple[str, str]] = []
    has_diagrams = False
    for name, job in list(result.jobs.items())[:MAX_PICTURED_JOBS]:
        with suppress(UnreadableFileError):
            scene = compose_result(job)
            caption = f"{name}{_write_score(job)}"
            if scene is not None:
                has_diagrams = has_diagrams or bool(scene.steps)
                pictures.append((write_small_figure(scene, caption), caption))
    if not pictures:
        return {}
    html = "".join(figure for figure, _ in pictures)
    omitted = len(result.jobs) - MAX_PICTURED_JOBS
    note = (
        f"<p>Pictures of the first {MAX_PICTURED_JOBS} of {len(result.jobs):,} jobs.</p>"
        if omitted > 0
        else ""
    )
    return {
        "text/html": f'<div class="fnv-sheet{" fnv-diagrams" if has_diagrams else ""}">{html}{note}</div>',
        "text/plain": "\n".join(caption for _, caption in pictures),
    }


def _write_score(job: Result) -> str:
    """Return the first score with a better direction, such as ``: affinity -7.4 kcal/mol``."""
    for name, value in job.scores.items():
        metric = find_metric(name)
        if metric is not None and metric.higher_is_better is not None and isinstance(value, int | float):
            unit = metric.unit if " " not in metric.unit else ""  # such as "0 to 1"
            return f": {metric.label} {format_figure(value)} {unit}".rstrip()
    return ""


def batch_table_bundle(result: Result, profile: str = "", inputs: Inputs | None = None) -> Bundle:
    """Return the table of a batch's jobs, whose rows open the results of the jobs.

    Args:
        result: the batch's archive.
        profile: the profile of its service, for results that are not saved with the table.
        inputs: columns of the user's table that the archive does not have, by job.
    """
    saved = {} if is_paper() else lay_out_jobs(result.jobs)
    rows = [replace(row, inputs=(inputs or {}).get(row.name, {})) for row in read_rows(result)]
    return rows_bundle(rows, result.name, profile, saved, result.jobs)


def rows_bundles(result: Result, rows: Sequence[BatchRow], key: str, profile: str = "") -> list[Bundle]:
    """Return the view of a batch whose rows have more than its archive, such as the user's columns.

    Args:
        result: the batch's archive.
        rows: one per job.
        key: name of the batch.
        profile: the profile of its service, for results that are not saved with the table.
    """
    saved = {} if is_paper() else lay_out_jobs(result.jobs)
    table = rows_bundle(rows, key, profile, saved, result.jobs)
    return [table, *_batch_bundles(result, with_rows=False), _summary_bundle(result)]


def rows_bundle(
    rows: Sequence[BatchRow],
    key: str,
    profile: str = "",
    saved: Mapping[str, str] | None = None,
    results: Mapping[str, Result] | None = None,
) -> Bundle:
    """Return the table of a batch's jobs from its rows.

    Args:
        rows: one per job.
        key: name of the batch.
        profile: the profile of its service, for results that are not saved with the table.
        saved: the results saved with the table, as HTML by job name.
        results: the results by job name; small pictures of their structures are shown in the table, unless it
            has drawings of molecules.
    """
    frame, title = tabulate_rows(rows), count_states([row.state for row in rows])
    opens = describe_opening(key, profile, saved)
    pictures = None if is_paper() else _picture_structures(frame, results or {})
    return {
        "text/html": write_table(frame, title, opens=opens, pictures=pictures),
        "text/plain": write_plain_table(frame, title, opens=opens),
    }


def _picture_structures(frame: pd.DataFrame, results: Mapping[str, Result]) -> ColumnPictures | None:
    """Return pictures of the first jobs' structures, adding their column to the frame; None without any."""
    if not results or _STRUCTURE in frame or find_molecule_column(frame) is not None:
        return None
    pictures: dict[str, str] = {}
    texts: dict[str, str] = {}
    for name in [name for name in frame[NAME] if name in results][:MAX_PICTURED_JOBS]:
        with suppress(UnreadableFileError):
            scene = None if results[name].structure is None else compose_result(results[name])
            png = None if scene is None else draw_row_picture(scene)
            if scene is not None and png is not None:
                texts[name] = f"{name}/{scene.models[0].name}"
                pictures[texts[name]] = base64.b64encode(png).decode("ascii")
    if not pictures:
        return None
    position = sum(column in frame for column in (NAME, STATE, REASON))
    frame.insert(position, _STRUCTURE, [texts.get(name) for name in frame[NAME]])
    return ColumnPictures(column=_STRUCTURE, width=ROW_WIDTH, height=ROW_HEIGHT, drawn=pictures)


def lay_out_jobs(jobs: Mapping[str, Result]) -> dict[str, str]:
    """Return the views of the first jobs as HTML by name, together at most `MAX_SAVED_CHARACTERS`."""
    saved: dict[str, str] = {}
    left = MAX_SAVED_CHARACTERS
    for name, job in jobs.items():
        html = join_bundles(result_bundles(job))["text/html"]
        left -= len(html)
        if left < 0:
            break
        saved[name] = html
    return saved


def _joined_bundle(result: Result) -> Bundle:
    """Return the tables of all jobs joined by kind of file, folded; empty without tables."""
    tables = [table_bundle(table, title) for title, table in list_tables(result)]
    if not tables:
        return {}
    return fold_bundles(tables, f"{count(len(tables), 'table')} of all jobs, joined")


def _tool_bundles(result: Result) -> list[Bundle]:
    tool = find_tool_type(result)
    try:
        view = find_view(tool)
        if view is None:
            return default_view(result)
        return [bundle(item) for item in view(result)]
    except Exception as exc:  # noqa: BLE001 - views are third-party code; the result is shown in any case
        reason = str(exc) or type(exc).__name__
        note = f"The view for {tool} failed, so the default one is shown. Reason: {reason}"
        return [message_bundle(note), *default_view(result)]


def _read_mimebundle(item: Displayable) -> Bundle:
    """Return the bundle of an object with ``_repr_mimebundle_``; its repr where that has no text."""
    method = getattr(item, "_repr_mimebundle_", None)
    returned = method() if callable(method) else None
    data = returned[0] if isinstance(returned, tuple) else returned
    refusal = f"{type(item).__name__} has no HTML representation."
    return _check_bundle({"text/plain": repr(item), **(data or {})}, refusal)


def _check_bundle(data: Mapping[str, Any], refusal: str) -> Bundle:
    """Return the HTML and the plain text of ``data``.

    Raises:
        ArgumentError: there is no HTML; ``refusal`` is its message.
    """
    if not data.get("text/html"):
        raise ArgumentError(refusal)
    return {"text/html": str(data["text/html"]), "text/plain": str(data.get("text/plain", ""))}


def join_bundles(parts: list[Bundle]) -> Bundle:
    """Return several bundles as one, in order."""
    return {
        "text/html": "\n".join(part["text/html"] for part in parts),
        "text/plain": "\n\n".join(part["text/plain"] for part in parts),
    }


def fold_bundles(parts: list[Bundle], summary: str) -> Bundle:
    """Return several bundles as one, folded under the text ``summary``."""
    joined = join_bundles(parts)
    head = f"<summary>{escape(summary)}</summary>"
    return joined | {"text/html": f'<details class="fnt-all">{head}{joined["text/html"]}</details>'}


def table_bundle(
    frame: pd.DataFrame,
    title: str = "",
    steps: RowSteps | None = None,
    *,
    is_subject: bool = False,
    headings: Mapping[str, str] | None = None,
) -> Bundle:
    """Render a table as a mime bundle.

    Args:
        frame: any table; an index other than a RangeIndex becomes the first column.
        title: heading; "" for none.
        steps: the steps of 3D views that its rows show.
        is_subject: whether its rows are the subject of a page: all are printed, with the values that they
            share above the table.
        headings: headings of columns in place of their names, by which metrics are still found.
    """
    return {
        "text/html": write_table(frame, title, steps=steps, is_subject=is_subject, headings=headings),
        "text/plain": write_plain_table(frame, title, headings=headings),
    }


def compose_result(result: Result) -> Scene | None:
    """Return the scene of a result's first readable structure, with its poses, or else of its molecules.

    None when it has neither. For a batch, the scene of the first job that has one.
    """
    if result.jobs:
        scenes = (compose_result(job) for job in result.jobs.values())
        return next((scene for scene in scenes if scene is not None), None)
    structure = result.structure
    if structure is None:
        molecules = [pose.molecule for pose in result.poses] or list_molecules(result)
        return compose_molecules(molecules, title=_title(result, None)) if molecules else None
    title = _title(result, structure)
    if result.poses and structure.chains:
        return compose_poses(structure, result.poses, title=title)
    models = [model for model in result.models if model.prediction == result.models[0].prediction]
    if len(models) > 1 and structure is models[0].structure:
        scene = compose_models(models, result.regions, title=_title(result, None))
    else:
        scene = compose_ensemble(structure, result.regions, title=title)
    return scene.model_copy(update={"notes": (*scene.notes, *note_geometry(result))})


def list_molecules(result: Result) -> list[Molecule]:
    """Return the molecules of all readable files; ``result.problems`` lists the others."""
    return [molecule for name in result.molecules for molecule in _read_molecules(result, name)]


def _read_molecules(result: Result, name: str) -> Sequence[Molecule]:
    try:
        return result.molecules[name]
    except UnreadableFileError:
        return ()


def _molecule_tables(result: Result, scene: Scene | None) -> tuple[set[str], list[Bundle]]:
    """Return the files covered, and their tables: poses and interactions, or molecules."""
    if result.poses:
        poses = table_bundle(result.pose_table, "Poses", find_steps(result.pose_table, scene))
        interactions = [table_bundle(table, title) for title, table in list_interactions(result)]
        return {pose.file for pose in result.poses}, [poses, *interactions]
    molecules = list_molecules(result)
    if len(molecules) < 2:
        return set(), []
    table = make_property_table(molecules)
    table.insert(0, "file", [molecule.file for molecule in molecules], allow_duplicates=True)
    return set(result.molecules), [table_bundle(table, "Molecules")]


def _design_tables(result: Result, without: Collection[str]) -> list[Bundle]:
    """Return the tables of sequence files whose headers contain scores, as written by design tools."""
    return [
        table_bundle(alignment.to_frame().drop(columns="description"), name)
        for name, alignment in result.alignments.items()
        if name not in without and _is_designed(alignment)
    ]


def _is_designed(alignment: Alignment) -> bool:
    heads = (*alignment.names, *alignment.descriptions)
    return any("=" in head for head in heads) and len(alignment.to_frame().columns) > 5


def _title(result: Result, structure: Structure | None) -> str:
    name = find_title(result)
    if structure is None:
        return name
    structures = len(result.structures)
    suffix = f" (first of {structures} structures)" if structures > 1 else ""
    return f"{name} · {structure.name}{suffix}" if name != structure.name else f"{name}{suffix}"


def lay_out_structure(result: Result) -> tuple[Scene | None, Bundle]:
    """Return a result's scene and its bundle, or why there is none; both are empty without a structure."""
    try:
        scene = compose_result(result)
    except UnreadableFileError as exc:
        return None, message_bundle(exc.message)
    return scene, bundle(scene) if scene else {}


def find_steps(poses: pd.DataFrame, scene: Scene | None) -> RowSteps | None:
    """Return the steps of a scene that the rows of a table of poses show.

    Args:
        poses: a table in any order, whose index is the position of each pose in the result.
        scene: the scene of the same poses.
    """
    steps = len(scene.steps) if scene is not None else 0
    if scene is None or steps < 2:
        return None
    rows = tuple(int(position) if position < steps else -1 for position in poses.index)
    return RowSteps(name_content(scene), rows)


def _plot_bundles(result: Result) -> list[Bundle]:
    """Return the plots of the models' pLDDT, the best model's PAE and the first alignment's coverage."""
    plots = [plot_plddt(result.models), plot_rmsf(result.structure)]
    best = next((model for model in result.models if model.pae is not None), None)
    if best is not None and best.pae is not None:
        plots.append(plot_pae(best.pae, f"Predicted aligned error of {PurePosixPath(best.name).name}"))
    aligned = next(
        (a for a in result.alignments.values() if a.is_aligned and a.depth > 1 and not _is_designed(a)), None
    )
    if aligned is not None:
        plots.append(plot_coverage(aligned))
    return join_plots(plots)


def join_plots(plots: Sequence[Plot | None]) -> list[Bundle]:
    """Return one bundle with the plots side by side; empty without plots."""
    bundles = [bundle(plot) for plot in plots if plot is not None]
    joined = join_bundles(bundles)
    return [joined | {"text/html": f'<div class="fnv-plots">{joined["text/html"]}</div>'}] if bundles else []


def _score_table(result: Result) -> Bundle:
    """Return the scores of several models with their ranks, if any, or else those of the score files."""
    models = result.model_table
    figures = [column for column in models.columns if column not in ("prediction", "rank", "model")]
    if len(models) > 1 and figures:
        front = ["prediction"] if models["prediction"].nunique() > 1 else []
        front += ["rank"] if any(model.ranked_by for model in result.models) else []
        return table_bundle(models[[*front, *figures, "model"]], "Scores of every model")
    scores = result.score_table
    return table_bundle(scores, "Scores of every file") if len(scores) > 1 else {}


def _named_table(result: Result, name: str) -> Bundle:
    try:
        return table_bundle(result.tables[name], name)
    except UnreadableFileError as exc:
        return message_bundle(exc.message)


def heading_bundle(text: str, level: int = 2) -> Bundle:
    """Return a heading inside a page."""
    return {"text/html": f"<h{level}>{escape(visible(text))}</h{level}>", "text/plain": text}


def text_bundle(text: str) -> Bundle:
    """Return a paragraph."""
    return {"text/html": f"<p>{escape(text)}</p>", "text/plain": text}


def message_bundle(message: str) -> Bundle:
    """Return a message that replaces something that cannot be shown."""
    html = f'<div class="fnv-view">{write_style("scene.css")}{write_notes([message])}</div>'
    return {"text/html": html, "text/plain": message}


def _summary_bundle(result: Result) -> Bundle:
    rows: Mapping[str, str] = write_summary(result)
    lines = "".join(f"<dt>{escape(term)}</dt><dd>{mark_code(text)}</dd>" for term, text in rows.items())
    problems = [f"{problem.name}: {problem.message}" for problem in result.problems]
    files = "" if is_paper() and result.jobs else write_files(result.files)
    html = (
        f'<div class="fnv-view">{write_style("scene.css")}'
        f'<div class="fnv-words"><dl>{lines}</dl></div>{write_notes(problems)}'
        f"{files}</div>"
    )
    plain = "\n".join([*(f"{term}: {text}" for term, text in rows.items()), *problems])
    return {"text/html": html, "text/plain": plain}
