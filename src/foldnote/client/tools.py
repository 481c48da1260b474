"""The catalog of the connected service; the bundled one fills in what a foreign catalog lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from foldnote import catalog
from foldnote.client.effects import Steps, operation
from foldnote.client.link import Link
from foldnote.client.refusals import understand
from foldnote.client.resource import AsyncResource, Resource, SyncResource
from foldnote.errors import ProtocolError, UnknownToolError
from foldnote.models import Tool, read_tool


class ToolsSteps(Resource):
    """GET /tools."""

    @operation
    def list(self) -> Steps[tuple[Tool, ...]]:
        """Every tool of the service, in its order.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer came.
            ProtocolError: the answer is no catalog.
        """
        return (yield from list_tools(self._link))

    @operation
    def get(self, tool_type: str) -> Steps[Tool]:
        """One tool.

        Raises:
            UnknownToolError: the service has no such tool; near names are given.
        """
        return (yield from get_tool(self._link, tool_type))


def list_tools(link: Link) -> Steps[tuple[Tool, ...]]:
    """Every tool of the service."""
    answer = yield from link.ask("GET", "/tools")
    rows = answer.get("tools") if isinstance(answer, Mapping) else answer
    if not isinstance(rows, list):
        raise ProtocolError("The service should have answered its tools as an array.")
    link.tools = tuple(understand(_complete, row) for row in rows)
    return link.tools


def get_tool(link: Link, tool_type: str) -> Steps[Tool]:
    """One tool; see ``ToolsSteps.get``."""
    return _choose(tool_type, (yield from list_tools(link)))


def recall_tool(link: Link, tool_type: str) -> Steps[Tool]:
    """One tool as last seen: its schema, at least, is the same as long as this client lives."""
    if any(tool.type == tool_type for tool in link.tools):
        return _choose(tool_type, link.tools)
    return (yield from get_tool(link, tool_type))


def _choose(tool_type: str, tools: Sequence[Tool]) -> Tool:
    for tool in tools:
        if tool.type == tool_type:
            return tool
    raise UnknownToolError(tool_type, get_close_matches(tool_type, [tool.type for tool in tools], 2))


def _complete(row: Any) -> Tool:
    """The service's own word wins; a bundled schema stands in where the service gives none."""
    tool = read_tool(row)
    bundled = catalog.tools().get(tool.type)
    if bundled is None:
        return tool
    gaps = {
        name: getattr(bundled, name)
        for name in ("description", "family", "modalities", "functions", "settings_schema", "example_job")
        if not getattr(tool, name)
    }
    if "available" not in tool.model_fields_set:
        gaps["available"] = True  # a deployment that does not say lists what it runs
    return tool.model_copy(update=gaps)


class Tools(SyncResource, ToolsSteps):
    """The service's tools."""


class AsyncTools(AsyncResource, ToolsSteps):
    """The service's tools, awaited."""
