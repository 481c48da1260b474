"""Every older database is migrated to the newest version, which has the schema that queries expect."""

import sqlite3
from contextlib import closing

import pytest

from foldnote.errors import ConfigurationError
from foldnote.service.store.migrations import MIGRATIONS, migrate
from foldnote.service.store.schema import metadata
from foldnote.service.store.sqlite_database import SqliteDatabase


def open_database(path):
    return closing(sqlite3.connect(path, isolation_level=None))


@pytest.mark.parametrize("older", [name for name, _ in MIGRATIONS])
def test_an_older_database_is_upgraded(tmp_path, older):
    with open_database(tmp_path / "db") as connection:
        migrate(connection, until=older)
        names = [name for name, _ in MIGRATIONS]
        assert migrate(connection) == names[names.index(older) + 1 :]
        assert migrate(connection) == []


def test_the_tables_are_those_of_the_schema(tmp_path):
    with open_database(tmp_path / "db") as connection:
        migrate(connection)
        for table in metadata.sorted_tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table.name})")]
            assert sorted(columns) == sorted(column.name for column in table.columns)


def test_records_and_failures_of_an_older_database_are_found_in_the_newest(tmp_path):
    rows = [
        (1, None, "batch", "Stopped", None, 0),
        (2, 1, "anarci", "Stopped", "It failed.", 0),
        (3, 1, "anarci", "Stopped", None, 0),
        (4, None, "anarci", "Running", None, 0),
        (5, None, "anarci", "Complete", None, 1),
    ]
    with open_database(tmp_path / "db") as connection:
        migrate(connection, until="m0011_account_events")
        connection.execute("INSERT INTO accounts (id, email, tier, created) VALUES (1, 'a', 'full', 'x')")
        connection.executemany(
            "INSERT INTO jobs (id, parent_id, type, state, error, is_purged, account_id, name, settings,"
            " normalized, created, record) VALUES (?, ?, ?, ?, ?, ?, 1, 'j' || ?1, '{}', '{}', 'x', 'r' || ?1)",
            rows,
        )
        migrate(connection)
        records = connection.execute("SELECT * FROM records ORDER BY number").fetchall()
        failed = connection.execute("SELECT * FROM counters WHERE state = 'failed'").fetchall()
    marks = {4: "\x1e4\x1e", 1: "\x1e1\x1e"}
    assert records == [(-number, marks.get(number), f"r{number}") for number in (4, 3, 2, 1)]
    assert failed == [(1, 1, "failed", 1)]


def test_a_failed_migration_leaves_nothing(tmp_path, monkeypatch):
    def broken(connection):
        connection.execute("CREATE TABLE half (id INTEGER)")
        raise RuntimeError("power cut")

    monkeypatch.setattr("foldnote.service.store.migrations.MIGRATIONS", [*MIGRATIONS, ("broken", broken)])
    with open_database(tmp_path / "db") as connection:
        with pytest.raises(RuntimeError):
            migrate(connection)
        assert not connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall()


def test_a_database_of_a_later_version_is_refused_and_left_as_it_is(tmp_path):
    with open_database(tmp_path / "db") as connection:
        migrate(connection, until="m0011_account_events")
        connection.execute("INSERT INTO migrations VALUES ('m9999_later', '2999')")
        before = list(connection.iterdump())
        with pytest.raises(
            ConfigurationError, match=r"db was used by a later version .*\(it has m9999_later\)"
        ):
            SqliteDatabase(tmp_path / "db")
        assert list(connection.iterdump()) == before


@pytest.mark.parametrize("statement", ["UPDATE events SET kind = 'x'", "DELETE FROM events"])
def test_events_cannot_be_changed(tmp_path, statement):
    with open_database(tmp_path / "db") as connection:
        migrate(connection)
        connection.execute("INSERT INTO events (at, account_id, kind) VALUES ('now', 1, 'submitted')")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
