"""Sequences and residue numbers as people type them."""
