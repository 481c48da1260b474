"""Names of the files and folders in a service's data folder."""

from __future__ import annotations

DATABASE = "service.sqlite3"
KEY_FILE = "key"
OBJECTS = "objects"
JOBS = "jobs"
REPLICAS = "replicas"
"""Locks of the replicas' names, and the identity of their database; only with PostgreSQL."""
BUCKET_MARK = "bucket.json"
"""Address of the bucket that holds the contents instead of `objects`; only with a bucket."""
COPIES = "copies"
"""Cache of the bucket's newest contents."""
CONTENTS = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-run", OBJECTS, JOBS, KEY_FILE)
"""Everything that a backup contains and a restore replaces."""
