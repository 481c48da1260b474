"""Exchange configurations between the windows of a leg after each block, as in replica exchange.

Many swaps of two randomly drawn states are attempted, each accepted by the Metropolis rule; this comes close
to drawing the assignment itself (Chodera and Shirts 2011, doi:10.1063/1.3660669).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from windows import Exchange, SampledWindow


def exchange(windows: Sequence[SampledWindow], before: Exchange | None, seed: int) -> Exchange:
    """Exchange the configurations of windows that have simulated the same number of blocks.

    Args:
        before: the exchange before this one.
        seed: seed of the random numbers.
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
    """Draw the configuration with which each state continues.

    Args:
        potentials: reduced, shape (states, configurations); each state now has the configuration of the same
            index.
        seed: seed of the random numbers.

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
    """Count moves of a configuration from the first state to the last or back, by `Exchange.origins`."""
    states = origins.shape[1]
    held = np.arange(states)
    ends = {0: 0, states - 1: states - 1}
    """The end that a configuration visited last."""
    crossings = 0
    for row in origins:
        held = held[row]
        for end in (0, states - 1):
            crossings += ends.get(held[end], end) != end
            ends[held[end]] = end
    return crossings
