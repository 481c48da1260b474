"""Recommend tools for a described task, locally and with reasons, without network access."""
