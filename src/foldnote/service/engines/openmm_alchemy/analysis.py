"""Free energies from the samples of a leg by MBAR, with diagnostics of their reliability.

MBAR: Shirts and Chodera (2008, doi:10.1063/1.2978177), by pymbar. Errors are those of uncorrelated samples:
    each window is first thinned by its statistical inefficiency (Chodera et al. 2007, doi:10.1021/ct0502864).
    The overlap matrix is that of Klimovich, Shirts and Mobley (2015, doi:10.1007/s10822-015-9840-9), who
    recommend at least 0.03 between neighbours.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    from pymbar import MBAR, timeseries

logging.getLogger("pymbar").setLevel(logging.ERROR)
FEW_SAMPLES = 20
"""Samples per window below which the statistical inefficiency is not estimated, and errors are too small."""
MIN_OVERLAP = 0.03
NO_OVERLAP = 1e-9
"""Overlap of neighbours below which MBAR's error is rounding only, of any size."""
SAME = 1e-9
"""Difference in kT below which states are identical; their error may be the root of a negative number."""
FRACTIONS = tuple(step / 10 for step in range(1, 11))


@dataclass(frozen=True)
class Estimate:
    """Free energies of a leg's states in kT, the first being zero, and their errors."""

    energies: np.ndarray
    errors: np.ndarray
    """Error of the difference from the first state; NaN if the overlap is too small for an estimate."""
    steps: np.ndarray
    """Error of each difference between neighbours."""
    overlap: np.ndarray
    """Shape (states, states); each row sums to 1."""
    inefficiency: tuple[float, ...]
    """For each window, the number of correlated samples that count as one."""
    samples: tuple[int, ...]
    """For each window, the number of samples used."""

    @property
    def total(self) -> float:
        """Free energy of the last state relative to the first, in kT."""
        return float(self.energies[-1])

    @property
    def error(self) -> float:
        """Error of `total`, in kT."""
        return float(self.errors[-1])

    @property
    def least_overlap(self) -> float:
        """The smallest overlap of neighbours."""
        return float(min(np.diag(self.overlap, 1).min(), np.diag(self.overlap, -1).min()))


def estimate(windows: Sequence[np.ndarray]) -> Estimate:
    """Estimate the free energies of the states from reduced potentials, with one window per state."""
    thinned, inefficiency = zip(*(thin(each, place) for place, each in enumerate(windows)), strict=True)
    counts = [each.shape[1] for each in thinned]
    energies = np.hstack(thinned)
    energies = energies - energies.min(axis=0)
    with contextlib.redirect_stdout(io.StringIO()):
        mbar = MBAR(energies, np.array(counts), solver_protocol="robust", relative_tolerance=1e-9)
        found = mbar.compute_free_energy_differences()
        overlap = mbar.compute_overlap()["matrix"]
    is_same = np.abs(found["Delta_f"]) < SAME
    errors = np.where(is_same & np.isnan(found["dDelta_f"]), 0.0, found["dDelta_f"])
    is_apart = np.minimum(np.diag(overlap, 1), np.diag(overlap, -1)) < NO_OVERLAP
    errors[0, 1:][np.logical_or.accumulate(is_apart)] = math.nan
    return Estimate(
        np.array(found["Delta_f"][0]),
        np.array(errors[0]),
        np.diag(errors, 1).copy(),
        np.array(overlap),
        tuple(inefficiency),
        tuple(counts),
    )


def thin(window: np.ndarray, place: int) -> tuple[np.ndarray, float]:
    """Return the uncorrelated samples of a window and its statistical inefficiency."""
    count = window.shape[1]
    neighbour = place + 1 if place + 1 < window.shape[0] else place - 1
    series = window[neighbour] - window[place]
    if count < FEW_SAMPLES or np.ptp(series) < 1e-6:
        return window, 1.0
    inefficiency = max(1.0, float(timeseries.statistical_inefficiency(series)))
    kept = timeseries.subsample_correlated_data(series, g=inefficiency)
    return window[:, kept], inefficiency


@dataclass(frozen=True)
class Convergence:
    """A leg's free energy in kT, with its error, from the first and from the last part of its samples."""

    fraction: float
    forward: tuple[float, float]
    reverse: tuple[float, float]


def follow(windows: Sequence[np.ndarray]) -> list[Convergence]:
    """Estimate the leg from growing parts of its samples, from the beginning and from the end."""
    count = min(each.shape[1] for each in windows)
    rows = []
    for fraction in FRACTIONS:
        part = max(2, math.ceil(fraction * count))
        if part > count:
            continue
        forward = estimate([each[:, :part] for each in windows])
        reverse = estimate([each[:, -part:] for each in windows])
        rows.append(Convergence(fraction, (forward.total, forward.error), (reverse.total, reverse.error)))
    return rows


def differ_beyond_error(rows: Sequence[Convergence]) -> bool:
    """Return whether first and last half differ by more than twice their error, or the error is unknown."""
    for row in rows:
        if math.isclose(row.fraction, 0.5):
            error = math.hypot(row.forward[1], row.reverse[1])
            return not abs(row.forward[0] - row.reverse[0]) <= 2 * error
    return False


def spread_by_chance(error: float, repeats: int) -> float:
    """Return the standard deviation that repeats with this error exceed in 5 % of cases (chi-squared).

    Windows that miss a slow motion have small errors, but different figures in each repeat.
    """
    return error * math.sqrt(float(chi2.ppf(0.95, repeats - 1)) / (repeats - 1))
