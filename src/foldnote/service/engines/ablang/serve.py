"""Prepare a worker for many jobs of AbLang: both of its models are loaded once."""

import os

import run
import torch


def load() -> None:
    """Load the models, on one thread: a fork of a process with a thread pool could not use them."""
    torch.set_num_threads(1)
    for name in run.FIELDS:
        run.load_model(name)


def begin() -> None:
    """Use the job's cores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
