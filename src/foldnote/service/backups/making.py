"""Make a backup of a running or stopped service.

The database is copied by SQLite's backup function, or row by row from one snapshot of PostgreSQL, so the copy
is consistent, and a backup is the same from either. Meanwhile the service removes no content that the
snapshot may refer to. The backup is written under a temporary name and renamed once it is complete and
synced, so an interrupted one is never mistaken for a backup.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from foldnote.errors import ConfigurationError
from foldnote.io import sync
from foldnote.late import find_version
from foldnote.service.backups.contents import (
    DESCRIPTION,
    SUMS,
    Backup,
    copy_chunks,
    copy_stream,
    hash_file,
    write_description,
)
from foldnote.service.backups.copying import copy_rows
from foldnote.service.files.object_folder import ObjectFolder
from foldnote.service.files.objects import ObjectStore
from foldnote.service.layout import DATABASE, JOBS, KEY_FILE, OBJECTS, REPLICAS
from foldnote.service.lock import prevent_content_removal
from foldnote.service.runner import attempt as files
from foldnote.service.runner.untrusted import is_absent, open_file, open_folder
from foldnote.service.store import clock
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.migrations import migrate
from foldnote.service.store.sqlite_database import SqliteDatabase
from foldnote.service.store.store import open_database
from foldnote.text import format_size

_RUN_FILES = (files.SPEC, files.RUNNER, files.LOG, files.MANIFEST, files.OUTCOME, files.RUNNER_LOG)
_BUSY_S = 30.0
_REFERENCED_CONTENTS = """
    SELECT sha256 FROM files WHERE deleted IS NULL UNION SELECT sha256 FROM inputs
    UNION SELECT result_sha256 FROM jobs WHERE result_sha256 IS NOT NULL
"""
_ENDED_ATTEMPT_FOLDERS = (
    "SELECT folder FROM attempts JOIN jobs ON jobs.id = job_id WHERE ended IS NOT NULL AND is_purged = 0"
)


def make_backup(
    data: Path, target: Path, address: StoreAddress | None = None, objects: ObjectStore | None = None
) -> Backup:
    """Write a backup of the data folder ``data`` as the new folder ``target``.

    Args:
        data: the data folder.
        target: it must not exist, or be empty.
        address: address of the service's PostgreSQL database; None if it is in the data folder.
        objects: contents of the service; None if they are in the data folder.

    Raises:
        ConfigurationError: there is no service's data, it is damaged, or ``target`` cannot be created.
        StorageFaultError: the PostgreSQL database cannot be read now.
    """
    if not (data / (DATABASE if address is None else REPLICAS)).exists():
        raise ConfigurationError(f"{data} is not the data folder of the service.")
    if os.path.lexists(target) and (not target.is_dir() or any(target.iterdir())):
        raise ConfigurationError(f"{target} already exists. Name a new folder for the backup.")
    draft = target.absolute().with_name(f".{target.name}.draft-{os.getpid()}")
    try:
        draft.mkdir(mode=0o700, parents=True)
        with prevent_content_removal(data):
            backup = _BackupWriter(data, draft, address, objects or ObjectFolder(data / OBJECTS)).write()
        os.sync()  # syncing thousands of files one by one takes minutes
        draft.rename(target)
        sync(draft.parent)
    except OSError as exc:
        raise ConfigurationError(
            f"The backup {target} could not be written: {files.without_path(exc)}. It was removed."
        ) from exc
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return backup


class _BackupWriter:
    """Makes one backup in the empty folder ``target``."""

    def __init__(self, data: Path, target: Path, address: StoreAddress | None, objects: ObjectStore) -> None:
        self._data = data
        self._objects = objects
        self._address = address
        self._target = target
        self._sums: dict[str, str] = {}
        self._size_bytes = 0

    def write(self) -> Backup:
        made = clock.now()
        source = self._address or self._data / DATABASE
        with closing(take_snapshot(source, self._target / DATABASE)) as snapshot:
            referenced = [row[0] for row in snapshot.execute(_REFERENCED_CONTENTS)]
            folders = [row[0] for row in snapshot.execute(_ENDED_ATTEMPT_FOLDERS)]
            jobs = _count(snapshot, "jobs")
            uploads = _count(snapshot, "files")
        self._require_space(referenced)
        missing = [sha256 for sha256 in referenced if not self._copy_content(sha256)]
        self._copy_runs(folders)
        if (self._data / KEY_FILE).is_file():  # otherwise the service creates one at its next start
            with (self._data / KEY_FILE).open("rb") as key:
                self._copy(key, KEY_FILE)
        self._record_file(
            DATABASE, hash_file(self._target / DATABASE), (self._target / DATABASE).stat().st_size
        )
        backup = Backup(made, find_version(), jobs, uploads, self._size_bytes, tuple(sorted(missing)))
        write_description(self._target, backup)
        self._sums[DESCRIPTION] = hash_file(self._target / DESCRIPTION)
        lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(self._sums.items()))
        (self._target / SUMS).write_text(lines)
        return backup

    def _require_space(self, referenced: Collection[str]) -> None:
        """Check the free space before anything is copied."""
        needed = self._objects.measure(referenced)
        free = shutil.disk_usage(self._target).free
        if needed > free:
            raise ConfigurationError(
                f"The backup needs {format_size(needed)}, but only {format_size(free)} are free in"
                f" {self._target.parent}. Nothing was written; choose another disk."
            )

    def _copy_content(self, sha256: str) -> bool:
        """Copy a content; return False if it is missing or does not match its SHA-256."""
        name = f"{OBJECTS}/{sha256[:2]}/{sha256}"
        try:
            found, size_bytes = copy_chunks(self._objects.read(sha256), self._target / name)
        except FileNotFoundError:
            found, size_bytes = "", 0
        if found != sha256:
            (self._target / name).unlink(missing_ok=True)
            return False
        self._record_file(name, sha256, size_bytes)
        return True

    def _copy_runs(self, folders: Iterable[str]) -> None:
        for folder in folders:
            try:
                with open_folder(self._data / JOBS / folder) as descriptor:
                    for name in _RUN_FILES:
                        self._copy_run_file(descriptor, name, f"{JOBS}/{folder}/{name}")
            except OSError as exc:
                if not is_absent(exc):  # the job ended before it had a folder, or the engine removed it
                    raise

    def _copy_run_file(self, folder: int, name: str, copied_name: str) -> None:
        """Copy a file of a run if it is a regular file: the engine may have replaced it."""
        descriptor = open_file(name, folder)
        if descriptor is not None:
            with os.fdopen(descriptor, "rb") as source:
                self._copy(source, copied_name)

    def _copy(self, source: BinaryIO, name: str) -> None:
        self._record_file(name, *copy_stream(source, self._target / name))

    def _record_file(self, name: str, sha256: str, size_bytes: int) -> None:
        self._sums[name] = sha256
        self._size_bytes += size_bytes


def take_snapshot(source: Path | StoreAddress, target: Path) -> sqlite3.Connection:
    """Copy a database that may be in use; return the copy, migrated to the newest schema.

    Raises:
        ConfigurationError: the database is damaged, or a later version of foldnote changed it.
        StorageFaultError: the PostgreSQL database cannot be read now.
    """
    target.touch(mode=0o600)
    if isinstance(source, StoreAddress):
        with (
            closing(open_database(source, lambda: None)) as server,
            closing(SqliteDatabase(target)) as file,
        ):
            copy_rows(server, file)
        source = target
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        if source != target:
            with closing(sqlite3.connect(source, timeout=_BUSY_S)) as original:
                original.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        migrate(copy, shown=f"The database {source}")
        faults = [row[0] for row in copy.execute("PRAGMA integrity_check(3)")]
        if faults != ["ok"]:
            raise ConfigurationError(
                f"The database {source} is damaged: {'; '.join(faults)}. No backup was made, since it would"
                " be damaged, too. Restore an earlier backup."
            )
    except sqlite3.Error as exc:
        copy.close()
        raise ConfigurationError(f"The database {source} could not be copied: {exc}.") from exc
    except ConfigurationError:
        copy.close()
        raise
    return copy


def _count(snapshot: sqlite3.Connection, table: str) -> int:
    query = f"SELECT count(*) FROM {table} WHERE deleted IS NULL"  # noqa: S608  a constant name
    found: tuple[int] = snapshot.execute(query).fetchone()
    return found[0]
