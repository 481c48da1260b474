"""The ledger: a local record of submissions, so that a notebook never submits twice.

Six tables in the user's data folder map a submission's identity to its job name, a notebook cell to the last
job submitted from its form, a job name to the notebook that submitted it and to its label, a batch name to
its table, and an uploaded file's name to its hash (a changed file under the same name makes another
submission). The ledger is only a hint and may be deleted at any time: the service knows its jobs, and names
are derived from the identity. A damaged ledger is renamed, and the next call creates a new one.
"""

from __future__ import annotations

import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foldnote import settings

_LARGEST_SHEET_BYTES = 20_000_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS submissions (
    service TEXT NOT NULL, identity TEXT NOT NULL, job_name TEXT NOT NULL, tool TEXT NOT NULL,
    submitted TEXT NOT NULL, PRIMARY KEY (service, identity)
);
CREATE TABLE IF NOT EXISTS cells (
    service TEXT NOT NULL, cell TEXT NOT NULL, job_name TEXT NOT NULL, remembered TEXT NOT NULL,
    PRIMARY KEY (service, cell)
);
CREATE TABLE IF NOT EXISTS uploads (
    service TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (service, path)
);
CREATE TABLE IF NOT EXISTS notebooks (
    service TEXT NOT NULL, job_name TEXT NOT NULL, notebook TEXT NOT NULL, PRIMARY KEY (service, job_name)
);
CREATE TABLE IF NOT EXISTS labels (
    service TEXT NOT NULL, job_name TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (service, job_name)
);
CREATE TABLE IF NOT EXISTS sheets (
    service TEXT NOT NULL, batch TEXT NOT NULL, sheet BLOB NOT NULL, PRIMARY KEY (service, batch)
);
"""


class Ledger:
    """The ledger's tables, in one SQLite file that several processes may use at once."""

    def __init__(self, path: Path | None = None, service: str = settings.EMBEDDED) -> None:
        """Open the ledger at ``path`` (by default in the data folder) for one ``service``."""
        self._path = path
        self.service = service

    def remember(self, identity: str, job_name: str, tool_type: str) -> None:
        """Record that the submission with this ``identity`` is the job ``job_name``, and the notebook."""
        self._run(
            "INSERT OR REPLACE INTO submissions VALUES (?, ?, ?, ?, ?)",
            (self.service, identity, job_name, tool_type, _now()),
        )
        notebook = settings.notebook_path()
        if notebook:
            self._run("INSERT OR REPLACE INTO notebooks VALUES (?, ?, ?)", (self.service, job_name, notebook))

    def find(self, identity: str) -> str | None:
        """Return the job name of a submission, if recorded."""
        return self._read("SELECT job_name FROM submissions WHERE service = ? AND identity = ?", identity)

    def forget(self, identity: str) -> None:
        """Remove a submission whose job no longer exists."""
        self._run("DELETE FROM submissions WHERE service = ? AND identity = ?", (self.service, identity))

    def remember_cell(self, cell_key: str, job_name: str) -> None:
        """Record that ``job_name`` is the last job submitted from the form in this cell."""
        self._run(
            "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", (self.service, cell_key, job_name, _now())
        )

    def cell_job(self, cell_key: str) -> str | None:
        """Return the name of the last job submitted from the form in this cell, if recorded."""
        return self._read("SELECT job_name FROM cells WHERE service = ? AND cell = ?", cell_key)

    def notebooks(self) -> dict[str, str]:
        """Return the paths of the submitting notebooks, as their kernels report them, by job name."""
        return dict(self._rows("SELECT job_name, notebook FROM notebooks WHERE service = ?"))

    def remember_sheet(self, batch_name: str, text: str) -> None:
        """Record the table of a batch, compressed; a very large one is not kept."""
        packed = zlib.compress(text.encode(), 1)
        if len(packed) <= _LARGEST_SHEET_BYTES:
            self._run("INSERT OR REPLACE INTO sheets VALUES (?, ?, ?)", (self.service, batch_name, packed))

    def sheet(self, batch_name: str) -> str | None:
        """Return the table of a batch, if recorded."""
        rows = self._rows("SELECT sheet FROM sheets WHERE service = ? AND batch = ?", batch_name)
        try:
            return zlib.decompress(rows[0][0]).decode() if rows else None
        except (zlib.error, ValueError, TypeError):
            return None

    def remember_label(self, job_name: str, label: str | None) -> None:
        """Record the label of a job; None removes it."""
        if label is None:
            query = "DELETE FROM labels WHERE service = ? AND job_name = ?"
            self._run(query, (self.service, job_name))
        else:
            self._run("INSERT OR REPLACE INTO labels VALUES (?, ?, ?)", (self.service, job_name, label))

    def labels(self) -> dict[str, str]:
        """Return the labels given to jobs on this computer, by job name."""
        return dict(self._rows("SELECT job_name, label FROM labels WHERE service = ?"))

    def label(self, job_name: str) -> str | None:
        """Return the label given to a job on this computer, if recorded."""
        return self._read("SELECT label FROM labels WHERE service = ? AND job_name = ?", job_name)

    def remember_upload(self, path: str, sha256: str) -> None:
        """Record the hash of the file that was uploaded from this computer as ``path``."""
        self._run("INSERT OR REPLACE INTO uploads VALUES (?, ?, ?)", (self.service, path, sha256))

    def uploads(self) -> dict[str, str]:
        """Return the SHA-256 (hex) of the last upload from this computer, by name."""
        return dict(self._rows("SELECT path, sha256 FROM uploads WHERE service = ?"))

    def identities(self, job_name: str) -> frozenset[str]:
        """Return the identities of the submissions of ``job_name``; empty if it is not from this computer."""
        query = "SELECT identity FROM submissions WHERE service = ? AND job_name = ?"
        return frozenset(row[0] for row in self._rows(query, job_name))

    def job_names(self, limit: int = 200) -> list[str]:
        """Return the names of jobs submitted from this computer, newest first."""
        query = "SELECT job_name FROM submissions WHERE service = ? ORDER BY submitted DESC LIMIT ?"
        return list(dict.fromkeys(row[0] for row in self._rows(query, limit)))

    def _read(self, query: str, key: str) -> str | None:
        rows = self._rows(query, key)
        return str(rows[0][0]) if rows else None

    def _rows(self, query: str, *keys: str | int) -> list[tuple[Any, ...]]:
        try:
            if not self._file.exists():
                return []
        except OSError:
            return []
        return self._run(query, (self.service, *keys))

    @property
    def _file(self) -> Path:
        return self._path or settings.data_dir() / "ledger.db"

    def _run(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none if the ledger, only a hint, is damaged or read-only."""
        import sqlite3  # deferred: a form queries the ledger, which may not exist yet

        damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        try:
            path = self._file
            with closing(sqlite3.connect(path, timeout=10)) as connection:
                try:
                    connection.executescript(_SCHEMA)
                    with connection:
                        return connection.execute(statement, values).fetchall()
                except sqlite3.DatabaseError as exc:
                    if getattr(exc, "sqlite_errorcode", 0) & 0xFF in damaged:  # primary error code
                        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
                        path.replace(path.with_suffix(".damaged"))  # otherwise nothing could be recorded
                    raise
        except (sqlite3.Error, OSError, UnicodeError):  # the service finds the job by its name
            return []


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
