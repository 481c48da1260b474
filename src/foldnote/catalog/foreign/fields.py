"""One row of a foreign ``settings`` or ``parameters`` list, as the JSON Schema of one field.

Only a row's name is sure. What it calls its type, bounds and options is read in the spellings that catalogs
use; what is not understood, or would make a schema that nothing fits, is set aside and named, never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from foldnote.catalog.keywords import fits, is_schema
from foldnote.catalog.prepared_schema import NOTES

_TYPES: Final[Mapping[str, tuple[str, str]]] = {
    word: (json_type, role)
    for json_type, role, words in (
        ("string", "", "string str text textarea char varchar url email"),
        ("string", "", "select dropdown enum radio choice option"),
        ("string", "sequence", "sequence proteinsequence aminoacidsequence fasta"),
        ("string", "smiles", "smiles"),
        ("string", "chain", "chain chainid"),
        ("number", "", "number float double decimal real numeric slider range"),
        ("integer", "", "integer int long whole count"),
        ("boolean", "", "boolean bool checkbox switch toggle"),
        ("array", "", "array list tuple multiselect checkboxes strings"),
        ("object", "", "object dict map mapping record"),
        ("file", "file", "file upload fileupload binary bytes path"),
        ("files", "files", "files filelist multifile fileuploads"),
    )
    for word in words.split()
}  # fmt: skip
_EXTENSIONS = frozenset(
    ["pdb", "cif", "mmcif", "ent", "sdf", "mol", "mol2", "csv", "tsv", "txt", "a3m", "fa", "aln", "phy",
     "phylip", "json", "zip", "xtc"]
)  # fmt: skip
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("displayName", "label", "title"),
    "description": ("description", "help", "helpText", "tooltip"),
    "default": ("default", "defaultValue"),
    "options": ("options", "choices", "enum", "values", "allowedValues"),
    "minimum": ("minimum", "min", "minValue"),
    "maximum": ("maximum", "max", "maxValue"),
    "minLength": ("minLength",),
    "maxLength": ("maxLength",),
    "minItems": ("minItems",),
    "maxItems": ("maxItems",),
    "pattern": ("pattern", "regex"),
    "unit": ("unit", "units"),
    "extensions": ("extensions", "fileTypes", "fileType", "accept", "acceptedFileTypes", "allowedExtensions"),
    "multiple": ("multiple", "isMultiple"),
    "advanced": ("advanced", "isAdvanced"),
}
"""What is looked for, and the spellings of it; the first one that a row has is read."""
_LIST_OF = re.compile(r"(?:array|list)\s*[<\[(](.+)[>\])]|(.+)\[\]", re.IGNORECASE)
_PLURALS: Final = {"sequence": "sequences", "chain": "chains"}
_FILE: Final = {"type": "string", "format": "binary"}


@dataclass
class ForeignRow:
    """A row while it is read: what is taken from it is gone, and what stays was not understood."""

    left: dict[str, Any]
    schema: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    json_type: str = ""

    def take(self, name: str) -> Any:
        """The value under any spelling of ``name``; null and empty text are nothing."""
        for key in _NAMES[name]:
            value = self.left.pop(key, None)
            if value not in (None, ""):
                return value
        return None

    def set_aside(self, name: str, value: Any) -> None:
        """Keep a value that was taken and cannot be used."""
        self.left[name] = value


def read_field(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of the field, and what of the row it does not say.

    Args:
        row: without its name, ``required`` and ``conditionals``.
    """
    reading = ForeignRow(dict(row))
    _read_type(reading)
    _read_words(reading)
    _read_options(reading)
    _read_limits(reading)
    _read_default(reading)
    if reading.notes:
        reading.schema[NOTES] = reading.notes
    return reading.schema, reading.left


def _read_type(row: ForeignRow) -> None:
    word = row.left.pop("type", None)
    of_items = _find_item_type(word)
    found = ("array", "") if of_items else _find_type(word)
    if found is None:
        if word not in (None, ""):
            row.set_aside("type", word)
        found = ("", "")
    if row.take("multiple") is True and found[0] not in ("array", "files"):
        found, of_items = ("array", ""), found
    row.json_type = found[0]
    if "file" in (found[0], (of_items or found)[0]) or found[0] == "files":
        _make_file(row, word, is_many=found[0] != "file")
    elif row.json_type:
        row.schema["type"] = row.json_type
        role = found[1] or _PLURALS.get((of_items or found)[1], "")
        if of_items and of_items[0] not in ("", "array", "files"):
            row.schema["items"] = {"type": of_items[0]}
        if role:
            row.notes["role"] = role


def _find_item_type(word: Any) -> tuple[str, str] | None:
    """The type of the items of ``text[]`` or ``list<text>``; None for any other word."""
    listed = _LIST_OF.fullmatch(word.strip()) if isinstance(word, str) else None
    return _find_type(next(filter(None, listed.groups()))) if listed else None


def _find_type(word: Any) -> tuple[str, str] | None:
    if not isinstance(word, str):
        return None
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    if plain in _TYPES:
        return _TYPES[plain]
    return ("file", "file") if plain.removesuffix("file") in _EXTENSIONS else None


def _make_file(row: ForeignRow, word: Any, *, is_many: bool) -> None:
    row.json_type = "files" if is_many else "file"
    row.schema |= {"type": "array", "items": dict(_FILE)} if is_many else dict(_FILE)
    row.notes["role"] = "files" if is_many else "file"
    plain = re.sub(r"[^a-z0-9]", "", str(word).lower()).removesuffix("file")
    given = row.take("extensions")
    extensions = read_extensions(given) if given is not None else [plain] if plain in _EXTENSIONS else []
    if extensions:
        row.notes["extensions"] = extensions
    elif given is not None:
        row.set_aside("extensions", given)
    row.notes["check"] = ["files" if is_many else "file"]


def read_extensions(given: Any) -> list[str]:
    """File extensions, lower case, without a dot; empty when they cannot be read."""
    parts = re.split(r"[\s,;|]+", given) if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return []
    plain = [part.strip().lstrip("*").lstrip(".").lower() for part in parts]
    return list(dict.fromkeys(part for part in plain if re.fullmatch(r"[a-z0-9]{1,10}", part)))


def _read_words(row: ForeignRow) -> None:
    for name in ("title", "description"):
        value = row.take(name)
        if isinstance(value, str):
            row.schema[name] = value
        elif value is not None:
            row.set_aside(name, value)
    unit, is_advanced = row.take("unit"), row.take("advanced")
    if isinstance(unit, str):
        row.notes["unit"] = unit
    elif unit is not None:
        row.set_aside("unit", unit)
    if is_advanced is True:
        row.notes["group"] = "advanced"


def _read_options(row: ForeignRow) -> None:
    given = row.take("options")
    if given in (None, [], {}):
        return
    options = _label_options(given)
    if options is None:
        row.set_aside("options", given)
        return
    values = [value for value, _ in options]
    rule: dict[str, Any] = {"enum": values}
    if any(label not in (None, value) for value, label in options):
        rule = {"oneOf": [{"const": value, "title": label or str(value)} for value, label in options]}
    if row.json_type == "array":
        items = row.schema.get("items", {})
        row.schema["items"] = rule if not _fit(values, items) else items | rule
    elif not row.schema or _fit(values, row.schema):
        row.schema |= rule
    else:  # of options and a type that do not go together, the options are what can be sent
        row.set_aside("type", row.schema.pop("type", None))
        row.schema.pop("format", None)
        row.schema |= rule


def _label_options(given: Any) -> list[tuple[Any, str | None]] | None:
    """Values with their labels; None when these are no options."""
    if isinstance(given, dict):
        found: list[tuple[Any, str | None]] = [(key, value if isinstance(value, str) else None)
                                               for key, value in given.items()]  # fmt: skip
    elif isinstance(given, list):
        found = [_label_option(option) for option in given]
    else:
        return None
    distinct: dict[str, tuple[Any, str | None]] = {}
    for value, label in found:
        distinct.setdefault(json.dumps(value, sort_keys=True), (value, label))
    return list(distinct.values())


def _label_option(option: Any) -> tuple[Any, str | None]:
    if not isinstance(option, dict):
        return option, None
    plain = {str(key)[:1].lower() + str(key)[1:]: value for key, value in option.items()}
    label = next((plain[key] for key in ("label", "title", "displayName", "text", "name")
                  if isinstance(plain.get(key), str)), None)  # fmt: skip
    if "value" in plain:
        return plain["value"], label
    return (label, None) if label is not None else (option, None)


def _read_limits(row: ForeignRow) -> None:
    spans = {"number": ("minimum", "maximum"), "integer": ("minimum", "maximum"), "": ("minimum", "maximum"),
             "string": ("minLength", "maxLength"),
             "array": ("minItems", "maxItems"), "files": ("minItems", "maxItems")}  # fmt: skip
    for names in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        given = [row.take(name) for name in names]
        if given == [None, None]:
            continue
        numbers = [_read_number(value, is_whole=names[0] != "minimum") for value in given]
        is_meant = spans.get(row.json_type) == names
        is_empty = None not in numbers and numbers[0] > numbers[1]
        for name, value, number in zip(names, given, numbers, strict=True):
            if value is not None and number is not None and is_meant and not is_empty:
                row.schema[name] = number
            elif value is not None:
                row.set_aside(name, value)
    pattern = row.take("pattern")
    if isinstance(pattern, str) and row.json_type in ("string", "") and is_schema({"pattern": pattern}):
        row.schema["pattern"] = pattern
    elif pattern is not None:
        row.set_aside("pattern", pattern)


def _read_number(value: Any, *, is_whole: bool) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    if is_whole:
        return int(value) if value >= 0 and value == int(value) else None
    return value


def _read_default(row: ForeignRow) -> None:
    given = row.take("default")
    if given is None:
        return
    for value in (given, *_as_typed(given)):
        if _fit([value], row.schema):
            row.schema["default"] = value
            return
    row.set_aside("default", given)


def _as_typed(given: Any) -> list[Any]:
    """What a default may mean that is written as text, or as a number where text is wanted."""
    if isinstance(given, str):
        try:
            return [json.loads(given.strip().lower())]
        except (ValueError, RecursionError):
            return []
    return [json.dumps(given)] if isinstance(given, bool | int | float) else []


def _fit(values: list[Any], schema: Mapping[str, Any]) -> bool:
    return all(fits(value, schema) for value in values)
