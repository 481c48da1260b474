"""Make what models and PDBFixer draw at random repeatable.

It runs inside the environments of engines that have PyTorch and PDBFixer.
"""

from __future__ import annotations

import functools
import random


def seed_everything(seed: int) -> None:
    """Make the run repeatable on one machine: added atoms are placed at random before they are minimised.

    The refinement runs on one thread (engine.toml), since OpenMM's sums depend on how threads share them.
    """
    import numpy
    import torch
    from pdbfixer import PDBFixer

    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    PDBFixer.addMissingAtoms = functools.partialmethod(PDBFixer.addMissingAtoms, seed=seed % 2**31)
