"""Geometry of the protein backbone that engines share: NumPy only, nothing of foldnote is imported."""
