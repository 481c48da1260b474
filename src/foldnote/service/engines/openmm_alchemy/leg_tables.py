"""Write the tables of legs, windows, overlap and convergence, and notes for their readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from alchemy import ELECTROSTATICS, STERICS
from analysis import FEW_SAMPLES, MIN_OVERLAP, differ_beyond_error, spread_by_chance
from engine_protocol import write_table
from legs import LegResult

LEG_COLUMNS = (
    *("ligand", "repeat", "leg", "free_energy_kcal_per_mol", "error_kcal_per_mol", "least_overlap"),
    *("windows", "production_ps_per_window", "stopped_early", "crossings"),
)
"""Columns of legs.csv; the free energy is that of switching the interactions off; how often a configuration
moved from the first window to the last or back."""
FIGURES_OF_WINDOWS = (
    *("free_energy_kcal_per_mol", "error_kcal_per_mol", "overlap_with_next"),
    *("samples", "statistical_inefficiency", "exchanged_share"),
)
"""Columns of windows.csv after those of its state: free energy relative to the first window with its error;
samples used; share of the exchanges at which it took over the configuration of another window."""
OVERLAP_COLUMNS = ("ligand", "repeat", "leg", "window", "other_window", "overlap")
CONVERGENCE_COLUMNS = (
    *("ligand", "repeat", "leg", "fraction", "forward_kcal_per_mol", "forward_error_kcal_per_mol"),
    *("reverse_kcal_per_mol", "reverse_error_kcal_per_mol"),
)
"""Columns of convergence.csv: share of the samples; the leg's free energy from the first and last ones."""


def write_legs(
    legs: Sequence[LegResult],
    parameters: Sequence[str] = (ELECTROSTATICS, STERICS),
    more: Sequence[dict[str, Any]] = (),
) -> None:
    """Write the four tables.

    Args:
        parameters: parameters of the states, columns of windows.csv.
        more: additional rows of legs.csv.
    """
    windows = ("ligand", "repeat", "leg", "window", *parameters, *FIGURES_OF_WINDOWS)
    write_table("legs.csv", [*map(list_leg, legs), *more], LEG_COLUMNS)
    write_table("windows.csv", (row for each in legs for row in list_windows(each)), windows)
    write_table("overlap.csv", (row for each in legs for row in list_overlap(each)), OVERLAP_COLUMNS)
    write_table(
        "convergence.csv", (row for each in legs for row in list_convergence(each)), CONVERGENCE_COLUMNS
    )


def round_row(row: dict[str, Any]) -> dict[str, Any]:
    """Round figures to four decimals; missing and unknown ones become empty."""
    return {
        name: "" if value is None else round_figure(value) if isinstance(value, float) else value
        for name, value in row.items()
    }


def round_figure(value: float) -> str:
    """Format four decimals; empty for an unknown error."""
    return f"{value + 0.0:.4f}" if math.isfinite(value) else ""


def list_leg(each: LegResult) -> dict[str, Any]:
    """Return a row of legs.csv."""
    return each.key() | round_row(
        {
            "free_energy_kcal_per_mol": each.total,
            "error_kcal_per_mol": each.error,
            "least_overlap": each.estimate.least_overlap,
            "windows": len(each.leg.states),
            "production_ps_per_window": each.production,
            "stopped_early": each.is_early,
            "crossings": each.crossings,
        }
    )


def list_windows(each: LegResult) -> list[dict[str, Any]]:
    """Return the rows of windows.csv."""
    found = each.estimate
    beside = [*np.diag(found.overlap, 1).tolist(), None]
    shares = each.exchanged_shares
    return [
        each.key()
        | {"window": number + 1, "samples": found.samples[number]}
        | round_row(dict(state))
        | round_row(
            {
                "free_energy_kcal_per_mol": float(found.energies[number]) * each.unit,
                "error_kcal_per_mol": float(found.errors[number]) * each.unit,
                "overlap_with_next": beside[number],
                "statistical_inefficiency": found.inefficiency[number],
                "exchanged_share": shares[number],
            }
        )
        for number, state in enumerate(each.leg.states)
    ]


def list_overlap(each: LegResult) -> list[dict[str, Any]]:
    """Return the rows of overlap.csv."""
    return [
        each.key() | {"window": one + 1, "other_window": two + 1, "overlap": f"{value:.4f}"}
        for (one, two), value in np.ndenumerate(each.estimate.overlap)
    ]


def list_convergence(each: LegResult) -> list[dict[str, Any]]:
    """Return the rows of convergence.csv."""
    names, rows = CONVERGENCE_COLUMNS[4:], []
    for row in each.convergence:
        values = (value * each.unit for value in (*row.forward, *row.reverse))
        figures = round_row(dict(zip(names, values, strict=True)))
        rows.append(each.key() | {"fraction": f"{row.fraction:.1f}"} | figures)
    return rows


def summarize(
    name: str, values: Sequence[float], errors: Sequence[float], legs: Sequence[LegResult]
) -> dict[str, Any]:
    """Return the figures of a free energy over its repeats.

    Args:
        name: name of the column with the mean.
        values: one for each repeat, in kcal/mol.
        errors: MBAR's error of each.
        legs: legs of all repeats.
    """
    count = len(values)
    mbar_error = math.sqrt(sum(error**2 for error in errors)) / count
    is_known = math.isfinite(mbar_error)
    spread = float(np.std(values, ddof=1)) if count > 1 else None
    row = {
        name: float(np.mean(values)),
        "uncertainty_kcal_per_mol": max(mbar_error, (spread or 0.0) / math.sqrt(count)) if is_known else None,
        "sd_of_repeats_kcal_per_mol": spread,
        "mbar_error_kcal_per_mol": mbar_error if is_known else None,
        "repeats": count,
        "least_overlap": min(each.estimate.least_overlap for each in legs),
    }
    return row | {"is_converged": all(each.is_converged for each in legs) and not repeats_differ(row)}


def repeats_differ(row: dict[str, Any]) -> bool:
    """Return whether the repeats of a row of `summarize` differ by more than MBAR's errors explain."""
    count, error = row["repeats"], row["mbar_error_kcal_per_mol"]
    if count < 2 or error is None:
        return False
    own_error = error * math.sqrt(count)
    return bool(row["sd_of_repeats_kcal_per_mol"] > spread_by_chance(own_error, count))


def describe_legs(legs: Sequence[LegResult], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return notes on the legs and the free energies (rows of `summarize`) for readers of the figures."""
    notes = []
    if apart := sum(map(repeats_differ, rows)):
        notes.append(
            f"The repeats of {apart} of {len(rows)} molecules are further apart than MBAR's errors explain"
            " (5% level): windows missed a slow motion, and the figures are not converged. Raise the lengths."
        )
    poor = [each for each in legs if each.estimate.least_overlap < MIN_OVERLAP]
    if poor:
        notes.append(
            f"In {len(poor)} of {len(legs)} legs neighbouring states overlap by less than {MIN_OVERLAP}:"
            " their free energies and errors are not reliable. Raise the number of windows or the length."
        )
    unknown = [each for each in legs if not math.isfinite(each.error)]
    if unknown:
        notes.append(
            f"In {len(unknown)} of {len(legs)} legs states overlap so little that MBAR has no error; it is"
            " left empty, and the free energy means nothing."
        )
    if any(each.sampled < FEW_SAMPLES for each in legs):
        notes.append(
            f"Windows have fewer than {FEW_SAMPLES} samples: their correlation could not be estimated, and"
            " the errors are too small. Raise the production length."
        )
    unsure = [each for each in legs if differ_beyond_error(each.convergence)]
    if unsure:
        notes.append(
            f"In {len(unsure)} of {len(legs)} legs the first and the second half differ by more than twice"
            " their error: they are not converged. Raise the equilibration and the production length."
        )
    if any(each.is_early for each in legs):
        notes.append("Legs ended early, when MBAR's error was small enough; legs.csv says which.")
    if any(row["repeats"] == 1 for row in rows):
        notes.append("One repeat has no spread; the uncertainty is MBAR's error alone.")
    return notes
