"""The service's catalog of tools; the bundled catalog fills in what a foreign one lacks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from foldnote.client.core.connection import Resource, ServiceConnection
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.client.tables.tool_list import ToolList
from foldnote.errors import ArgumentError, UnknownToolError
from foldnote.models import Tool


class ToolsOperations(Resource):
    """GET /tools."""

    @operation
    def list(self) -> Operation[ToolList]:
        """List the tools in the service's order; the list can be searched, and is shown as a table.

        A catalog in another format is translated; see ``tool.origin``.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer was received.
            ProtocolError: the answer is not a catalog.
        """
        return (yield from list_tools(self._connection))

    @operation
    def get(self, tool_type: str) -> Operation[Tool]:
        """Get a tool by its type.

        Raises:
            UnknownToolError: the service has no such tool; the message suggests similar ones.
        """
        return (yield from get_tool(self._connection, tool_type))


def list_tools(connection: ServiceConnection) -> Operation[ToolList]:
    """List the tools of the service."""
    from foldnote.catalog.foreign import read_catalog  # deferred: only needed to read a catalog

    found, unread = parse_response(read_catalog, (yield from connection.request("GET", "/tools")))
    tools = ToolList(found)
    tools.unread = unread
    connection.tools = tools
    return tools


def get_tool(connection: ServiceConnection, tool_type: str) -> Operation[Tool]:
    """Get a tool; see ``ToolsOperations.get``."""
    return _choose(tool_type, (yield from list_tools(connection)))


def recall_tool(connection: ServiceConnection, tool_type: str) -> Operation[Tool]:
    """Get a tool from the last list, without a request where possible: schemas do not change meanwhile."""
    if any(tool.type == tool_type for tool in connection.tools):
        return _choose(tool_type, connection.tools)
    return (yield from get_tool(connection, tool_type))


def _choose(tool_type: str, tools: Sequence[Tool]) -> Tool:
    for tool in tools:
        if tool.type == tool_type:
            return tool
    if not isinstance(tool_type, str):
        raise ArgumentError(f"A tool is given by its type, such as 'anarci', not {type(tool_type).__name__}.")
    raise UnknownToolError(tool_type, get_close_matches(tool_type, [tool.type for tool in tools], 2))


class Tools(SyncApi, ToolsOperations):
    """The service's tools (synchronous)."""


class AsyncTools(AsyncApi, ToolsOperations):
    """The service's tools (asynchronous)."""
