"""Validating and submitting jobs and batches, never twice."""
