"""State of the windows of a leg between two blocks: files from which a killed run continues.

A window is an alchemical state with the samples that were taken in it.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np


class Configuration(NamedTuple):
    """State of a trajectory. Positions and box vectors in nm, velocities in nm/ps."""

    positions: np.ndarray
    velocities: np.ndarray
    box: np.ndarray


@dataclass
class Checkpoint:
    """Numbers and arrays in a file that is replaced atomically."""

    blocks: int
    """Number of simulated blocks."""

    def save(self, path: Path) -> None:
        """Write the file; other processes see the old or the new one, never a partial one."""
        draft = path.with_suffix(".new")
        with draft.open("wb") as stream:
            np.savez(stream, **{name: np.asarray(value) for name, value in vars(self).items()})
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read a saved file; return None if there is no readable one."""
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
    """Those of the last configuration, shape (states,); empty before the first block."""

    @property
    def configuration(self) -> Configuration:
        """The configuration at the end of the last block."""
        return Configuration(self.positions, self.velocities, self.box)


@dataclass
class Exchange(Checkpoint):
    """The configurations with which the windows continue after an exchange; the first axis is windows."""

    positions: np.ndarray
    velocities: np.ndarray
    box: np.ndarray
    origins: np.ndarray
    """Shape (exchanges, states): at each exchange, the window whose configuration a state took over."""

    def configuration(self, place: int) -> Configuration:
        """Return the configuration with which a window continues."""
        return Configuration(self.positions[place], self.velocities[place], self.box[place])


def name_window(folder: Path, place: int) -> Path:
    """Return the path of a window's checkpoint."""
    return folder / f"window-{place:03}.npz"


def name_exchange(folder: Path) -> Path:
    """Return the path of the last exchange's checkpoint."""
    return folder / "exchange.npz"
