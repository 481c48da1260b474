"""Geometry of the protein backbone, shared with engines: it imports NumPy only, and nothing of foldnote."""
