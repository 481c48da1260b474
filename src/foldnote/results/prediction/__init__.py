"""Predicted models: their files, scores, PAE and ranking."""
