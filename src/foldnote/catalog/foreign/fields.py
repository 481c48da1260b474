"""Convert one row of another service's ``settings`` or ``parameters`` list to the JSON Schema of a field.

Only the row's name is guaranteed. Type, limits and options are read under the names that catalogs use. Values
that are not understood, or would make the schema unsatisfiable, are returned as untranslated, never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from foldnote.catalog.keywords import all_fit, is_schema
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
"""Alternative names of each attribute, in order of precedence."""
_LIST_OF = re.compile(r"(?:array|list)\s*[<\[(](.+)[>\])]|(.+)\[\]", re.IGNORECASE)
_PLURALS: Final = {"sequence": "sequences", "chain": "chains"}
_FILE: Final = {"type": "string", "format": "binary"}


@dataclass
class ForeignRow:
    """A row being read; attributes are removed from ``left`` as they are read."""

    left: dict[str, Any]
    schema: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    json_type: str = ""

    def take(self, name: str) -> Any:
        """Remove and return the value under any spelling of ``name``; None if it is missing, null or ""."""
        for key in _NAMES[name]:
            value = self.left.pop(key, None)
            if value not in (None, ""):
                return value
        return None

    def keep(self, name: str, value: Any) -> None:
        """Put back a value that cannot be used."""
        self.left[name] = value


def read_field(row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a row.

    Args:
        row: the row without its name, ``required`` and ``conditionals``.

    Returns:
        The schema of the field, and the untranslated attributes.
    """
    reading = ForeignRow(dict(row))
    _read_type(reading)
    _read_texts(reading)
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
            row.keep("type", word)
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
    """Return the item type of a list type such as ``text[]`` or ``list<text>``; None for other types."""
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
        row.keep("extensions", given)
    row.notes["check"] = ["files" if is_many else "file"]


def read_extensions(given: Any) -> list[str]:
    """Read file extensions, in lower case without the dot; [] if they cannot be read."""
    parts = re.split(r"[\s,;|]+", given) if isinstance(given, str) else given
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return []
    plain = [part.strip().lstrip("*").lstrip(".").lower() for part in parts]
    return list(dict.fromkeys(part for part in plain if re.fullmatch(r"[a-z0-9]{1,10}", part)))


def _read_texts(row: ForeignRow) -> None:
    for name in ("title", "description"):
        value = row.take(name)
        if isinstance(value, str):
            row.schema[name] = value
        elif value is not None:
            row.keep(name, value)
    unit, is_advanced = row.take("unit"), row.take("advanced")
    if isinstance(unit, str):
        row.notes["unit"] = unit
    elif unit is not None:
        row.keep("unit", unit)
    if is_advanced is True:
        row.notes["group"] = "advanced"


def _read_options(row: ForeignRow) -> None:
    given = row.take("options")
    if given in (None, [], {}):
        return
    options = _label_options(given)
    if options is None:
        row.keep("options", given)
        return
    values = [value for value, _ in options]
    rule: dict[str, Any] = {"enum": values}
    if any(label not in (None, value) for value, label in options):
        rule = {"oneOf": [{"const": value, "title": label or str(value)} for value, label in options]}
    if row.json_type == "array":
        items = row.schema.get("items", {})
        row.schema["items"] = rule if not all_fit(values, items) else items | rule
    elif not row.schema or all_fit(values, row.schema):
        row.schema |= rule
    else:  # if the options contradict the type, the options are what the service accepts
        row.keep("type", row.schema.pop("type", None))
        row.schema.pop("format", None)
        row.schema |= rule


def _label_options(given: Any) -> list[tuple[Any, str | None]] | None:
    """Read options as pairs of value and label; None if they are neither an object nor a list."""
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
                row.keep(name, value)
    pattern = row.take("pattern")
    if isinstance(pattern, str) and row.json_type in ("string", "") and is_schema({"pattern": pattern}):
        row.schema["pattern"] = pattern
    elif pattern is not None:
        row.keep("pattern", pattern)


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
        if all_fit([value], row.schema):
            row.schema["default"] = value
            return
    row.keep("default", given)


def _as_typed(given: Any) -> list[Any]:
    """Return alternative readings of a default: text as JSON, or a number or boolean as text."""
    if isinstance(given, str):
        try:
            return [json.loads(given.strip().lower())]
        except (ValueError, RecursionError):
            return []
    return [json.dumps(given)] if isinstance(given, bool | int | float) else []
