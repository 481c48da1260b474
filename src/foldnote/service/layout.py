"""The names of what a service keeps in its data folder."""

from __future__ import annotations

DATABASE = "service.sqlite3"
KEY_FILE = "key"
OBJECTS = "objects"
JOBS = "jobs"
REPLICAS = "replicas"
"""Locks of the names of replicas, and the mark of their database; only where that is at PostgreSQL."""
BUCKET_MARK = "bucket.json"
"""Which bucket holds the contents, in place of `objects`; only where there is one."""
COPIES = "copies"
"""Copies of the newest contents of the bucket."""
CONTENTS = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-run", OBJECTS, JOBS, KEY_FILE)
"""All that belongs together: a backup has all of it, and a restore replaces all of it."""
