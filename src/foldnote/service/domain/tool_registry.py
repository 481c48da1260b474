"""The service's tools: the catalog and registered tools, joined with the engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from foldnote import catalog
from foldnote.errors import UnknownToolError
from foldnote.models.extensions import LABEL, ON_FAILURE, RETRIES, REUSE, WEBHOOK
from foldnote.models.tool import Tool
from foldnote.service.engines import Engine, engine_for
from foldnote.service.engines.unserved import explain_unserved
from foldnote.service.faults import bad_request
from foldnote.service.store.jobs.records import write_text

FINETUNING = "fine-tuning"
UNAVAILABLE = "tool_unavailable"
"""Code of a refusal because no engine here can run the tool."""
_CACHE_S = 3.0
_MAX_TYPE_LENGTH = 100
"""Length to which an unknown type is truncated; no tool's type is longer."""


@dataclass(frozen=True)
class ToolWithEngine:
    """A tool outside the catalog, with its engine."""

    tool: Tool
    engine: Engine


class Toolbox:
    """All tools with their engines; changes are seen within seconds."""

    def __init__(self, engines: Mapping[str, Engine], *, calls_webhooks: bool = False) -> None:
        self._engines = dict(engines)
        self._common_extensions = (LABEL, RETRIES, ON_FAILURE, REUSE, *((WEBHOOK,) if calls_webhooks else ()))
        self._registered: Mapping[str, ToolWithEngine] = {}
        self._read_registered: Callable[[], Mapping[str, ToolWithEngine]] = dict
        self._next_read_at = 0.0
        self._lock = Lock()
        self._document = b"[]"
        self._document_valid_until = 0.0

    def find(self, tool_type: str) -> Tool:
        """Find a tool.

        Raises:
            RefusalError: 400, naming the most similar types.
        """
        registered = self._find_registered(tool_type)
        if registered is not None:
            return registered.tool
        tool_type = tool_type[:_MAX_TYPE_LENGTH]
        try:
            return catalog.tool(tool_type)
        except UnknownToolError as exc:
            hint = f"Did you mean {' or '.join(exc.near)}?" if exc.near else "GET /tools lists them."
            sentence = f"There is no tool {tool_type!r} here. {hint}"
            raise bad_request(sentence, code="unknown_tool", field="type") from exc

    def read_registered_with(self, read_registered: Callable[[], Mapping[str, ToolWithEngine]]) -> None:
        """Read registered tools by `read_registered`, now and every few seconds.

        Other processes may change them.
        """
        self._read_registered = read_registered
        self.refresh()

    def refresh(self) -> None:
        """Read the registered tools again."""
        registered = self._read_registered()
        with self._lock:
            self._registered = registered
            self._next_read_at = time.monotonic() + _CACHE_S
            self._document_valid_until = 0.0

    def _current_registered(self) -> Mapping[str, ToolWithEngine]:
        if time.monotonic() > self._next_read_at:
            self.refresh()
        return self._registered

    def engine_of(self, tool_type: str) -> Engine | None:
        """Return the engine of the tool, preferably an installed one."""
        return self.registered_engine(tool_type) or engine_for(tool_type, self._engines)

    def registered_engine(self, tool_type: str) -> Engine | None:
        """Return the engine of a registered tool, else None."""
        registered = self._find_registered(tool_type)
        return None if registered is None else registered.engine

    def _find_registered(self, tool_type: str) -> ToolWithEngine | None:
        """Return a tool that another process may just have registered, unless it is in the catalog."""
        registered = self._current_registered().get(tool_type)
        if registered is None and tool_type not in catalog.tools():
            self.refresh()
            registered = self._registered.get(tool_type)
        return registered

    def extensions(self, tool_type: str) -> tuple[str, ...]:
        """Return the extensions accepted besides the tool's settings: its own, and those of every tool."""
        engine = self.engine_of(tool_type)
        return (*(() if engine is None else engine.extensions), *self._common_extensions)

    def can_run(self, tool_type: str) -> bool:
        """Return whether an engine of the tool is installed here."""
        return self._unavailable_reason(tool_type, self.engine_of(tool_type)) is None

    def require_engine(self, tool: Tool) -> Engine:
        """Return the installed engine of the tool.

        Raises:
            RefusalError: 400 if there is none, or the tool was removed since it was found.
        """
        engine = self.engine_of(tool.type)
        if engine is None:
            self.find(tool.type)
        reason = self._unavailable_reason(tool.type, engine)
        if engine is None or reason:
            raise bad_request(f"{tool.type} cannot run here. {reason}", code=UNAVAILABLE, field="type")
        return engine

    def tools(self) -> list[Tool]:
        """Return every tool with its engine and availability."""
        registered = [entry.tool for entry in self._current_registered().values()]
        return [self.describe(tool) for tool in (*catalog.tools().values(), *registered)]

    def registered_types(self) -> frozenset[str]:
        """Return the types of tools outside the catalog."""
        return frozenset(self._current_registered())

    def finetuning_types(self) -> list[str]:
        """Return the types of tools whose result is a fine-tuned model."""
        return [tool.type for tool in catalog.tools().values() if FINETUNING in tool.functions]

    def document(self) -> bytes:
        """Return the body of /tools and /tools.json, serialised at most every few seconds."""
        if time.monotonic() > self._document_valid_until:
            document = write_text([_as_row(tool) for tool in self.tools()]).encode()
            with self._lock:
                self._document = document
                self._document_valid_until = time.monotonic() + _CACHE_S
        return self._document

    def describe(self, tool: Tool) -> Tool:
        """Return the tool with its engine, its availability, and the functions that the engine performs."""
        engine = self.engine_of(tool.type)
        omitted = () if engine is None else engine.omits.get(tool.type, ())
        reason = self._unavailable_reason(tool.type, engine)
        update = {
            "functions": tuple(function for function in tool.functions if function not in omitted),
            "available": reason is None,
            "unavailable_reason": reason,
            "engine": None if engine is None else engine.as_tool_engine(tool.type),
            "extensions": self.extensions(tool.type),
        }
        return tool.model_copy(update=update)

    @staticmethod
    def _unavailable_reason(tool_type: str, engine: Engine | None) -> str | None:
        if engine is None:
            return explain_unserved(tool_type)
        state = engine.state()
        return None if state.installed else state.reason


def _as_row(tool: Tool) -> dict[str, Any]:
    """Convert to a row with the interface's keys only; citation and outputs go into the schema's notes."""
    row = tool.to_wire()
    notes_of_tool = {key: value for key in ("citation", "outputs") if (value := row.pop(key, None))}
    if notes_of_tool:
        notes = row["schema"].get("x-foldnote", {}) | notes_of_tool
        row["schema"] = row["schema"] | {"x-foldnote": notes}
    return row
