"""Tools that administrators registered, as they handed them in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.service.store import clock
from foldnote.service.store.database import Database
from foldnote.service.store.records import write_text
from foldnote.service.store.schema import deployments


class ToolStore:
    """Queries about registered tools."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, tool_type: str, definition: Mapping[str, Any]) -> None:
        """Keep a definition; one of the same type is replaced."""
        row = {"type": tool_type, "definition": write_text(definition), "created": clock.now()}
        statement = insert(deployments).values(row)
        new = {"definition": statement.excluded.definition, "created": statement.excluded.created}
        with self._database.write() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["type"], set_=new))

    def all(self) -> list[dict[str, Any]]:
        """Every definition, the oldest first."""
        query = sa.select(deployments.c.definition).order_by(deployments.c.created)
        with self._database.read() as connection:
            return [json.loads(text) for text in connection.execute(query).scalars()]
