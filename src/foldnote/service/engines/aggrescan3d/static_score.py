"""The static Aggrescan3D score of each residue.

Zambrano, Jamroz, Szczasiuk, Pujols, Kmiecik, Ventura: Nucleic Acids Research 43, W306 (2015). A residue's own
aggregation propensity is weighted by its exposure, with none below 10 %; those of exposed residues around it
are added, with weights that fall with distance. Propensities are those of AGGRESCAN (Conchillo-Solé et al.,
BMC Bioinformatics 8, 65, 2007), measured in living cells.
"""

from __future__ import annotations

import numpy as np
from near_atoms import find_near
from numpy.typing import NDArray

PROPENSITIES = {
    "I": 1.9136, "F": 1.8456, "V": 1.6856, "L": 1.4716, "Y": 1.2506, "W": 1.1286, "M": 1.0016, "C": 0.6956,
    "A": 0.0556, "T": -0.0674, "S": -0.2024, "P": -0.2424, "G": -0.4434, "K": -1.6164, "H": -0.9414,
    "Q": -1.1394, "R": -1.7534, "N": -1.2104, "E": -1.7304, "D": -1.7014,
}  # fmt: skip
MIN_EXPOSED = 10.0
"""Relative area in % below which a residue is buried."""
MAX_EXPOSED = 55.0
"""Relative area in % above which more area has no effect."""
SCALE, STEEPNESS = 0.0599, 0.0521
DISTANCE_A = 10.0
"""Cα distance up to which residues affect each other."""
NEIGHBOUR_SCALE, DECAY = 1.2915, 2.56

Floats = NDArray[np.float64]


def score_residues(letters: str, exposed: Floats, alphas: Floats) -> Floats:
    """Return the score of each residue, without a unit: above 0 it tends to aggregate.

    Args:
        letters: one-letter codes.
        exposed: relative areas in %, shape (n,).
        alphas: positions of the Cα atoms, shape (n, 3), Å; NaN for a residue without one, which is scored by
            itself.
    """
    percents = np.round(exposed, 1)  # the original reads them from a table with one decimal
    propensities = np.array([PROPENSITIES[letter] for letter in letters])
    own = propensities * SCALE * np.exp(STEEPNESS * np.minimum(percents, MAX_EXPOSED))
    own[percents < MIN_EXPOSED] = 0.0
    scores = own.copy()
    placed = np.flatnonzero(np.isfinite(alphas).all(axis=1))
    for ones, others in find_near(alphas[placed], DISTANCE_A):
        ones, others = placed[ones], placed[others]
        distances = np.linalg.norm(alphas[ones] - alphas[others], axis=1)
        weights = own[others] * NEIGHBOUR_SCALE * np.exp(-DECAY * distances / DISTANCE_A)
        np.add.at(scores, ones, np.where(own[ones] == 0, 0.0, weights))
    return scores
