"""Validating and submitting what a form holds."""
