"""Tools that administrators registered, as submitted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.jobs.records import write_text
from foldnote.service.store.schema import deployments


@dataclass(frozen=True)
class Definition:
    """A registered tool: its type, its definition as submitted, and the time (RFC 3339 UTC)."""

    type: str
    content: dict[str, Any]
    created: str


class ToolStore:
    """Queries about registered tools."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, tool_type: str, definition: Mapping[str, Any]) -> None:
        """Save a definition, replacing one of the same type."""
        row = {"type": tool_type, "definition": write_text(definition), "created": clock.now()}
        statement = insert(deployments).values(row)
        new = {"definition": statement.excluded.definition, "created": statement.excluded.created}
        with self._database.write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["type"], set_=new))

    def remove(self, tool_type: str) -> bool:
        """Remove a definition; return False if there is none of this type."""
        with self._database.write() as connection:
            statement = sa.delete(deployments).where(deployments.c.type == tool_type)
            return connection.execute(statement).rowcount > 0

    def all(self) -> list[Definition]:
        """Return all definitions, oldest first."""
        query = sa.select(deployments.c.type, deployments.c.definition, deployments.c.created)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(deployments.c.created, deployments.c.type)).all()
        return [Definition(row.type, json.loads(row.definition), row.created) for row in rows]
