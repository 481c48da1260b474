"""The bundled kinds of fields: one row each, the most particular first.

A kind is a subclass of `foldnote.forms.field.Field` and a row here. Kinds turn values into controls and
back; whether a value is right is the catalog's question.
"""

from __future__ import annotations

from foldnote.forms.kinds.choice import ChoiceField, ManyChoicesField, SwitchField
from foldnote.forms.kinds.file import FileField, FilesField, is_file
from foldnote.forms.kinds.listing import JsonField, LinesField, MappingField, WordsField
from foldnote.forms.kinds.sequence import SequenceField
from foldnote.forms.kinds.text import NumberField, SecretField, TextField
from foldnote.forms.registry import FieldKind
from foldnote.forms.spec import FieldSpec, read_item_choices

_SCALARS = ("string", "number", "integer")


def _is_list_of_scalars(spec: FieldSpec) -> bool:
    return spec.type == "array" and spec.items.get("type") in _SCALARS


def _is_map_of_scalars(spec: FieldSpec) -> bool:
    values = spec.schema.get("additionalProperties")
    is_plain = isinstance(values, dict) and values.get("type") in (*_SCALARS, "boolean")
    return spec.type == "object" and is_plain and not spec.schema.get("properties")


BUNDLED_KINDS: tuple[FieldKind, ...] = (
    FieldKind(
        "file",
        "A file: a path of the Jupyter server, an upload, an earlier job's output, or pasted text.",
        lambda spec: spec.type in ("string", "") and is_file(spec) and not spec.choices,
        FileField,
    ),
    FieldKind(
        "files",
        "Several files, one a line.",
        lambda spec: spec.type == "array" and is_file(spec),
        FilesField,
    ),
    FieldKind(
        "choice",
        "One of the allowed values.",
        lambda spec: bool(spec.choices),
        ChoiceField,
    ),
    FieldKind(
        "sequence",
        "A sequence, raw or FASTA, checked letter by letter.",
        lambda spec: spec.type == "string" and spec.role in ("sequence", "sequences"),
        SequenceField,
    ),
    FieldKind(
        "choices",
        "Any number of the allowed values.",
        lambda spec: spec.type == "array" and bool(read_item_choices(spec)),
        ManyChoicesField,
    ),
    FieldKind("switch", "Yes or no.", lambda spec: spec.type == "boolean", SwitchField),
    FieldKind(
        "number",
        "A number with its unit and bounds.",
        lambda spec: spec.type in ("number", "integer"),
        NumberField,
    ),
    FieldKind(
        "lines",
        "A list of texts, one a line: SMILES and the like.",
        lambda spec: _is_list_of_scalars(spec) and spec.items.get("type") == "string" and not _is_short(spec),
        LinesField,
    ),
    FieldKind("words", "A list of short words or numbers on one line.", _is_list_of_scalars, WordsField),
    FieldKind(
        "map", "Names with values, one a line: chains with residues.", _is_map_of_scalars, MappingField
    ),
    FieldKind(
        "secret",
        "Text that is never shown.",
        lambda spec: spec.type == "string" and spec.is_secret,
        SecretField,
    ),
    FieldKind("text", "Text on one line.", lambda spec: spec.type == "string", TextField),
    FieldKind("json", "Whatever no other kind can show, as JSON.", lambda _spec: True, JsonField),
)


def _is_short(spec: FieldSpec) -> bool:
    """Whether the items are short words that fit on one line, such as chain names."""
    return spec.role in ("chain", "chains", "column", "residues")
