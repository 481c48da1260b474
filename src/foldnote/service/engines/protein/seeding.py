"""Make the random numbers of models and PDBFixer repeatable.

It runs inside the environments of engines that have PyTorch and PDBFixer.
"""

from __future__ import annotations

import functools
import random


def seed_everything(seed: int) -> None:
    """Make the run repeatable on one machine: added atoms are placed at random before minimisation.

    The refinement uses one thread (engine.toml), since OpenMM's sums depend on their distribution over
    threads.
    """
    import numpy
    import torch
    from pdbfixer import PDBFixer

    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    PDBFixer.addMissingAtoms = functools.partialmethod(PDBFixer.addMissingAtoms, seed=seed % 2**31)
