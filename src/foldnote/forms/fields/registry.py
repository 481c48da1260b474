"""The registry of field kinds, which maps a property's schema to a field.

The first kind that matches builds the field. `register_kind` adds a kind before the bundled ones, of which
the last takes any value as JSON, so every schema has a form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from foldnote.forms.schema.spec import FieldSpec

if TYPE_CHECKING:
    from foldnote.forms.fields.field import Field, FieldHost


class FieldKind(NamedTuple):
    """One kind of field."""

    name: str
    """Unique name; a later kind with the same name replaces the earlier one."""
    summary: str
    """What it is for, in one sentence."""
    matches: Callable[[FieldSpec], bool]
    """Whether a field with this specification is of this kind."""
    build: Callable[[FieldSpec, FieldHost], Field]
    """Builds the field; the host is the form that it belongs to."""


_bundled: list[FieldKind] = []
_added: list[FieldKind] = []


def bundle_kinds(kinds: Iterable[FieldKind]) -> None:
    """Set the bundled kinds; `foldnote.forms.fields.kinds` calls this on import."""
    _bundled[:] = kinds


def register_kind(kind: FieldKind) -> FieldKind:
    """Add ``kind`` before all others, replacing one of the same name; returns ``kind``."""
    _added[:] = [kind, *(added for added in _added if added.name != kind.name)]
    return kind


def forget_kind(name: str) -> None:
    """Remove the kind ``name`` that `register_kind` added; bundled kinds stay."""
    _added[:] = [added for added in _added if added.name != name]


def kinds() -> tuple[FieldKind, ...]:
    """Return all kinds, in the order in which they are tried."""
    names = {kind.name for kind in _added}
    return (*_added, *(kind for kind in _bundled if kind.name not in names))


def kind_for(spec: FieldSpec) -> FieldKind:
    """Return the first kind that matches ``spec``; the last bundled kind matches any."""
    return next(kind for kind in kinds() if kind.matches(spec))
