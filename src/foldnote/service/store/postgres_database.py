"""Connections and transactions of PostgreSQL, for several replicas of a service.

A write transaction first locks what it will change, so that its reads stay valid until it commits: the rows
of its accounts, or everything if it concerns no account. These locks are taken in a fixed order, and an
account that is added later is only taken if it is free, which prevents deadlocks.

After a commit the other replicas are notified of the changed accounts. This only saves time: without a
notification, they poll every few seconds.
"""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.adapt import Buffer
from psycopg.types.string import StrDumper
from sqlalchemy import event
from sqlalchemy.dialects.sqlite.dml import OnConflictDoNothing, OnConflictDoUpdate
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import QueuePool

from foldnote.errors import ConfigurationError
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.database import Found, StorageFaultError, retry_while_disk_full
from foldnote.service.store.migrations import migrate
from foldnote.service.store.postgres_dialect import MigratedConnection

log = logging.getLogger(__name__)
_CHANNEL = "foldnote"
_OLDEST = 13
"""The oldest supported version of PostgreSQL."""
_EVERYTHING = 0x666F6C64
"""Advisory lock: shared by writers of some accounts, exclusive for one that may change any."""
_MIGRATION = 0x666F6C65
_WORK = 0x666F6C66
"""Class of the advisory locks of work that one replica at a time does."""
_POOL_TIMEOUT_S = 10.0
_CONNECT_S = 5
_LISTEN_S = 0.25
_CHECK_INTERVAL_S = 10.0
"""Seconds without a notification after which changes are assumed."""
_RETRY_S = 1.0
_REPEAT_AFTER_S = (0.05, 0.2, 0.5, 1.0)
_MANY_ACCOUNTS = 300
_FULL = "53100"
_NOT_ALLOWED = ("42501", "3F000")
_TRANSIENT_ERRORS = (
    sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.InternalError, sa.exc.NotSupportedError
)  # fmt: skip
_TRANSIENT_RAW_ERRORS = (psycopg.OperationalError, psycopg.InternalError, psycopg.NotSupportedError)
"""Faults of the server and not of a statement: a standby reports writing as unsupported, and a session that
was idle for too long gets an internal error."""
_EXCERPT = re.compile(r"\s+Is the server running[^?]*\?|\nLINE [\d\D]*")
_SETTINGS = {
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "30s",
    "tcp_keepalives_idle": "20",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
"""So that a replica that was cut off loses its locks."""


class PostgresDatabase:
    """A PostgreSQL database with the tables of the service.

    Args:
        address: address of the database.
        on_full: called if a write fails because the server's disk is full.

    Raises:
        ConfigurationError: it cannot be reached or used; the message says why and what to do.
    """

    is_shared = True

    def __init__(self, address: StoreAddress, on_full: Callable[[], None] = lambda: None) -> None:
        self._address = address
        self._on_full = on_full
        self._name = secrets.token_hex(4)
        self._versions: Counter[int] = Counter()
        self._on_change: Callable[[], None] = lambda: None
        self._is_closing = threading.Event()
        self._writers = self._engine()
        snapshot = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        self._readers = self._writers.execution_options(**snapshot)
        self._autocommit = self._writers.execution_options(isolation_level="AUTOCOMMIT")
        try:
            self._prepare()
        except BaseException:
            self._writers.dispose()
            raise
        self._listener = threading.Thread(
            target=self._listen_until_closed, name="database listener", daemon=True
        )
        self._listener.start()

    def _engine(self) -> sa.Engine:
        pool_size = min(8, self._address.connections)
        engine = sa.create_engine(
            self._address.parsed,
            poolclass=QueuePool,
            pool_size=pool_size,
            max_overflow=self._address.connections - pool_size - 1,  # the listener has one, too
            pool_timeout=_POOL_TIMEOUT_S,
            pool_recycle=1800,
            isolation_level="READ COMMITTED",
            hide_parameters=True,
            connect_args={
                "application_name": "foldnote",
                "connect_timeout": _CONNECT_S,
                "keepalives_idle": 20,
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": 20_000,
                "options": " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items()),
            },
        )
        event.listen(engine, "connect", _configure)
        return engine

    def _prepare(self) -> None:
        """Check the server and apply missing migrations, one replica at a time."""
        try:
            with self._autocommit.connect() as connection:
                raw = _raw_connection(connection)
                self._require_usable(raw)
                raw.execute("SET lock_timeout = 0")  # another replica may be migrating
                raw.execute("SET statement_timeout = 0")  # the administrator may have set one
                raw.execute("SELECT pg_advisory_lock(%s)", (_MIGRATION,))
                try:
                    migrate(MigratedConnection(raw), shown=f"The database {self._address.shown}")
                finally:
                    raw.execute("SELECT pg_advisory_unlock(%s)", (_MIGRATION,))
                    raw.execute(f"SET lock_timeout = '{_SETTINGS['lock_timeout']}'")
                    raw.execute("RESET statement_timeout")
        except sa.exc.DBAPIError as exc:
            raise self._unusable(exc.orig) from None
        except psycopg.Error as exc:
            raise self._unusable(exc) from None

    def _unusable(self, fault: BaseException | None) -> ConfigurationError:
        """Report the server's or driver's message, without the excerpt of a query, and what to do."""
        reason = " ".join(_EXCERPT.sub("", str(fault)).split()).rstrip(".")
        if getattr(fault, "sqlstate", None) in _NOT_ALLOWED:
            advice = "Let its user own the database: ALTER DATABASE … OWNER TO …"
        else:
            advice = "Check its address, user and password (PGPASSFILE or PGPASSWORD), and that it runs"
        return ConfigurationError(f"The database {self._address.shown} cannot be used: {reason}. {advice}.")

    def _require_usable(self, connection: psycopg.Connection[Any]) -> None:
        """Refuse a server that does not keep commits, or that lacks something.

        Raises:
            ConfigurationError: the message says what is wrong and what to do.
        """
        database = self._address.shown
        if connection.info.server_version < _OLDEST * 10_000:
            version = connection.info.server_version // 10_000
            raise ConfigurationError(
                f"The server of {database} is PostgreSQL {version}; the service needs {_OLDEST} or later."
            )
        row = connection.execute(
            "SELECT current_setting('server_encoding'), current_setting('synchronous_commit'),"
            " current_setting('fsync'),"
            " pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'"
        ).fetchone()
        encoding, synchronous, fsync, is_read_only = row or ("", "", "", True)
        if encoding != "UTF8":
            raise ConfigurationError(
                f"The encoding of {database} is {encoding}. Create a database with: createdb"
                " --encoding=UTF8 --template=template0 NAME"
            )
        if is_read_only:
            raise ConfigurationError(f"{database} can only be read. Give the address of the primary server.")
        if "off" in (synchronous, fsync):
            name = "fsync" if fsync == "off" else "synchronous_commit"
            raise ConfigurationError(
                f"{name} is off at {database}: a power cut would lose jobs that were acknowledged. Set it"
                " to on."
            )

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """See the protocol.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with self._translate_errors(), self._readers.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *owners: int, jobs: Collection[int] | None = None) -> Iterator[sa.Connection]:
        """See the protocol.

        Raises:
            StorageFaultError: the database cannot be written now.
        """
        is_about_all = not owners and jobs is None
        touched: set[int] = set()
        with self._translate_errors(), self._writers.begin() as connection:
            connection.info["touched"] = touched
            if is_about_all:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_EVERYTHING,))
            else:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock_shared(%s)", (_EVERYTHING,))
                touched.update(owners)
                if jobs:
                    query = "SELECT DISTINCT account_id FROM jobs WHERE id = ANY(%s)"
                    touched.update(connection.exec_driver_sql(query, (list(jobs),)).scalars())
                if touched:
                    query = "SELECT id FROM accounts WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
                    connection.exec_driver_sql(query, (sorted(touched),))
            yield connection
        self._notify_changes(None if is_about_all else touched)

    def try_lock_account(self, connection: sa.Connection, account_id: int) -> bool:
        """See the protocol."""
        query = "SELECT id FROM accounts WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED"
        if connection.exec_driver_sql(query, (account_id,)).first() is None:
            return False
        connection.info["touched"].add(account_id)
        return True

    @contextmanager
    def read_raw(self, *, is_single: bool = False) -> Iterator[QuestionMarks]:
        """See the protocol.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with (
            self._translate_errors(),
            self._autocommit.connect() if is_single else self._readers.begin() as connection,
        ):
            yield QuestionMarks(_raw_connection(connection))

    @contextmanager
    def hold_exclusively(self, work: str) -> Iterator[bool]:
        """See the protocol.

        Raises:
            StorageFaultError: the database cannot be used now.
        """
        with self._translate_errors(), self._autocommit.connect() as connection:
            values = (_WORK, work)
            query = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
            is_exclusive = bool(connection.exec_driver_sql(query, values).scalar_one())
            try:
                yield is_exclusive
            finally:
                if is_exclusive:
                    connection.exec_driver_sql("SELECT pg_advisory_unlock(%s, hashtext(%s))", values)

    def retry_while_disk_full(self, act: Callable[[], Found]) -> Found:
        """See the protocol; the server may need a moment to free space.

        Raises:
            StorageFaultError: the disk is still full, or the database cannot be used.
        """
        return retry_while_disk_full(act, _REPEAT_AFTER_S)

    def seconds(self) -> float:
        """Return the server's clock: Unix time (s).

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with self.read() as connection:
            query = "SELECT extract(epoch FROM clock_timestamp())::double precision"
            return float(connection.exec_driver_sql(query).scalar_one())

    def size_bytes(self) -> int:
        """See the protocol; excludes the log, which belongs to all databases of the server.

        Raises:
            StorageFaultError: the database cannot be read now.
        """
        with self.read() as connection:
            query = "SELECT pg_database_size(current_database())"
            return int(connection.exec_driver_sql(query).scalar_one())

    def reclaim(self, stop: threading.Event, *, keeps_log: bool = False) -> bool:  # noqa: ARG002
        """Do nothing: the server's autovacuum frees deleted rows."""
        return True

    def close(self) -> None:
        """Close every connection."""
        self._is_closing.set()
        self._listener.join()
        self._writers.dispose()

    # changes

    def version(self, account_id: int = 0) -> int:
        """See the protocol."""
        return self._versions[account_id] + self._versions[0] if account_id else self._versions.total()

    def listen(self, on_change: Callable[[], None]) -> None:
        """See the protocol."""
        self._on_change = on_change

    def _notify_changes(self, accounts: Collection[int] | None) -> None:
        """Notify replicas and local waiters of the accounts whose rows changed; None for any account."""
        if accounts is not None and not accounts:
            return
        affects_many = accounts is None or len(accounts) > _MANY_ACCOUNTS
        self._count_changes(None if affects_many else accounts)
        payload = f"{self._name} " + ("*" if affects_many else ",".join(map(str, accounts or ())))
        query = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, %s)"
        with contextlib.suppress(sa.exc.SQLAlchemyError), self._autocommit.connect() as connection:
            connection.exec_driver_sql(query, (_CHANNEL, payload))  # the notification need not be durable

    def _count_changes(self, accounts: Collection[int] | None) -> None:
        self._versions.update([0] if accounts is None else accounts)

    def _listen_until_closed(self) -> None:
        """Listen until the end; while that is impossible, report changes of all accounts at each retry."""
        while not self._is_closing.is_set():
            try:
                self._listen()
            except (sa.exc.SQLAlchemyError, psycopg.Error):
                self._count_changes(None)
                self._on_change()
                self._is_closing.wait(_RETRY_S)

    def _listen(self) -> None:
        with self._autocommit.connect() as connection:
            raw = _raw_connection(connection)
            connection.detach()
            raw.execute(f"LISTEN {_CHANNEL}")
            next_check_at = 0.0
            while not self._is_closing.is_set():
                if time.monotonic() >= next_check_at:
                    next_check_at = time.monotonic() + _CHECK_INTERVAL_S
                    self._count_changes(None)
                    self._on_change()
                for notice in raw.notifies(timeout=_LISTEN_S, stop_after=1):
                    sender, _, accounts = notice.payload.partition(" ")
                    if sender != self._name:
                        self._count_changes(
                            None if accounts == "*" else [int(account) for account in accounts.split(",")]
                        )
                        self._on_change()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.TimeoutError as exc:
            raise StorageFaultError("All connections to the database are in use.") from exc
        except sa.exc.DBAPIError as exc:
            if not isinstance(exc, _TRANSIENT_ERRORS):
                raise
            raise self._storage_fault(exc.orig) from exc
        except _TRANSIENT_RAW_ERRORS as exc:
            raise self._storage_fault(exc) from exc

    def _storage_fault(self, exc: BaseException | None) -> StorageFaultError:
        is_full = getattr(exc, "sqlstate", None) == _FULL
        if is_full:
            self._on_full()
        return StorageFaultError(" ".join(str(exc).split()), is_full=is_full)


class QuestionMarks:
    """A connection of the driver that accepts SQLite's placeholders."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, query: str, values: Any = (), /) -> psycopg.Cursor[Any]:
        """Run a query and return its cursor."""
        return self._connection.execute(query.replace("?", "%s").encode(), values)


class CleanText(StrDumper):
    """Text without NUL characters, which an engine may print and PostgreSQL cannot store."""

    def dump(self, obj: str) -> Buffer | None:
        """Encode the text."""
        return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def _configure(connection: psycopg.Connection[Any], _record: object) -> None:
    connection.adapters.register_dumper(str, CleanText)


def _raw_connection(connection: sa.Connection) -> psycopg.Connection[Any]:
    raw: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
    return raw


@compiles(OnConflictDoUpdate, "postgresql")
def _compile_update(element: Any, compiler: Any, **options: Any) -> str:
    """Add an attribute that only PostgreSQL's constructs have: statements are built once, as SQLite's."""
    element.constraint_target = None
    return str(compiler.visit_on_conflict_do_update(element, **options))


@compiles(OnConflictDoNothing, "postgresql")
def _compile_nothing(element: Any, compiler: Any, **options: Any) -> str:
    element.constraint_target = None
    return str(compiler.visit_on_conflict_do_nothing(element, **options))
