"""Every older database becomes the newest, and the newest is what the queries expect."""

import sqlite3
from contextlib import closing

import pytest

from foldnote.service.store.migrations import MIGRATIONS, migrate
from foldnote.service.store.schema import metadata


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


def test_a_failed_migration_leaves_nothing(tmp_path, monkeypatch):
    def broken(connection):
        connection.execute("CREATE TABLE half (id INTEGER)")
        raise RuntimeError("power cut")

    monkeypatch.setattr("foldnote.service.store.migrations.MIGRATIONS", [*MIGRATIONS, ("broken", broken)])
    with open_database(tmp_path / "db") as connection:
        with pytest.raises(RuntimeError):
            migrate(connection)
        assert not connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall()


@pytest.mark.parametrize("statement", ["UPDATE events SET kind = 'x'", "DELETE FROM events"])
def test_events_cannot_be_changed(tmp_path, statement):
    with open_database(tmp_path / "db") as connection:
        migrate(connection)
        connection.execute("INSERT INTO events (at, account_id, kind) VALUES ('now', 1, 'submitted')")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
