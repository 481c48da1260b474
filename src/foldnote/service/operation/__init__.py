"""Monitoring of a running service by an administrator's programs: readiness and metrics."""
