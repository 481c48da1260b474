"""A separate database for benchmarks of several replicas, and the processor time of its server.

`FOLDNOTE_STORE_URL` names the server, and a user who must be allowed to create databases.

"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _service import cpu_with_children_s, processor_ms, tree

from foldnote import settings

VARIABLE = "FOLDNOTE_STORE_URL"


@contextmanager
def own_database() -> Iterator[None]:
    """Create a database on that server, if one is named, for stores and services until the block ends."""
    url = settings.store_url()
    if url is None:
        yield
        return
    import psycopg

    name = f"benchmark_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
    os.environ[VARIABLE] = f"{url.rpartition('/')[0]}/{name}"
    try:
        yield
    finally:
        os.environ[VARIABLE] = url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


class DatabaseServer:
    """The processes of the server, if it is on this machine (Linux); none with SQLite."""

    def __init__(self) -> None:
        self._root = _find_server()

    def cpu_s(self) -> float:
        """Return the processor seconds used so far; 0 if the server is not on this machine."""
        return cpu_with_children_s(tree(self._root)) if self._root else 0.0

    def cpu_ms(self) -> float:
        """Return the processor time of the server's current processes in ms, with a finer resolution."""
        return sum(processor_ms(pid) for pid in tree(self._root)) if self._root else 0.0


def _find_server() -> int:
    """Return the process id of the server; 0 if it is not on this machine."""
    url = settings.store_url()
    if url is None:
        return 0
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        process = Path("/proc") / str(connection.info.backend_pid)
        try:
            fields = (process / "stat").read_text()
        except OSError:
            return 0
    is_server = fields.partition("(")[2].startswith("postgres")
    return int(fields.rpartition(")")[2].split()[1]) if is_server else 0
