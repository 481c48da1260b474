"""Remove remains of deleted rows from the database's files, in which SQLite keeps freed pages.

SQLite zeroes a deleted cell (`secure_delete=FAST`). Some time after a deletion, freed pages are cut off the
file (`auto_vacuum=INCREMENTAL`) and the log is emptied. Only copies of cells remain, in the unused space of
pages that SQLite rebalanced; no setting of SQLite prevents them, and only `VACUUM` removes them. It blocks
writers for about a second per 50 MB. Therefore a large database is rewritten during a pause in writing, and a
writer that arrives before SQLite copies the pages back interrupts it.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Event

log = logging.getLogger(__name__)
_INCREMENTAL = 2
_PAGES_AT_ONCE = 1000
"""Pages removed from the file per transaction; writers wait for about 30 ms."""
_FEW_PAGES = 200
"""The same while the disk is full, so that the log stays short."""
_REWRITTEN_AT_ONCE_BYTES = 16 << 20
"""Rewriting a database up to this size takes a fraction of a second."""
_REWRITTEN_BYTES_PER_S = 32 << 20
"""Rate of a rewrite: a cautious estimate for a slow disk and a busy processor."""
_QUIET_FACTOR = 3
"""Required pause in writing, as a multiple of the expected duration of the rewrite."""
_IN_MEMORY_BYTES = 64 << 20
"""Larger databases are rewritten through a temporary file, which SQLite unlinks on opening."""
_INSTRUCTIONS_BETWEEN_CHECKS = 1000
_PAUSE_S = 0.02
_MAX_WAIT_MS = 200


def make_shrinkable(connection: sqlite3.Connection, path: Path) -> None:
    """Enable a database to release freed pages; rewrite one of an earlier version once for this.

    If the disk has no space for a second copy, the database stays unchanged until the next start.
    """
    if _read_pragma(connection, "auto_vacuum") == _INCREMENTAL:
        return
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    used = _read_pragma(connection, "page_count") - _read_pragma(connection, "freelist_count")
    if 3 * used * _read_pragma(connection, "page_size") > shutil.disk_usage(path.parent).free:
        log.warning("%s cannot be compacted: the disk has too little free space for a second copy.", path)
        return
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as exc:
        log.warning("%s cannot be compacted now: %s. The next start tries again.", path, exc)


def prepare_new(connection: sqlite3.Connection) -> None:
    """Apply settings that must precede the first page; without effect on an existing database."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")


def reclaim(
    connection: sqlite3.Connection, lock: AbstractContextManager[object], stop: Event, *, keeps_log: bool
) -> bool:
    """Release freed pages and empty the log; return False if some are left for another time.

    Args:
        connection: a separate connection without a transaction.
        lock: held by every writer.
        stop: set to end early.
        keeps_log: keep the length of the log file, since a full disk could not extend it again.

    Raises:
        sqlite3.OperationalError: the disk is full or fails.
    """
    connection.execute(f"PRAGMA busy_timeout={_MAX_WAIT_MS}")
    is_possible = _read_pragma(connection, "auto_vacuum") == _INCREMENTAL
    pages = _FEW_PAGES if keeps_log else _PAGES_AT_ONCE
    mode = "RESTART" if keeps_log else "TRUNCATE"
    while is_possible and (left := _read_pragma(connection, "freelist_count")) and not stop.wait(_PAUSE_S):
        with lock:
            connection.executescript(f"PRAGMA incremental_vacuum({pages})")  # `execute` frees one page only
            if keeps_log:
                empty_log(connection, mode)
        if _read_pragma(connection, "freelist_count") >= left:
            break
    is_empty = empty_log(connection, mode)
    return not keeps_log and is_empty and not (is_possible and _read_pragma(connection, "freelist_count"))


def quiet_time_s(connection: sqlite3.Connection) -> float:
    """Return the seconds without a commit after which the database may be rewritten; 0 for a small one."""
    size = _size(connection)
    return 0.0 if size <= _REWRITTEN_AT_ONCE_BYTES else _QUIET_FACTOR * size / _REWRITTEN_BYTES_PER_S


def rewrite(
    connection: sqlite3.Connection,
    path: Path,
    lock: AbstractContextManager[object],
    is_interrupted: Callable[[], bool],
) -> bool:
    """Rewrite all pages, without copies of cells in their unused space; return False if it was not done.

    Args:
        connection: a separate connection without a transaction.
        path: the database's file.
        lock: held by every writer.
        is_interrupted: called repeatedly while the rewrite can be interrupted; True interrupts it.

    Raises:
        sqlite3.OperationalError: the disk is full or fails, or another process is writing.
    """
    if 3 * _size(connection) > shutil.disk_usage(path.parent).free:
        return False
    connection.execute(f"PRAGMA temp_store={'MEMORY' if _size(connection) <= _IN_MEMORY_BYTES else 'FILE'}")
    connection.set_progress_handler(is_interrupted, _INSTRUCTIONS_BETWEEN_CHECKS)
    try:
        with lock:
            connection.execute("VACUUM")
    except sqlite3.OperationalError as exc:
        if exc.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return False
    finally:
        connection.set_progress_handler(None, 0)
    return True


def empty_log(connection: sqlite3.Connection, mode: str = "TRUNCATE") -> bool:
    """Copy the log into the database; return False if a reader still needs part of it."""
    busy, *_ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    return not busy


def _size(connection: sqlite3.Connection) -> int:
    return _read_pragma(connection, "page_count") * _read_pragma(connection, "page_size")


def _read_pragma(connection: sqlite3.Connection, pragma: str) -> int:
    row: tuple[int] = connection.execute(f"PRAGMA {pragma}").fetchone()
    return row[0]
