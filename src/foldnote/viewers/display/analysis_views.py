"""Layouts for superposed structures, clustered alignments and proposed variants.

Results without such data use the default layout.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from foldnote.errors import ArgumentError, UnreadableFileError
from foldnote.results import Result, Structure
from foldnote.text import count
from foldnote.viewers.display.bundles import default_view, join_plots, table_bundle
from foldnote.viewers.layouts import register_ours
from foldnote.viewers.plots.drawing import Axis, Dots
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.prediction_plots import plot_groups, plot_scatter
from foldnote.viewers.scene.superposed import compose_superposed

_SUPERPOSED = "superposed"
_MOST_STRUCTURES = 20
_MOST_DOTS = 2_000
_QUERY_COLOR = "#b2182b"


def show_superposed(result: Result) -> list[Any]:
    """All structures in one scene as they were superposed, then how each fits, then the aligned residues."""
    structures = [each for each in result.structures if PurePosixPath(each.name).parent.name == _SUPERPOSED]
    table = _find_table(result, "alignment.csv")
    if table is None or len(structures) < 2 or "file" not in table:
        return default_view(result)
    shown = structures[:_MOST_STRUCTURES]
    rows = {str(row["file"]): row for _, row in table.iterrows()}
    names = [_name_structure(each, rows, str(table["reference"].iloc[0])) for each in shown]
    said = ["reference", *(_describe_fit(rows, each) for each in shown[1:])]
    notes = ["RMSD is the least of the aligned Cα atoms; each TM-score is that of its best superposition."]
    if len(structures) > len(shown):
        notes.append(f"The first {len(shown)} of {count(len(structures), 'structure')} are drawn.")
    scene = compose_superposed(shown, names, said, notes=notes)
    tables = [("How each structure fits the first", table.drop(columns="file")), *_list_pairs(result)]
    return [scene, *(table_bundle(frame, title) for title, frame in tables)]


def _find_table(result: Result, name: str) -> pd.DataFrame | None:
    """A table of the result, None where it is missing or cannot be read."""
    try:
        return result.tables.get(name)
    except UnreadableFileError:
        return None


def _name_structure(structure: Structure, rows: dict[str, pd.Series], reference: str) -> str:
    row = rows.get(PurePosixPath(structure.name).name)
    return reference if row is None else str(row["structure"])


def _describe_fit(rows: dict[str, pd.Series], structure: Structure) -> str:
    row = rows.get(PurePosixPath(structure.name).name)
    if row is None:
        return "not in the table"
    return (
        f"TM-score {row['tm_score_by_reference']:.3f} by the reference's length and"
        f" {row['tm_score_by_structure']:.3f} by its own, RMSD {row['rmsd']:.2f} Å over"
        f" {count(int(row['aligned_residues']), 'residue')}, {row['identity']:.0%} identical"
    )


def _list_pairs(result: Result) -> list[tuple[str, pd.DataFrame]]:
    pairs = _find_table(result, "pairs.csv")
    return [] if pairs is None else [("Aligned residues", pairs)]


def show_clusters(result: Result) -> list[Any]:
    """The map of the sequences coloured by cluster, then the clusters, then how eps was chosen."""
    clusters, sequences, scan = (
        _find_table(result, name) for name in ("clusters.csv", "sequences.csv", "eps_scan.csv")
    )
    if clusters is None or sequences is None:
        return default_view(result)
    try:
        plots = join_plots([_draw_map(sequences)])
    except ArgumentError:
        plots = []
    tables = [("Clusters", clusters), ("Sequences", sequences)]
    tables += [] if scan is None else [("Choice of eps, on samples of the sequences", scan)]
    return [*plots, *(table_bundle(frame, title) for title, frame in tables)]


def _draw_map(sequences: pd.DataFrame) -> Plot:
    """The sequences by their principal components, the query, which is the first row, above all others.

    Raises:
        ArgumentError: there are no principal components.
    """
    others, query = sequences.iloc[1:], sequences.iloc[0]
    step = max(1, -(-len(others) // _MOST_DOTS))
    plot = plot_groups(others.iloc[::step], "pc1", "pc2", "cluster", "sequence")
    x, y = float(query["pc1"]), float(query["pc2"])
    drawing = replace(
        plot.drawing,
        x=_widen(plot.drawing.x, x),
        y=_widen(plot.drawing.y, y),
        marks=[*plot.drawing.marks, Dots([x], [y], _QUERY_COLOR, ["the query"], "query")],
    )
    told = f" One in {step} of {count(len(others), 'sequence')} is drawn." if step > 1 else ""
    title = "Principal components of the sequences, by cluster"
    return replace(plot, title=title, words=plot.words + told, drawing=drawing)


def _widen(axis: Axis, value: float) -> Axis:
    """The axis with room for a value."""
    return replace(axis, low=min(axis.low, value), high=max(axis.high, value))


def show_proposals(result: Result) -> list[Any]:
    """The candidates from the best, then what cross-validation says of the measured variants."""
    candidates, measured = (_find_table(result, name) for name in ("candidates.csv", "measured.csv"))
    if candidates is None or measured is None:
        return default_view(result)
    try:
        plots = join_plots([plot_scatter(measured, "measured", "cv_mean", "variant")])
    except ArgumentError:
        plots = []
    return [
        table_bundle(candidates, "Variants to measure next, the highest acquisition first"),
        *plots,
        table_bundle(measured, "Measured variants, with their cross-validated prediction"),
    ]


register_ours("align-pdbs", show_superposed)
register_ours("afcluster", show_clusters)
register_ours("alde", show_proposals)
