"""Location of the store: SQLite's file in the data folder, or a PostgreSQL server shared by replicas.

The address of the server is in the section ``[store]`` of ``config.toml``, or in an environment variable. It
is better to leave out the password: the driver also reads ``PGPASSFILE``, ``~/.pgpass`` or ``PGPASSWORD``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import sqlalchemy as sa
from pydantic import SecretStr

from foldnote import settings
from foldnote.errors import ConfigurationError

EXAMPLE = "postgresql://foldnote@db.example.org/foldnote"
_DRIVER = "postgresql+psycopg"
_WHERE = "The section [store] of config.toml"
_DAY_S = 86_400


@dataclass(frozen=True)
class StoreAddress:
    """The PostgreSQL database of a service.

    Attributes:
        url: address of the database, possibly with a password.
        connections: maximum number of connections of one replica.
        lease_s: seconds without a renewal after which a replica counts as dead and its jobs are taken over;
            runs on its machine end by then.
    """

    url: SecretStr
    connections: int = 24
    lease_s: float = 60.0

    @classmethod
    def read(cls, section: Mapping[str, Any], url: str | None = None) -> Self | None:
        """Check the section ``[store]``; return None if it names no server.

        Args:
            section: its content.
            url: address of the database, overriding the section's.

        Raises:
            ConfigurationError: a value is wrong; the message does not contain the address.
        """
        settings.require_known_options(_WHERE, section, cls.__dataclass_fields__)
        address = url or section.get("url")
        connections = section.get("connections", cls.connections)
        lease_s = section.get("lease_s", cls.lease_s)
        if isinstance(connections, bool) or not isinstance(connections, int) or not 4 <= connections <= 1000:
            raise ConfigurationError(
                f"{_WHERE} sets connections to {connections!r}; it must be a number from 4 to 1000."
            )
        if isinstance(lease_s, bool) or not isinstance(lease_s, int | float) or not 1 <= lease_s <= _DAY_S:
            raise ConfigurationError(
                f"{_WHERE} sets lease_s to {lease_s!r}; it must be a number of seconds from 1 to {_DAY_S}."
            )
        if address is None:
            return None
        _require_address(address)
        return cls(SecretStr(address), connections, float(lease_s))

    @property
    def parsed(self) -> sa.URL:
        """The address for SQLAlchemy, which hides the password when it is printed."""
        return sa.make_url(self.url.get_secret_value()).set(drivername=_DRIVER)

    @property
    def shown(self) -> str:
        """The address for messages, without password and options."""
        parsed = self.parsed
        name = f"{parsed.username}@" if parsed.username else ""
        port = f":{parsed.port}" if parsed.port else ""
        return f"postgresql://{name}{parsed.host or ''}{port}/{parsed.database or ''}"


def _require_address(address: object) -> None:
    try:
        parsed = sa.make_url(address) if isinstance(address, str) else None
    except (sa.exc.ArgumentError, ValueError):
        parsed = None
    if parsed is None or parsed.drivername not in ("postgresql", "postgres", _DRIVER) or not parsed.database:
        raise ConfigurationError(
            "The address of the store is not that of a PostgreSQL database. Set url of the section [store] in"
            f" config.toml, or FOLDNOTE_STORE_URL, to an address such as {EXAMPLE}; special characters of a"
            " password are written as %XX."
        ) from None
