"""Tools of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, PrivateAttr

from foldnote.models.html_repr import show_grid, show_pairs
from foldnote.models.settings_table import COLUMNS, OUTPUT_COLUMNS, find_note, list_outputs, list_settings
from foldnote.models.wire import WireModel


class ToolEngine(WireModel):
    """The program that runs a tool at a service, under its own name."""

    name: str
    """Name of the engine, e.g. ``abodybuilder2``."""
    method: str
    """The method that is actually run, e.g. ``ABodyBuilder2 (model 1 of 4)``."""
    kind: str = "genuine"
    """``genuine``: the named method; ``genuine-task``: the named task by another program; ``substitute``:
    another method; ``adapter``: a program of the lab's own; ``registered``: a command that an
    administrator added."""
    version: str | None = None
    full_version: str | None = None
    """Name and version of the engine and of the add-ons that its runs use, such as ``vina 1.2.7, gnina
    1.3``; it changes when the program that runs changes. Null if unknown."""
    licence: str | None = None
    citation: str | None = None
    note: str | None = None
    """Limitations that a user must know to interpret the result; null for none."""
    outputs: tuple[str, ...] = ()
    """The files of a result, each as ``name: contents``; empty where unknown."""
    databases: tuple[str, ...] = ()
    """Names of the databases on the service's machine that are searched for alignments, without sending
    data elsewhere; empty for none."""


_SHAPES = {
    "schema": "The service gives the settings as a JSON Schema.",
    "settings": "The settings are translated from the service's list of settings.",
    "parameters": "The settings are translated from the service's list of parameters.",
    "openapi": "The settings are translated from the service's OpenAPI document.",
    "name": "The service does not say which settings the tool takes.",
}


@dataclass(frozen=True)
class ToolOrigin:
    """The sources of the parts of a tool.

    Attributes:
        shape: how the service described the settings: ``schema``, ``settings``, ``parameters``, ``openapi``,
            or ``name`` if it did not.
        filled: parts added from foldnote's own catalog, by setting; those of the tool itself under the empty
            name.
        untranslated: parts of the service's description without a JSON Schema equivalent, by dotted path.
    """

    shape: str = "schema"
    filled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    untranslated: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        sentences = [_SHAPES.get(self.shape, self.shape)]
        if self.filled:
            parts = [f"{name or 'the tool'} ({', '.join(what)})" for name, what in self.filled.items()]
            sentences.append(f"From foldnote's own catalog: {'; '.join(parts)}.")
        if self.untranslated:
            sentences.append(f"Not translated, and kept unchanged: {', '.join(self.untranslated)}.")
        return " ".join(sentences)


class Tool(WireModel):
    """One row of the catalog."""

    type: str
    """Identifier of the tool in submissions, case-sensitive."""
    name: str = ""
    display_name: str = ""
    """The displayed name."""
    description: str = ""
    family: str = ""
    """One of the catalog's families, e.g. ``structure-prediction``."""
    modalities: tuple[str, ...] = ()
    """The kinds of molecules that it works on: ``antibody``, ``protein``, ``small-molecule`` …"""
    functions: tuple[str, ...] = ()
    """The tasks that it performs: ``predict-structure``, ``number-sequence`` …"""
    available: bool = False
    """Whether the service can run it now."""
    unavailable_reason: str | None = None
    """Why it cannot run, and what to do; null if available."""
    engine: ToolEngine | None = None
    """The engine that runs it at the service; null for none or if unknown."""
    settings_schema: dict[str, Any] = Field(default_factory=dict, alias="schema")
    """JSON Schema 2020-12 of the settings object."""
    example_job: dict[str, Any] | None = None
    """A valid submission; null if the service has none."""
    extensions: tuple[str, ...] = ()
    """Accepted parts of the object ``foldnote`` beside the settings, e.g. ``alignment``, ``label`` or
    ``external:msa-server``; empty for services without this object."""
    _origin: ToolOrigin = PrivateAttr(default_factory=ToolOrigin)

    @property
    def origin(self) -> ToolOrigin:
        """The sources of its parts: the service, a translation, or foldnote's own catalog."""
        return self._origin

    @property
    def status(self) -> str:
        """Whether and where it can run, in one word.

        ``runs``: at the service, now; ``installable``: there, once its engine is installed; ``adapter``:
        there, once your own copy of the program is configured; ``elsewhere``: at another service, or by a
        command of your own.
        """
        if self.available:
            return "runs"
        if self.engine is None:
            return "elsewhere"
        return "adapter" if self.engine.kind == "adapter" else "installable"

    def with_origin(self, origin: ToolOrigin) -> Tool:
        """Return the same tool with ``origin`` set."""
        copy = self.model_copy()
        copy._origin = origin  # noqa: SLF001  its own class
        return copy

    @property
    def label(self) -> str:
        """The display name, or the type if there is none."""
        return self.display_name or self.name or self.type

    def __repr__(self) -> str:
        names = ", ".join(row[0] for row in list_settings(self.settings_schema)) or "unknown"
        return f"<tool {self.type}: {self.label}; {self._describe_engine()}; settings {names}>"

    def _repr_html_(self) -> str:
        about = {
            "type": self.type,
            "what it does": self.description,
            "family": self.family,
            "works on": self.modalities,
            "at this service": self._describe_engine(),
            "note": self.engine.note if self.engine else None,
            "its databases": self.engine.databases if self.engine else (),
            "settings": str(self.origin) if self.origin != ToolOrigin() else None,
        }
        rows = list(list_settings(self.settings_schema))
        title = "Settings; * is required" if rows else ""
        gives = list(list_outputs(find_note(self.model_extra, self.settings_schema, "outputs")))
        outputs = show_grid("Outputs of the method", OUTPUT_COLUMNS, gives) if gives else ""
        return show_pairs(self.label, about) + show_grid(title, COLUMNS, rows) + outputs

    def _describe_engine(self) -> str:
        if not self.available:
            word = f" ({self.status})" if self.unavailable_reason else ""
            return f"cannot run{word}. {self.unavailable_reason or ''}".strip()
        return f"runs as {self.engine.method}" if self.engine else "runs"
