"""Stands where the package of DiffAb is."""
