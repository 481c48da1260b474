"""Prepare a worker for many jobs of LigandMPNN: PyTorch and its modules are loaded once.

The model itself is created in each job, since that draws random numbers, as in LigandMPNN's own program.
"""

import os

import torch
from packing import load_packer


def load() -> None:
    """Load the modules, on one thread: a fork of a process with a thread pool could not use it."""
    torch.set_num_threads(1)
    load_packer()


def begin() -> None:
    """Use the job's cores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
