"""A field: one setting, its control, its readout and its errors.

Rules of all kinds: a value set by code stays exactly that value until a person changes the control, even if
the control cannot show it; errors are shown in the field's label. The catalog validates values, the form
arranges fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from types import NoneType
from typing import Any, Literal, NamedTuple, Protocol

import ipywidgets as widgets

from foldnote.client.inputs.file_values import FileValue, LocalFile
from foldnote.client.inputs.plain_values import make_plain
from foldnote.errors import ArgumentError
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.label import Caution, Excerpt, Notice, ShadedLetters, read_parts, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class
from foldnote.models.problem import Problem
from foldnote.text import describe_path

ABSENT_CODES = ("missing_field", "required")
"""Codes of problems that only say that a required value is missing."""
_numbers = count(1)
_PLAIN = (str, int, float, list, tuple, Mapping, NoneType)


class Reading(NamedTuple):
    """The value of a field, with its errors and readout."""

    value: Any = MISSING
    errors: tuple[str, ...] = ()
    """Sentences on why the contents are not valid; the catalog does not validate them in that case."""
    excerpt: Excerpt | None = None
    """Text around the first error; None without one."""
    readout: str = ""
    """Summary of the contents: ``120 residues``, ``upload target.pdb, 204 kB``."""
    inner: tuple[Problem, ...] = ()
    """Problems of the fields inside this one; paths are relative to it."""
    cautions: tuple[Caution, ...] = ()
    """Why a valid value may still be a mistake."""
    strips: tuple[ShadedLetters, ...] = ()
    """Letters with shaded parts that are shown below the control."""


class FieldHost(Protocol):
    """The form, or the field with fields inside, that a field belongs to."""

    @property
    def styles(self) -> SharedStyles:
        """The shared layout and style models."""

    @property
    def shows_errors(self) -> bool:
        """Whether missing values are shown as errors, because Submit was pressed."""

    @property
    def client(self) -> Any:
        """The client of the form's service; None without one."""

    def field_changed(self, field: Field) -> None:
        """Called when a person changed ``field``."""

    def announce(self, field: Field) -> None:
        """Let screen readers read out the error of ``field``, which a person has just changed."""

    def note_of(self, field: Field) -> str:
        """Return the form's own note at ``field``; empty for most."""

    def raw_value(self, name: str) -> Any:
        """Return the value of the field ``name``, hidden or not; `MISSING` if empty or absent."""

    def germline_of(self, chain: str) -> str:
        """Return the species and V germline of a chain of amino acids; empty until they are known."""

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set fields because a person asked for it; None resets one."""

    def known_uploads(self) -> tuple[str, ...]:
        """Return the names of the account's uploads that were loaded so far."""


class Field(ABC):
    """One setting of a form.

    A kind of field implements `build`, `render` and `parse`, and may add a readout in `describe`. The form
    calls `read` and `write`, which keep a value set by code even if the control cannot show it.
    """

    width: Literal["", "broad", "wide"] = ""
    """Width of the field in the form: one column (``""``), two (``broad``) or all (``wide``)."""

    control: Any = None
    """The widget that a person changes, labelled by its description; by default the whole field."""

    has_brief_help = False
    """Whether only the first sentence of the description is shown; the tooltip has all of it."""

    def __init__(self, spec: FieldSpec, host: FieldHost) -> None:
        self.spec = spec
        self.host = host
        self.is_touched = False
        self.is_required = spec.required
        self.error_text = ""
        """The first error shown at the field; empty without one."""
        self.mark = f"fn-r{next(_numbers)}"
        """CSS class by which the page identifies the field."""
        self._parts = read_parts(spec, is_brief=self.has_brief_help, mark=self.mark)
        self._assigned_value: Any = MISSING
        self._is_cleared = False
        self.initial: Any = MISSING
        self.is_at_start = True
        """Whether the field holds its initial value, set neither by code nor by a person."""
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
        """Build and return the widget; every change by a person must call `changed`."""

    @abstractmethod
    def parse(self) -> Reading:
        """Return the reading of the control's contents."""

    @abstractmethod
    def render(self, value: Any) -> None:
        """Show ``value`` in the control, as far as possible; `MISSING` empties it."""

    def describe(self, value: Any) -> Reading:
        """Return the reading of a value set by code; kinds add a readout and errors."""
        return Reading(value)

    def read(self) -> Reading:
        """Return the field's value, errors and readout."""
        if self._is_cleared:
            return Reading()
        return self.describe(self._assigned_value) if self._assigned_value is not MISSING else self.parse()

    def act(self, _name: str) -> None:
        """Perform the action of a button next to a caution; kinds that offer buttons override it."""
        return

    def clear(self) -> None:
        """Hold no value, even if an empty control has one."""
        self.write(MISSING)
        self._is_cleared = True

    def write(self, value: Any) -> None:
        """Hold exactly ``value``, as plain data; `MISSING` empties the field.

        Raises:
            ArgumentError: the value's type cannot be that of a setting.
        """
        value = make_plain(value)
        if not (isinstance(value, _PLAIN) or value is MISSING):
            kind = type(value).__name__
            message = f"{self.spec.title} cannot be of the type {kind}: give text, numbers, lists or dicts."
            raise ArgumentError(message)
        self._is_cleared = self.is_at_start = False
        with self.writing():
            self.render(MISSING if value is None and self.spec.nullable else value)
        self._assigned_value = MISSING if value is MISSING else self.keep(value)

    def keep(self, value: Any) -> Any:
        """Return the value to hold for one set by code; kinds with a standard spelling convert it."""
        return value

    def reset(self) -> None:
        """Return to the schema's default, or to no value."""
        self.start_with(self.spec.default)

    def start_with(self, value: Any) -> None:
        """Hold ``value`` as the initial one; the field counts as untouched."""
        self.write(value)
        parsed = self.parse()
        if not parsed.errors and is_same(parsed.value, self._assigned_value):
            self._assigned_value = MISSING
        self.is_touched = False
        self.is_at_start = True
        self.initial = self.read().value

    def take_over(self, replaced: Field) -> None:
        """Hold the value of ``replaced``, which this field replaces."""
        if not is_same(replaced.initial, replaced.spec.default):
            self.start_with(replaced.initial)
        if replaced._is_cleared:
            self.clear()
        elif not replaced.is_at_start:
            self._take_contents(replaced)
        self.is_touched = replaced.is_touched

    def _take_contents(self, replaced: Field) -> None:
        """Copy the value, or typed text that is not valid."""
        reading = replaced.read()
        typed = getattr(replaced.widget, "value", None)
        if reading.errors and isinstance(typed, str) and isinstance(getattr(self.widget, "value", None), str):
            self._assigned_value, self.is_at_start = MISSING, False
            with self.writing():
                self.widget.value = typed
        else:
            self.write(reading.value)

    @compact_widgets.locked
    def changed(self, *_: object) -> None:
        """Handle a person's change of the control."""
        if self._is_writing:
            return
        self._assigned_value = MISSING
        self._is_cleared = self.is_at_start = False
        self.is_touched = True
        self.host.field_changed(self)
        self.host.announce(self)

    def express(self, reading: Reading, problems: Sequence[Problem]) -> None:
        """Show the readout and the problems, whose paths are relative to the field."""
        visible = [problem for problem in problems if not self.is_pristine(problem)]
        self.error_text = describe_problem(visible[0], reading.value) if visible else ""
        self.show(
            Notice(
                errors=tuple(describe_problem(problem, reading.value) for problem in visible),
                excerpt=reading.excerpt if visible else None,
                readout="; ".join(filter(None, (reading.readout, self.host.note_of(self)))),
                is_changed=self.differs(reading.value),
                is_required=self.is_required,
                cautions=reading.cautions,
                strips=reading.strips,
            )
        )

    def is_pristine(self, problem: Problem) -> bool:
        """Return whether the problem is only a missing value in a field that was not edited yet."""
        return problem.code in ABSENT_CODES and not (self.is_touched or self.host.shows_errors)

    def count(self, problems: Sequence[Problem]) -> tuple[int, int]:
        """Count the fields at or below this one with errors, and untouched fields that lack a value."""
        if not problems:
            return 0, 0
        return (0, 1) if all(self.is_pristine(problem) for problem in problems) else (1, 0)

    def show(self, notice: Notice) -> None:
        """Show ``notice`` at the field."""
        self.set_label(write_label(self._parts, notice))
        self.set_class("foldnote-wrong", bool(notice.errors))

    def set_label(self, label: str) -> None:
        """Show the label's HTML; by default as the control's description."""
        self.control.description = label

    def set_class(self, name: str, is_on: bool) -> None:
        """Add or remove a CSS class of the field."""
        if self._classes.get(name, False) == is_on:
            return
        self._classes[name] = is_on
        set_class(self.widget, name, is_on)

    def focus(self) -> None:
        """Focus the field."""
        self.control.focus()

    def focus_at(self, _path: str) -> None:
        """Focus the control of the problem at this path; fields with fields inside override it."""
        self.focus()

    def walk(self) -> Iterator[Field]:
        """Yield this field and all fields inside it."""
        yield self

    def lock(self) -> None:
        """Make the field read-only."""
        for part in (self.widget, *getattr(self.widget, "children", ())):
            if part.has_trait("disabled"):
                part.disabled = True

    @property
    def blank(self) -> Any:
        """The value of an empty control: an empty default, None if required and nullable, else `MISSING`."""
        default = self.spec.default
        is_empty = default is None or (isinstance(default, str | list | dict) and not default)
        if default is MISSING and self.spec.required and self.spec.nullable and self.spec.type:
            return None
        return default if is_empty else MISSING

    @property
    def is_changed(self) -> bool:
        """Whether the value differs from the initial one."""
        return self.differs(self.read().value)

    def differs(self, value: Any) -> bool:
        """Return whether ``value`` differs from the initial one; False if the schema has no default."""
        return self.spec.default is not MISSING and not is_same(value, self.initial)

    def make_line(self, hint: str = "", *classes: str, rows: int = 0) -> Any:
        """Build the field's control: a text box, or a text area of ``rows`` lines."""
        style = self.host.styles.text
        self.control = (
            compact_widgets.Textarea(rows=rows, style=style, placeholder=hint, **self.look(*classes))
            if rows
            else compact_widgets.Text(style=style, placeholder=hint, **self.look(*classes))
        )
        self.control.observe(self.changed, "value")
        return self.control

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Mark changes of the control as not made by a person while the context is open."""
        was_writing, self._is_writing = self._is_writing, True
        try:
            yield
        finally:
            self._is_writing = was_writing

    def look(self, *classes: str) -> dict[str, Any]:
        """Return common arguments of controls with an HTML label; ``classes`` are unprefixed CSS classes."""
        return {
            "layout": self.host.styles.layout,
            "description_allow_html": True,
            "_dom_classes": tuple(f"foldnote-{name}" for name in classes),
        }


def is_same(first: Any, second: Any) -> bool:
    """Compare deeply, distinguishing True from 1, and a local file from an upload."""
    if isinstance(first, bool) != isinstance(second, bool):
        return False
    if isinstance(first, str) and isinstance(second, str):
        return first == second and _kind_of_file(first) is _kind_of_file(second)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(is_same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(is_same, first, second))
    if hasattr(first, "equals"):
        return bool(first.equals(second))
    try:
        return bool(first == second)
    except (TypeError, ValueError):  # arrays compare item by item
        return first is second


def _kind_of_file(text: str) -> type | None:
    """Return `LocalFile` or `FileValue` for a text of that type; None for others."""
    return next((kind for kind in (LocalFile, FileValue) if isinstance(text, kind)), None)


def describe_problem(problem: Problem, value: Any) -> str:
    """Return the problem's message, preceded by its path inside the field, whose value is ``value``."""
    if not problem.field:
        return problem.message
    return f"{describe_path(problem.field, value, is_inside=True)}: {problem.message}"
