"""Views for sets of sequences: trees with ancestors, clustered alignments, designs and proposed variants.

Results without the expected files use the default view.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from foldnote.errors import ArgumentError
from foldnote.results import Result
from foldnote.text import count
from foldnote.viewers.display.batches import read_table
from foldnote.viewers.display.bundles import default_view, join_plots, table_bundle
from foldnote.viewers.plots.curves import plot_curves
from foldnote.viewers.plots.drawing import STAR_SHAPE, Axis, Dots
from foldnote.viewers.plots.matrix_plot import plot_matrix
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.prediction_plots import plot_groups, plot_scatter
from foldnote.viewers.plots.profile import plot_profile
from foldnote.viewers.plots.tree_plot import plot_tree
from foldnote.viewers.registry import builtin_view

_NODES = "nodes.csv"
_ALL_PROBABILITIES = "all_probabilities.csv"
_MAX_DOTS = 2_000
_MAX_RESIDUES = 200
_ABOUT_RESIDUE = ["chain", "residue", "given", "designed"]
_QUERY_COLOR = "#b2182b"


@builtin_view("ancestral-reconstruction")
def show_tree(result: Result) -> list[Any]:
    """Show the tree, a table of the ancestors with support and mean probability, then their sites."""
    paths = {PurePosixPath(name).name: name for name in result.tables}
    if result.jobs or _NODES not in paths:
        return default_view(result)
    nodes = result.tables[paths[_NODES]]
    hidden = {paths[name] for name in (_NODES, _ALL_PROBABILITIES) if name in paths}
    ancestors = nodes[nodes["kind"] == "ancestor"].drop(columns="kind").reset_index(drop=True)
    return [
        plot_tree(nodes, "Tree with ancestors"),
        table_bundle(ancestors, "Ancestors"),
        *default_view(result, without=hidden),
    ]


@builtin_view("sequence-properties")
def show_properties(result: Result) -> list[Any]:
    """Show the figures and the motifs of the sequences; for a single one also hydropathy and charge."""
    figures, motifs = read_table(result, "properties.csv"), read_table(result, "motifs.csv")
    if figures is None or motifs is None:
        return default_view(result)
    if figures.get("problem") is not None and figures["problem"].isna().all():
        figures = figures.drop(columns="problem")
    covered = {"properties.csv", "motifs.csv"}
    plots: list[Plot] = []
    charge, hydropathy = read_table(result, "charge.csv"), read_table(result, "hydropathy.csv")
    if charge is not None and hydropathy is not None and charge["name"].nunique() == 1:
        ph = result.scores.get("pH")
        labels = ("pH", "Net charge (e)")
        marked_ph = float(ph) if isinstance(ph, int | float) else None
        plots = [
            plot_profile(hydropathy, "hydropathy", "Hydropathy along the sequence", level=0.0),
            plot_curves(
                charge, "ph", {"charge": "charge"}, "Net charge by pH", labels=labels, place=marked_ph
            ),
        ]
        covered |= {"charge.csv", "hydropathy.csv"}
    return [
        table_bundle(figures, "Properties of the sequences"),
        *plots,
        table_bundle(motifs, "Motifs of possible modifications"),
        *default_view(result, without=covered),
    ]


@builtin_view("afcluster")
def show_clusters(result: Result) -> list[Any]:
    """Show a map of the sequences coloured by cluster, the clusters, and the choice of DBSCAN's eps."""
    clusters, sequences, scan = (
        read_table(result, name) for name in ("clusters.csv", "sequences.csv", "eps_scan.csv")
    )
    if clusters is None or sequences is None:
        return default_view(result)
    try:
        plots = join_plots([_plot_sequences(sequences)])
    except ArgumentError:
        plots = []
    tables = [("Clusters", clusters), ("Sequences", sequences)]
    tables += [] if scan is None else [("Choice of eps, on samples of the sequences", scan)]
    return [*plots, *(table_bundle(frame, title) for title, frame in tables)]


def _plot_sequences(sequences: pd.DataFrame) -> Plot:
    """Plot the first two principal components; the query, the first row, is drawn on top.

    Raises:
        ArgumentError: there are no principal components.
    """
    members, query = sequences.iloc[1:], sequences.iloc[0]
    step = max(1, -(-len(members) // _MAX_DOTS))
    plot = plot_groups(members.iloc[::step], "pc1", "pc2", "cluster", "sequence")
    x, y = float(query["pc1"]), float(query["pc2"])
    drawing = replace(
        plot.drawing,
        x=_extend(plot.drawing.x, x),
        y=_extend(plot.drawing.y, y),
        marks=[*plot.drawing.marks, Dots([x], [y], _QUERY_COLOR, ["the query"], "query", STAR_SHAPE)],
    )
    note = f" One in {step} of {count(len(members), 'sequence')} is drawn." if step > 1 else ""
    title = "Principal components of the sequences, by cluster"
    return replace(plot, title=title, words=plot.words + note, drawing=drawing)


def _extend(axis: Axis, value: float) -> Axis:
    """Extend an axis to include a value."""
    return replace(axis, low=min(axis.low, value), high=max(axis.high, value))


@builtin_view("abmpnn")
@builtin_view("ligandmpnn")
@builtin_view("proteinmpnn")
def show_designs(result: Result) -> list[Any]:
    """Show the designed sequences, best first, and the mean probabilities of the amino acids by residue."""
    designs, probabilities = (read_table(result, name) for name in ("designs.csv", "probabilities.csv"))
    if designs is None or probabilities is None or not {*_ABOUT_RESIDUE} <= {*probabilities.columns}:
        return default_view(result)
    rows = probabilities.head(_MAX_RESIDUES)
    matrix = rows[[column for column in rows.columns if len(column) == 1]].T
    matrix.columns = pd.Index(rows["chain"] + rows["residue"].astype(str), name="Residue")
    matrix.index.name = "Amino acid"
    omitted = len(probabilities) - len(rows)
    note = f", the first {len(rows)} of {count(len(probabilities), 'residue')}" if omitted else ""
    title = f"Mean probability of each amino acid in the designs{note}"
    try:
        plots = [plot_matrix(matrix, title, "Probability", 0.0, 1.0)]
    except ArgumentError:
        plots = []
    order = "lowest score" if {"mpnn_score", "score"} & {*designs.columns} else "highest confidence"
    return [
        table_bundle(designs, f"The input, then the designs, {order} first"),
        *plots,
        *default_view(result, without=["designs.csv", "designs.fasta"]),
    ]


@builtin_view("alde")
def show_proposals(result: Result) -> list[Any]:
    """Show the proposed variants, best first, and the measured ones with cross-validated predictions."""
    candidates, measured = (read_table(result, name) for name in ("candidates.csv", "measured.csv"))
    if candidates is None or measured is None:
        return default_view(result)
    try:
        plots = join_plots([plot_scatter(measured, "measured", "cv_mean", "variant")])
    except ArgumentError:
        plots = []
    return [
        table_bundle(candidates, "Variants to measure next, highest acquisition value first"),
        *plots,
        table_bundle(measured, "Measured variants with their cross-validated predictions"),
    ]
