"""Which database the services of the tests use: SQLite, or PostgreSQL with `FOLDNOTE_TEST_STORE=postgresql`."""

import atexit
import os
from functools import cache
from pathlib import Path

from postgres_cluster import PostgresCluster

from foldnote.service.store.address import StoreAddress

IS_POSTGRESQL = os.environ.get("FOLDNOTE_TEST_STORE") == "postgresql"


@cache
def cluster() -> PostgresCluster:
    """The server of this process of tests, started when it is first needed."""
    made = PostgresCluster()
    atexit.register(made.close)
    return made


@cache
def url_for(folder: Path) -> str:
    """The address of the database that belongs to a data folder."""
    return cluster().make_database()


def store_environment(folder: Path) -> dict[str, str]:
    """What a service on the data folder has in its environment."""
    return {"FOLDNOTE_STORE_URL": url_for(folder)} if IS_POSTGRESQL else {}


def store_place(folder: Path) -> StoreAddress | None:
    """The same for the configuration of a service in this process."""
    return StoreAddress.read({"url": url_for(folder)}) if IS_POSTGRESQL else None
