"""Stands where the paths of a lab are."""
