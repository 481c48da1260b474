"""Views for antibodies: numbering, annotation and language models.

Results without the expected files use the default view.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from foldnote import settings
from foldnote.results import Result
from foldnote.viewers.display.batches import list_regions
from foldnote.viewers.display.bundles import compose_result, default_view, table_bundle
from foldnote.viewers.plots.matrix_plot import plot_matrix
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.plots.profile import plot_profile
from foldnote.viewers.registry import builtin_view

_AMINO_ACIDS = list("ACDEFGHIKLMNPQRSTVWY")


@builtin_view("abodybuilder")
@builtin_view("igfold")
@builtin_view("nanobodybuilder")
@builtin_view("tcrbuilder")
def show_predicted_errors(result: Result) -> list[Any]:
    """Show the chains coloured by their predicted error, the error along them, then the tables.

    A result without errors, such as that of one model of ABodyBuilder2, uses the default view.
    """
    scene = None if result.jobs else compose_result(result)
    if scene is None or "error" not in {item.key for item in scene.colorings}:
        return default_view(result)
    label = "Predicted error (Å)"
    errors = next(item.predicted_error for item in result.structures if item.predicted_error is not None)
    return [
        scene if settings.option("view_colors") else scene.model_copy(update={"color": "error"}),
        plot_profile(errors.rename(columns={"error": label}), label, "Predicted error along the chains"),
        *default_view(result, with_scene=False),
    ]


@builtin_view("anarci")
def show_numbering(result: Result) -> list[Any]:
    """Show a table of frameworks and CDRs, then the default view."""
    regions = list_regions(result.regions)
    return [*([] if regions.empty else [table_bundle(regions, "Regions")]), *default_view(result)]


@builtin_view("antibody-annotation")
def show_annotation(result: Result) -> list[Any]:
    """Show germline genes and the CDRs under each definition, then the tables of regions and residues."""
    if result.jobs or not {"germlines.csv", "regions.csv"} <= set(result.tables):
        return show_numbering(result)
    regions = result.tables["regions.csv"]
    is_cdr = regions["region"].str.startswith("CDR")
    cdrs = regions[is_cdr].pivot_table("sequence", ["chain", "region"], "cdr_definition", "first", sort=False)
    tables = [("Germline genes", result.tables["germlines.csv"]), ("CDRs by definition", cdrs.reset_index())]
    bundles = [table_bundle(frame, title) for title, frame in tables]
    return [*bundles, *default_view(result, without={"germlines.csv"})]


@builtin_view("antiberty")
def show_language_model(result: Result) -> list[Any]:
    """Show a summary of each chain, probabilities or attention as heat maps, then all tables."""
    tables = result.tables
    if result.jobs or "summary.csv" not in tables:
        return default_view(result)
    plots = [*_plot_probabilities(result), *_plot_attention(result)]
    large = [name for name in tables if name.endswith(("_embedding.csv", "attention.csv"))]
    return [
        table_bundle(tables["summary.csv"], "Chains"),
        *plots,
        *default_view(result, without={"summary.csv", *large}),
        *(table_bundle(tables[name], name) for name in sorted(large)),
    ]


@builtin_view("ablang")
def show_scan(result: Result) -> list[Any]:
    """Show a summary of each chain, logits or probabilities as heat maps, then all tables."""
    tables = result.tables
    if result.jobs or "summary.csv" not in tables:
        return default_view(result)
    large = [name for name in tables if name.endswith("_embedding.csv")]
    return [
        table_bundle(tables["summary.csv"], "Chains"),
        *_plot_probabilities(result),
        *_plot_logits(result),
        *default_view(result, without={"summary.csv", *large}),
        *(table_bundle(tables[name], name) for name in sorted(large)),
    ]


def _plot_logits(result: Result) -> list[Plot]:
    """Plot the logit of each amino acid at each residue, one plot per chain."""
    if "scan.csv" not in result.tables:
        return []
    plots = []
    for chain, rows in result.tables["scan.csv"].groupby("chain", sort=False):
        matrix = _make_matrix(rows)
        low = float(np.floor(matrix.to_numpy().min()))
        plots.append(plot_matrix(matrix, f"Logit of each amino acid, {chain} chain", "Logit", low))
    return plots


def _make_matrix(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a matrix with amino acids in rows and residues in columns."""
    matrix = rows[_AMINO_ACIDS].astype(float).T
    matrix.columns = pd.Index(rows["residue"] + rows["index"].astype(str), name="Residue")
    matrix.index = pd.Index(_AMINO_ACIDS, name="Amino acid")
    return matrix


@builtin_view("abgpt")
def show_generated(result: Result) -> list[Any]:
    """Show the generated sequences, the lowest perplexity first."""
    if result.jobs or "sequences.csv" not in result.tables:
        return default_view(result)
    table = table_bundle(result.tables["sequences.csv"], "Generated sequences, lowest perplexity first")
    return [table, *default_view(result, without={"sequences.csv", "sequences.fasta"})]


@builtin_view("antifold")
def show_inverse_folding(result: Result) -> list[Any]:
    """Show the sequences, the probabilities of each chain as heat maps, the perplexity, then all tables."""
    tables = result.tables
    if result.jobs or "residues.csv" not in tables:
        return default_view(result)
    residues = tables["residues.csv"]
    names = [name for name in ("sequences.csv",) if name in tables]
    plots = []
    for chain, rows in residues.groupby("chain", sort=False):
        matrix = _make_matrix(rows.rename(columns={"number": "index"}))
        low = float(np.floor(matrix.to_numpy().min()))
        title = f"Log-probability of each amino acid, chain {chain}"
        plots.append(plot_matrix(matrix, title, "Log-probability (nats)", low, 0.0))
    return [
        *(table_bundle(tables[name], "Sequences") for name in names),
        *plots,
        plot_profile(residues, "perplexity", "Perplexity along the chains"),
        *default_view(result, without=set(names)),
    ]


@builtin_view("abnativ")
def show_nativeness(result: Result) -> list[Any]:
    """Show the scores, the nativeness and the probabilities along each chain, then all tables."""
    tables = result.tables
    if result.jobs or not {"scores.csv", "residues.csv"} <= set(tables):
        return default_view(result)
    residues = tables["residues.csv"]
    return [
        table_bundle(tables["scores.csv"], "AbNatiV scores"),
        plot_profile(residues, "nativeness", "Nativeness along the chain"),
        *_plot_probabilities(result),
        *default_view(result, without={"scores.csv"}),
    ]


@builtin_view("antibody-evolution")
def show_votes(result: Result) -> list[Any]:
    """Show the recommended substitutions, the votes against the wild type by residue, then all tables."""
    tables = result.tables
    if result.jobs or not {"substitutions.csv", "positions.csv"} <= set(tables):
        return default_view(result)
    positions = tables["positions.csv"]
    frame = positions.assign(chain="", number=positions["index"])
    return [
        table_bundle(tables["substitutions.csv"], "Recommended substitutions"),
        plot_profile(frame, "votes_against", "Votes against the wild type along the chain"),
        *default_view(result, without={"substitutions.csv"}),
    ]


def _plot_probabilities(result: Result) -> list[Plot]:
    """Plot the probability of each amino acid at each masked residue, one plot per chain."""
    if "residues.csv" not in result.tables:
        return []
    plots = []
    for chain, rows in result.tables["residues.csv"].groupby("chain", sort=False):
        title = f"Probability of each amino acid, {chain} chain"
        plots.append(plot_matrix(_make_matrix(rows), title, "Probability (0 to 1)", 0.0, 1.0))
    return plots


def _plot_attention(result: Result) -> list[Plot]:
    """Plot the attention between residues, averaged over layers and heads, one plot per chain."""
    if "attention.csv" not in result.tables:
        return []
    plots = []
    for chain, rows in result.tables["attention.csv"].groupby("chain", sort=False):
        matrix = rows.pivot(index="from", columns="to", values="attention") * 100
        matrix.index.name, matrix.columns.name = "From residue", "To residue"
        title = f"Attention, {chain} chain (mean of all layers and heads)"
        maximum = float(np.ceil(np.quantile(matrix, 0.99)))
        plots.append(plot_matrix(matrix, title, "Attention (%)", 0.0, maximum))
    return plots
