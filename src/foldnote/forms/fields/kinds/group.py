"""An object, or a list whose positions have different schemas, inside the settings: a group of fields.

An optional object is folded, and built when it is opened; one with a default or a value is built at once
unless the form is too large. It is sent if a value in it differs from the initial one, or if code set it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from foldnote.forms.fields.container import ContainerField, require
from foldnote.forms.fields.field import Field, Reading, is_same
from foldnote.forms.fields.section import Section, share
from foldnote.forms.schema.plan import read_plan
from foldnote.forms.schema.shapes import list_item_schemas
from foldnote.forms.schema.spec import MISSING
from foldnote.forms.ui.shared_styles import set_class
from foldnote.models.problem import Problem
from foldnote.text import count, join_words


class ObjectField(ContainerField):
    """An object with named fields."""

    def build(self) -> widgets.DOMWidget:
        """Return a title, which can be folded if the object is optional, and the fields below it."""
        styles = self.styles
        self._section: Section | None = None
        self._is_given = False
        self._has_initial = False
        self._is_open = False
        self._head = styles.html("", "foldnote-part")
        self._body = styles.box([], "foldnote-group", "foldnote-inner")
        self.fold: widgets.Button | None = None
        is_row = self.spec.name.isdecimal()
        parts: list[widgets.Widget] = [] if is_row else [self._head]
        self._is_recursive = self._recurs()
        if self._is_recursive or not (self.spec.required or is_row):
            self.fold = styles.button("", "foldnote-subfold", tooltip=f"Open or close {self.spec.title}")
            self.fold.on_click(self._toggle)
            parts.insert(0, self.fold)
        widget = styles.box([*parts, self._body], "foldnote-object")
        if self.fold is None:
            self._build_section()
            self._is_open = True
        else:
            self._body.add_class("foldnote-hidden")
        return widget

    def inside(self) -> Sequence[Any]:
        """Return the object's fields, if they are built."""
        return self._section.everything if self._section is not None else ()

    def parts(self, value: Any) -> dict[Any, Field]:
        """Return the object's fields that ``value`` names, building them if necessary."""
        if not isinstance(value, Mapping):
            return {}
        section = self._open()
        return {name: field for name in value if (field := section.find(name)) is not None}

    def as_object(self, value: Any) -> Any:
        """Return ``value`` as a mapping of field names to values; any other type is invalid here."""
        return value

    def describe(self, value: Any) -> Reading:
        """Return no readout for a mapping, since its fields show it once they are built."""
        return Reading(value) if isinstance(self.as_object(value), Mapping) else super().describe(value)

    def parse(self) -> Reading:
        """Return the object; blank if nothing in it was set."""
        if self._section is None:
            return Reading({} if self.spec.required and not self.spec.nullable else self.blank)
        reading = self._section.read()
        is_needed = self.spec.required and not self.spec.nullable
        if not (is_needed or self._is_given or self._has_initial or self._is_edited()):
            return Reading(self.blank)
        unknown = list(self._section.extra)
        readout = f"also contains {join_words(unknown[:6], 'and')}" if unknown else ""
        return Reading(reading.value, readout=readout, inner=reading.inner)

    def render(self, value: Any) -> None:
        """Pass the object's values to the fields inside."""
        current = self.as_object(value)
        self._is_given = isinstance(current, Mapping)
        if isinstance(current, Mapping) and self._is_at_hand(current):
            self._build_section().write(current)
        elif self._section is not None:
            self._section.reset({})

    def keep(self, value: Any) -> Any:
        """Return `MISSING` if the fields inside hold the value; else the value, until they are built."""
        return MISSING if isinstance(self.as_object(value), Mapping) and self._section is not None else value

    def start_with(self, value: Any) -> None:
        """Begin with ``value``, and the defaults of the fields that it does not name."""
        current = self.as_object(value)
        self._has_initial = isinstance(current, Mapping)
        with self.writing():
            if isinstance(current, Mapping) and self._is_at_hand(current):
                self._build_section().reset(current)
            elif self._section is not None:
                self._section.reset({})
        self._is_given = self._is_cleared = self.is_touched = False
        self.is_at_start = True
        is_shown = isinstance(current, Mapping) and self._section is not None
        self._assigned_value = MISSING if is_shown or value is MISSING else value
        self.initial = self.read().value

    def express(self, reading: Reading, problems: Sequence[Problem]) -> None:
        """Show the object's own problems at the title, the others at the fields inside."""
        notice = self.notice_of(reading, problems)
        self.set_class("foldnote-wrong", bool(notice.errors))
        head = "" if self.fold is not None else self.write_head(notice)
        self._head.value = head + self.write_foot(notice)
        inside = [problem for problem in problems if problem.field]
        if self._section is not None:
            self._section.express(self._section.last, inside)
        if self.fold is not None:
            wrong, _ = self.count(inside)
            attention = f" · {count(wrong, 'field needs', 'fields need')} attention" if wrong else ""
            is_set = reading.value is not MISSING and reading.value is not None
            self.fold.description = f"{self.spec.title}{attention or (' · set' if is_set else '')}"
            self.fold.icon = "caret-down" if self._is_open else "caret-right"

    def count(self, problems: Sequence[Problem]) -> tuple[int, int]:
        """Return the sums over the fields inside, plus this field if it has a problem itself."""
        wrong, pristine = super().count([problem for problem in problems if not problem.field])
        section = self._section
        names = section.names if section is not None else ()
        for name, inner in share((item for item in problems if item.field), names).items():
            field = (section.find(name) or section.more) if section is not None else None
            counted = field.count(inner) if field is not None else (1, 0)
            wrong, pristine = wrong + counted[0], pristine + counted[1]
        return wrong, pristine

    def focus(self) -> None:
        """Focus the fold button, or the first field."""
        if self.fold is not None and not self._is_open:
            self.fold.focus()
        elif self.inside():
            self.inside()[0].focus()

    def focus_at(self, path: str) -> None:
        """Open the object and focus the field that the path names."""
        if not path:
            self.focus()
            return
        if not self._is_open:
            self._toggle()
        self._open().focus_at(path)

    def make_section(self) -> Section:
        """Build the fields inside."""
        return Section(read_plan(self.spec.schema, self.spec.root, self.spec.path), self)

    def _is_at_hand(self, value: Mapping[str, Any]) -> bool:
        """Return whether the fields are built, or can be built before the object is opened."""
        if self._section is not None:
            return True
        names = self.spec.schema.get("properties") or ()
        return bool(value or not self._is_recursive) and len(names) <= self.styles.eager_fields_left

    def _build_section(self) -> Section:
        """Return the fields with the defaults of their schemas, building them if necessary."""
        if self._section is None:
            self._section = self.make_section()
            self._section.on_shown = self._lay_out
            self._lay_out()
            if self.spec.is_read_only:
                self.lock()
        return self._section

    def _lay_out(self) -> None:
        self._body.children = self._section.widgets if self._section is not None else ()

    def _open(self) -> Section:
        """Return the fields with the value kept for them, building them if necessary."""
        current = self.as_object(self._assigned_value)
        if self._section is not None or not isinstance(current, Mapping):
            return self._build_section()
        section = self._build_section()
        if self._is_given:
            self.write(self._assigned_value)
        else:
            self.start_with(self._assigned_value)
        return section

    def _recurs(self) -> bool:
        """Return whether an enclosing object has the same properties, i.e. the schema is recursive."""
        names = self.spec.schema.get("properties")
        ancestor: Any = self.host
        while names and isinstance(ancestor, ContainerField):
            if ancestor.spec.schema.get("properties") is names:
                return True
            ancestor = ancestor.host
        return bool(names) and names is self.spec.root.get("properties")

    def _is_edited(self) -> bool:
        if self._section is None:
            return False
        last = self._section.last
        return bool(self._section.extra) or any(
            not is_same(last.readings[position].value, self._section.fields[position].initial)
            for position in last.state.applying
        )

    def _toggle(self, _button: object = None) -> None:
        is_new = self._section is None
        self._open()
        self._is_open = not self._is_open
        set_class(self._body, "foldnote-hidden", not self._is_open)
        if self.fold is not None:
            self.fold.icon = "caret-down" if self._is_open else "caret-right"
        if is_new:
            self.host.field_changed(self)


class TupleField(ObjectField):
    """A list with a field for each position that has a schema; further items are kept unchanged."""

    def parse(self) -> Reading:
        """Return the list up to the last position with a value; an empty position before it is a problem."""
        reading = super().parse()
        if not isinstance(reading.value, Mapping):
            return reading
        last = max((int(name) for name in reading.value), default=-1)
        names = [str(position) for position in range(last + 1)]
        gaps = [require(name) for name in names if name not in reading.value]
        further = len(names) - len(list_item_schemas(self.spec.schema))
        return Reading(
            [reading.value.get(name) for name in names],
            readout=f"and {count(further, 'more item')}, kept unchanged" if further > 0 else "",
            inner=(*reading.inner, *gaps),
        )

    def parts(self, value: Any) -> dict[Any, Field]:
        """Return the fields of the positions that a value has."""
        if not isinstance(value, list):
            return {}
        return {int(name): field for name, field in super().parts(self.as_object(value)).items()}

    def as_object(self, value: Any) -> Any:
        """Return the items by position, as strings."""
        is_list = isinstance(value, list | tuple)
        return {str(position): item for position, item in enumerate(value)} if is_list else MISSING

    def make_section(self) -> Section:
        """Build a section whose field names are the positions."""
        item_schemas = list_item_schemas(self.spec.schema)
        minimum = self.spec.schema.get("minItems")
        required = range(min(len(item_schemas), minimum if isinstance(minimum, int) else 0))
        names = {
            str(position): {"title": f"Item {position + 1}", **schema}
            for position, schema in enumerate(item_schemas)
        }
        schema = {"properties": names, "required": [str(position) for position in required]}
        return Section(read_plan(schema, self.spec.root, self.spec.path), self)
