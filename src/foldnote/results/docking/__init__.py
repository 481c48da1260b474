"""Docked poses and their contacts with the receptor."""
