"""One client of each profile for all verbs of a notebook, made when the first of them needs it."""

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
    """The jobs of the service that ``connection`` leads to, for cards, which wait beside everything else.

    A card asks where its job is, with the same key, whatever profile is active by then.
    """
    from foldnote.client.core.transport import AsyncHttpTransport
    from foldnote.client.resources.jobs import AsyncJobs

    return AsyncJobs(connection, AsyncHttpTransport())


@verb
def connect(profile: str | None = None) -> Client:
    """The client of ``profile``, or of the active one; the embedded service is started when it is needed."""
    return find_client(profile)
