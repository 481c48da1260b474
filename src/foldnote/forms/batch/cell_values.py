"""Values of table cells: for settings by the setting's type, for kept columns by the whole column."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

from foldnote.client.inputs.measured import is_missing_mark, split_limit
from foldnote.client.inputs.table_text import DECIMAL_COMMA
from foldnote.forms.schema.spec import FieldSpec
from foldnote.text import count, join_words

_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A number as typed into a table."""
_ENTRY = re.compile(r"\s*([^\s:=]+)\s*[:=]\s*([^:=]*?)\s*")
"""One name of a map with its text."""
_DECIMAL = re.compile(r"-?(?=[\d.]{1,18}(?:[eE]|$))(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,2})?", re.ASCII)


def read_cell(spec: FieldSpec, text: str) -> Any:
    """Parse a cell; text that does not match the type is kept, so that validation reports it."""
    for choice in spec.choices:
        if text in (choice.label, str(choice.value)):
            return choice.value
    if spec.type in ("number", "integer"):
        return _read_number(text)
    if spec.type == "boolean":
        return _YES.get(text.lower(), text)
    if spec.type == "array":
        parsed = _read_json(text)
        if isinstance(parsed, list):
            return parsed
        parts = [part.strip() for part in re.split(r"[;,\n]", text) if part.strip()]
        is_number = spec.items.get("type") in ("number", "integer")
        return [_read_number(word) for word in parts] if is_number else parts
    if spec.type != "string":
        parsed_map = _read_json(text)
        return (_read_map(spec, text) or text) if parsed_map is None else parsed_map
    return text


def infer_values(cells: Sequence[str], *, has_decimal_commas: bool = False) -> list[Any]:
    """Return the values of a kept column: numbers if every filled cell is one, else text; None where empty.

    ``007`` is text, because a number would not be written in this way. Identifiers with many digits are text,
    because a number would round them, as is ``1,5`` unless the column is known to have decimal commas.
    """
    if has_decimal_commas:
        cells = [cell.replace(",", ".") for cell in cells]
    filled = [cell for cell in cells if cell]
    kind: type = str
    if filled and all(_WHOLE.fullmatch(cell) for cell in filled):
        kind = int
    elif filled and all(_DECIMAL.fullmatch(cell) for cell in filled):
        kind = float
    return [kind(cell) if cell else None for cell in cells]


class KeptColumn(NamedTuple):
    """A column that feeds no setting."""

    values: list[Any]
    numbers: list[Any] | None = None
    """For a text column of numbers with limits such as ``>100``: only the numbers."""
    note: str = ""
    """What was assumed about the column, as a sentence."""


def read_kept(name: str, cells: Sequence[str], *, has_decimal_commas: bool = False) -> KeptColumn:
    """Return the values of a kept column; marks such as ``n. d.`` count as missing if all others are numbers.

    A column that also contains limits (``>100``) stays text as written, with its numbers as an additional
    column.
    """
    plain = infer_values(cells, has_decimal_commas=has_decimal_commas)
    marks = list(dict.fromkeys(cell for cell in cells if is_missing_mark(cell)))
    limits = [split_limit(cell) for cell in cells]
    is_limited = any(relation for relation, _ in limits)
    bare = ["" if cell in marks else number for cell, (_, number) in zip(cells, limits, strict=True)]
    numbers = infer_values(bare, has_decimal_commas=has_decimal_commas)
    is_measured = any(bare) and not any(isinstance(number, str) for number in numbers)
    if not is_measured or not (marks or is_limited):
        return KeptColumn(plain)
    if not is_limited:
        listed_marks = join_words([repr(mark) for mark in marks], "and")
        missing = sum(cell in marks for cell in cells)
        times, verb = count(missing, "cell"), "counts" if missing == 1 else "count"
        return KeptColumn(
            numbers, None, f"In the column {name!r}, {times} with {listed_marks} {verb} as missing."
        )
    example = next(cell for cell, (relation, _) in zip(cells, limits, strict=True) if relation)
    return KeptColumn(
        [cell or None for cell in cells],
        numbers,
        f"The column {name!r} has limits such as {example!r}, and stays text; {name_numbers(name)!r} has its"
        " numbers without them, to sort and plot by.",
    )


def name_numbers(column: str) -> str:
    """Return the name of the additional column with the numbers of a text column."""
    return f"{column} (number)"


def _read_number(text: str) -> Any:
    """Parse a number; text without a JSON number (``nan``, ``1_000``, ``1e999``) is returned unchanged.

    So is ``1,500``, which may be 1500 or 1.5; ``0,5`` and ``1,5`` are numbers.
    """
    text = text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text
    if not _NUMBER.fullmatch(text) or not isfinite(number := float(text)):
        return text
    return int(text) if text.lstrip("+-").isdigit() else number


def _read_map(spec: FieldSpec, text: str) -> dict[str, str] | None:
    """Parse a map of names to texts, entries separated by semicolons: ``H: 26-33; L: 50``."""
    values = spec.schema.get("additionalProperties")
    if not isinstance(values, dict) or values.get("type") != "string":
        return None
    entries = [_ENTRY.fullmatch(entry) for entry in re.split(r"[;\n]", text) if entry.strip()]
    parsed = {entry[1]: entry[2] for entry in entries if entry}
    return parsed if parsed and len(parsed) == len(entries) else None


def _read_json(text: str) -> Any:
    if text[:1] not in "[{":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
