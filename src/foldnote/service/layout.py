"""The names of what a service keeps in its data folder."""

from __future__ import annotations

DATABASE = "service.sqlite3"
KEY_FILE = "key"
OBJECTS = "objects"
JOBS = "jobs"
REPLICAS = "replicas"
"""Locks of the names of replicas, and the mark of their database; only where that is at PostgreSQL."""
CONTENTS = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-run", OBJECTS, JOBS, KEY_FILE)
"""All that belongs together: a backup has all of it, and a restore replaces all of it."""
