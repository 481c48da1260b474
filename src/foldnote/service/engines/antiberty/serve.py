"""Prepare a worker for many jobs of AntiBERTy: its model is loaded once."""

import os

import run
import torch


def load() -> None:
    """Load the model, on one thread: a fork of a process with a thread pool could not use it."""
    torch.set_num_threads(1)
    run.load_runner()


def begin() -> None:
    """Use the job's cores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


def use_gpu() -> None:
    """Move the model to the job's GPU."""
    runner = run.load_runner()
    runner.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    runner.model.to(runner.device)
