"""Comparison of results: structures by region, aligned sequences, settings that differ, scores."""
