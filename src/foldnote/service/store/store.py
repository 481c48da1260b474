"""The store: one database, with one class of queries for each kind of row."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.service.store.accounts.accounts import AccountStore
from foldnote.service.store.accounts.organizations import OrganizationStore
from foldnote.service.store.accounts.trials import TrialStore
from foldnote.service.store.address import StoreAddress
from foldnote.service.store.database import Database
from foldnote.service.store.files import DirectUploadStore, FileStore
from foldnote.service.store.jobs.batches import BatchStore
from foldnote.service.store.jobs.first_pages import FirstPageStore
from foldnote.service.store.jobs.jobs import JobStore
from foldnote.service.store.jobs.leftovers import LeftoverStore
from foldnote.service.store.jobs.node_attempts import NodeAttemptStore
from foldnote.service.store.jobs.pages import PageStore
from foldnote.service.store.jobs.pipelines import PipelineStore
from foldnote.service.store.jobs.queue import QueueStore
from foldnote.service.store.jobs.replicas import ReplicaStore
from foldnote.service.store.jobs.shares import ShareStore
from foldnote.service.store.jobs.webhooks import WebhookStore
from foldnote.service.store.operation import OperationStore
from foldnote.service.store.quotas import Quotas
from foldnote.service.store.retention import RetentionStore
from foldnote.service.store.sqlite_database import SqliteDatabase
from foldnote.service.store.storage import StorageStore
from foldnote.service.store.tools import ToolStore


class Store:
    """The complete persistent state of the service.

    Args:
        location: SQLite's file, or the address of a PostgreSQL database.
        on_full: called if a write fails because the disk is full.

    Raises:
        ConfigurationError: the folder is on a network file system, or the server cannot be used.
    """

    def __init__(
        self,
        location: Path | StoreAddress,
        quotas: Quotas | None = None,
        on_full: Callable[[], None] = lambda: None,
    ) -> None:
        self.database = open_database(location, on_full)
        self.accounts = AccountStore(self.database)
        self.organizations = OrganizationStore(self.database)
        self.trials = TrialStore(self.database)
        limits = quotas or Quotas()
        self.jobs = JobStore(self.database, limits)
        self.pages = PageStore(self.database)
        self.first_pages = FirstPageStore(self.database)
        self.batches = BatchStore(self.database)
        self.pipelines = PipelineStore(self.database, limits)
        self.leftovers = LeftoverStore(self.database)
        self.queue = QueueStore(self.database)
        self.node_attempts = NodeAttemptStore(self.database)
        self.replicas = ReplicaStore(self.database)
        self.tools = ToolStore(self.database)
        self.files = FileStore(self.database)
        self.direct_uploads = DirectUploadStore(self.database)
        self.storage = StorageStore(self.database)
        self.operation = OperationStore(self.database)
        self.retention = RetentionStore(self.database)
        self.webhooks = WebhookStore(self.database)
        self.shares = ShareStore(self.database)

    def close(self) -> None:
        """Close the database."""
        self.database.close()


def open_database(location: Path | StoreAddress, on_full: Callable[[], None]) -> Database:
    """Open SQLite's file, or a PostgreSQL database, whose driver is only then imported.

    Raises:
        ConfigurationError: it cannot be used, or the driver is not installed.
    """
    if isinstance(location, Path):
        return SqliteDatabase(location, on_full)
    if find_spec("psycopg") is None:
        raise ConfigurationError(
            "A store in PostgreSQL needs the package psycopg: pip install 'foldnote[postgres]'."
        )
    from foldnote.service.store.postgres_database import PostgresDatabase

    return PostgresDatabase(location, on_full)
