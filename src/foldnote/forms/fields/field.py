"""A field: one setting, its control, and what is said about it.

`Field` keeps the rules that all kinds share: a value set by code stays exactly that value until a person
changes the control; a control that cannot show a value does not lose it; what is wrong stands in the
field's own label. Judging values is the catalog's work, arranging fields the form's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from types import NoneType
from typing import Any, Literal, Protocol

import ipywidgets as widgets

from foldnote.client.inputs.file_values import FileValue, LocalFile
from foldnote.errors import ArgumentError
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.label import Excerpt, Notice, read_parts, write_label
from foldnote.forms.ui.shared_styles import Looks, set_class
from foldnote.models.verdict import Problem

ABSENT_CODES = ("missing_field", "required")
"""Codes of problems that only say that a required value is still to come."""
_numbers = count(1)
_PLAIN = (str, int, float, list, tuple, Mapping, NoneType)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a field holds."""

    value: Any = MISSING
    errors: tuple[str, ...] = ()
    """Why the control's contents are not a value, in words; the catalog is not asked then."""
    excerpt: Excerpt | None = None
    readout: str = ""
    """What the contents amount to: ``120 residues``, ``upload target.pdb, 204 kB``."""
    inner: tuple[Problem, ...] = ()
    """What fields inside this one object to; paths begin below it."""


class FieldHost(Protocol):
    """What a field may ask of the form that it stands in."""

    @property
    def looks(self) -> Looks:
        """The shared models."""

    @property
    def shows_errors(self) -> bool:
        """Whether what is still to come is told as a mistake already, because somebody pressed Submit."""

    @property
    def client(self) -> Any:
        """The client of the form's service; None without one."""

    def field_changed(self, field: Field) -> None:
        """Hear that a person changed ``field``."""

    def announce(self, field: Field) -> None:
        """Read out what is wrong with ``field``, which a person has just changed."""

    def note_of(self, field: Field) -> str:
        """What the form has to say at ``field``; mostly nothing."""

    def raw_value(self, name: str) -> Any:
        """What the field ``name`` holds now, hidden or not; `MISSING` when nothing or no such field."""

    def known_uploads(self) -> tuple[str, ...]:
        """Names of the account's uploads as far as they are known without waiting."""


class Field(ABC):
    """One setting of a form."""

    width: Literal["", "broad", "wide"] = ""
    """How much of the form's width the field takes: one column, two, or all of it."""

    control: Any = None
    """The widget that a person changes, labelled by its description; by default the whole field."""

    has_brief_help = False
    """Whether only the first sentence of the description is shown; the tooltip has all of it."""

    def __init__(self, spec: FieldSpec, host: FieldHost) -> None:
        self.spec = spec
        self.host = host
        self.is_touched = False
        self.is_required = spec.required
        self.said = ""
        """The first error that stands at the field now."""
        self.mark = f"fn-r{next(_numbers)}"
        """Class by which the form's page names the field."""
        self._parts = read_parts(spec, is_brief=self.has_brief_help, mark=self.mark)
        self._kept: Any = MISSING
        self._is_cleared = False
        self.initial: Any = MISSING
        self.is_at_start = True
        """Whether the field holds what it began with, and neither code nor a person said so."""
        self._is_writing = False
        self._classes: dict[str, bool] = {}
        self.widget: widgets.DOMWidget = self.build()
        if self.control is None:
            self.control = self.widget
        self.widget.add_class("foldnote-field")
        if self.width:
            self.widget.add_class(f"foldnote-{self.width}")
        self.reset()
        if spec.is_read_only:
            self.lock()

    @abstractmethod
    def build(self) -> widgets.DOMWidget:
        """Make the control; whatever a person changes in it must call `changed`."""

    @abstractmethod
    def parse(self) -> Reading:
        """What the control's contents mean."""

    @abstractmethod
    def render(self, value: Any) -> None:
        """Show ``value`` (or nothing, for `MISSING`) in the control, as well as it can be shown."""

    def describe(self, value: Any) -> Reading:
        """The reading of a value that was set by code; kinds add a readout."""
        return Reading(value)

    def read(self) -> Reading:
        """What the field holds."""
        if self._is_cleared:
            return Reading()
        return self.describe(self._kept) if self._kept is not MISSING else self.parse()

    def clear(self) -> None:
        """Hold nothing, whatever an empty control means otherwise."""
        self.write(MISSING)
        self._is_cleared = True

    def write(self, value: Any) -> None:
        """Hold exactly ``value``; `MISSING` empties the field.

        Raises:
            ArgumentError: the value is an object that no setting can be.
        """
        if not (isinstance(value, _PLAIN) or value is MISSING or hasattr(value, "tolist")):
            kind = type(value).__name__
            told = f"{self.spec.title} cannot be of the type {kind}: give text, numbers, lists or dicts."
            raise ArgumentError(told)
        self._is_cleared = self.is_at_start = False
        with self.writing():
            self.render(MISSING if value is None and self.spec.nullable else value)
        self._kept = MISSING if value is MISSING else self.keep(value)

    def keep(self, value: Any) -> Any:
        """The form in which a value set by code is held; kinds that forgive spelling clean it here."""
        return value

    def reset(self) -> None:
        """Back to the schema's default, or to nothing."""
        self.start_with(self.spec.default)

    def start_with(self, value: Any) -> None:
        """Hold ``value`` as the one that the field begins with; as if nobody had touched it."""
        self.write(value)
        parsed = self.parse()
        if not parsed.errors and is_same(parsed.value, self._kept):
            self._kept = MISSING
        self.is_touched = False
        self.is_at_start = True
        self.initial = self.read().value

    def take_over(self, other: Field) -> None:
        """Hold what ``other`` holds, in whose place this field is put."""
        if not is_same(other.initial, other.spec.default):
            self.start_with(other.initial)
        if other._is_cleared:
            self.clear()
        elif not other.is_at_start:
            self._take_contents(other)
        self.is_touched = other.is_touched

    def _take_contents(self, other: Field) -> None:
        """The value, or what was typed and is none."""
        read = other.read()
        typed = getattr(other.widget, "value", None)
        if read.errors and isinstance(typed, str) and isinstance(getattr(self.widget, "value", None), str):
            self._kept, self.is_at_start = MISSING, False
            with self.writing():
                self.widget.value = typed
        else:
            self.write(read.value)

    def changed(self, *_: object) -> None:
        """Take note that a person changed the control."""
        if self._is_writing:
            return
        self._kept = MISSING
        self._is_cleared = self.is_at_start = False
        self.is_touched = True
        self.host.field_changed(self)
        self.host.announce(self)

    def express(self, read: Reading, problems: Sequence[Problem]) -> None:
        """Say what the field holds and what is wrong with it; paths of ``problems`` begin below the field."""
        shown = [problem for problem in problems if not self.is_pristine(problem)]
        self.said = tell(shown[0]) if shown else ""
        self.show(
            Notice(
                errors=tuple(tell(problem) for problem in shown),
                excerpt=read.excerpt if shown else None,
                readout="; ".join(filter(None, (read.readout, self.host.note_of(self)))),
                is_changed=self.differs(read.value),
                is_required=self.is_required,
            )
        )

    def is_pristine(self, problem: Problem) -> bool:
        """Whether the problem is only that a value is still to come, in a field that nobody touched."""
        return problem.code in ABSENT_CODES and not (self.is_touched or self.host.shows_errors)

    def count(self, problems: Sequence[Problem]) -> tuple[int, int]:
        """How many fields at or below this one are wrong, and how many are calmly still to come."""
        if not problems:
            return 0, 0
        return (0, 1) if all(self.is_pristine(problem) for problem in problems) else (1, 0)

    def show(self, notice: Notice) -> None:
        """Say ``notice`` at the field."""
        self.set_label(write_label(self._parts, notice))
        self.set_class("foldnote-wrong", bool(notice.errors))

    def set_label(self, label: str) -> None:
        """Put the label's HTML where this kind has it."""
        self.control.description = label

    def set_class(self, name: str, is_on: bool) -> None:
        """Add or remove a CSS class of the field."""
        if self._classes.get(name, False) == is_on:
            return
        self._classes[name] = is_on
        set_class(self.widget, name, is_on)

    def focus(self) -> None:
        """Put the cursor into the field."""
        self.control.focus()

    def focus_at(self, _path: str) -> None:
        """Put the cursor where the problem with this path is; fields that hold fields go into them."""
        self.focus()

    def walk(self) -> Iterator[Field]:
        """This field, and for fields that hold fields all below it."""
        yield self

    def lock(self) -> None:
        """Let people see the value and not change it."""
        for part in (self.widget, *getattr(self.widget, "children", ())):
            if part.has_trait("disabled"):
                part.disabled = True

    @property
    def blank(self) -> Any:
        """What an emptied control means: an empty default, null where a value is needed, or nothing given."""
        default = self.spec.default
        is_empty = default is None or (isinstance(default, str | list | dict) and not default)
        if default is MISSING and self.spec.required and self.spec.nullable and self.spec.type:
            return None
        return default if is_empty else MISSING

    @property
    def is_changed(self) -> bool:
        """Whether the value differs from the one that the field began with."""
        return self.differs(self.read().value)

    def differs(self, value: Any) -> bool:
        """Whether ``value`` is another one than the schema's default; False where there is none."""
        return self.spec.default is not MISSING and not is_same(value, self.initial)

    def make_line(self, hint: str = "", *classes: str, rows: int = 0) -> Any:
        """Make the field's control: one line of text, or a box of ``rows`` lines; it calls `changed`."""
        style = self.host.looks.text
        self.control = (
            compact_widgets.Textarea(rows=rows, style=style, placeholder=hint, **self.look(*classes))
            if rows
            else compact_widgets.Text(style=style, placeholder=hint, **self.look(*classes))
        )
        self.control.observe(self.changed, "value")
        return self.control

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Change the control meanwhile without taking it for a person's change."""
        was_writing, self._is_writing = self._is_writing, True
        try:
            yield
        finally:
            self._is_writing = was_writing

    def look(self, *classes: str) -> dict[str, Any]:
        """Arguments that every control with a tied label takes."""
        return {
            "layout": self.host.looks.layout,
            "description_allow_html": True,
            "_dom_classes": tuple(f"foldnote-{name}" for name in classes),
        }


def is_same(one: Any, other: Any) -> bool:
    """Equality that tells True from 1, and a local file from an upload, at every level."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, str) and isinstance(other, str):
        return one == other and _kind_of_file(one) is _kind_of_file(other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if hasattr(one, "equals"):
        return bool(one.equals(other))
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # arrays compare item by item
        return one is other


def _kind_of_file(text: str) -> type | None:
    """What sort of file a text stands for, where its type says so."""
    return next((kind for kind in (LocalFile, FileValue) if isinstance(text, kind)), None)


def tell(problem: Problem) -> str:
    """The problem's sentence; one inside a field says where."""
    if not problem.field:
        return problem.message
    first, dot, rest = problem.field.partition(".")
    place = f"item {int(first) + 1}{dot}{rest}" if first.isdecimal() else problem.field
    return f"{place}: {problem.message}"
