"""Lists and maps whose items have fields: rows that can be added, removed and moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from foldnote.forms.fields.container import ContainerField, list_problems, prefix_path, require
from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.fields.registry import kind_for
from foldnote.forms.fields.section import share
from foldnote.forms.schema.spec import MISSING, read_spec
from foldnote.forms.ui import compact_widgets
from foldnote.forms.ui.stylesheet import read_style
from foldnote.models.problem import Problem
from foldnote.text import count

_MAX_ROWS = 400


class ItemRow:
    """One item: its field, its number and the buttons that move or remove it."""

    def __init__(self, field: Field, holder: RowsField) -> None:
        styles = holder.styles
        self.field = field
        self.number = styles.html("", "foldnote-row-number")
        self.key: widgets.Text | None = None
        self.is_nameless = False
        self.up = styles.button("", "foldnote-tool", icon="arrow-up")
        self.down = styles.button("", "foldnote-tool", icon="arrow-down")
        self.remove = styles.button("", "foldnote-tool", icon="times")
        for button, step in ((self.up, -1), (self.down, 1)):
            button.on_click(lambda _button, step=step: holder.move(self, step))
        self.remove.on_click(lambda _button: holder.remove(self))
        bar = styles.box([self.number, self.up, self.down, self.remove], "foldnote-row-bar")
        self.widget = styles.box([bar, field.widget], "foldnote-row")

    def show_position(self, position: int, total: int, noun: str) -> None:
        """Update the number and the buttons' tooltips."""
        name = f"{noun} {position + 1}"
        self.number.value = name
        self.up.tooltip, self.down.tooltip = f"Move {name} up", f"Move {name} down"
        self.remove.tooltip = f"Remove {name}"
        self.up.disabled, self.down.disabled = position == 0, position == total - 1


class RowsField(ContainerField):
    """A list whose items have fields."""

    noun = "Row"

    def build(self) -> widgets.DOMWidget:
        """Return the title, the rows, and a button that adds one."""
        styles = self.styles
        self.rows: list[ItemRow] = []
        self._is_given = False
        self._head = styles.html("", "foldnote-part")
        self._list = styles.box([], "foldnote-rows")
        self.control = styles.button(
            f"Add {self._item_name}", "foldnote-add", icon="plus", tooltip=f"Add to {self.spec.title}"
        )
        self.control.on_click(lambda _button: self.add())
        return styles.box([self._head, self._list, self.control], "foldnote-object")

    def inside(self) -> Sequence[Field]:
        """Return the field of each row."""
        return [row.field for row in self.rows]

    def parts(self, _value: Any) -> dict[Any, Field]:
        """Return the fields of the rows, by position."""
        return dict(enumerate(self.inside()))

    def parse(self) -> Reading:
        """Return the list, with the problems of each row."""
        if not self.rows:
            return Reading(self.empty())
        readings = [row.field.read() for row in self.rows]
        inner = [
            prefix_path(self.name_row(position), problem)
            for position, reading in enumerate(readings)
            for problem in (list_problems(reading) or ([require()] if reading.value is MISSING else []))
        ]
        values = [None if reading.value is MISSING else reading.value for reading in readings]
        return Reading(self.join(values), readout=count(len(values), self.noun.lower()), inner=tuple(inner))

    def empty(self) -> Any:
        """Return the value without rows."""
        is_present = self._is_given or self.spec.required or isinstance(self.spec.default, list)
        return [] if is_present and not self._starts_null else self.blank

    def join(self, values: list[Any]) -> Any:
        """Return the field's value, from the values of the rows."""
        return values

    def name_row(self, position: int) -> str:
        """Return the row's name in the dotted path of a problem."""
        return str(position)

    def render(self, value: Any) -> None:
        """Show one row per item."""
        self._is_given = isinstance(value, list | tuple)
        self._fill(list(value) if isinstance(value, list | tuple) else [])

    def keep(self, value: Any) -> Any:
        """Return `MISSING` for a list that the rows hold; any other value unchanged."""
        is_shown = isinstance(value, list | tuple) and len(value) <= _MAX_ROWS
        return MISSING if is_shown else value

    def start_with(self, value: Any) -> None:
        """Begin with the rows of ``value``."""
        super().start_with(value)
        self._is_given = False
        self.initial = self.read().value

    def add(self, value: Any = MISSING) -> ItemRow:
        """Append a row; without a value it has the schema's defaults."""
        row = self._make_row(value)
        self.rows.append(row)
        self._number_rows()
        if not self._is_writing:
            self._is_given = True
            self.changed()
            row.field.focus()
        return row

    def remove(self, row: ItemRow) -> None:
        """Remove a row."""
        self.rows.remove(row)
        self._is_given = True
        self._number_rows()
        row.widget.close()
        self.changed()

    def move(self, row: ItemRow, step: int) -> None:
        """Move a row up (``step`` -1) or down (+1)."""
        position = self.rows.index(row)
        target = min(max(position + step, 0), len(self.rows) - 1)
        self.rows.insert(target, self.rows.pop(position))
        self._number_rows()
        self.changed()
        (row.up if step < 0 and target else row.down).focus()

    def express(self, reading: Reading, problems: Sequence[Problem]) -> None:
        """Show problems of the list above the rows, those of an item in its row."""
        notice = self.notice_of(reading, problems)
        style = f"<style>{read_style('rows')}</style>"
        self._head.value = style + self.write_head(notice) + self.write_foot(notice)
        self.set_class("foldnote-wrong", bool(notice.errors))
        shared = self._group_problems(problems)
        for position, row in enumerate(self.rows):
            row.field.express(row.field.read(), shared.get(self.name_row(position), ()))

    def count(self, problems: Sequence[Problem]) -> tuple[int, int]:
        """Return the sums over the rows, plus this field if it has a problem itself."""
        wrong, pristine = super().count([problem for problem in problems if not problem.field])
        shared = self._group_problems(problems)
        for position, row in enumerate(self.rows):
            counted = row.field.count(shared.pop(self.name_row(position), ()))
            wrong, pristine = wrong + counted[0], pristine + counted[1]
        return wrong + len(shared), pristine

    def focus_at(self, path: str) -> None:
        """Focus the row that the path names."""
        for position, row in enumerate(self.rows):
            name = self.name_row(position)
            if path == name or path.startswith(f"{name}."):
                row.field.focus_at(path[len(name) + 1 :])
                return
        self.focus()

    def lock(self) -> None:
        """Disable the rows and the buttons that add, move and remove them."""
        super().lock()
        self.control.disabled = True
        for row in self.rows:
            for button in (row.up, row.down, row.remove):
                button.disabled = True

    @property
    def _starts_null(self) -> bool:
        return self.spec.required and self.spec.nullable and not self._is_given

    @property
    def _item_name(self) -> str:
        return str(self.spec.items.get("title") or "row").lower()

    def _item_schema(self) -> Mapping[str, Any]:
        return self.spec.items

    def _make_row(self, value: Any) -> ItemRow:
        schema = {"title": "Value", **self._item_schema()}
        spec = read_spec((*self.spec.path, str(len(self.rows))), schema, self.spec.root, required=True)
        field = kind_for(spec).build(spec, self)
        if value is not MISSING:
            field.write(value)
        return ItemRow(field, self)

    def _fill(self, items: list[Any]) -> None:
        old = self.rows
        self.rows = []
        for item in items[:_MAX_ROWS]:
            self.rows.append(self._make_row(item))
        self._number_rows()
        for row in old:
            row.widget.close()

    def _number_rows(self) -> None:
        for position, row in enumerate(self.rows):
            row.show_position(position, len(self.rows), self.noun)
        self._list.children = [row.widget for row in self.rows]

    def _group_problems(self, problems: Sequence[Problem]) -> dict[str, tuple[Problem, ...]]:
        names = [self.name_row(position) for position in range(len(self.rows))]
        return share((problem for problem in problems if problem.field), names)


class EntriesField(RowsField):
    """An object with names that the user chooses: each row has a name and a value."""

    noun = "Entry"

    def empty(self) -> Any:
        """Return the value without entries."""
        is_present = self._is_given or self.spec.required or isinstance(self.spec.default, dict)
        return {} if is_present and not self._starts_null else self.blank

    def join(self, values: list[Any]) -> Any:
        """Return the values by name; of two entries with one name the last, an error that `parse` reports."""
        return {self.name_row(position): value for position, value in enumerate(values)}

    def parts(self, _value: Any) -> dict[Any, Field]:
        """Return the fields of the rows, by name."""
        return {self.name_row(position): field for position, field in enumerate(self.inside())}

    def parse(self) -> Reading:
        """Return the object, with an error for each missing or repeated name."""
        reading = super().parse()
        names = [self.name_row(position) for position in range(len(self.rows))]
        doubled = {name for name in names if names.count(name) > 1}
        errors = [f"The name {name!r} is given twice." for name in sorted(doubled)]
        blank = [position for position, row in enumerate(self.rows) if not self._has_name(row)]
        errors += [f"Entry {position + 1} needs a name." for position in blank]
        return Reading(reading.value, tuple(errors), None, reading.readout, reading.inner)

    def name_row(self, position: int) -> str:
        """Return the name of the entry."""
        key = self.rows[position].key
        return str(key.value) if key is not None else ""

    def render(self, value: Any) -> None:
        """Show one row per name."""
        self._is_given = isinstance(value, Mapping)
        self._fill(list(value.items()) if isinstance(value, Mapping) else [])

    def keep(self, value: Any) -> Any:
        """Return `MISSING` for a mapping that the rows hold; any other value unchanged."""
        return MISSING if isinstance(value, Mapping) and len(value) <= _MAX_ROWS else value

    @property
    def _item_name(self) -> str:
        return "entry"

    def _has_name(self, row: ItemRow) -> bool:
        return row.key is not None and (bool(row.key.value) or row.is_nameless)

    def _item_schema(self) -> Mapping[str, Any]:
        values = self.spec.schema.get("additionalProperties")
        if isinstance(values, Mapping) and values:
            return values
        patterns = self.spec.schema.get("patternProperties")
        schemas = list(patterns.values()) if isinstance(patterns, Mapping) else []
        return schemas[0] if len(schemas) == 1 and isinstance(schemas[0], Mapping) else {}

    def _make_row(self, value: Any) -> ItemRow:
        name, item = value if isinstance(value, tuple) else ("", MISSING)
        row = super()._make_row(item)
        row.is_nameless = isinstance(value, tuple) and not name
        row.key = compact_widgets.Text(
            value=name,
            description="Name",
            style=self.styles.text,
            layout=self.styles.layout,
            _dom_classes=("foldnote-field", "foldnote-key"),
        )
        row.key.observe(self.changed, "value")
        bar, field = row.widget.children
        row.widget.children = (bar, row.key, field)
        return row
