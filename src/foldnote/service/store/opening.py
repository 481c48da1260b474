"""Check, before a service opens its database, that its files belong together and are intact.

SQLite keeps recent changes in the write-ahead log until it copies them into the database. If a service is
killed, the log remains. If the database file is then replaced by another one, SQLite would copy the old log
into it. Therefore each run of a service has a name, stored in the database and in a file beside it, and a log
is used only if the two agree.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from foldnote.io import write_atomically
from foldnote.service.runner.attempt import set_aside
from foldnote.service.store.schema import identity
from foldnote.service.store.sqlite_database import DamagedDatabaseError, SqliteDatabase

log = logging.getLogger(__name__)
_ASIDE_SUFFIX = "-wal.of-"
_CHECKED_BYTES = 512 << 20
"""Larger databases are not checked at each start; checking this size takes about a second."""


def check_files(database: Path) -> None:
    """Set aside a log that belongs to another database, restore this database's own, and check the database.

    Raises:
        DamagedDatabaseError: it is damaged.
        OSError: a log cannot be renamed.
    """
    wal = companion_file(database, "-wal")
    if _is_nonempty(wal) and not _log_belongs(database):
        _set_log_aside(database, wal)
    if _is_nonempty(database):
        if not _is_nonempty(wal):
            _restore_log(database, wal)
        if database.stat().st_size <= _CHECKED_BYTES:
            _check_integrity(database)


def begin_run(database: SqliteDatabase) -> None:
    """Name this run, in the database and in a file beside it.

    Raises:
        StorageFaultError: the database cannot be written.
        OSError: the file cannot be written.
    """
    run_file = companion_file(database.path, "-run")
    names = [*_read_names(run_file), secrets.token_hex(8)]
    write_atomically(run_file, " ".join(names), is_durable=True)
    with database.write() as connection:
        connection.execute(sa.update(identity).values(run=names[-1]))
    if database.checkpoint():
        write_atomically(run_file, names[-1], is_durable=True)


def companion_file(database: Path, ending: str) -> Path:
    """Return the path of a file that belongs to the database."""
    return database.with_name(database.name + ending)


def _is_nonempty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _log_belongs(database: Path) -> bool:
    """Return whether the log belongs to the database, as far as can be known."""
    if not _is_nonempty(database):
        return False
    names = _read_names(companion_file(database, "-run"))
    run = _find_run(database)
    return not names or not run or run in names


def _find_run(database: Path) -> str:
    """Return the run named in the database without its log; empty if there is none."""
    try:
        address = f"file:{quote(str(database.absolute()))}?immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            row: tuple[str] = connection.execute("SELECT run FROM identity").fetchone()
    except sqlite3.Error:  # of an earlier version, or interrupted while copying the log
        return ""
    return row[0]


def _set_log_aside(database: Path, wal: Path) -> None:
    names = _read_names(companion_file(database, "-run"))
    aside = companion_file(database, f"{_ASIDE_SUFFIX}{'-'.join(names)}")
    if not names or aside.exists():
        aside = set_aside(wal)
    else:
        wal.rename(aside)
    companion_file(database, "-shm").unlink(missing_ok=True)
    log.error(
        "The database that was at %s when the service ended is missing. Its newest changes are in %s;"
        " they are restored when it is put back. To use it elsewhere, put them beside it and name them %s.",
        database,
        aside,
        wal.name,
    )


def _restore_log(database: Path, wal: Path) -> None:
    """Return the log to its database, which had been moved away without it."""
    run = _find_run(database)
    for aside in sorted(database.parent.glob(f"{database.name}{_ASIDE_SUFFIX}*")):
        names = aside.name.partition(_ASIDE_SUFFIX)[2].split("-")
        if run and run in names:
            write_atomically(companion_file(database, "-run"), " ".join(names), is_durable=True)
            companion_file(database, "-shm").unlink(missing_ok=True)
            aside.rename(wal)
            log.warning("The newest changes of %s were restored from %s.", database, aside)
            return


def _read_names(path: Path) -> list[str]:
    try:
        return path.read_text("ascii").split()
    except (OSError, ValueError):
        return []


def _check_integrity(database: Path) -> None:
    try:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            row: tuple[str] = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:  # locked or unreadable; opening it reports the error
        return
    except sqlite3.DatabaseError as exc:
        raise DamagedDatabaseError(database, str(exc)) from exc
    if row[0] != "ok":
        raise DamagedDatabaseError(database, " ".join(row[0].split()))
