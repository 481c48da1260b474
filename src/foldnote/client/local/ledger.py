"""The ledger: what was submitted where, so that a notebook never submits twice.

Five tables in the user's data folder. One leads from a submission's identity to the job's name, one from a
notebook cell to the last job that was submitted from its form, one from a job's name to the notebook that
submitted it, one from a batch's name to the table that it was made of, one from an uploaded file's name to
what was in it, so that a file that changed under its name makes another submission. The ledger is a hint and
may be deleted at any time: the service knows its jobs, and names are derived from the identity. A damaged one
is put aside, and the next call begins a new one.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foldnote import settings
from foldnote.io import hash_bytes

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
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
CREATE TABLE IF NOT EXISTS sheets (
    service TEXT NOT NULL, batch TEXT NOT NULL, sheet BLOB NOT NULL, PRIMARY KEY (service, batch)
);
"""


def identify(
    tool_type: str,
    job_settings: Mapping[str, Any],
    job_name: str | None = None,
    uploads: Mapping[str, str] | None = None,
) -> str:
    """SHA-256 (hex) of a submission: the same tool, settings, wished name and files give the same text.

    Args:
        uploads: SHA-256 by name, for the uploaded files that the settings name.
    """
    content = {"tool": tool_type, "settings": job_settings, "name": job_name}
    if uploads:
        content["uploads"] = dict(uploads)
    return hash_bytes(json.dumps(content, sort_keys=True).encode())


class Ledger:
    """The tables, in one SQLite file that any number of processes may use."""

    def __init__(self, path: Path | None = None, service: str = settings.EMBEDDED) -> None:
        """Use the file at ``path`` (by default in the data folder), for the jobs of one ``service``."""
        self._path = path
        self._service = service

    def remember(self, identity: str, job_name: str, tool_type: str) -> None:
        """Note that the submission with this ``identity`` is the job ``job_name``, and its notebook."""
        self._write(
            "INSERT OR REPLACE INTO submissions VALUES (?, ?, ?, ?, ?)",
            (self._service, identity, job_name, tool_type, _now()),
        )
        notebook = settings.notebook_path()
        if notebook:
            self._write(
                "INSERT OR REPLACE INTO notebooks VALUES (?, ?, ?)", (self._service, job_name, notebook)
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

    def notebooks(self) -> dict[str, str]:
        """Paths of notebooks, as their kernels know them, by the names of the jobs that they submitted."""
        return dict(self._rows("SELECT job_name, notebook FROM notebooks WHERE service = ?"))

    def remember_sheet(self, batch_name: str, text: str) -> None:
        """Note the table that a batch was made of, packed; a very large one is not kept."""
        packed = zlib.compress(text.encode(), 1)
        if len(packed) <= _LARGEST_SHEET_BYTES:
            self._write("INSERT OR REPLACE INTO sheets VALUES (?, ?, ?)", (self._service, batch_name, packed))

    def sheet(self, batch_name: str) -> str | None:
        """The table that a batch was made of, if it was noted."""
        rows = self._rows("SELECT sheet FROM sheets WHERE service = ? AND batch = ?", batch_name)
        try:
            return zlib.decompress(rows[0][0]).decode() if rows else None
        except (zlib.error, ValueError, TypeError):
            return None

    def remember_upload(self, path: str, sha256: str) -> None:
        """Note what was uploaded from here under the name ``path``."""
        self._write("INSERT OR REPLACE INTO uploads VALUES (?, ?, ?)", (self._service, path, sha256))

    def uploads(self) -> dict[str, str]:
        """SHA-256 of what was last uploaded from here, by name."""
        return dict(self._rows("SELECT path, sha256 FROM uploads WHERE service = ?"))

    def identities(self, job_name: str) -> frozenset[str]:
        """The submissions that became ``job_name``; empty when it was not submitted from here."""
        query = "SELECT identity FROM submissions WHERE service = ? AND job_name = ?"
        return frozenset(row[0] for row in self._rows(query, job_name))

    def job_names(self, limit: int = 200) -> list[str]:
        """Names of what was submitted from here, newest first."""
        query = "SELECT job_name FROM submissions WHERE service = ? ORDER BY submitted DESC LIMIT ?"
        return list(dict.fromkeys(row[0] for row in self._rows(query, limit)))

    def _read(self, query: str, key: str) -> str | None:
        rows = self._rows(query, key)
        return str(rows[0][0]) if rows else None

    def _rows(self, query: str, *keys: str | int) -> list[tuple[Any, ...]]:
        try:
            with self._open() as connection:
                return connection.execute(query, (self._service, *keys)).fetchall()
        except (sqlite3.Error, OSError, UnicodeError):  # a damaged or unwritable ledger is an empty one
            return []

    def _write(self, statement: str, values: tuple[str | bytes, ...]) -> None:
        try:
            with self._open() as connection, connection:
                connection.execute(statement, values)
        except (sqlite3.Error, OSError, UnicodeError):  # a hint only: the service knows the job by its name
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = self._path or settings.data_dir() / "ledger.db"
        with closing(sqlite3.connect(path, timeout=10)) as connection:
            try:
                connection.executescript(_SCHEMA)
                yield connection
            except sqlite3.DatabaseError as exc:
                if getattr(exc, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:  # the rest of the code is detail
                    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
                    path.replace(path.with_suffix(".damaged"))  # else nothing would ever be remembered again
                raise


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
