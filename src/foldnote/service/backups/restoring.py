"""Replace a data folder's contents by a backup.

The backup is first copied beside them and compared with its list, byte by byte; then both change places. What
was there is kept in a folder of its own. A restore that was interrupted has changed nothing, or is finished
by the next start of the service.

A restored service numbers its jobs as the one before it did. So its database gets a new identity, which is a
part of the path of every run to come, and what ran when the backup was made runs again.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.service.backups import swapping
from foldnote.service.backups.contents import (
    DESCRIPTION,
    Backup,
    copy_stream,
    damaged,
    read_description,
    read_sums,
)
from foldnote.service.layout import CONTENTS, DATABASE, JOBS
from foldnote.service.lock import FolderLock
from foldnote.service.queue import outcomes
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.locking import is_locked
from foldnote.service.store import clock
from foldnote.service.store.migrations import MIGRATIONS
from foldnote.service.store.store import Store


@dataclass(frozen=True)
class Restored:
    """What a restore did.

    Attributes:
        backup: what is there now.
        kept: where that is what was there before; None when nothing was.
        repeated: how many jobs run again.
    """

    backup: Backup
    kept: Path | None
    repeated: int


def restore_backup(source: Path, data: Path, *, is_replacing: bool) -> Restored:
    """Replace the contents of the data folder ``data`` by the backup ``source``.

    Raises:
        ConfigurationError: a service runs there, the backup is damaged or too new, or something is there and
            it is not to be replaced.
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
        staging = swapping.begin_restore(data)
        try:
            _stage(source, staging)
            repeated = renew(staging / DATABASE)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        kept = swapping.swap(data, clock.now())
        if kept is not None:
            _end_runs(kept / JOBS)
    except OSError as exc:
        raise ConfigurationError(
            f"The backup {source} could not be restored: {files.without_path(exc)}. What was in {data} is"
            " there as it was, or the next start of the service finishes the restore."
        ) from exc
    finally:
        lock.release()
    return Restored(backup, kept, repeated)


def _stage(source: Path, staging: Path) -> None:
    sums = read_sums(source)
    for name, expected in sums.items():
        path = source / name
        if path.is_symlink() or not path.is_file():
            raise damaged(source, f"{name} is no file")
        if name == DESCRIPTION:
            continue
        if name.partition("/")[0] not in CONTENTS:
            raise damaged(source, f"{name} is no part of a backup")
        with path.open("rb") as stream:
            found, _ = copy_stream(stream, staging / name)
        if found != expected:
            raise damaged(source, f"{name} was changed")
    if not (staging / DATABASE).is_file():
        raise damaged(source, f"it has no {DATABASE}")


def renew(database: Path) -> int:
    """Give a restored database an identity of its own and let what ran run again; gives how many that are.

    Raises:
        ConfigurationError: it was made by a later version.
    """
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        known = {name for name, _ in MIGRATIONS}
        done = {row[0] for row in connection.execute("SELECT name FROM migrations")}
        if done - known:
            raise ConfigurationError(
                f"The backup was made by a later version of foldnote (it has {min(done - known)})."
                " Install that version and restore it there. Nothing was changed."
            )
    store = Store(database)
    try:
        store.queue.renew_identity()
        claims = store.queue.running()
        for claim in claims:
            if claim.is_cancelled:
                store.queue.finish(claim, outcomes.stopped_ending())
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
        except (OSError, ValueError):  # an engine wrote over the files of its run; its runner ends it
            continue


def _say_what_is_there(data: Path, backup: Backup) -> str:
    try:
        with closing(sqlite3.connect(f"{(data / DATABASE).absolute().as_uri()}?mode=ro", uri=True)) as found:
            query = "SELECT count(*), max(created) FROM jobs WHERE deleted IS NULL"
            count, newest = found.execute(query).fetchone()
        there = f"{count} jobs" + (f", the newest of {newest}" if newest else "")
    except sqlite3.Error:
        there = "a database that cannot be read"
    return (
        f"The data folder {data} holds {there}; the backup is of {backup.made} and has {backup.jobs} jobs."
        " Nothing was changed. With --replace the backup takes its place; what is there is kept beside it."
    )
