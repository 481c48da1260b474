"""Uploaded files by folder and name, and pending uploads to an object store.

Several names may share the same content.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.events import write_event
from foldnote.service.store.schema import direct_uploads, files, inputs, jobs
from foldnote.service.store.storage import release_contents


@dataclass(frozen=True)
class StoredFile:
    """One uploaded file; `folder` is empty for the top level, `uploaded` is RFC 3339 UTC."""

    file_id: str
    account_id: int
    folder: str
    name: str
    size: int
    sha256: str
    uploaded: str


@dataclass(frozen=True)
class FolderRow:
    """A folder with files: their total size in bytes, and the time of the newest upload."""

    name: str
    size: int
    uploaded: str


class FileStore:
    """Queries about uploads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, account_id: int, folder: str, name: str, size: int, sha256: str) -> StoredFile:
        """Commit a file, replacing one of the same name."""
        with self._database.write(account_id) as connection:
            return insert_file(connection, account_id, folder, name, size, sha256)

    def find(self, account_id: int, folder: str, name: str) -> StoredFile | None:
        """Return the account's file of this name, or None."""
        return self._first(files.c.account_id == account_id, files.c.folder == folder, files.c.name == name)

    def find_by_id(self, file_id: str) -> StoredFile | None:
        """Return the file with this identifier; None if it never existed or was deleted."""
        return self._first(files.c.file_id == file_id)

    def _first(self, *conditions: sa.ColumnElement[bool]) -> StoredFile | None:
        with self._database.read() as connection:
            row = connection.execute(_select(*conditions)).first()
        return None if row is None else StoredFile(*row)

    def page(self, account_id: int, folder: str, *, offset: int, limit: int) -> tuple[list[StoredFile], int]:
        """Return a page of one folder's files, newest first, and the folder's number of files."""
        conditions = (files.c.account_id == account_id, files.c.folder == folder)
        query = _select(*conditions).order_by(files.c.id.desc()).offset(offset).limit(limit)
        count = sa.select(sa.func.count()).select_from(files).where(*conditions, files.c.deleted.is_(None))
        with self._database.read() as connection:
            rows = connection.execute(query).all() if limit > 0 else []
            total = connection.execute(count).scalar_one()
        return [StoredFile(*row) for row in rows], total

    def folders(self, account_id: int, inside: str) -> list[FolderRow]:
        """Return the folders directly inside a folder (empty for the top), by name."""
        prefix = f"{inside}/" if inside else ""
        query = (
            sa.select(files.c.folder, sa.func.sum(files.c.size), sa.func.max(files.c.uploaded))
            .where(files.c.account_id == account_id, files.c.deleted.is_(None), files.c.folder != "")
            .group_by(files.c.folder)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        merged: dict[str, FolderRow] = {}
        for folder, size, uploaded in rows:
            if folder.startswith(prefix) and folder != inside:
                name = prefix + folder[len(prefix) :].split("/")[0]
                old = merged.get(name, FolderRow(name, 0, uploaded))
                merged[name] = FolderRow(name, old.size + int(size), max(old.uploaded, uploaded))
        return [merged[name] for name in sorted(merged)]

    def all_folders(self, account_id: int) -> list[str]:
        """Return all folders that contain files, directly or not, sorted by name."""
        query = (
            sa.select(files.c.folder)
            .where(files.c.account_id == account_id, files.c.deleted.is_(None), files.c.folder != "")
            .distinct()
        )
        with self._database.read() as connection:
            paths = connection.execute(query).scalars().all()
        parts = [folder.split("/") for folder in paths]
        return sorted({"/".join(steps[: depth + 1]) for steps in parts for depth in range(len(steps))})

    def delete(self, account_id: int, folder: str, name: str) -> bool:
        """Mark one file as deleted; return False if it does not exist."""
        with self._database.write(account_id) as connection:
            own = files.c.account_id == account_id
            count = _mark_deleted(connection, own, files.c.folder == folder, files.c.name == name)
            if count:
                write_event(connection, account_id, None, "file deleted", f"{folder}/{name}".lstrip("/"))
            return count > 0

    def delete_folder(self, account_id: int, folder: str) -> int:
        """Mark every file in a folder and below it as deleted; return their number."""
        below = sa.func.substr(files.c.folder, 1, len(folder) + 1) == f"{folder}/"
        with self._database.write(account_id) as connection:
            count = _mark_deleted(
                connection, files.c.account_id == account_id, (files.c.folder == folder) | below
            )
            if count:
                write_event(connection, account_id, None, "folder deleted", folder)
            return count

    def is_used(self, sha256: str) -> bool:
        """Return whether a file, an input or a result still refers to this content."""
        holders: Sequence[Any] = (
            sa.select(files.c.id).where(files.c.sha256 == sha256, files.c.deleted.is_(None)),
            sa.select(inputs.c.job_id).where(inputs.c.sha256 == sha256),
            sa.select(jobs.c.id).where(jobs.c.result_sha256 == sha256),
        )
        with self._database.read() as connection:
            return any(connection.execute(query.limit(1)).first() is not None for query in holders)


@dataclass(frozen=True)
class DirectUpload:
    """An upload that may have arrived; `key` names its object, `folder` is empty for the top level."""

    key: str
    account_id: int
    folder: str
    name: str


class DirectUploadStore:
    """Queries about uploads to an object store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, upload: DirectUpload, lifetime_s: float, most: int) -> bool:
        """Expect an upload for some seconds; return False if the account already has ``most`` of them."""
        own, moment = direct_uploads.c.account_id == upload.account_id, time.time()
        with self._database.write(upload.account_id) as connection:
            connection.execute(sa.delete(direct_uploads).where(own, direct_uploads.c.until < moment))
            count = sa.select(sa.func.count()).select_from(direct_uploads).where(own)
            if connection.execute(count).scalar_one() >= most:
                return False
            row = {**upload.__dict__, "until": moment + lifetime_s}
            connection.execute(sa.insert(direct_uploads).values(row))
            return True

    def pending(self, account_id: int, path: tuple[str, str] | None = None) -> list[DirectUpload]:
        """Return an account's pending uploads, oldest first; with ``path``, those to one folder and name."""
        table = direct_uploads.c
        query = sa.select(table.key, table.account_id, table.folder, table.name).where(
            table.account_id == account_id, table.until >= time.time()
        )
        if path is not None:
            query = query.where(table.folder == path[0], table.name == path[1])
        with self._database.read() as connection:
            return [DirectUpload(*row) for row in connection.execute(query.order_by(table.until))]

    def finish(self, upload: DirectUpload, size: int, sha256: str) -> StoredFile | None:
        """Turn an upload into a file of its account; return None if another request has done so."""
        with self._database.write(upload.account_id) as connection:
            if not self._remove(connection, upload):
                return None
            return insert_file(connection, upload.account_id, upload.folder, upload.name, size, sha256)

    def drop(self, upload: DirectUpload) -> None:
        """Stop expecting the upload."""
        with self._database.write(upload.account_id) as connection:
            self._remove(connection, upload)

    @staticmethod
    def _remove(connection: sa.Connection, upload: DirectUpload) -> bool:
        own = (direct_uploads.c.key == upload.key, direct_uploads.c.account_id == upload.account_id)
        return connection.execute(sa.delete(direct_uploads).where(*own)).rowcount > 0


def insert_file(
    connection: sa.Connection, account_id: int, folder: str, name: str, size: int, sha256: str
) -> StoredFile:
    """Insert a file within the running transaction, replacing one of the same name."""
    new = StoredFile(uuid.uuid4().hex, account_id, folder, name, size, sha256, clock.now())
    _mark_deleted(
        connection, files.c.account_id == account_id, files.c.folder == folder, files.c.name == name
    )
    connection.execute(sa.insert(files).values(new.__dict__))
    write_event(connection, account_id, None, "uploaded", f"{folder}/{name}".lstrip("/"))
    return new


def _select(*conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    columns = (
        files.c.file_id,
        files.c.account_id,
        files.c.folder,
        files.c.name,
        files.c.size,
        files.c.sha256,
        files.c.uploaded,
    )
    return sa.select(*columns).where(*conditions, files.c.deleted.is_(None))


def _mark_deleted(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> int:
    live = (*conditions, files.c.deleted.is_(None))
    rows = connection.execute(sa.select(files.c.account_id, files.c.sha256, files.c.size).where(*live))
    release_contents(
        connection, [{"account_id": owner, "sha256": sha256, "bytes": size} for owner, sha256, size in rows]
    )
    return connection.execute(sa.update(files).where(*live).values(deleted=clock.now())).rowcount
