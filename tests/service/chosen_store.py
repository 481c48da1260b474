"""The database that services of the tests use: SQLite, or PostgreSQL with `FOLDNOTE_TEST_STORE=postgresql`."""

import atexit
import os
from functools import cache
from pathlib import Path

from postgres_cluster import PostgresCluster

from foldnote.service.store.address import StoreAddress

IS_POSTGRESQL = os.environ.get("FOLDNOTE_TEST_STORE") == "postgresql"


@cache
def cluster() -> PostgresCluster:
    """Start this test process's PostgreSQL server when it is first needed."""
    made = PostgresCluster()
    atexit.register(made.close)
    return made


@cache
def url_for(folder: Path) -> str:
    """Return the address of the database that belongs to a data folder."""
    return cluster().make_database()


def store_environment(folder: Path) -> dict[str, str]:
    """Return the environment variables of a service on the data folder."""
    return {"FOLDNOTE_STORE_URL": url_for(folder)} if IS_POSTGRESQL else {}


def store_place(folder: Path) -> StoreAddress | None:
    """Return the same as configuration of a service in this process."""
    return StoreAddress.read({"url": url_for(folder)}) if IS_POSTGRESQL else None
