"""The rows that decide which field a piece of schema becomes.

The first row that matches builds the field. `register_kind` puts a row of a user's in front of ours; the
last of ours takes anything and offers it as JSON, so every schema has a form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldnote.forms.schema.spec import FieldSpec

if TYPE_CHECKING:
    from foldnote.forms.fields.field import Field, FieldHost


@dataclass(frozen=True, slots=True)
class FieldKind:
    """One kind of field."""

    name: str
    """Unique among the kinds; a second row of the same name replaces the first."""
    summary: str
    """What it is for, in one sentence."""
    matches: Callable[[FieldSpec], bool]
    """Whether a field with this specification is of this kind."""
    build: Callable[[FieldSpec, FieldHost], Field]
    """Makes the field; the host is the form that it stands in."""


_bundled: list[FieldKind] = []
_added: list[FieldKind] = []


def bundle_kinds(kinds: Iterable[FieldKind]) -> None:
    """Try ``kinds`` after those of users; `foldnote.forms.fields.kinds` calls it as it is imported."""
    _bundled[:] = kinds


def register_kind(kind: FieldKind) -> FieldKind:
    """Try ``kind`` before all others from now on; returns it, so that it works on a lambda's result too."""
    _added[:] = [kind, *(known for known in _added if known.name != kind.name)]
    return kind


def forget_kind(name: str) -> None:
    """Take back what `register_kind` added under ``name``; bundled kinds stay."""
    _added[:] = [known for known in _added if known.name != name]


def kinds() -> tuple[FieldKind, ...]:
    """All rows, in the order in which they are tried."""
    names = {kind.name for kind in _added}
    return (*_added, *(kind for kind in _bundled if kind.name not in names))


def kind_for(spec: FieldSpec) -> FieldKind:
    """The first kind that matches ``spec``; there always is one."""
    return next(kind for kind in kinds() if kind.matches(spec))
