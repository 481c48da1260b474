"""Controls that give a setting several values; every row of the batch is repeated for each of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from foldnote.client.inputs.batch_table import check_repeats
from foldnote.client.inputs.plain_values import make_plain
from foldnote.errors import ArgumentError
from foldnote.forms.batch.cell_values import read_cell
from foldnote.forms.schema.spec import Choice, FieldSpec
from foldnote.forms.ui import choice_widgets, compact_widgets, rare_widgets
from foldnote.forms.ui.label import LabelParts, Notice, write_label
from foldnote.forms.ui.shared_styles import SharedStyles, set_class
from foldnote.forms.wording import in_one_line
from foldnote.text import count

_SCALARS = ("number", "integer", "boolean", "string")
_ROLES = ("file", "files", "sequences", "mask", "residues")
_TRUTH = (Choice(False, "no"), Choice(True, "yes"))


class SweepControls:
    """A setting, its values, and a description of the product with the rows before it is made."""

    def __init__(
        self,
        styles: SharedStyles,
        on_apply: Callable[[FieldSpec, list[Any]], object],
        find_fault: Callable[[FieldSpec, list[Any]], str],
    ) -> None:
        """Build the controls.

        Args:
            styles: the form's shared models.
            on_apply: called with the setting and its values when the product is to be made.
            find_fault: returns why values cannot be used, as a sentence; empty if they can.
        """
        self._on_apply = on_apply
        self._find_fault = find_fault
        self._specs: dict[str, FieldSpec] = {}
        self._rows = 0
        shared = {"layout": styles.layout}
        self._setting = choice_widgets.Dropdown(
            options=[("no sweep", "")],
            description=_label("Sweep a setting"),
            description_allow_html=True,
            style=styles.description,
            _dom_classes=("foldnote-field", "foldnote-choice"),
            **shared,
        )
        self._text = compact_widgets.Text(
            description=_label("Values"),
            description_allow_html=True,
            placeholder="0.1, 0.2, 0.3",
            style=styles.text,
            _dom_classes=("foldnote-field", "foldnote-hidden"),
            **shared,
        )
        self._list = rare_widgets.SelectMultiple(
            description=_label("Values"),
            description_allow_html=True,
            style=styles.description,
            _dom_classes=("foldnote-field", "foldnote-hidden"),
            **shared,
        )
        self._readout = styles.html("", "foldnote-part", "foldnote-sweep-said")
        self._apply = styles.button("Add the combinations", "foldnote-second", "foldnote-hidden")
        self._apply.on_click(lambda _button: self._press())
        self._setting.observe(lambda _change: self._choose(), "value")
        self._text.observe(lambda _change: self._preview(), "value")
        self._list.observe(lambda _change: self._preview(), "value")
        parts = [self._setting, self._text, self._list, self._readout, self._apply]
        self.widget: widgets.Box = styles.box(parts, "foldnote-sweep")

    def show(self, specs: Sequence[FieldSpec], excluded: Collection[str], rows: int) -> None:
        """Offer the settings that no column feeds, for this number of rows."""
        self._rows = rows
        specs_by_name = {spec.name: spec for spec in specs if _can_sweep(spec) and spec.name not in excluded}
        if [*specs_by_name] != [*self._specs]:
            self._specs = specs_by_name
            self._setting.options = [
                ("no sweep", ""),
                *((spec.title, name) for name, spec in specs_by_name.items()),
            ]
        self._preview()

    @property
    def _chosen_spec(self) -> FieldSpec | None:
        return self._specs.get(str(self._setting.value or ""))

    def _choose(self) -> None:
        spec = self._chosen_spec
        choices = _list_choices(spec) if spec is not None else ()
        self._list.options = [(choice.label, choice.value) for choice in choices]
        self._list.rows = max(2, min(len(choices), 6))
        self._list.value = ()
        self._text.value = ""
        set_class(self._list, "foldnote-hidden", not choices)
        set_class(self._text, "foldnote-hidden", spec is None or bool(choices))
        self._preview()

    def _read_values(self) -> list[Any]:
        spec = self._chosen_spec
        if spec is None:
            return []
        if _list_choices(spec):
            return list(self._list.value)
        texts = [text.strip() for text in str(self._text.value).replace(";", ",").split(",")]
        return list(dict.fromkeys(read_cell(spec, text) for text in texts if text))

    def _preview(self) -> None:
        spec, values = self._chosen_spec, self._read_values()
        fault = self._find_fault(spec, values) if spec is not None and values else ""
        summary = ""
        if spec is not None and values and not fault:
            rows = max(1, self._rows)
            listed = in_one_line(", ".join(in_one_line(value, 30) for value in values), 90)
            summary = (
                f"{count(rows, 'row')} × {count(len(values), 'value')} of {spec.title} ({listed})"
                f" = {count(rows * len(values), 'job')}"
            )
            self._apply.description = f"Make {count(rows * len(values), 'row')}"
        mark = "fn-error" if fault else "fn-readout"
        html = f'<span class="{mark}" role="status">{escape(fault or summary)}</span>'
        self._readout.value = html if fault or summary else ""
        set_class(self._apply, "foldnote-hidden", not summary)

    def _press(self) -> None:
        spec, values = self._chosen_spec, self._read_values()
        if spec is not None and values:
            self._setting.value = ""
            self._on_apply(spec, values)


def read_sweep(sweep: Mapping[str, Sequence[Any]], specs: Sequence[FieldSpec]) -> dict[str, list[Any]]:
    """Return the values of each setting that is swept in code.

    Raises:
        ArgumentError: there is no such setting, it cannot be swept, its values are not a list, or one of them
            is repeated.
    """
    if not isinstance(sweep, Mapping):
        kind = type(sweep).__name__
        raise ArgumentError(f'A sweep is a mapping such as {{"temperature": [0.1, 0.2]}}, not a {kind}.')
    by_name, swept = {spec.name: spec for spec in specs}, make_plain(sweep)
    for name, values in swept.items():
        if name not in by_name or not _can_sweep(by_name[name]):
            listed = ", ".join(setting for setting, spec in by_name.items() if _can_sweep(spec))
            raise ArgumentError(f"The setting {name!r} cannot be swept in a form. These can: {listed}.")
        if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not values:
            raise ArgumentError(f"A sweep needs a list of values for {name!r}, such as [0.1, 0.2].")
        check_repeats(name, values)
    return {name: list(values) for name, values in swept.items()}


def _label(text: str) -> str:
    return write_label(LabelParts(text, "", "", ""), Notice())


def _can_sweep(spec: FieldSpec) -> bool:
    is_scalar = bool(spec.choices) or spec.type in _SCALARS
    return is_scalar and spec.role not in _ROLES and not (spec.is_secret or spec.is_read_only)


def _list_choices(spec: FieldSpec) -> Sequence[Choice]:
    return spec.choices or (_TRUTH if spec.type == "boolean" else ())
