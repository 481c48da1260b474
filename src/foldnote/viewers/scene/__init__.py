"""Scenes: what a 3D view shows, as plain data."""
