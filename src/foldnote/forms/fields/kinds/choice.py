"""Fields with a closed set of values: one of them, any of them, yes or no.

A value outside the set (from an old job or a newer service) is added as a choice marked "not allowed".
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading, is_same
from foldnote.forms.schema.spec import MISSING, Choice, read_item_choices
from foldnote.forms.ui import choice_widgets, compact_widgets, rare_widgets
from foldnote.forms.ui.label import Notice, write_foot
from foldnote.forms.wording import in_one_line

_MAX_BOXES = 24
_NULL = "nothing (null)"


class ChoiceField(Field):
    """One of the allowed values, in a drop-down list."""

    def build(self) -> widgets.DOMWidget:
        """Return a drop-down list; without a default its first entry means no value."""
        self._values = [choice.value for choice in self.spec.choices]
        labels = _distinct_labels(self.spec.choices)
        is_null = self.spec.nullable and self.spec.required
        if self.spec.default in (MISSING, None):
            self._values.insert(0, None if is_null else self.spec.default)
            labels.insert(0, _NULL if is_null else "choose…" if self.spec.required else "not set")
        elif self.spec.nullable:
            self._values.append(None)
            labels.append(_NULL)
        self._labels = labels
        box = choice_widgets.Dropdown(
            options=enumerate_labels(labels),
            index=0,
            style=self.host.styles.description,
            **self.look("choice"),
        )
        box.observe(self.changed, "index")
        return box

    def parse(self) -> Reading:
        """Return the chosen value; `MISSING` for the entry that stands for none."""
        index = self.widget.index
        return Reading(MISSING if index is None else self._values[index])

    def render(self, value: Any) -> None:
        """Choose ``value``; one that is not allowed is added as an entry."""
        positions = [index for index, allowed in enumerate(self._values) if is_same(allowed, value)]
        if value is MISSING and not positions:
            positions = [0]
        if not positions:
            self._values.append(value)
            self._labels.append(f"{in_one_line(value, 60)} (not allowed)")
            self.widget.options = enumerate_labels(self._labels)
            positions = [len(self._values) - 1]
        self.widget.index = positions[0]


class ConstField(Field):
    """The only allowed value."""

    def build(self) -> widgets.DOMWidget:
        """Return a disabled text box."""
        return compact_widgets.Text(
            self.spec.choices[0].label, disabled=True, style=self.host.styles.text, **self.look()
        )

    def parse(self) -> Reading:
        """Return the value."""
        return Reading(self.spec.choices[0].value)

    def render(self, value: Any) -> None:
        """Show the value; a different one, as from an old job, is marked "not allowed"."""
        own = self.spec.choices[0]
        is_own = value is MISSING or is_same(value, own.value)
        self.widget.value = own.label if is_own else f"{in_one_line(value, 60)} (not allowed)"


class ManyChoicesField(Field):
    """Any number of the allowed values: checkboxes, or a multiple-choice list for more than 24."""

    width = "wide"

    def build(self) -> widgets.DOMWidget:
        """Return the checkboxes between the field's name and its help."""
        styles = self.host.styles
        self._choices = read_item_choices(self.spec)
        labels = _distinct_labels(self._choices)
        self._head = styles.html("", "foldnote-part")
        self._foot = styles.html("", "foldnote-part")
        if len(labels) > _MAX_BOXES:
            self.control = rare_widgets.SelectMultiple(
                options=enumerate_labels(labels), layout=styles.layout, style=styles.description
            )
            self.control.observe(self.changed, "index")
            self.boxes: list[widgets.Checkbox] = []
            return styles.box([self._head, self.control, self._foot], "foldnote-many")
        self.boxes = [
            rare_widgets.Checkbox(
                False, description=label, indent=False, layout=styles.layout, style=styles.checkbox
            )
            for label in labels
        ]
        self.control = self.boxes[0] if self.boxes else None
        for box in self.boxes:
            box.observe(self.changed, "value")
        ticks = styles.box(list(self.boxes), "foldnote-ticks")
        return styles.box([self._head, ticks, self._foot], "foldnote-many")

    def parse(self) -> Reading:
        """Return the ticked values in the schema's order."""
        if self.boxes:
            ticked = [
                choice.value for choice, box in zip(self._choices, self.boxes, strict=True) if box.value
            ]
        else:
            ticked = [self._choices[index].value for index in self.control.index]
        has_default = isinstance(self.spec.default, list)
        return Reading(ticked if ticked or has_default else self.blank)

    def render(self, value: Any) -> None:
        """Tick the values in ``value``."""
        selected = value if isinstance(value, list | tuple) else []
        states = [any(is_same(choice.value, item) for item in selected) for choice in self._choices]
        if self.boxes:
            for box, is_on in zip(self.boxes, states, strict=True):
                box.value = is_on
        else:
            self.control.index = tuple(index for index, is_on in enumerate(states) if is_on)

    def show(self, notice: Notice) -> None:
        """Write the title above the checkboxes, help and errors below."""
        self._head.value = f'<span class="fn-label">{self._parts.head(notice)}</span>'
        self._foot.value = f'<span class="fn-foot">{write_foot(self._parts, notice)}</span>'
        self.set_class("foldnote-wrong", bool(notice.errors))


class SwitchField(Field):
    """Yes or no, as a checkbox; if it is unticked and has no default, the setting is not sent."""

    def build(self) -> widgets.DOMWidget:
        """Return the checkbox, and a line below it for help and errors."""
        styles = self.host.styles
        self.control = rare_widgets.Checkbox(
            False, description=self.spec.title, indent=False, layout=styles.layout, style=styles.checkbox
        )
        self.control.observe(self.changed, "value")
        self._foot = styles.html("", "foldnote-part")
        return styles.box([self.control, self._foot], "foldnote-switch")

    def parse(self) -> Reading:
        """Return True or False; `MISSING` if unticked, optional and without a default."""
        is_on = bool(self.control.value)
        is_given = is_on or self.spec.required or self.spec.default is not MISSING
        return Reading(is_on if is_given else MISSING)

    def render(self, value: Any) -> None:
        """Tick the checkbox for True."""
        self.control.value = value is True

    def describe(self, value: Any) -> Reading:
        """Return a readout of a value that is not a boolean, which the checkbox cannot show."""
        return Reading(value, readout="" if isinstance(value, bool) else f"holds {in_one_line(value)}")

    def show(self, notice: Notice) -> None:
        """Write marks, help and errors below the checkbox."""
        mark = self._parts.changed if notice.is_changed else ""
        self._foot.value = f'<span class="fn-foot">{mark}{write_foot(self._parts, notice)}</span>'
        self.set_class("foldnote-wrong", bool(notice.errors))


def enumerate_labels(labels: list[str]) -> list[tuple[str, int]]:
    """Return (label, index) pairs, as the ``options`` of an ipywidgets list."""
    return [(label, index) for index, label in enumerate(labels)]


def _distinct_labels(choices: tuple[Choice, ...]) -> list[str]:
    """Return one label per choice; a label that occurs twice is followed by its value in brackets."""
    labels = [choice.label for choice in choices]
    return [
        label if labels.count(label) == 1 else f"{label} ({choice.value!r})"
        for label, choice in zip(labels, choices, strict=True)
    ]
