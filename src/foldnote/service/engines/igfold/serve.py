"""Prepare a worker for many jobs of IgFold: its models and AntiBERTy are loaded once."""

import os

import run
import torch


def load() -> None:
    """Load the models, on one thread: a fork of a process with a thread pool could not use it."""
    torch.set_num_threads(1)
    run.load_runner()


def begin() -> None:
    """Use the job's cores."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


def use_gpu() -> None:
    """Move IgFold's models and AntiBERTy to the job's GPU."""
    runner = run.load_runner()
    runner.device = runner.antiberty.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    for model in (*runner.models, runner.antiberty.model):
        model.to(runner.device)
