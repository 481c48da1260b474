"""Sample the legs of a free energy until their error is small enough, and report their quality."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from analysis import FEW_SAMPLES, MIN_OVERLAP, Convergence, Estimate, differ_beyond_error, estimate, follow
from engine_protocol import report
from exchanges import count_crossings
from sampling import Leg, Lengths, sample
from systems import LONGEST_STEP

KCAL = 4.184
"""kJ per kcal."""
MIN_SHARE = 0.2
"""Share of the production before which no leg ends early."""
MIN_SAMPLES = 25
"""Uncorrelated samples of each window before which no leg ends early."""
REPORT_S = 2.0


@dataclass
class LegResult:
    """A leg of one repeat; energies in kcal/mol."""

    ligand: str
    repeat: int
    leg: Leg
    estimate: Estimate
    convergence: Sequence[Convergence]
    production: float
    """Time in ps of each window."""
    is_early: bool
    sampled: int
    """Samples of each window; the estimate uses the uncorrelated ones."""
    origins: np.ndarray
    """Shape (exchanges, windows): at each exchange, the window whose configuration each one took over."""

    @property
    def unit(self) -> float:
        """kcal/mol per kT."""
        return 1 / self.leg.beta / KCAL

    @property
    def total(self) -> float:
        """Free energy of switching the interactions off."""
        return self.estimate.total * self.unit

    @property
    def error(self) -> float:
        """MBAR's error of `total`."""
        return self.estimate.error * self.unit

    @property
    def is_converged(self) -> bool:
        """Whether neighbours overlap, both halves agree and there are enough samples for both checks."""
        is_told = self.sampled >= FEW_SAMPLES and math.isfinite(self.error)
        return (
            is_told
            and self.estimate.least_overlap >= MIN_OVERLAP
            and not differ_beyond_error(self.convergence)
        )

    @property
    def crossings(self) -> int:
        """How often a configuration moved from the first window to the last or back."""
        return count_crossings(self.origins)

    @property
    def exchanged_shares(self) -> list[float | None]:
        """The share of exchanges at which each window took over the configuration of another."""
        count, windows = self.origins.shape
        moved = self.origins != np.arange(windows)
        return [float(each) for each in moved.mean(axis=0)] if count else [None] * windows

    def key(self) -> dict[str, Any]:
        """Return the first columns of its rows."""
        return {"ligand": self.ligand, "repeat": self.repeat, "leg": self.leg.name}


@dataclass
class Progress:
    """Reports the share of all legs that is done, at most every REPORT_S."""

    total: int
    done: int = 0
    last_reported: float = field(default_factory=time.monotonic)

    def report_progress(self, part: float, message: str) -> None:
        """Report that a ``part`` of the current leg is done."""
        if time.monotonic() - self.last_reported > REPORT_S:
            self.last_reported = time.monotonic()
            report(0.02 + 0.97 * (self.done + part) / self.total, message)


def plan_lengths(settings: dict[str, Any], notes: list[str]) -> Lengths:
    """Return the lengths of the settings in whole blocks."""
    timestep = settings["timestep"]
    if timestep > LONGEST_STEP:
        notes.append("The solute's hydrogens have a mass of 3 u, since the time step is above 2 fs.")
    return Lengths.plan(timestep / 1000, settings["equilLength"], settings["prodLength"])


def run_leg(
    ligand: str, repeat: int, leg: Leg, folder: Path, target: float, report_progress: Callable[[float], None]
) -> LegResult:
    """Sample a leg until its error is at most ``target`` in kcal/mol, or completely if ``target`` is 0."""

    def is_enough(windows: Sequence[np.ndarray]) -> bool:
        if target <= 0 or windows[0].shape[1] < MIN_SHARE * planned:
            return False
        found = estimate(windows)
        return min(found.samples) >= MIN_SAMPLES and found.error / leg.beta / KCAL <= target

    planned = leg.lengths.production_blocks * leg.lengths.samples_per_block
    samples = sample(leg, folder, report_progress, is_enough)
    windows = samples.energies
    count = windows[0].shape[1]
    simulated = count * leg.lengths.interval
    return LegResult(
        ligand,
        repeat,
        leg,
        estimate(windows),
        follow(windows),
        simulated,
        count < planned,
        count,
        samples.origins,
    )
