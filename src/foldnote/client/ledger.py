"""What was submitted where: the memory that keeps a notebook from submitting twice.

Two small tables in the user's data folder. One leads from a submission's identity to the job's name, the
other from a notebook cell to the last job that was submitted from its form. The ledger is a hint and may be
deleted at any time: the service knows its jobs, and names are derived from the identity.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foldnote import settings

_SCHEMA = """
CREATE TABLE IF NOT EXISTS submissions (
    service TEXT NOT NULL, identity TEXT NOT NULL, job_name TEXT NOT NULL, tool TEXT NOT NULL,
    submitted TEXT NOT NULL, PRIMARY KEY (service, identity)
);
CREATE TABLE IF NOT EXISTS cells (
    service TEXT NOT NULL, cell TEXT NOT NULL, job_name TEXT NOT NULL, remembered TEXT NOT NULL,
    PRIMARY KEY (service, cell)
);
"""


def identify(tool_type: str, job_settings: Mapping[str, Any], job_name: str | None = None) -> str:
    """SHA-256 (hex) of a submission: the same tool, settings and wished name give the same text."""
    content = {"tool": tool_type, "settings": job_settings, "name": job_name}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Ledger:
    """The two tables, in one SQLite file that any number of processes may use."""

    def __init__(self, path: Path | None = None, service: str = settings.EMBEDDED) -> None:
        """Use the file at ``path`` (by default in the data folder), for the jobs of one ``service``."""
        self._path = path or settings.data_dir() / "ledger.db"
        self._service = service

    def remember(self, identity: str, job_name: str, tool_type: str) -> None:
        """Note that the submission with this ``identity`` is the job ``job_name``."""
        self._write(
            "INSERT OR REPLACE INTO submissions VALUES (?, ?, ?, ?, ?)",
            (self._service, identity, job_name, tool_type, _now()),
        )

    def find(self, identity: str) -> str | None:
        """The name of the job that this submission became, if it was noted."""
        return self._read("SELECT job_name FROM submissions WHERE service = ? AND identity = ?", identity)

    def forget(self, identity: str) -> None:
        """Drop what was noted of a submission whose job is gone."""
        self._write("DELETE FROM submissions WHERE service = ? AND identity = ?", (self._service, identity))

    def remember_cell(self, cell_key: str, job_name: str) -> None:
        """Note that the form in this cell submitted ``job_name`` last."""
        self._write(
            "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", (self._service, cell_key, job_name, _now())
        )

    def cell_job(self, cell_key: str) -> str | None:
        """The name of the job that the form in this cell submitted last, if it was noted."""
        return self._read("SELECT job_name FROM cells WHERE service = ? AND cell = ?", cell_key)

    def _read(self, query: str, key: str) -> str | None:
        try:
            with self._open() as connection:
                row = connection.execute(query, (self._service, key)).fetchone()
        except sqlite3.DatabaseError:  # a damaged or unwritable ledger is an empty one
            return None
        return str(row[0]) if row else None

    def _write(self, statement: str, values: tuple[str, ...]) -> None:
        try:
            with self._open() as connection, connection:
                connection.execute(statement, values)
        except sqlite3.DatabaseError:  # the ledger is a hint: the service knows the job under its name
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=10)) as connection:
            connection.executescript(_SCHEMA)
            yield connection


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
