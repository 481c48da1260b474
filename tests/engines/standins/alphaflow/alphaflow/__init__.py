"""Stands where AlphaFlow's package is."""
