"""What deleted rows leave in the database's files: SQLite keeps freed pages, and their content, by itself.

Content inside of pages is overwritten when it is deleted (`secure_delete=FAST`). Whole pages that became free
are taken out of the file (`auto_vacuum=INCREMENTAL`), and the log is emptied, some time after a deletion.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from pathlib import Path
from threading import Event, Lock

log = logging.getLogger(__name__)
_INCREMENTAL = 2
_PAGES_AT_ONCE = 1000
"""Taken out of the file by one transaction; others wait for about 30 ms."""
_FEW_PAGES = 200
"""The same on a full disk, so that the log stays short."""
_REWRITTEN_BYTES = 16 << 20
"""A database of so many bytes is written anew after deletions, which takes a fraction of a second."""
_PAUSE_S = 0.02
_MOST_WAIT_MS = 200


def make_shrinkable(connection: sqlite3.Connection, path: Path) -> None:
    """Let a database give freed pages back; one of an earlier version is written anew for that, once.

    Where the disk has no room for a second copy it stays as it is until the next start.
    """
    if _ask(connection, "auto_vacuum") == _INCREMENTAL:
        return
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    used = _ask(connection, "page_count") - _ask(connection, "freelist_count")
    if 3 * used * _ask(connection, "page_size") > shutil.disk_usage(path.parent).free:
        log.warning("%s cannot be made smaller: that takes more space than the disk has.", path)
        return
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as exc:
        log.warning("%s cannot be made smaller now: %s. It is tried again at the next start.", path, exc)


def prepare_new(connection: sqlite3.Connection) -> None:
    """Settings that a database has from its first page on; without effect on one that has any."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")


def reclaim(connection: sqlite3.Connection, lock: Lock, stop: Event, *, keeps_log: bool) -> bool:
    """Take freed pages out of the file and empty the log; False when some are left for another time.

    Args:
        connection: one of its own, without a transaction.
        lock: what every writer holds.
        stop: set when it is to end.
        keeps_log: leave the log's file as long as it is, since its space could not be had again.

    Raises:
        sqlite3.OperationalError: the disk is full or fails.
    """
    connection.execute(f"PRAGMA busy_timeout={_MOST_WAIT_MS}")
    is_possible = _ask(connection, "auto_vacuum") == _INCREMENTAL
    pages = _FEW_PAGES if keeps_log else _PAGES_AT_ONCE
    ending = "RESTART" if keeps_log else "TRUNCATE"
    while is_possible and (left := _ask(connection, "freelist_count")) and not stop.wait(_PAUSE_S):
        with lock:
            connection.executescript(f"PRAGMA incremental_vacuum({pages})")  # `execute` takes one page
            if keeps_log:
                connection.execute(f"PRAGMA wal_checkpoint({ending})").fetchone()
        if _ask(connection, "freelist_count") >= left:
            break
    size = _ask(connection, "page_count") * _ask(connection, "page_size")
    if not keeps_log and size <= _REWRITTEN_BYTES and not stop.is_set():
        with lock:
            connection.execute("VACUUM")  # pages that cells were moved out of keep copies of them
    busy, *_ = connection.execute(f"PRAGMA wal_checkpoint({ending})").fetchone()
    return not keeps_log and not busy and not (is_possible and _ask(connection, "freelist_count"))


def _ask(connection: sqlite3.Connection, pragma: str) -> int:
    found: tuple[int] = connection.execute(f"PRAGMA {pragma}").fetchone()
    return found[0]
