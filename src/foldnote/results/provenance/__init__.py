"""Manifest, RO-Crate and the workflow that led to a result."""
