"""Prepare a worker for many jobs of ADMET-AI: its models are loaded once."""

import os

import run
import torch

RUNS_MANY = True


def load() -> None:
    """Load the models, on one thread: a fork of a process with a thread pool could not use it."""
    torch.set_num_threads(1)
    run.load_model()


def begin() -> None:
    """Use the job's cores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


def use_gpu() -> None:
    """Make the job's trainers, to which ADMET-AI passes its models, use the GPU."""
    run.load_model().device = "cuda" if torch.cuda.is_available() else "cpu"
