"""Replace a data folder's contents by a backup.

The backup is first copied into the data folder's file system and verified by its hashes; then the contents
are exchanged. The previous contents are kept in a separate folder. An interrupted restore has changed
nothing, or is completed at the next start of the service.

A restored service reuses job numbers of the previous one. Therefore its database gets a new identity, which
is part of the path of every later run, and jobs that were running when the backup was made run again.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.service.backups import swapping
from foldnote.service.backups.bucket_move import upload_contents
from foldnote.service.backups.contents import (
    DESCRIPTION,
    Backup,
    copy_stream,
    damaged,
    read_description,
    read_sums,
)
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.files.object_opening import open_bucket, require_bucket
from foldnote.service.layout import CONTENTS, DATABASE, JOBS, OBJECTS
from foldnote.service.lock import FolderLock
from foldnote.service.queue import outcomes
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.locking import is_locked
from foldnote.service.store import clock
from foldnote.service.store.migrations import find_unknown
from foldnote.service.store.store import Store
from foldnote.text import count


@dataclass(frozen=True)
class RestoreResult:
    """The result of a restore.

    Attributes:
        backup: the restored backup.
        kept: folder with the previous contents; None if there were none.
        repeated: number of jobs that run again.
    """

    backup: Backup
    kept: Path | None
    repeated: int


def restore_backup(
    source: Path, data: Path, *, is_replacing: bool, bucket: BucketAddress | None = None
) -> RestoreResult:
    """Replace the contents of the data folder ``data`` by the backup ``source``.

    Args:
        source: the backup.
        data: the data folder.
        is_replacing: whether existing data is replaced.
        bucket: bucket for the contents of files and results; None for the data folder.

    Raises:
        ConfigurationError: a service is running there, the backup is damaged or too new, or there is data and
            ``is_replacing`` is false.
    """
    backup = read_description(source)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FolderLock(data, "data folder")
    lock.take()
    try:
        swapping.finish_restore(data)
        there = [name for name in CONTENTS if (data / name).exists()]
        if there and not is_replacing:
            raise ConfigurationError(_say_what_is_there(data, backup))
        require_bucket(data, bucket)
        objects = None if bucket is None else open_bucket(data, bucket, "restore")
        staging = swapping.begin_restore(data)
        try:
            _stage(source, staging)
            repeated = renew(staging / DATABASE)
            if objects is not None:
                upload_contents(staging / OBJECTS, objects)
                shutil.rmtree(staging / OBJECTS, ignore_errors=True)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        kept = swapping.swap(data, clock.now())
        if kept is not None:
            _end_runs(kept / JOBS)
    except OSError as exc:
        raise ConfigurationError(
            f"The backup {source} could not be restored: {files.without_path(exc)}. The contents of {data}"
            " are unchanged, or the next start of the service completes the restore."
        ) from exc
    finally:
        lock.release()
    return RestoreResult(backup, kept, repeated)


def _stage(source: Path, staging: Path) -> None:
    sums = read_sums(source)
    for name, expected in sums.items():
        path = source / name
        if path.is_symlink() or not path.is_file():
            raise damaged(source, f"{name} is not a regular file")
        if name == DESCRIPTION:
            continue
        if name.partition("/")[0] not in CONTENTS:
            raise damaged(source, f"{name} does not belong to a backup")
        with path.open("rb") as stream:
            found, _ = copy_stream(stream, staging / name)
        if found != expected:
            raise damaged(source, f"{name} was modified")
    if not (staging / DATABASE).is_file():
        raise damaged(source, f"it has no {DATABASE}")


def renew(database: Path) -> int:
    """Give a restored database a new identity and requeue running jobs; return their number.

    Raises:
        ConfigurationError: it was made by a later version.
    """
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        if unknown := find_unknown(connection):
            raise ConfigurationError(
                f"The backup was made by a later version of foldnote (it has {min(unknown)})."
                " Install that version and restore it there. Nothing was changed."
            )
    store = Store(database)
    try:
        store.queue.renew_identity()
        claims = store.queue.running()
        for claim in claims:
            if claim.is_cancelled:
                store.queue.finish(claim, outcomes.cancelled_ending())
            else:
                store.queue.requeue(claim, outcomes.LOST_SENTENCE, delay_s=0.0, is_counted=False)
        return sum(not claim.is_cancelled for claim in claims)
    finally:
        store.close()


def _end_runs(jobs: Path) -> None:
    """End runs that outlived their service, since they belong to the replaced contents."""
    for lock in jobs.glob(f"**/{files.LOCK}"):
        try:
            if is_locked(lock.parent):
                processes.end_attempt(files.read_spec(lock.parent).nonce)
        except (OSError, ValueError):  # the engine overwrote the files of its run; its runner ends it
            continue


def _say_what_is_there(data: Path, backup: Backup) -> str:
    try:
        with closing(sqlite3.connect(f"{(data / DATABASE).absolute().as_uri()}?mode=ro", uri=True)) as found:
            query = "SELECT count(*), max(created) FROM jobs WHERE deleted IS NULL"
            number, newest = found.execute(query).fetchone()
        there = count(number, "job") + (f", the newest of {newest}" if newest else "")
    except sqlite3.Error:
        there = "a database that cannot be read"
    return (
        f"The data folder {data} has {there}; the backup of {backup.made} has {count(backup.jobs, 'job')}."
        " Nothing was changed. With --replace the backup replaces the data, which is kept beside it."
    )
