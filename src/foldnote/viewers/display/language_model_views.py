"""Layouts for the results of antibody language models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from foldnote.results import Result
from foldnote.viewers.display.bundles import default_view, table_bundle
from foldnote.viewers.layouts import register_ours
from foldnote.viewers.plots.matrix_plot import plot_matrix
from foldnote.viewers.plots.plot import Plot

_AMINO_ACIDS = list("ACDEFGHIKLMNPQRSTVWY")
_ANTIBERTY_TOOLS = ("antiberty",)


def show_language_model(result: Result) -> list[Any]:
    """What was found for each chain, then probabilities or attention as colours, then all tables."""
    tables = result.tables
    if result.jobs or "summary.csv" not in tables:
        return default_view(result)
    plots = [*_plot_probabilities(result), *_plot_attention(result)]
    hidden = {"summary.csv", *(name for name in tables if name.endswith(("_embedding.csv", "attention.csv")))}
    shown = [table_bundle(tables["summary.csv"], "Chains"), *plots]
    kept = [table_bundle(tables[name], name) for name in sorted(hidden - {"summary.csv"})]
    return [*shown, *default_view(result, without=hidden), *kept]


def _plot_probabilities(result: Result) -> list[Plot]:
    """For each chain the probability of each amino acid at each residue that was masked."""
    if "residues.csv" not in result.tables:
        return []
    table = result.tables["residues.csv"]
    plots = []
    for chain, rows in table.groupby("chain", sort=False):
        names = rows["residue"] + rows["index"].astype(str)
        matrix = rows[_AMINO_ACIDS].astype(float).T
        matrix.columns = pd.Index(names, name="Residue")
        matrix.index = pd.Index(_AMINO_ACIDS, name="Amino acid")
        title = f"Probability of each amino acid, {chain} chain"
        plots.append(plot_matrix(matrix, title, "Probability (0 to 1)", 0.0, 1.0))
    return plots


def _plot_attention(result: Result) -> list[Plot]:
    """For each chain the attention from residue to residue, mean of all layers and heads."""
    if "attention.csv" not in result.tables:
        return []
    plots = []
    for chain, rows in result.tables["attention.csv"].groupby("chain", sort=False):
        matrix = rows.pivot(index="from", columns="to", values="attention") * 100
        matrix.index.name, matrix.columns.name = "From residue", "To residue"
        title = f"Attention, {chain} chain (mean of all layers and heads)"
        most = float(np.ceil(np.quantile(matrix, 0.99)))
        plots.append(plot_matrix(matrix, title, "Attention (%)", 0.0, most))
    return plots


for _tool in _ANTIBERTY_TOOLS:
    register_ours(_tool, show_language_model)
