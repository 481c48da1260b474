"""Prepares a worker for many jobs of ANARCI."""


def load() -> None:
    """Import ANARCI, which reads its table of germlines, and Biopython."""
    import anarci  # noqa: F401
