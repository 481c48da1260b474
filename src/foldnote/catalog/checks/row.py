"""The types of checks: each module of this package has a list of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple


class Finding(NamedTuple):
    """A problem found by a check."""

    field: str
    """Dotted path in the settings."""
    message: str
    """One or two sentences: what is wrong and what would be valid."""
    code: str
    """Stable identifier in snake case."""


class CheckContext(NamedTuple):
    """The context of a check: the field, its notes in the schema, and the other settings."""

    name: str
    notes: Mapping[str, Any]
    """The field's ``x-foldnote``."""
    settings: Mapping[str, Any]
    """All settings that apply, defaults filled in."""
    required: bool = False
    properties: Mapping[str, Any] | None = None
    """The schemas of all fields, by name."""

    def find(self, message: str, code: str, *path: str | int) -> Finding:
        """Make a finding about this field, or about the part at ``path`` inside it."""
        return Finding(".".join([self.name, *map(str, path)]), message, code)

    @property
    def other_name(self) -> str:
        """Name of the field that this one refers to; "" if there is none."""
        return str(self.notes.get("of") or "")

    @property
    def other(self) -> Any:
        """Value of the field that this one refers to; None if it is not given."""
        return self.settings.get(self.other_name)

    @property
    def other_notes(self) -> Mapping[str, Any]:
        """The notes of the field that this one refers to."""
        schema = (self.properties or {}).get(self.other_name) or {}
        notes: Mapping[str, Any] = schema.get("x-foldnote") or {}
        return notes


Kind = Literal["text", "texts", "switch", "map"]

Rule = Callable[[Any, CheckContext], Iterable[Finding]]
"""Checks a value that has passed the standard keywords; returns the findings."""


class CheckRow(NamedTuple):
    """One row of the registry of checks."""

    name: str
    """Name for ``x-foldnote.check``."""
    rule: Rule
    meaning: str
    """Description of the rule."""
    takes: Kind = "text"
    """The kind of value that the rule expects; other kinds are left to the JSON Schema keywords."""

    def matches_type(self, value: Any) -> bool:
        """Return whether ``value`` is of the kind that the rule expects."""
        if self.takes == "texts":
            is_list = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
            return is_list and all(isinstance(item, str) for item in value)
        if self.takes == "map":
            return isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values())
        return isinstance(value, bool if self.takes == "switch" else str)


def matches(condition: Mapping[str, Any] | None, settings: Mapping[str, Any]) -> bool:
    """Return whether each setting named in ``condition`` has one of the values listed for it."""
    return all(_is_among(settings.get(name), values) for name, values in (condition or {}).items())


def _is_among(value: Any, values: Sequence[Any]) -> bool:
    """Return the membership for scalar values only, since comparing an array returns an array."""
    return (value is None or isinstance(value, str | int | float)) and value in values


def shorten(value: object, limit: int = 40) -> str:
    """Quote ``value`` for a message, with escapes and at most ``limit`` characters."""
    text = str(value)
    return repr(text if len(text) <= limit else f"{text[:limit]}...")
