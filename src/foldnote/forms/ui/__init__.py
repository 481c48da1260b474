"""Widgets, labels and styles that all fields share."""
