"""The catalog of the connected service; the bundled one fills in what a foreign catalog lacks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from foldnote.client.core.connection import Resource, ServiceConnection
from foldnote.client.core.error_mapping import understand
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.client.tables.tool_list import ToolList
from foldnote.errors import UnknownToolError
from foldnote.models import Tool


class ToolsOperations(Resource):
    """GET /tools."""

    @operation
    def list(self) -> Operation[ToolList]:
        """Every tool of the service, in its order; the list can be searched and shows as a table.

        A catalog in another form is translated: see ``tool.origin``.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer came.
            ProtocolError: the answer is no catalog.
        """
        return (yield from list_tools(self._connection))

    @operation
    def get(self, tool_type: str) -> Operation[Tool]:
        """One tool.

        Raises:
            UnknownToolError: the service has no such tool; near names are given.
        """
        return (yield from get_tool(self._connection, tool_type))


def list_tools(connection: ServiceConnection) -> Operation[ToolList]:
    """Every tool of the service."""
    from foldnote.catalog.foreign import read_catalog  # only where a catalog is read

    found, odd = understand(read_catalog, (yield from connection.ask("GET", "/tools")))
    tools = ToolList(found)
    tools.unread = odd
    connection.tools = tools
    return tools


def get_tool(connection: ServiceConnection, tool_type: str) -> Operation[Tool]:
    """One tool; see ``ToolsOperations.get``."""
    return _choose(tool_type, (yield from list_tools(connection)))


def recall_tool(connection: ServiceConnection, tool_type: str) -> Operation[Tool]:
    """One tool as last seen: its schema, at least, is the same as long as this client lives."""
    if any(tool.type == tool_type for tool in connection.tools):
        return _choose(tool_type, connection.tools)
    return (yield from get_tool(connection, tool_type))


def _choose(tool_type: str, tools: Sequence[Tool]) -> Tool:
    for tool in tools:
        if tool.type == tool_type:
            return tool
    raise UnknownToolError(tool_type, get_close_matches(tool_type, [tool.type for tool in tools], 2))


class Tools(SyncApi, ToolsOperations):
    """The service's tools."""


class AsyncTools(AsyncApi, ToolsOperations):
    """The service's tools, awaited."""
