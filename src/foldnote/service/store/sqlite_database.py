"""Connections and transactions of SQLite: many readers, one writer, durable at commit.

Threads wait on a lock for the single writing connection, so SQLite's busy handler is only needed for other
processes. This module knows none of the tables.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import QueuePool

from foldnote.errors import ConfigurationError
from foldnote.service.store.database import Found, StorageFaultError, retry_while_disk_full
from foldnote.service.store.migrations import migrate
from foldnote.service.store.space import (
    empty_log,
    make_shrinkable,
    prepare_new,
    quiet_time_s,
    reclaim,
    rewrite,
)

BUSY_TIMEOUT_S = 10.0
_REPEAT_AFTER_S = (0.0, 0.05, 0.2, 0.5)
_NO_ROOM_BYTES = 1 << 20
_REST_FACTOR = 20
"""Pause between two rewrites, as a multiple of the duration of the previous one."""
_PRAGMAS = (
    "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY", "cache_size=-8000", "secure_delete=FAST"
)  # fmt: skip
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "gpfs", "lustre", "fuse.sshfs", "9p", "afs"}
)


class DamagedDatabaseError(StorageFaultError):
    """The database's file is corrupt; the message says what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The database {path} is damaged: {reason}. Nothing was changed. Stop the service and restore a"
            f" backup: foldnote admin --data-dir {path.parent} restore BACKUP --replace (what is there now is"
            f" kept beside it). Without a backup, sqlite3 {path} .recover prints what can still be read."
        )


class SqliteDatabase:
    """One SQLite file in WAL mode with `synchronous=FULL`.

    Args:
        on_full: called if a write fails because the disk is full.

    Raises:
        ConfigurationError: the folder is on a network file system, where WAL does not work, or a later
            version of foldnote changed the database.
        StorageFaultError: the disk is full or fails, or the file is damaged.
    """

    is_shared = False

    def __init__(self, path: Path, on_full: Callable[[], None] = lambda: None) -> None:
        refuse_network_file_system(path.parent)
        self._on_full = on_full
        self.path = path
        self._lock = threading.Lock()
        self._waiting_writers: deque[None] = deque()
        self._rewritten_version = -1
        self._next_rewrite = 0.0
        self._prepare()
        self._readers = self._engine(pool_size=8, begin="BEGIN")
        self._writer = self._engine(pool_size=1, begin="BEGIN IMMEDIATE")
        self._watch_lock = threading.Lock()
        self._watch = self._connect()
        self._idle_readers: deque[sqlite3.Connection] = deque()

    def _prepare(self) -> None:
        self.path.touch(mode=0o600, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        try:
            prepare_new(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            migrate(connection, shown=f"The database {self.path}")
            make_shrinkable(connection, self.path)
        except sqlite3.OperationalError as exc:
            raise StorageFaultError(str(exc), is_full=self._is_full(exc)) from exc
        except sqlite3.DatabaseError as exc:
            raise DamagedDatabaseError(self.path, str(exc)) from exc
        finally:
            connection.close()

    def _engine(self, *, pool_size: int, begin: str) -> sa.Engine:
        engine = sa.create_engine(
            f"sqlite:///{self.path}",
            poolclass=QueuePool,
            pool_size=pool_size,
            max_overflow=32 if pool_size > 1 else 0,
            pool_reset_on_return="rollback",
            connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_S, "isolation_level": None},
        )
        event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Open a read transaction, which sees one snapshot.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with self._translated(), self._readers.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self, *owners: int, jobs: Collection[int] | None = None) -> Iterator[sa.Connection]:  # noqa: ARG002
        """Open the only write transaction: durable when the block ends, rolled back if it raises.

        Args:
            owners: not needed, since no other transaction writes.
            jobs: not needed either.

        Raises:
            StorageFaultError: the database cannot be written now; nothing was changed.
        """
        with (
            self._translated(),
            self._hold_lock(),
            self._writer.connect() as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        self._waiting_writers.append(None)
        with self._lock:
            self._waiting_writers.pop()
            yield

    def retry_while_disk_full(self, act: Callable[[], Found]) -> Found:
        """Call `act`, and retry a few times while the disk is full: removing the ballast frees space.

        Raises:
            StorageFaultError: the disk is still full, or the database cannot be used.
        """
        return retry_while_disk_full(act, _REPEAT_AFTER_S)

    def try_lock_account(self, connection: sa.Connection, account_id: int) -> bool:  # noqa: ARG002
        """Return True: the only writer owns every account."""
        return True

    def listen(self, on_change: Callable[[], None]) -> None:
        """Do nothing: no other service uses the database."""

    @contextmanager
    def hold_exclusively(self, work: str) -> Iterator[bool]:  # noqa: ARG002
        """Yield True: there are no other replicas."""
        yield True

    def seconds(self) -> float:
        """Return this machine's clock: Unix time (s)."""
        return time.time()

    def version(self, account_id: int = 0) -> int:  # noqa: ARG002
        """Return a number that changes with each commit by this or another process; takes microseconds.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with self._watch_lock:
            try:
                row: tuple[int] = self._watch.execute("PRAGMA data_version").fetchone()
            except sqlite3.OperationalError as exc:
                raise StorageFaultError(str(exc)) from exc
            return row[0]

    def size_bytes(self) -> int:
        """Return the size of the files."""
        companions = self.path.parent.glob(f"{self.path.name}-*")
        return sum(path.stat().st_size for path in (self.path, *companions) if path.is_file())

    @contextmanager
    def read_raw(self, *, is_single: bool = False) -> Iterator[sqlite3.Connection]:
        """Open a read transaction on a bare sqlite3 connection, for queries that must be fast.

        Args:
            is_single: open no transaction.

        Raises:
            DamagedDatabaseError: the file is damaged.
            StorageFaultError: the database cannot be read now.
        """
        try:
            try:
                connection = self._idle_readers.pop()
            except IndexError:
                connection = self._connect()
            if not is_single:
                connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if not is_single:
                    connection.execute("COMMIT")
                self._idle_readers.append(connection)
        except sqlite3.OperationalError as exc:
            raise StorageFaultError(str(exc)) from exc
        except sqlite3.DatabaseError as exc:
            if exc.sqlite_errorcode & 0xFF not in _DAMAGED:
                raise
            raise DamagedDatabaseError(self.path, str(exc)) from exc

    def checkpoint(self) -> bool:
        """Copy the whole write-ahead log into the database; False if a reader still needs part of it.

        Raises:
            StorageFaultError: the database cannot be written now.
        """
        try:
            with closing(self._connect()) as connection:
                return empty_log(connection)
        except sqlite3.OperationalError as exc:
            raise StorageFaultError(str(exc), is_full=self._is_full(exc)) from exc

    def reclaim(self, stop: threading.Event, *, keeps_log: bool = False) -> bool:
        """Remove remains of deleted rows from the files, until `stop`; return False if some are left.

        A large database is rewritten only during a pause in writing (`space.rewrite`); until then this
        returns False.

        Args:
            stop: set this event to end early.
            keeps_log: keep the length of the log file, for a full disk.

        Raises:
            StorageFaultError: the disk is full or fails.
        """
        try:
            with closing(self._connect()) as connection:
                is_done = reclaim(connection, self._lock, stop, keeps_log=keeps_log)
                return not keeps_log and self._rewrite(connection, stop) and is_done
        except sqlite3.DatabaseError as exc:
            raise StorageFaultError(str(exc), is_full=self._is_full(exc)) from exc

    def _rewrite(self, connection: sqlite3.Connection, stop: threading.Event) -> bool:
        """Rewrite the database during a pause in writing, and for at most a twentieth of the time."""
        version, quiet_s = self.version(), quiet_time_s(connection)
        if version == self._rewritten_version:
            return True
        if time.monotonic() < self._next_rewrite or stop.wait(quiet_s):
            return False
        if quiet_s and self.version() != version:
            return False
        began = time.monotonic()
        is_done = rewrite(
            connection,
            self.path,
            self._lock,
            lambda: stop.is_set() or bool(quiet_s and self._waiting_writers),
        )
        ended = time.monotonic()
        self._next_rewrite = ended + _REST_FACTOR * (ended - began)
        if is_done:
            self._rewritten_version = self.version()
        return is_done and empty_log(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        _configure(connection, None)
        return connection

    def close(self) -> None:
        """Close every connection."""
        while self._idle_readers:
            self._idle_readers.pop().close()
        self._watch.close()
        self._readers.dispose()
        self._writer.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.OperationalError as exc:
            is_full = self._is_full(exc.orig)
            if is_full:
                self._on_full()
            raise StorageFaultError(str(exc.orig), is_full=is_full) from exc
        except sa.exc.DatabaseError as exc:
            if getattr(exc.orig, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                raise
            raise DamagedDatabaseError(self.path, str(exc.orig)) from exc

    def _is_full(self, fault: BaseException | None) -> bool:
        """Return whether the disk is full; SQLite reports a failed sync or truncation as a mere I/O error."""
        code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
        has_no_room = shutil.disk_usage(self.path.parent).free < _NO_ROOM_BYTES
        return code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and has_no_room)


def _configure(connection: sqlite3.Connection, _record: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def refuse_network_file_system(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> None:
    """Refuse a folder on a network file system, where SQLite's WAL can lose data.

    Raises:
        ConfigurationError: the message names the folder, the kind of file system and what to do.
    """
    kind = file_system_of(folder, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise ConfigurationError(
            f"The data folder {folder} is on a network file system ({kind}), where the service's database is"
            " not safe. Start the service with --data-dir on a local disk, or set FOLDNOTE_HOME to a folder"
            " there."
        )


def file_system_of(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str | None:
    """Return the type of the file system of `folder`; None if unknown."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return None
    best: tuple[int, str | None] = (-1, None)
    target = folder.resolve()
    for line in lines:
        _, mount_point, kind, *_ = line.split(" ")
        point = Path(mount_point.replace("\\040", " "))
        if target.is_relative_to(point) and len(point.parts) >= best[0]:
            best = (len(point.parts), kind)
    return best[1]
