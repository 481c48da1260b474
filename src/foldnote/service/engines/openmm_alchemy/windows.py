"""What the windows of a leg have between two blocks: files from which a run that was killed goes on.

A window is an alchemical state with the samples that were taken in it. Between two blocks the windows
exchange their configurations, as in replica exchange: many attempts to swap those of two states drawn at
random, each accepted by Metropolis's rule, which comes close to drawing the assignment itself (Chodera and
Shirts 2011, doi:10.1063/1.3660669).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np


class Configuration(NamedTuple):
    """Where a trajectory is. Positions and box vectors in nm, velocities in nm/ps."""

    positions: np.ndarray
    velocities: np.ndarray
    box: np.ndarray


@dataclass
class Checkpoint:
    """Numbers and arrays in a file that is replaced as a whole."""

    blocks: int
    """Blocks that are simulated."""

    def save(self, path: Path) -> None:
        """Write the file; another process finds the old or the new one, never half of it."""
        draft = path.with_suffix(".new")
        with draft.open("wb") as stream:
            np.savez(stream, **{name: np.asarray(value) for name, value in vars(self).items()})
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read a file that was saved; None if there is none that can be read."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                blocks, *others = (arrays[each.name] for each in fields(cls))
                return cls(int(blocks), *others)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None


@dataclass
class SampledWindow(Checkpoint):
    """One state's samples, and the configuration at the end of its last block."""

    positions: np.ndarray
    velocities: np.ndarray
    box: np.ndarray
    energies: np.ndarray
    """Reduced potentials, shape (states, samples), of the parts that depend on a parameter."""
    last: np.ndarray
    """The same of the last configuration, shape (states,); empty before the first block."""

    @property
    def configuration(self) -> Configuration:
        """At the end of the last block."""
        return Configuration(self.positions, self.velocities, self.box)


@dataclass
class Exchange(Checkpoint):
    """The configurations with which the windows go on after an exchange; their first axis is the windows'."""

    positions: np.ndarray
    velocities: np.ndarray
    box: np.ndarray
    origins: np.ndarray
    """Shape (exchanges, states): at each exchange, the window whose configuration a state took over."""

    def configuration(self, place: int) -> Configuration:
        """With which a window goes on."""
        return Configuration(self.positions[place], self.velocities[place], self.box[place])


def name_window(folder: Path, place: int) -> Path:
    """The checkpoint of a window."""
    return folder / f"window-{place:03}.npz"


def name_exchange(folder: Path) -> Path:
    """The checkpoint of the last exchange."""
    return folder / "exchange.npz"


def exchange(windows: Sequence[SampledWindow], before: Exchange | None, seed: int) -> Exchange:
    """Exchange the configurations of windows that have simulated as many blocks.

    Args:
        before: the exchange before this one.
        seed: of the random numbers.
    """
    origins = assign(np.column_stack([each.last for each in windows]), seed)
    ends = [windows[place].configuration for place in origins]
    return Exchange(
        windows[0].blocks,
        np.stack([each.positions for each in ends]),
        np.stack([each.velocities for each in ends]),
        np.stack([each.box for each in ends]),
        origins[None] if before is None else np.vstack([before.origins, origins]),
    )


def assign(potentials: np.ndarray, seed: int) -> np.ndarray:
    """Draw which configuration each state goes on with.

    Args:
        potentials: reduced, shape (states, configurations), where the state of the same number has each now.
        seed: of the random numbers.

    Returns:
        The configuration of each state, shape (states,).
    """
    count = len(potentials)
    random = np.random.default_rng(seed)
    taken = list(range(count))
    rows = potentials.tolist()
    pairs = random.integers(count, size=(count**3, 2)).tolist()
    limits = random.exponential(size=len(pairs)).tolist()
    for (one, two), limit in zip(pairs, limits, strict=True):
        mine, other = taken[one], taken[two]
        if rows[one][other] + rows[two][mine] - rows[one][mine] - rows[two][other] <= limit:
            taken[one], taken[two] = other, mine
    return np.array(taken)


def count_crossings(origins: np.ndarray) -> int:
    """How often a configuration came from the first state to the last or back, by `Exchange.origins`."""
    states = origins.shape[1]
    held = np.arange(states)
    ends = {0: 0, states - 1: states - 1}
    """The end at which a configuration was last."""
    crossings = 0
    for row in origins:
        held = held[row]
        for end in (0, states - 1):
            crossings += ends.get(held[end], end) != end
            ends[held[end]] = end
    return crossings
