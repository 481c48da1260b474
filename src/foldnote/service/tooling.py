"""Which tools there are and which of them run here: the catalog joined with the engines."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

from foldnote import catalog
from foldnote.errors import UnknownToolError
from foldnote.models.tool import Tool
from foldnote.service.engines import Engine, engine_for
from foldnote.service.faults import bad_request
from foldnote.service.store.records import write_text

FINETUNING = "fine-tuning"
_REMEMBER_S = 3.0


class Toolbox:
    """Tools with what runs them now; an engine that is installed meanwhile is seen within seconds."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = dict(engines)
        self._registered: dict[str, Tool] = {}
        self._lock = Lock()
        self._document = b"[]"
        self._until = 0.0

    def find(self, tool_type: str) -> Tool:
        """The tool as the catalog has it.

        Raises:
            RefusalError: 400 with the nearest types.
        """
        if tool_type in self._registered:
            return self._registered[tool_type]
        try:
            return catalog.tool(tool_type)
        except UnknownToolError as exc:
            hint = f"Did you mean {' or '.join(exc.near)}?" if exc.near else "GET /tools lists them."
            sentence = f"There is no tool {tool_type!r} here. {hint}"
            raise bad_request(sentence, code="unknown_tool", field="type") from exc

    def register(self, tool: Tool, engine: Engine) -> None:
        """Add a tool that is not of the catalog, with what runs it; one of the same type is replaced."""
        with self._lock:
            self._engines = self._engines | {f"registered {tool.type}": engine}
            self._registered = self._registered | {tool.type: tool}
            self._until = 0.0

    def engine_of(self, tool_type: str) -> Engine | None:
        """The engine that serves the tool, installed or not; an installed one is preferred."""
        return engine_for(tool_type, self._engines)

    def require_engine(self, tool: Tool) -> Engine:
        """The installed engine of the tool.

        Raises:
            RefusalError: 400 that says what to do.
        """
        engine = self.engine_of(tool.type)
        reason = self._reason(tool.type, engine)
        if engine is None or reason:
            raise bad_request(f"{tool.type} cannot run here. {reason}", code="tool_unavailable", field="type")
        return engine

    def tools(self) -> list[Tool]:
        """Every tool with what runs it now."""
        return [self.describe(tool) for tool in (*catalog.tools().values(), *self._registered.values())]

    def finetuning_types(self) -> list[str]:
        """Tools whose result is a model."""
        return [tool.type for tool in catalog.tools().values() if FINETUNING in tool.functions]

    def document(self) -> bytes:
        """The body of /tools and /tools.json, serialised at most every few seconds."""
        with self._lock:
            if time.monotonic() > self._until:
                rows = [_as_row(tool) for tool in self.tools()]
                self._document = write_text(rows).encode()
                self._until = time.monotonic() + _REMEMBER_S
            return self._document

    def describe(self, tool: Tool) -> Tool:
        """The tool with what runs it now."""
        engine = self.engine_of(tool.type)
        reason = self._reason(tool.type, engine)
        update = {
            "available": reason is None,
            "unavailable_reason": reason,
            "engine": None if engine is None else engine.as_tool_engine(),
        }
        return tool.model_copy(update=update)

    @staticmethod
    def _reason(tool_type: str, engine: Engine | None) -> str | None:
        if engine is None:
            return (
                f"No engine for {tool_type} is part of this service yet."
                " Connect to a service that has it, or add an engine of your own."
            )
        state = engine.state()
        return None if state.installed else state.reason


def _as_row(tool: Tool) -> dict[str, Any]:
    """A row with the interface's keys only; the method's citation goes with the notes of the schema."""
    row = tool.to_wire()
    citation = row.pop("citation", None)
    if citation:
        notes = row["schema"].get("x-foldnote", {}) | {"citation": citation}
        row["schema"] = row["schema"] | {"x-foldnote": notes}
    return row
