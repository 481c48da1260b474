"""The bundled kinds of fields, one row each, the most specific first.

A kind is a subclass of `foldnote.forms.fields.field.Field` and a row here. It converts values to controls
and back; the catalog validates the values. The module of a kind is imported with its first field: a form has
few of them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from foldnote.forms.fields.registry import FieldKind, bundle_kinds, kind_for, kinds, register_kind
from foldnote.forms.schema.shapes import (
    has_item_schemas,
    has_texts,
    is_deep,
    is_entries,
    is_file,
    is_list_of_scalars,
    is_map_of_scalars,
    is_object,
    is_rows,
    is_short,
    is_variant,
    takes_smiles,
)
from foldnote.forms.schema.spec import FieldSpec, read_item_choices

if TYPE_CHECKING:
    from foldnote.forms.fields.field import Field, FieldHost

__all__ = ["FieldKind", "kind_for", "kinds", "register_kind"]


def _build(name: str) -> Callable[[FieldSpec, FieldHost], Field]:
    """Builds fields of a class, given as ``module.Class``."""
    module_name, _, kind = name.partition(".")

    def build(spec: FieldSpec, host: FieldHost) -> Field:
        field: Field = getattr(import_module(f"{__name__}.{module_name}"), kind)(spec, host)
        return field

    return build


_BUNDLED: tuple[FieldKind, ...] = (
    FieldKind(
        "ligand", "A molecule: a file or its SMILES, drawn in 2D.", takes_smiles, _build("ligand.LigandField")
    ),
    FieldKind(
        "file",
        "A file: a path of the Jupyter server, an upload, an earlier job's output, or pasted text.",
        lambda spec: spec.type in ("string", "") and is_file(spec) and not spec.choices,
        _build("file.FileField"),
    ),
    FieldKind(
        "files",
        "Several files, one per line.",
        lambda spec: spec.type == "array" and is_file(spec),
        _build("file.FilesField"),
    ),
    FieldKind(
        "box center",
        "The centre of a box: around a ligand, residues or the whole receptor, or by coordinates.",
        lambda spec: spec.type == "array" and spec.role == "box-center",
        _build("box.BoxCenterField"),
    ),
    FieldKind(
        "box size",
        "The edges of a box, along x, y and z.",
        lambda spec: spec.type == "array" and spec.role == "box-size",
        _build("box.BoxSizeField"),
    ),
    FieldKind(
        "constant",
        "The only allowed value; it is shown and sent.",
        lambda spec: spec.required and len(spec.choices) == 1 and "enum" not in spec.schema,
        _build("choice.ConstField"),
    ),
    FieldKind(
        "choice",
        "One of the allowed values.",
        lambda spec: bool(spec.choices),
        _build("choice.ChoiceField"),
    ),
    FieldKind(
        "sequence",
        "A sequence, raw or FASTA, each letter checked.",
        lambda spec: spec.type == "string" and spec.role in ("sequence", "sequences"),
        _build("sequence.SequenceField"),
    ),
    FieldKind(
        "places",
        "A list whose positions have different schemas: one field per position.",
        lambda spec: has_item_schemas(spec) and not is_deep(spec),
        _build("group.TupleField"),
    ),
    FieldKind(
        "choices",
        "Any number of the allowed values.",
        lambda spec: spec.type == "array" and bool(read_item_choices(spec)),
        _build("choice.ManyChoicesField"),
    ),
    FieldKind("switch", "Yes or no.", lambda spec: spec.type == "boolean", _build("choice.SwitchField")),
    FieldKind(
        "number",
        "A number with its unit and bounds.",
        lambda spec: spec.type in ("number", "integer"),
        _build("text.NumberField"),
    ),
    FieldKind(
        "chain",
        "One chain of the structure in another field, offered with its length.",
        lambda spec: spec.type == "string" and spec.role == "chain",
        _build("chain.ChainField"),
    ),
    FieldKind(
        "chains",
        "Chains of the structure in another field, ticked or typed.",
        lambda spec: is_list_of_scalars(spec) and spec.role == "chains" and has_texts(spec),
        _build("chain.ChainsField"),
    ),
    FieldKind(
        "residues",
        "Residues of a chain: numbers and ranges, checked against the structure.",
        lambda spec: spec.type == "string" and spec.role == "residues",
        _build("residues.ResiduesField"),
    ),
    FieldKind(
        "residue map",
        "Chains with their residues, checked against the structure; CDRs to tick.",
        lambda spec: is_map_of_scalars(spec) and spec.role == "residues" and has_texts(spec),
        _build("residues.ResidueMapField"),
    ),
    FieldKind(
        "column",
        "A column of the table in another field.",
        lambda spec: spec.type == "string" and spec.role == "column",
        _build("offered.ColumnField"),
    ),
    FieldKind(
        "mask",
        "A range of residues, shown on the sequence that it masks.",
        lambda spec: spec.type == "string" and spec.role == "mask",
        _build("mask.MaskField"),
    ),
    FieldKind(
        "molecule",
        "A molecule as SMILES.",
        lambda spec: spec.type == "string" and spec.role == "smiles",
        _build("molecule.MoleculeField"),
    ),
    FieldKind(
        "molecules",
        "Molecules as SMILES, one per line.",
        lambda spec: is_list_of_scalars(spec) and spec.role == "smiles" and has_texts(spec),
        _build("molecule.MoleculesField"),
    ),
    FieldKind(
        "lines",
        "A list of strings, one per line.",
        lambda spec: is_list_of_scalars(spec) and spec.items.get("type") == "string" and not is_short(spec),
        _build("listing.LinesField"),
    ),
    FieldKind(
        "words",
        "A list of short words or numbers on one line.",
        is_list_of_scalars,
        _build("listing.WordsField"),
    ),
    FieldKind(
        "map",
        "Names with values, one per line, e.g. chains with residues.",
        is_map_of_scalars,
        _build("listing.MappingField"),
    ),
    FieldKind("object", "An object: its fields, in a group.", is_object, _build("group.ObjectField")),
    FieldKind(
        "variant",
        "A union: one of its options is chosen, then filled in.",
        is_variant,
        _build("variant.VariantField"),
    ),
    FieldKind(
        "rows", "A list of objects or lists: rows to add, remove and move.", is_rows, _build("rows.RowsField")
    ),
    FieldKind(
        "entries", "Names with objects or lists, one row each.", is_entries, _build("rows.EntriesField")
    ),
    FieldKind(
        "secret",
        "Text that is never shown.",
        lambda spec: spec.type == "string" and spec.is_secret,
        _build("text.SecretField"),
    ),
    FieldKind("text", "Text on one line.", lambda spec: spec.type == "string", _build("text.TextField")),
    FieldKind("json", "Any other value, as JSON.", lambda _spec: True, _build("listing.JsonField")),
)


bundle_kinds(_BUNDLED)
