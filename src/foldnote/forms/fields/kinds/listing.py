"""Fields with several values in one text box: lists, maps, and JSON.

Text that contains the separator is written as a JSON string, so that every value can be read back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets

from foldnote.forms.fields.field import Field, Reading
from foldnote.forms.schema.shapes import MAX_LEVELS
from foldnote.forms.schema.spec import MISSING, FieldSpec
from foldnote.forms.wording import in_one_line
from foldnote.text import count

_WORD = r'"(?:\\.|[^"\\])*"|[^,;"]+'
_SEPARATORS = r"[,;\"]"
_LINE_ENDS = r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"
_PLAIN_KEY = r'[^\s:="][^:="]*'


class LinesField(Field):
    """A list of strings, one per line."""

    width = "wide"
    noun = "line"

    def build(self) -> widgets.DOMWidget:
        """Return a text area."""
        return self.make_line(self.hint(), "lines", rows=3)

    def hint(self) -> str:
        """Return the placeholder text."""
        return "one per line"

    def parse(self) -> Reading:
        """Return the lines that are not empty."""
        lines = [line.strip() for line in self.control.value.splitlines() if line.strip()]
        return self.describe([_unquote(line) for line in lines]) if lines else Reading(self.empty())

    def empty(self) -> Any:
        """Return the value of an empty box: an empty list if the default is a list, else the blank value."""
        return [] if isinstance(self.spec.default, list) else self.blank

    def describe(self, value: Any) -> Reading:
        """Return a readout with the number of items."""
        return Reading(value, readout=count(len(value), "item") if isinstance(value, list) and value else "")

    def render(self, value: Any) -> None:
        """Show one item per line."""
        items = value if isinstance(value, list | tuple) else [] if value is MISSING else [value]
        self.control.value = "\n".join(_quote(item, _LINE_ENDS) for item in items)


class WordsField(Field):
    """A list of short words or numbers on one line, comma-separated; an entry may hold spaces."""

    def build(self) -> widgets.DOMWidget:
        """Return one text box."""
        hint = "e.g. H, L" if self.spec.role in ("chain", "chains") else "comma-separated"
        return self.make_line(hint, "words")

    def parse(self) -> Reading:
        """Return the entries; numbers if the items are numbers."""
        text = self.control.value
        if self.spec.items.get("type") != "string":
            return self._parse_numbers(text.replace(",", " ").replace(";", " ").split())
        entries = [entry.strip() for entry in re.findall(_WORD, text) if entry.strip()]
        if not entries:
            return Reading([] if isinstance(self.spec.default, list) else self.blank)
        return self.describe([_unquote(entry) for entry in entries])

    def describe(self, value: Any) -> Reading:
        """Return a readout of the entries if there are several, or one with spaces."""
        is_list = isinstance(value, list) and len(value) > 0
        is_ambiguous = is_list and (len(value) > 1 or " " in str(value[0]))
        quoted = ", ".join(f"“{item}”" for item in value[:12]) if is_ambiguous else ""
        readout = f"{count(len(value), 'entry', 'entries')}: {quoted}" if is_ambiguous else ""
        return Reading(value, readout=readout)

    def render(self, value: Any) -> None:
        """Show the entries, comma-separated."""
        items = value if isinstance(value, list | tuple) else [] if value is MISSING else [value]
        self.control.value = ", ".join(_quote(item, _SEPARATORS) for item in items)

    def _parse_numbers(self, entries: list[str]) -> Reading:
        if not entries:
            return Reading([] if isinstance(self.spec.default, list) else self.blank)
        numbers = [_number(entry) for entry in entries]
        wrong = [entry for entry, number in zip(entries, numbers, strict=True) if number is None]
        return Reading(errors=(f"{wrong[0]!r} is not a number.",)) if wrong else Reading(numbers)


class MappingField(Field):
    """Names with values, one per line: ``H: 26 27 28``."""

    width = "broad"

    def build(self) -> widgets.DOMWidget:
        """Return a text area."""
        hint = "H: 26 27 28\nL: 50 51" if self.spec.role == "residues" else "name: value"
        return self.make_line(hint, "lines", rows=2)

    def parse(self) -> Reading:
        """Return the map; an error for the first line that is not ``name: value``."""
        mapping: dict[str, Any] = {}
        for number, key, value in _read_map(self.control.value):
            if key is None:
                return Reading(errors=(f"Line {number}: write a name, a colon and a value, e.g. H: 26 27",))
            if key in mapping:
                return Reading(errors=(f"Line {number}: {key} is given twice.",))
            parsed = self._read_value(value)
            if parsed is MISSING:
                return Reading(errors=(f"Line {number}: {value!r} is not a {self._value_type}.",))
            mapping[key] = parsed
        if not mapping:
            return Reading({} if isinstance(self.spec.default, dict) else self.blank)
        return Reading(mapping)

    def render(self, value: Any) -> None:
        """Show one name per line."""
        pairs = value.items() if isinstance(value, dict) else ()
        self.control.value = "\n".join(
            f"{_write_key(key)}: {_quote(item, _LINE_ENDS, is_empty_plain=True)}" for key, item in pairs
        )

    def describe(self, value: Any) -> Reading:
        """Return a readout of a value that is not a map, which the box cannot show."""
        return Reading(value, readout="" if isinstance(value, dict) else f"holds {in_one_line(value)}")

    @property
    def _value_type(self) -> str:
        return str(self.spec.schema["additionalProperties"]["type"])

    def _read_value(self, text: str) -> Any:
        if self._value_type == "string":
            return _unquote(text)
        if self._value_type == "boolean":
            return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), MISSING)
        number = _number(text)
        return MISSING if number is None else number


class JsonField(Field):
    """Any value, as JSON."""

    width = "wide"

    def build(self) -> widgets.DOMWidget:
        """Return a text area."""
        self._explanation = explain_json(self.spec)
        return self.make_line("JSON", "lines", rows=3)

    def parse(self) -> Reading:
        """Return the JSON value, or where it is invalid; the readout says why no form is available."""
        text = self.widget.value.strip()
        if not text:
            return Reading(self.blank, readout=self._explanation)
        try:
            return Reading(json.loads(text), readout=self._explanation)
        except ValueError as error:
            position = (
                f": look at line {error.lineno}, column {error.colno}"
                if isinstance(error, json.JSONDecodeError)
                else ""
            )
            return Reading(errors=(f"This is not valid JSON{position}.",), readout=self._explanation)

    def describe(self, value: Any) -> Reading:
        """Return a readout that says why no form is available."""
        return Reading(value, readout=self._explanation)

    def render(self, value: Any) -> None:
        """Show indented JSON."""
        text = "" if value is MISSING else json.dumps(value, indent=2, ensure_ascii=False, default=str)
        self.widget.value = text


def explain_json(spec: FieldSpec) -> str:
    """Return a sentence on why the value has no form."""
    schema = spec.schema
    if isinstance(schema.get("$ref"), str):
        return f"Written as JSON: its schema is in another document, {schema['$ref']}."
    if len(spec.path) > MAX_LEVELS:
        return "Written as JSON: it is nested too deeply in the schema."
    if spec.type == "object":
        return "Written as JSON: its schema does not say which names it has."
    if spec.type == "array":
        return "Written as JSON: its schema does not say what the items are."
    combiners = [keyword for keyword in ("oneOf", "anyOf", "allOf", "not") if keyword in schema]
    if combiners:
        return f"Written as JSON: there is no form for this {combiners[0]}."
    return "Written as JSON: its schema allows any value."


def _quote(item: Any, separators: str, *, is_empty_plain: bool = False) -> str:
    """Return ``item`` if it can be read back, else its JSON; ``separators`` is a regular expression."""
    if not isinstance(item, str):
        return json.dumps(item, default=str)
    is_plain = item == item.strip() and not item.startswith('"') and not re.search(separators, item)
    return item if is_plain and (item or is_empty_plain) else json.dumps(item)


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text
    return text


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _write_key(key: str) -> str:
    is_plain = re.fullmatch(_PLAIN_KEY, key) and key == key.strip() and not re.search(_LINE_ENDS, key)
    return key if is_plain else json.dumps(key)


def _read_map(text: str) -> Iterator[tuple[int, str | None, str]]:
    """Yield line number, key (None without one) and value text of every non-empty line."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        match = re.match(r'\s*("(?:\\.|[^"\\])*"|[^:="]+?)\s*[:=]\s*(.*?)\s*$', line)
        yield (number, _unquote(match[1]), match[2]) if match else (number, None, line)
