"""Scenes: the content of a 3D view as plain data."""
