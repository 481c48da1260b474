"""Plots of a prediction and of a batch."""
