"""Drawings in 2D: molecules, their interactions with residues, and small ones for rows of tables."""
