"""Validation and idempotent submission of jobs and batches."""
