"""Superposition of structures: pairing, structural alignment, least-squares fit."""
