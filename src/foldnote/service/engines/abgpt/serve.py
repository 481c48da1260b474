"""Prepare a worker for many jobs of AbGPT: its model is loaded once."""

import os

import run
import torch


def load() -> None:
    """Load the model, on one thread: a fork of a process with a thread pool could not use it."""
    torch.set_num_threads(1)
    run.load_pipeline()


def begin() -> None:
    """Use the job's cores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


def use_gpu() -> None:
    """Move the model to the job's GPU."""
    loaded = run.load_pipeline()
    loaded.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    loaded.model.to(loaded.device)
