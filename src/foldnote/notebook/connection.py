"""One client per profile for all functions of a notebook, created on first use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from foldnote.client import Client
from foldnote.notebook.verbs import verb

if TYPE_CHECKING:
    from foldnote.client.core.connection import ServiceConnection
    from foldnote.client.resources.jobs import AsyncJobs


@lru_cache(maxsize=8)
def find_client(profile: str | None) -> Client:
    """The client of ``profile``, or of the active one."""
    return Client(profile)


@lru_cache(maxsize=8)
def find_async_jobs(connection: ServiceConnection) -> AsyncJobs:
    """The asynchronous jobs resource of ``connection``, for job cards.

    A card always polls the service of its job with the same key, whatever profile is active.
    """
    from foldnote.client.core.transport import AsyncHttpTransport
    from foldnote.client.resources.jobs import AsyncJobs

    return AsyncJobs(connection, AsyncHttpTransport())


@verb
def connect(profile: str | None = None) -> Client:
    """The client of ``profile``, or of the active one; the embedded service is started when it is needed."""
    return find_client(profile)
