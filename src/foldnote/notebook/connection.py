"""One client of each profile for all verbs of a notebook, made when the first of them needs it."""

from __future__ import annotations

from functools import lru_cache

from foldnote.client import AsyncClient, Client


@lru_cache(maxsize=8)
def find_client(profile: str | None) -> Client:
    """The client of ``profile``, or of the active one."""
    return Client(profile)


@lru_cache(maxsize=8)
def find_async_client(profile: str | None) -> AsyncClient:
    """The same for cards, which wait beside everything else."""
    return AsyncClient(profile)


def connect(profile: str | None = None) -> Client:
    """The client of ``profile``, or of the active one; the embedded service is started when it is needed."""
    return find_client(profile)
