"""Macromolecular structures: readers, chains, confidence, secondary structure, geometry."""
