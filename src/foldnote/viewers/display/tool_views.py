"""Layouts of single tools: numbered and annotated antibodies, molecules with properties, poses, trees.

Results without such data use the default layout.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results import Result, find_metric
from foldnote.viewers.display.batches import list_contacts, list_regions
from foldnote.viewers.display.bundles import default_view, table_bundle
from foldnote.viewers.layouts import register_ours
from foldnote.viewers.plots.prediction_plots import plot_distribution
from foldnote.viewers.plots.tree_plot import plot_tree

_FEWEST_TO_PLOT = 10
_MOST_IN_COLUMNS = 3
NUMBERING_TOOLS = ("anarci",)
ANNOTATION_TOOLS = ("antibody-annotation",)
ADMET_TOOLS = ("admet",)
DOCKING_TOOLS = ("vina",)
TREE_TOOLS = ("ancestral-reconstruction",)
_NODES = "nodes.csv"
_EVERY_STATE = "all_probabilities.csv"


def show_numbering(result: Result) -> list[Any]:
    """A table of frameworks and CDRs, then the default layout."""
    regions = list_regions(result.regions)
    return [*([] if regions.empty else [table_bundle(regions, "Regions")]), *default_view(result)]


def show_annotation(result: Result) -> list[Any]:
    """Germline genes and each CDR by every definition, before the tables with all frameworks and residues."""
    if result.jobs or not {"germlines.csv", "regions.csv"} <= set(result.tables):
        return show_numbering(result)
    regions = result.tables["regions.csv"]
    is_cdr = regions["region"].str.startswith("CDR")
    cdrs = regions[is_cdr].pivot_table("sequence", ["chain", "region"], "cdr_definition", "first", sort=False)
    tables = [("Germline genes", result.tables["germlines.csv"]), ("CDRs by definition", cdrs.reset_index())]
    shown = [table_bundle(frame, title) for title, frame in tables]
    return [*shown, *default_view(result, without={"germlines.csv"})]


def show_admet(result: Result) -> list[Any]:
    """One row a property with its unit where there are few molecules, before one row a molecule."""
    files = {"properties.csv", "percentiles.csv", "columns.csv"}
    if result.jobs or not files <= set(result.tables):
        return default_view(result)
    values, percentiles = result.tables["properties.csv"], result.tables["percentiles.csv"]
    usual = default_view(result)
    if len(values) > _MOST_IN_COLUMNS:
        return usual
    table = result.tables["columns.csv"][["category", "name", "units"]].rename(columns={"name": "property"})
    properties = list(result.tables["columns.csv"]["property"])
    for place in range(len(values)):
        name = str(values["smiles"].iloc[place])
        table[name] = [f"{value:.4g}" for value in values[properties].iloc[place]]
        shares = percentiles[properties].iloc[place]
        table[f"{name}, percentile of approved drugs"] = [f"{share:.1f} %" for share in shares]
    return [table_bundle(table, "ADMET properties"), *usual]


def show_docking(result: Result) -> list[Any]:
    """The poses in the receptor, a table of all poses, best first, and a histogram of their scores.

    Tables of the ligand files, and tables of the program with the same contents, are left out.
    """
    if result.jobs or not result.poses:
        return default_view(result)
    table = result.pose_table
    scored = _find_score(table)
    if scored:
        table = table.sort_values(scored, ascending=not _is_higher_better(scored), kind="stable")
    files = {pose.file for pose in result.poses}
    files |= {name for name in result.tables if name not in files and _repeats(result, name, table)}
    usual = default_view(result, without=files)
    place = 1 if result.structure else 0
    plots = [plot_distribution(table, scored)] if scored and len(table) >= _FEWEST_TO_PLOT else []
    tables = [("Poses", table.reset_index(drop=True)), *list_contacts(result)]
    bundles = [table_bundle(frame, title) for title, frame in tables]
    return [*usual[:place], *bundles, *plots, *usual[place:]]


def show_tree(result: Result) -> list[Any]:
    """The tree, then its nodes with support and mean probability, before the sites of the ancestors."""
    found = {PurePosixPath(name).name: name for name in result.tables}
    if result.jobs or _NODES not in found:
        return default_view(result)
    nodes = result.tables[found[_NODES]]
    hidden = {found[name] for name in (_NODES, _EVERY_STATE) if name in found}
    ancestors = nodes[nodes["kind"] == "ancestor"].drop(columns="kind").reset_index(drop=True)
    return [
        plot_tree(nodes, "Tree with ancestors"),
        table_bundle(ancestors, "Ancestors"),
        *default_view(result, without=hidden),
    ]


def _repeats(result: Result, name: str, poses: pd.DataFrame) -> bool:
    """Whether every column of a table of the result is also in the table of poses."""
    try:
        found = result.tables[name]
    except UnreadableFileError:
        return False
    columns = [column for column in found.columns if column != "pose"]
    if not columns or len(found) != len(poses) or not set(columns) <= set(poses.columns):
        return False
    shared = poses[columns].reset_index(drop=True)
    return all(shared[column].tolist() == found[column].tolist() for column in columns)


def _find_score(table: pd.DataFrame) -> str | None:
    """The first column that is a docking score with a direction."""
    for name in table.columns:
        metric = find_metric(str(name))
        if metric and metric.group == "docking" and metric.higher_is_better is not None:
            return str(name)
    return None


def _is_higher_better(name: str) -> bool:
    metric = find_metric(name)
    return bool(metric and metric.higher_is_better)


for _tool in NUMBERING_TOOLS:
    register_ours(_tool, show_numbering)
for _tool in ANNOTATION_TOOLS:
    register_ours(_tool, show_annotation)
for _tool in ADMET_TOOLS:
    register_ours(_tool, show_admet)
for _tool in DOCKING_TOOLS:
    register_ours(_tool, show_docking)
for _tool in TREE_TOOLS:
    register_ours(_tool, show_tree)
