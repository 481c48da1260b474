"""Fields that hold one line: text, secrets, numbers.

A number is a line of text, not the browser's number box: it may be empty, ``1e-6`` can be typed, and what
is wrong with it is said in words while it is typed.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import ipywidgets as widgets

from foldnote.forms import lean
from foldnote.forms.field import Field, Reading
from foldnote.forms.formats import find_format_fault, show_example
from foldnote.forms.spec import MISSING
from foldnote.forms.words import in_one_line, number_text

_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e6
_RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_INTEGER = re.compile(r"[+-]?\d+")


class TextField(Field):
    """Text on one line."""

    def build(self) -> widgets.DOMWidget:
        """One text box."""
        self.width = "wide" if (self.spec.schema.get("maxLength") or 0) > 200 else ""
        box = lean.Text(style=self.host.looks.text, placeholder=self.hint(), **self.look())
        box.observe(self.changed, "value")
        return box

    def hint(self) -> str:
        """What stands in the empty box: the default, else an example of the schema's."""
        example = (
            self.spec.examples[0] if self.spec.examples else show_example(self.spec.schema.get("format"))
        )
        return f"e.g. {in_one_line(example, 40)}" if example not in ("", None) else ""

    def parse(self) -> Reading:
        """The text without the white space around it."""
        text = self.widget.value.strip()
        if text:
            return self.describe(text)
        default = self.spec.default
        return Reading("" if isinstance(default, str) else self.blank)

    def describe(self, value: Any) -> Reading:
        """Say at once where the text does not have the schema's format."""
        fault = find_format_fault(value, self.spec.schema.get("format")) if isinstance(value, str) else None
        return Reading(value, (fault,) if fault else ())

    def render(self, value: Any) -> None:
        """Text as it is; anything else as JSON."""
        self.widget.value = "" if value is MISSING else value if isinstance(value, str) else json.dumps(value)


class SecretField(TextField):
    """A text that is shown as dots, in the front end and in every saved rendering."""

    def build(self) -> widgets.DOMWidget:
        """A password box."""
        box = lean.Password(style=self.host.looks.text, **self.look())
        box.observe(self.changed, "value")
        return box


class NumberField(TextField):
    """A number with its unit and bounds."""

    def build(self) -> widgets.DOMWidget:
        """One narrow text box; the unit stands in it."""
        has_default = self.spec.default not in (MISSING, None)
        hint = f"default {in_one_line(self.spec.default)}" if has_default else self.hint()
        box = lean.Text(style=self.host.looks.text, placeholder=hint, **self.look("number"))
        box.observe(self.changed, "value")
        return box

    def parse(self) -> Reading:
        """An int where no decimals were typed, else a float."""
        text = self.widget.value.strip().replace("−", "-")
        if not text:
            return Reading(self.blank)
        if _INTEGER.fullmatch(text):
            return self.describe(int(text))
        try:
            number = float(text)
        except ValueError:
            return Reading(errors=(self._explain(text),))
        if not math.isfinite(number):
            return Reading(errors=(self._explain(text),))
        is_whole = self.spec.type == "integer" and number.is_integer()
        return self.describe(int(number) if is_whole else number)

    def describe(self, value: Any) -> Reading:
        """Say very large and very small numbers with a power of ten: zeros are easily miscounted."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return Reading(value, readout=tell_magnitude(value, self.spec.unit) if is_number else "")

    def render(self, value: Any) -> None:
        """The number as it would be typed."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number:
            self.widget.value = number_text(value)
        else:
            super().render(value)

    def _explain(self, text: str) -> str:
        unit = self.spec.unit
        if unit and text.lower().endswith(unit.lower()):
            return f"Leave the unit out: the number is in {unit}."
        if re.fullmatch(r"[+-]?\d+,\d+", text):
            return f"Write the decimals with a point: {text.replace(',', '.')}"
        return f"{text!r} is not a number."


def tell_magnitude(number: float, unit: str = "") -> str:
    """A number of at least a million or below a thousandth as a power of ten; empty for others."""
    if not number or not math.isfinite(number) or _PLAIN_FROM <= abs(number) < _PLAIN_BELOW:
        return ""
    mantissa, _, power = f"{number:.3e}".partition("e")
    figures = mantissa.rstrip("0").rstrip(".").replace("-", "\u2212")
    return f"= {figures} \u00d7 10{str(int(power)).translate(_RAISED)} {unit}".rstrip()
