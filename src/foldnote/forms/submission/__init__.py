"""Validate and submit a form's settings."""
