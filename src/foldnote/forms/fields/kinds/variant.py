"""A union field: one of the schema's options is chosen, then filled in.

Text typed into one option is kept while another one is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import ipywidgets as widgets

from foldnote.catalog.json_values import parse_value
from foldnote.catalog.keywords import Document, Rules
from foldnote.catalog.validation import find_problems
from foldnote.forms.fields.container import ContainerField, list_problems
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.kinds.choice import enumerate_labels
from foldnote.forms.fields.registry import kind_for
from foldnote.forms.schema.resolution import list_types, take_type
from foldnote.forms.schema.shapes import read_options
from foldnote.forms.schema.spec import MISSING, read_spec
from foldnote.forms.ui import choice_widgets
from foldnote.forms.wording import in_one_line
from foldnote.models.problem import Problem

_TYPE_NAMES: Final = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "yes or no",
    "array": "list",
    "object": "several values",
    "null": "nothing (null)",
}


class VariantField(ContainerField):
    """A value of one of several schemas."""

    def build(self) -> widgets.DOMWidget:
        """Return a drop-down list of the options, and the field of the chosen one."""
        styles = self.styles
        document = Document.of(self.spec.root)
        self._schemas = read_options(self.spec.schema, self.spec.root)
        self._rules: list[Rules] = [document.compile_part(schema) for schema in self._schemas]
        self._fields: dict[int, Field] = {}
        self._has_none = not self.spec.required or self.spec.nullable
        labels = [label_option(schema) for schema in self._schemas]
        if self._has_none:
            labels.insert(0, "nothing (null)" if self.spec.required else "not set")
        self.control = choice_widgets.Dropdown(
            options=enumerate_labels(labels),
            index=0,
            style=styles.description,
            **self.look("choice", "field"),
        )
        self.control.observe(self._handle_choice, "index")
        self._foot = styles.html("", "foldnote-part")
        self._widget = styles.box([self.control, self._foot], "foldnote-object")
        self._show_chosen()
        return self._widget

    def inside(self) -> Sequence[Field]:
        """Return the field of the chosen option."""
        field = self._field()
        return () if field is None else (field,)

    def parse(self) -> Reading:
        """Return the value of the chosen option."""
        field = self._field()
        if field is None:
            return Reading(None if self.spec.required and self.spec.nullable else self.blank)
        reading = field.read()
        if reading.value is MISSING:
            return Reading(MISSING, inner=tuple(list_problems(reading)))
        rules = self._rules[self._position()]
        problems = list_problems(reading) or find_problems(rules, parse_value(reading.value))
        # A value that is complete for another option is valid, although this one requires more.
        if all(problem.code == "missing_field" for problem in problems) and self._fits_an_option(
            reading.value
        ):
            problems = []
        return Reading(reading.value, inner=tuple(problems))

    def render(self, value: Any) -> None:
        """Choose the option that ``value`` matches, and show it there."""
        if value is MISSING or (value is None and self._has_none):
            self.control.index = 0
            field = self._field()
            if field is not None:
                field.reset()
        else:
            self.control.index = self._find_option(value) + self._has_none
            field = self._field()
            if field is not None:
                field.write(value)
        self._show_chosen()

    def keep(self, value: Any) -> Any:
        """Return `MISSING`: the chosen option's field holds the value."""
        return None if value is None and self._has_none else MISSING

    def express(self, reading: Reading, problems: Sequence[Problem]) -> None:
        """Show title and help at the drop-down list, problems at the chosen option."""
        notice = self.notice_of(reading, ())
        self.control.description = self._parts.head(notice)
        self._foot.value = self.write_foot(notice)
        field = self._field()
        if field is not None:
            field.express(field.read(), problems)

    def count(self, problems: Sequence[Problem]) -> tuple[int, int]:
        """Return the counts of the chosen option's field."""
        field = self._field()
        return field.count(problems) if field is not None else super().count(problems)

    def focus_at(self, path: str) -> None:
        """Focus the chosen option's field."""
        field = self._field()
        if field is not None:
            field.focus_at(path)
        else:
            self.focus()

    def lock(self) -> None:
        """Disable the drop-down list, too."""
        super().lock()
        self.control.disabled = True

    def _position(self) -> int:
        return int(self.control.index) - self._has_none

    def _field(self) -> Field | None:
        position = self._position()
        if position < 0:
            return None
        if position not in self._fields:
            schema = {"title": label_option(self._schemas[position]), **self._schemas[position]}
            spec = read_spec(self.spec.path, schema, self.spec.root, required=True)
            self._fields[position] = kind_for(spec).build(spec, self)
        return self._fields[position]

    def _fits_an_option(self, value: Any) -> bool:
        plain = parse_value(value).value
        return any(rules.accepts(plain) for rules in self._rules)

    def _find_option(self, value: Any) -> int:
        plain = parse_value(value).value
        fitting = [position for position, rules in enumerate(self._rules) if rules.accepts(plain)]
        if fitting:
            return fitting[0]
        kind = take_type(plain)
        same_type = [
            position
            for position, schema in enumerate(self._schemas)
            if kind in list_types(schema) or (kind == "integer" and "number" in list_types(schema))
        ]
        return same_type[0] if same_type else 0

    def _handle_choice(self, _change: object) -> None:
        self._show_chosen()
        self.changed()

    def _show_chosen(self) -> None:
        field = self._field()
        children = [self.control, self._foot, *([field.widget] if field is not None else [])]
        if list(self._widget.children) != children:
            self._widget.children = children


def label_option(schema: Mapping[str, Any]) -> str:
    """Return the label of a union's option: its title, values, properties or types."""
    if schema.get("title"):
        return str(schema["title"])
    for key in ("const", "enum"):
        if key in schema:
            values = schema[key] if key == "enum" and isinstance(schema[key], list) else [schema[key]]
            return ", ".join(in_one_line(value, 20) for value in values[:4]) or "nothing"
    types = list_types(schema)
    if types == ("object",) and isinstance(schema.get("properties"), Mapping) and schema["properties"]:
        return in_one_line(", ".join(list(schema["properties"])[:3]), 40)
    return " or ".join(_TYPE_NAMES.get(name, name) for name in types) or "anything"
