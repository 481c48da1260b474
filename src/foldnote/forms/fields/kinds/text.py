"""Fields that hold one line: text, secrets, numbers.

A number is typed into a text box, not a browser's number box: it may be empty or written as ``1e-6``, and
an error is explained while it is typed.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.schema.text_formats import find_format_fault, show_example
from foldnote.forms.wording import in_one_line, number_text
from foldnote.text import escape_html

_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e6
_RAISED = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_MAX_SPAN = 1000
_MAX_STEPS = 500
_SLACK = 1e-6
_INTEGER = r"[+-]?\d+"


class TextField(Field):
    """Text on one line."""

    takes_empty_text = True
    """Whether an emptied box means the empty string if the default is a string."""

    def build(self) -> widgets.DOMWidget:
        """Return one text box."""
        self.width = "wide" if (self.spec.schema.get("maxLength") or 0) > 200 else ""
        return self.make_line(self.hint())

    def hint(self) -> str:
        """Return the placeholder text: an example from the schema or of its format."""
        example = (
            self.spec.examples[0] if self.spec.examples else show_example(self.spec.schema.get("format"))
        )
        return f"e.g. {in_one_line(example, 40)}" if example not in ("", None) else ""

    def parse(self) -> Reading:
        """Return the text without surrounding white space."""
        text = self.control.value.strip()
        if text:
            return self.describe(text)
        is_text = self.takes_empty_text and isinstance(self.spec.default, str)
        return Reading("" if is_text else self.blank)

    def describe(self, value: Any) -> Reading:
        """Return the text, with an error if it does not have the schema's format."""
        fault = find_format_fault(value, self.spec.schema.get("format")) if isinstance(value, str) else None
        return Reading(value, (fault,) if fault else ())

    def render(self, value: Any) -> None:
        """Show text unchanged, anything else as JSON."""
        text = "" if value is MISSING else value if isinstance(value, str) else json.dumps(value, default=str)
        self.control.value = text


class SecretField(TextField):
    """Text that is shown as dots, in the front end and in every saved rendering."""

    def build(self) -> widgets.DOMWidget:
        """Return a password box."""
        from foldnote.forms.ui.rare_widgets import Password

        box = Password(style=self.host.styles.text, **self.look())
        box.observe(self.changed, "value")
        return box


class NumberField(TextField):
    """A number with its unit and bounds."""

    def build(self) -> widgets.DOMWidget:
        """Return a narrow text box."""
        self._span = find_slider_range(self.spec)
        has_default = self.spec.default not in (MISSING, None)
        hint = f"default {in_one_line(self.spec.default)}" if has_default else self.hint()
        return self.make_line(hint, "number")

    def parse(self) -> Reading:
        """Return an int if no decimals were typed, else a float."""
        text = self.control.value.strip()
        if not text:
            return Reading(self.blank)
        number = read_number(text)
        if number is None:
            return Reading(errors=(explain_number(text, self.spec.unit),))
        is_whole = self.spec.type == "integer" and isinstance(number, float) and number.is_integer()
        return self.describe(int(number) if is_whole else number)

    def describe(self, value: Any) -> Reading:
        """Return a readout of very large and very small numbers as powers of ten."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return Reading(value, readout=describe_magnitude(value, self.spec.unit) if is_number else "")

    def set_label(self, label: str) -> None:
        """Add the data of the slider, which the page draws next to the box, to the label."""
        if self._span is not None:
            title = f"{self._span} {escape_html(self.control.value.strip())}"
            label += f'<span class="fn-span" title="{title}"></span>'
        super().set_label(label)

    def render(self, value: Any) -> None:
        """Show the number as it would be typed."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number:
            self.control.value = number_text(value)
        else:
            super().render(value)


def read_number(text: str) -> int | float | None:
    """Return an int if no decimals were typed, else a float; None for a text that is not a finite number."""
    plain = text.strip().replace("−", "-")
    try:
        if re.fullmatch(_INTEGER, plain):
            return int(plain)
        number = float(plain)
    except ValueError:  # also more digits than Python converts
        return None
    return number if math.isfinite(number) else None


def explain_number(text: str, unit: str = "") -> str:
    """Explain why a text is not a number, as a sentence."""
    plain = text.strip().replace("−", "-")
    if unit and plain.lower().endswith(unit.lower()):
        return f"Leave the unit out: the number is in {unit}."
    if re.fullmatch(r"[+-]?\d+,\d+", plain):
        return f"Write the decimals with a point: {plain.replace(',', '.')}"
    return f"{in_one_line(plain, 40)!r} is not a number."


class SliderRange(NamedTuple):
    """The range of a slider; as a string, the data from which the page draws it."""

    least: float
    most: float
    step: float
    start: float
    """Position of the slider while the field is empty."""

    def __str__(self) -> str:
        return " ".join(f"{number:.12g}" for number in (self.least, self.most, self.step, self.start))


def find_slider_range(spec: FieldSpec) -> SliderRange | None:
    """Return the range of a number's slider; None if it is unbounded or has too many steps for a slider."""
    schema = spec.schema
    low, is_low_open = _bound(schema, "minimum", "exclusiveMinimum", max)
    high, is_high_open = _bound(schema, "maximum", "exclusiveMaximum", min)
    is_wide = low is not None and high is not None and 0 < low * _MAX_STEPS < high
    if low is None or high is None or is_wide or not 0 < high - low <= _MAX_SPAN:
        return None
    step = schema.get("multipleOf")
    if not isinstance(step, int | float) or isinstance(step, bool) or step <= 0:
        step = 1 if spec.type == "integer" else 10.0 ** math.floor(math.log10((high - low) / 50))
    first = (
        math.ceil(round(low / step, 9)) * step if "multipleOf" in schema or spec.type == "integer" else low
    )
    minimum = round(first + step if is_low_open and first <= low else first, 9)
    steps = math.floor(round((high - minimum) / step, 9))
    maximum = round(minimum + steps * step, 9)
    maximum = round(maximum - step, 9) if is_high_open and maximum >= high else maximum
    if not 2 * step <= maximum - minimum <= _MAX_STEPS * step:
        return None
    default = spec.default
    if not isinstance(default, int | float) or isinstance(default, bool):
        return SliderRange(minimum, maximum, step, minimum)
    is_on_grid = abs((default - minimum) / step - round((default - minimum) / step)) < _SLACK
    return SliderRange(minimum, maximum, step, default) if is_on_grid else None


def _bound(
    schema: Mapping[str, Any], plain: str, exclusive: str, narrower: Callable[..., Any]
) -> tuple[float | None, bool]:
    """Return the narrower of two bounds, and whether it is exclusive."""
    bounds = [
        (schema[key], key == exclusive)
        for key in (plain, exclusive)
        if isinstance(schema.get(key), int | float) and not isinstance(schema[key], bool)
    ]
    return narrower(bounds) if bounds else (None, False)


def describe_magnitude(number: float, unit: str = "") -> str:
    """Return ``number`` as a power of ten from a million on or below a thousandth; else empty."""
    if abs(number) > sys.float_info.max:  # an integer too large for a float
        return ""
    if not number or not math.isfinite(number) or _PLAIN_FROM <= abs(number) < _PLAIN_BELOW:
        return ""
    mantissa, _, power = f"{number:.3e}".partition("e")
    figures = mantissa.rstrip("0").rstrip(".").replace("-", "\u2212")
    return f"= {figures} \u00d7 10{str(int(power)).translate(_RAISED)} {unit}".rstrip()
