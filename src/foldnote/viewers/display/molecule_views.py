"""Views for docked poses and predicted affinities.

Results without the expected files use the default view.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from foldnote.results import Result, find_metric
from foldnote.viewers.display.batches import list_interactions, read_table
from foldnote.viewers.display.bundles import (
    default_view,
    find_steps,
    join_bundles,
    lay_out_structure,
    message_bundle,
    table_bundle,
)
from foldnote.viewers.plots.prediction_plots import plot_distribution
from foldnote.viewers.registry import builtin_view

_MIN_PLOTTED = 10
"""Minimum number of scores that are plotted as a histogram."""


@builtin_view("vina")
def show_docking(result: Result) -> list[Any]:
    """Show the poses in the receptor, a table of all poses, best first, and a histogram of their scores.

    The notes of the run come first, such as omitted parts of the receptor or a box that is too large. A row
    of the table shows its pose. Tables of the ligand files, and tables of the program with the same contents,
    are left out.
    """
    if result.jobs or not result.poses:
        return default_view(result)
    table = result.pose_table
    score = _find_score(table)
    if score:
        table = table.sort_values(score, ascending=not _is_higher_better(score), kind="stable")
    files = {pose.file for pose in result.poses}
    files |= {name for name in result.tables if name not in files and _repeats_poses(result, name, table)}
    scene, structure = lay_out_structure(result)
    default = default_view(result, without=files, with_scene=False)
    plots = [plot_distribution(table, score)] if score and len(table) >= _MIN_PLOTTED else []
    poses = table_bundle(table.reset_index(drop=True), "Poses", find_steps(table, scene))
    interactions = [table_bundle(frame, title) for title, frame in list_interactions(result)]
    notes = [message_bundle(note) for note in _list_run_notes(result)]
    note_bundles = [join_bundles(notes)] if notes else []
    return [*note_bundles, *([structure] if structure else []), poses, *interactions, *plots, *default]


def _list_run_notes(result: Result) -> list[str]:
    """Return the notes on this run; notes that apply to every run of the method are in the summary."""
    manifest = result.manifest
    return [note for note in manifest.notes if note != manifest.method_note] if manifest else []


def _repeats_poses(result: Result, name: str, poses: pd.DataFrame) -> bool:
    """Return whether all columns of a table are in the table of poses, with the same values."""
    table = read_table(result, name)
    columns = [] if table is None else [column for column in table.columns if column != "pose"]
    if table is None or not columns or len(table) != len(poses) or not set(columns) <= set(poses.columns):
        return False
    return all(poses[column].tolist() == table[column].tolist() for column in columns)


def _find_score(table: pd.DataFrame) -> str | None:
    """Return the first column that is a docking score with a direction."""
    for name in table.columns:
        metric = find_metric(str(name))
        if metric and metric.group == "docking" and metric.higher_is_better is not None:
            return str(name)
    return None


def _is_higher_better(name: str) -> bool:
    metric = find_metric(name)
    return bool(metric and metric.higher_is_better)


@builtin_view("aev-plig")
def show_affinities(result: Result) -> list[Any]:
    """Show the affinity of each ligand with its spread over the models, then the default view."""
    if result.jobs or "affinity.csv" not in result.tables:
        return default_view(result)
    frame = result.tables["affinity.csv"]
    affinities = frame[["ligand", "name", "affinity_pk", "affinity_pk_sd", "reason"]]
    return [table_bundle(affinities, "Affinities"), *default_view(result)]
