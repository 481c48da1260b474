"""Plots of results, as data that SVG and matplotlib writers draw."""
