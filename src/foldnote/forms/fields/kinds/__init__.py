"""The bundled kinds of fields, one row each, the most specific first.

A kind is a subclass of `foldnote.forms.fields.field.Field` and a row here. It converts values to controls
and back; the catalog validates the values.
"""

from __future__ import annotations

from foldnote.forms.fields.kinds.box import BoxCenterField, BoxSizeField
from foldnote.forms.fields.kinds.chain import ChainField, ChainsField
from foldnote.forms.fields.kinds.choice import ChoiceField, ConstField, ManyChoicesField, SwitchField
from foldnote.forms.fields.kinds.file import FileField, FilesField, is_file
from foldnote.forms.fields.kinds.group import ObjectField, PlacesField, has_places
from foldnote.forms.fields.kinds.ligand import LigandField, takes_smiles
from foldnote.forms.fields.kinds.listing import MAX_LEVELS, JsonField, LinesField, MappingField, WordsField
from foldnote.forms.fields.kinds.mask import MaskField
from foldnote.forms.fields.kinds.molecule import MoleculeField, MoleculesField
from foldnote.forms.fields.kinds.offered import ColumnField
from foldnote.forms.fields.kinds.residues import ResidueMapField, ResiduesField
from foldnote.forms.fields.kinds.rows import EntriesField, RowsField
from foldnote.forms.fields.kinds.sequence import SequenceField
from foldnote.forms.fields.kinds.text import NumberField, SecretField, TextField
from foldnote.forms.fields.kinds.variant import VariantField, read_options
from foldnote.forms.fields.registry import FieldKind, bundle_kinds
from foldnote.forms.schema.resolution import find_discriminator, list_types, resolve, says_object
from foldnote.forms.schema.spec import FieldSpec, read_item_choices

_SCALARS = ("string", "number", "integer")


def _is_list_of_scalars(spec: FieldSpec) -> bool:
    return spec.type == "array" and spec.items.get("type") in _SCALARS


def _is_map_of_scalars(spec: FieldSpec) -> bool:
    values = spec.schema.get("additionalProperties")
    is_plain = isinstance(values, dict) and values.get("type") in (*_SCALARS, "boolean")
    return spec.type == "object" and is_plain and not spec.schema.get("properties")


def _is_object(spec: FieldSpec) -> bool:
    """Whether the object's fields are known, directly or through the options of a union."""
    if _is_deep(spec) or not (says_object(spec.schema) or "allOf" in spec.schema or _has_kinds(spec)):
        return False
    parts = [spec.schema, *(resolve(part, spec.root) for part in spec.schema.get("allOf") or ())]
    return _has_kinds(spec) or any(part.get(word) for part in parts for word in _NAMING)


def _has_kinds(spec: FieldSpec) -> bool:
    """Whether the schema is a union of objects with a discriminator property."""
    for keyword in ("oneOf", "anyOf"):
        options = spec.schema.get(keyword)
        if isinstance(options, list) and find_discriminator(
            [resolve(option, spec.root) for option in options], spec.root
        ):
            return True
    return False


def _is_variant(spec: FieldSpec) -> bool:
    options = read_options(spec.schema, spec.root)
    has_shapes = sum(1 for option in options if list_types(option) or "const" in option or "enum" in option)
    return len(options) > 1 and has_shapes > 1 and not _is_deep(spec)


def _is_rows(spec: FieldSpec) -> bool:
    """Whether all items of a list have one known schema."""
    return (
        spec.type == "array" and bool(spec.items) and "prefixItems" not in spec.schema and not _is_deep(spec)
    )


def _is_entries(spec: FieldSpec) -> bool:
    known = [spec.schema.get("additionalProperties"), *(spec.schema.get("patternProperties") or {}).values()]
    is_known = [isinstance(values, dict) and bool(values) for values in known if values is not False]
    return spec.type == "object" and sum(is_known) == 1 and not _is_deep(spec)


def _is_deep(spec: FieldSpec) -> bool:
    """Whether the field is nested so deeply that the schema may be endlessly recursive."""
    return len(spec.path) > MAX_LEVELS


_NAMING = ("properties", "required", "if", "dependentSchemas", "dependentRequired")

_BUNDLED: tuple[FieldKind, ...] = (
    FieldKind("ligand", "A molecule: a file or its SMILES, drawn in 2D.", takes_smiles, LigandField),
    FieldKind(
        "file",
        "A file: a path of the Jupyter server, an upload, an earlier job's output, or pasted text.",
        lambda spec: spec.type in ("string", "") and is_file(spec) and not spec.choices,
        FileField,
    ),
    FieldKind(
        "files",
        "Several files, one per line.",
        lambda spec: spec.type == "array" and is_file(spec),
        FilesField,
    ),
    FieldKind(
        "box center",
        "The centre of a box: about a ligand, residues, by numbers, or the whole receptor.",
        lambda spec: spec.type == "array" and spec.role == "box-center",
        BoxCenterField,
    ),
    FieldKind(
        "box size",
        "The edges of a box, along x, y and z.",
        lambda spec: spec.type == "array" and spec.role == "box-size",
        BoxSizeField,
    ),
    FieldKind(
        "constant",
        "The only allowed value; it is shown and sent.",
        lambda spec: spec.required and len(spec.choices) == 1 and "enum" not in spec.schema,
        ConstField,
    ),
    FieldKind(
        "choice",
        "One of the allowed values.",
        lambda spec: bool(spec.choices),
        ChoiceField,
    ),
    FieldKind(
        "sequence",
        "A sequence, raw or FASTA, each letter checked.",
        lambda spec: spec.type == "string" and spec.role in ("sequence", "sequences"),
        SequenceField,
    ),
    FieldKind(
        "places",
        "A list whose positions have different schemas: one field per position.",
        lambda spec: has_places(spec) and not _is_deep(spec),
        PlacesField,
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
        "chain",
        "One chain of the structure in another field, offered with its length.",
        lambda spec: spec.type == "string" and spec.role == "chain",
        ChainField,
    ),
    FieldKind(
        "chains",
        "Chains of the structure in another field, ticked or typed.",
        lambda spec: _is_list_of_scalars(spec) and spec.role == "chains" and _has_texts(spec),
        ChainsField,
    ),
    FieldKind(
        "residues",
        "Residues of a chain: numbers and ranges, checked against the structure.",
        lambda spec: spec.type == "string" and spec.role == "residues",
        ResiduesField,
    ),
    FieldKind(
        "residue map",
        "Chains with their residues, checked against the structure; CDRs to tick.",
        lambda spec: _is_map_of_scalars(spec) and spec.role == "residues" and _has_texts(spec),
        ResidueMapField,
    ),
    FieldKind(
        "column",
        "A column of the table in another field.",
        lambda spec: spec.type == "string" and spec.role == "column",
        ColumnField,
    ),
    FieldKind(
        "mask",
        "A range of residues, shown on the sequence that it masks.",
        lambda spec: spec.type == "string" and spec.role == "mask",
        MaskField,
    ),
    FieldKind(
        "molecule",
        "A molecule as SMILES.",
        lambda spec: spec.type == "string" and spec.role == "smiles",
        MoleculeField,
    ),
    FieldKind(
        "molecules",
        "Molecules as SMILES, one per line.",
        lambda spec: _is_list_of_scalars(spec) and spec.role == "smiles" and _has_texts(spec),
        MoleculesField,
    ),
    FieldKind(
        "lines",
        "A list of strings, one per line.",
        lambda spec: _is_list_of_scalars(spec) and spec.items.get("type") == "string" and not _is_short(spec),
        LinesField,
    ),
    FieldKind("words", "A list of short words or numbers on one line.", _is_list_of_scalars, WordsField),
    FieldKind(
        "map", "Names with values, one per line, e.g. chains with residues.", _is_map_of_scalars, MappingField
    ),
    FieldKind("object", "An object: its fields, in a group.", _is_object, ObjectField),
    FieldKind("variant", "A union: one of its options is chosen, then filled in.", _is_variant, VariantField),
    FieldKind("rows", "A list of objects or lists: rows to add, remove and move.", _is_rows, RowsField),
    FieldKind("entries", "Names with objects or lists, one row each.", _is_entries, EntriesField),
    FieldKind(
        "secret",
        "Text that is never shown.",
        lambda spec: spec.type == "string" and spec.is_secret,
        SecretField,
    ),
    FieldKind("text", "Text on one line.", lambda spec: spec.type == "string", TextField),
    FieldKind("json", "Any other value, as JSON.", lambda _spec: True, JsonField),
)


def _has_texts(spec: FieldSpec) -> bool:
    """Whether the items of a list, or the values of a map, are text."""
    values = spec.items or spec.schema.get("additionalProperties")
    return isinstance(values, dict) and values.get("type") == "string"


def _is_short(spec: FieldSpec) -> bool:
    """Whether the items are short words that fit on one line, such as chain names."""
    return spec.role in ("chain", "chains", "column", "residues")


bundle_kinds(_BUNDLED)
