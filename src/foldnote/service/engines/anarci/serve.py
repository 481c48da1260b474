"""Prepare a worker for many jobs of ANARCI."""

from profiles import load_anarci

RUNS_MANY = True


def load() -> None:
    """Import ANARCI, which reads its table of germlines, and read its profiles."""
    load_anarci()
