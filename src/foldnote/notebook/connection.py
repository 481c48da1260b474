"""One client per profile for all functions of a notebook, created on first use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from foldnote.client import Client
from foldnote.notebook.argument_checks import check_arguments
from foldnote.settings import Profile, active_profile

if TYPE_CHECKING:
    from foldnote.client.core.connection import ServiceConnection
    from foldnote.client.resources.jobs import AsyncJobs


def find_client(profile: str | None) -> Client:
    """Return the client of ``profile``, or of the active one, which is looked up at every call.

    A call after ``foldnote profile use``, or after a change of the environment, therefore uses the new
    service.
    """
    return make_client(active_profile(profile))


@lru_cache(maxsize=8)
def make_client(profile: Profile) -> Client:
    """Return the client of a profile at its address, created once."""
    return Client(profile.name)


@lru_cache(maxsize=8)
def find_async_jobs(connection: ServiceConnection) -> AsyncJobs:
    """Return the asynchronous jobs resource of ``connection``, for job cards.

    A card always polls the service of its job with the same key, whatever profile is active.
    """
    from foldnote.client.core.transport import AsyncHttpTransport
    from foldnote.client.resources.jobs import AsyncJobs

    return AsyncJobs(connection, AsyncHttpTransport())


@check_arguments
def connect(profile: str | None = None) -> Client:
    """Return the client of ``profile``, or of the active one; it starts the embedded service if needed."""
    return find_client(profile)
