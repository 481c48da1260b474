"""View for alchemical free energies: the figures, and indicators of whether they can be trusted.

Results without the expected files use the default view.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from foldnote.results import Result
from foldnote.viewers.display.batches import read_table
from foldnote.viewers.display.bundles import Bundle, default_view, message_bundle, table_bundle
from foldnote.viewers.plots.curves import plot_curves
from foldnote.viewers.plots.matrix_plot import plot_matrix
from foldnote.viewers.plots.plot import Plot
from foldnote.viewers.registry import builtin_view

_SHOWN = {"free-energies.csv", "legs.csv", "windows.csv", "overlap.csv", "convergence.csv", "restraints.csv"}
_LEG = ("ligand", "repeat", "leg")
_UNITS = {
    "_kcal_per_mol_per_angstrom2": " (kcal/(mol Å²))",
    "_kcal_per_mol_per_rad2": " (kcal/(mol rad²))",
    "_kcal_per_mol": " (kcal/mol)",
    "_ps_per_window": " per window (ps)",
    "_angstrom": " (Å)",
    "_deg": " (°)",
}
"""Endings of column names, and how the unit is written above a table."""
_ADVISED = 0.03
"""Minimum overlap of neighbours (Klimovich et al. 2015, doi:10.1007/s10822-015-9840-9)."""
_NAMED = 5
"""Maximum number of molecules that the notice names."""


@builtin_view("abfe")
@builtin_view("binding-free-energy")
@builtin_view("hydration-free-energy")
def show_free_energies(result: Result) -> list[Any]:
    """Show the free energies and legs, and overlap and convergence of the leg with the least overlap.

    For binding, also the complexes and the atoms of the restraints.
    """
    energies, legs, overlap, convergence = (
        read_table(result, name)
        for name in ("free-energies.csv", "legs.csv", "overlap.csv", "convergence.csv")
    )
    if energies is None or legs is None or overlap is None or convergence is None or legs.empty:
        return default_view(result)
    worst = legs.sort_values("least_overlap").iloc[0]
    name = f"{worst['ligand']}, repeat {int(worst['repeat'])}, {worst['leg']}"
    overlaps = f"smallest between neighbours {worst['least_overlap']:.2g}, at least {_ADVISED} is advised"
    restraints = read_table(result, "restraints.csv")
    cycle = "" if restraints is None else "; binding = solvent − complex − release"
    return [
        *_warn(energies),
        _show_table(energies, "Free energies"),
        _plot_overlap(_select(overlap, worst), f"{name} ({overlaps})"),
        _plot_convergence(_select(convergence, worst), name),
        _show_table(legs, f"Legs: free energies of turning off the interactions{cycle}"),
        *([] if restraints is None else [_show_table(restraints, "Restraints")]),
        *default_view(result, without=_SHOWN),
    ]


def _warn(energies: pd.DataFrame) -> list[Bundle]:
    """Warn about molecules whose free energies are not converged by the engine's own criteria."""
    if "is_converged" not in energies.columns:
        return []
    names = energies.loc[~energies["is_converged"].astype(str).isin(("True", "true")), "ligand"].astype(str)
    if names.empty:
        return []
    listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    return [
        message_bundle(f"Not converged: {listed}. Overlap and convergence below show where; see the note.")
    ]


def _show_table(frame: pd.DataFrame, title: str) -> Bundle:
    """Return the table with headings and units for its columns; columns of structures come last."""
    last = [name for name in ("smiles",) if name in frame.columns]
    ordered = frame[[*frame.columns.drop(last), *last]]
    return table_bundle(ordered, title, headings={name: _write_label(name) for name in ordered.columns})


def _write_label(name: str) -> str:
    """Write a label: ``least overlap``, or ``free energy (kcal/mol)`` for ``free_energy_kcal_per_mol``."""
    stem, unit = next(
        ((name.removesuffix(end), unit) for end, unit in _UNITS.items() if name.endswith(end)), (name, "")
    )
    label = stem.replace("_", " ").removeprefix("is ")
    return label.replace("smiles", "SMILES").replace("sd of", "SD of").replace("mbar", "MBAR") + unit


def _select(frame: pd.DataFrame, leg: pd.Series) -> pd.DataFrame:
    """Return the rows of one leg."""
    is_own = pd.Series(True, index=frame.index)
    for name in _LEG:
        is_own &= frame[name] == leg[name]
    return frame.loc[is_own]


def _plot_overlap(rows: pd.DataFrame, name: str) -> Plot:
    """Plot the overlap matrix of a leg."""
    matrix = rows.pivot(index="window", columns="other_window", values="overlap").astype(float)
    matrix = matrix.rename_axis(index="Window", columns="Window")
    return plot_matrix(matrix, f"Overlap of windows: {name}", "overlap", high=1.0)


def _plot_convergence(rows: pd.DataFrame, name: str) -> Plot:
    """Plot the free energy of a leg from growing parts of its samples."""
    columns = {"forward_kcal_per_mol": "from the beginning", "reverse_kcal_per_mol": "from the end"}
    errors = {column: column.replace("_kcal", "_error_kcal") for column in columns}
    labels = ("Fraction of the samples", "Free energy (kcal/mol)")
    title = f"Convergence, with MBAR's errors: {name}"
    return plot_curves(rows, "fraction", columns, title, labels=labels, errors=errors)
