"""A table passed in code, ready to be expanded into rows: mapped columns and typed cells."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foldnote.client.inputs.batch_table import Rows, expand_rows
from foldnote.client.inputs.fasta import ENDINGS as FASTA_ENDINGS
from foldnote.client.inputs.fasta import find_sequence_setting, make_names
from foldnote.client.inputs.plain_values import read_frame
from foldnote.client.inputs.table_file import read_table_bytes, read_table_file
from foldnote.client.inputs.table_text import TextTable, fold
from foldnote.errors import ArgumentError, TableWarning, warn_caller
from foldnote.forms.batch.cell_values import name_numbers, read_cell, read_kept
from foldnote.forms.batch.column_mapping import (
    ColumnMapping,
    find_name_column,
    list_header_words,
    map_columns,
    orient_columns,
)
from foldnote.forms.files.file_reference import is_smiles
from foldnote.forms.schema.plan import read_plan
from foldnote.forms.schema.spec import FieldSpec
from foldnote.models import Tool

_SAMPLE = 1000
"""Number of rows of a DataFrame from which the contents of its columns are recognised."""


@dataclass(frozen=True)
class MappedTable:
    """A table whose columns are mapped."""

    table: Any
    """A DataFrame, or one dict per row."""
    columns: Mapping[str, str] | None
    """The column of each setting; None if every column is the setting of its name."""
    names: str | None
    """The column of the jobs' names."""
    has_free_names: bool = False
    """Whether the cells of ``names`` may be any text, and are converted to valid, unique names."""
    inlined: frozenset[str] = frozenset()
    """Columns of SMILES that became file contents, and appear in results as originally given."""

    def expand(
        self, sweep: Mapping[str, Sequence[Any]] | None = None, shared: Mapping[str, Any] | None = None
    ) -> Rows:
        """Return the rows of settings, see `expand_rows`.

        Raises:
            ArgumentError: a column is missing, a setting is given twice, or there are no rows.
        """
        rows = expand_rows(self.table, self.columns, sweep, shared, self.names)
        rows = replace(rows, inputs=[self._restore(row) for row in rows.inputs]) if self.inlined else rows
        return replace(rows, names=make_names(rows.names)) if self.has_free_names and rows.names else rows

    def uses(self) -> tuple[dict[str, str], str | None, tuple[str, ...]]:
        """Return the column of each setting, the column of the jobs' names, and the columns that are kept."""
        heads = _read_heads(self.table)
        fed = dict(self.columns) if self.columns is not None else {
            head: head for head in heads if head != self.names
        }  # fmt: skip
        kept = [head for head in heads if head not in fed.values() and head != self.names]
        return fed, self.names, tuple(kept)

    def _restore(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row's own columns, with SMILES as they were given."""
        texts = {name: row[name] for name in self.inlined if isinstance(row.get(name), str)}
        return {**row, **{name: text.removesuffix("\n") for name, text in texts.items()}}


def map_table(
    tool: Tool,
    table: Any,
    columns: Mapping[str, str] | None = None,
    names: str | None = None,
    assigned: Collection[str] = (),
    sheet: str | None = None,
) -> MappedTable:
    """Map the columns of a DataFrame, of mappings, or of a file (CSV, TSV, FASTA, Excel).

    Columns without a meaning for the tool are kept. Text in a column that feeds a list, a number or a mapping
    is parsed as in a file: ``"CCO"`` is the list ``["CCO"]``.

    Args:
        tool: the tool.
        table: the table, or the path of a file.
        columns: which column feeds which setting, in either direction, see `orient_columns`.
        names: the column of the jobs' names.
        assigned: settings that are given by other means.
        sheet: the sheet of a workbook; by default the one that was open, or the first with known names.

    Raises:
        ArgumentError: the table cannot be read, or its columns cannot be mapped.
    """
    specs = list_specs(tool)
    if isinstance(table, str | Path):
        return _map_file(tool, table, specs, columns, names, assigned, sheet)
    check_sheet(sheet)
    if isinstance(table, Iterator):  # can be iterated only once
        table = list(table)
    table = read_frame(table)
    heads = _read_heads(table)
    if not heads:
        return MappedTable(table, columns, names)
    if columns is None:
        return _map_by_names(tool, table, specs, heads, names, assigned)
    fed = orient_columns(columns, heads, [spec.name for spec in specs])
    found_names = None if names is not None else find_name_column(_sample(table, heads), fed.values())
    smiles = _find_inlined(fed, specs)
    return MappedTable(
        _type_texts(table, fed, specs), fed, names or found_names, found_names is not None, smiles
    )


def _map_by_names(
    tool: Tool,
    table: Any,
    specs: Sequence[FieldSpec],
    heads: Sequence[str],
    names: str | None,
    assigned: Collection[str],
) -> MappedTable:
    """Map columns by the names of settings; by other names and contents if some are not settings."""
    settings = [spec.name for spec in specs]
    is_closed = (tool.settings_schema or {}).get("additionalProperties") is False
    other_heads = [head for head in heads if head != names and head not in settings]
    if not other_heads or not is_closed:
        own = {head: head for head in heads if head in settings and head != names}
        return MappedTable(_type_texts(table, own, specs), None, names, inlined=_find_inlined(own, specs))
    mapping = map_columns(_sample(table, heads), specs, names, assigned)
    _check_is_fed(tool, mapping, specs, assigned)
    table = _type_texts(table, mapping.columns, specs)
    smiles = _find_inlined(mapping.columns, specs)
    return MappedTable(table, mapping.columns, mapping.job_names, names is None, smiles)


def check_sheet(sheet: str | None) -> None:
    """Refuse a sheet name for a table that is not a file.

    Raises:
        ArgumentError: a sheet is given for a table that is not a file.
    """
    if sheet is not None:
        raise ArgumentError(
            "A sheet can be chosen only in an Excel workbook. Give the path of the workbook as the table, or"
            " omit sheet."
        )


def write_text_table(table: Any) -> TextTable:
    """Convert a DataFrame or a list of mappings to the text that a form's batch stores.

    Raises:
        ArgumentError: the table has no rows with named columns.
    """
    table = read_frame(table)
    heads = _read_heads(table)
    if hasattr(table, "columns"):
        columns = [[_write(value) for value in table.iloc[:, position]] for position in range(len(heads))]
    else:
        columns = [[_write(row.get(head)) for row in table] for head in heads]
    if not columns or not columns[0]:
        raise ArgumentError(
            "A table is a DataFrame, a list of mappings, or the path of a file, with at least one row."
        )
    return TextTable(tuple(heads), tuple(zip(*columns, strict=True)))


def list_specs(tool: Tool) -> tuple[FieldSpec, ...]:
    """Return the settings of a tool, including those that apply under conditions only."""
    schema = tool.settings_schema
    by_name = {part.spec.name: part.spec for part in reversed(read_plan(schema, schema).parts)}
    return tuple(reversed(by_name.values()))


def _map_file(
    tool: Tool,
    path: str | Path,
    specs: Sequence[FieldSpec],
    columns: Mapping[str, str] | None,
    names: str | None,
    assigned: Collection[str],
    sheet: str | None,
) -> MappedTable:
    text = read_table_file(path, _list_header_names(specs, columns), sheet)
    return _map_text(tool, text, Path(path).name, specs, columns, names, assigned)


def _warn_of_notes(notes: Sequence[str], name: str) -> None:
    """Issue a warning for each note on how a file was read; a form shows them below its table."""
    for note in notes:
        warn_caller(f"{name}: {note}", TableWarning)


def map_table_bytes(
    tool: Tool,
    data: bytes,
    name: str,
    columns: Mapping[str, str] | None = None,
    names: str | None = None,
    assigned: Collection[str] = (),
    sheet: str | None = None,
) -> MappedTable:
    """Map the columns of a table that was read elsewhere, like those of a file; see :func:`map_table`.

    Args:
        tool: the tool.
        data: CSV, TSV, FASTA or Excel.
        name: name of the file in messages.
        columns: which column feeds which setting.
        names: the column of the jobs' names.
        assigned: settings that are given by other means.
        sheet: the sheet of a workbook.

    Raises:
        ArgumentError: it is not a table, or its columns cannot be mapped.
    """
    specs = list_specs(tool)
    text = read_table_bytes(data, name, _list_header_names(specs, columns), sheet)
    return _map_text(tool, text, name, specs, columns, names, assigned)


def _list_header_names(specs: Sequence[FieldSpec], columns: Mapping[str, str] | None) -> frozenset[str]:
    """Return the names that occur only in a header line."""
    return list_header_words(specs) | {fold(name) for pair in (columns or {}).items() for name in pair}


def _map_text(
    tool: Tool,
    text: TextTable,
    name: str,
    specs: Sequence[FieldSpec],
    columns: Mapping[str, str] | None,
    names: str | None,
    assigned: Collection[str],
) -> MappedTable:
    """Map the columns of a file's table, and type its cells; the assumptions are issued as warnings."""
    _warn_of_notes(text.notes, name)
    if columns is None:
        mapping = map_columns(text, specs, names, assigned)
        fed, names = mapping.columns, mapping.job_names
        if Path(name).suffix.lower() in FASTA_ENDINGS and _lacks_settings(tool, {*fed, *assigned}):
            find_sequence_setting(tool)
        _check_is_fed(tool, mapping, specs, assigned)
    else:
        fed = orient_columns(columns, text.columns, [spec.name for spec in specs])
        names = names or find_name_column(text, fed.values())
    rows, notes = type_cells(text, fed, specs, names)
    _warn_of_notes(notes, name)
    return MappedTable(rows, fed, names, True, _find_inlined(fed, specs))


def _check_is_fed(
    tool: Tool, mapping: ColumnMapping, specs: Sequence[FieldSpec], assigned: Collection[str]
) -> None:
    """Refuse a table without a column that feeds a setting, if no settings are given by other means.

    Raises:
        ArgumentError: no column feeds a setting, and no settings are given.
    """
    if mapping.columns or assigned or not mapping.targets or not specs:
        return
    required = next((spec.name for spec in specs if spec.required), specs[0].name)
    heads = list(mapping.targets)
    first = next(iter(mapping.kept), heads[0])
    listed = [repr(name[:60]) for name in heads[:10]]
    ending = f" and {len(heads) - len(listed)} more" if len(heads) > len(listed) else ""
    raise ArgumentError(
        f"No column of the table could be recognized as a setting of {tool.type}. It has:"
        f" {', '.join(listed)}{ending}. Name the one that is meant, such as"
        f" columns={{{first!r}: {required!r}}}. The settings are: {', '.join(spec.name for spec in specs)}."
    )


def _lacks_settings(tool: Tool, given: Collection[str]) -> bool:
    return any(name not in given for name in (tool.settings_schema or {}).get("required") or ())


def type_cells(
    table: TextTable, columns: Mapping[str, str], specs: Sequence[FieldSpec], names: str | None = None
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return one dict per row with typed values, and the assumptions about them, as sentences.

    Args:
        table: the table.
        columns: the column of each setting.
        specs: the tool's settings.
        names: the column of the jobs' names; a row without a name is named by its number.
    """
    kinds = {spec.name: spec for spec in specs}
    fed = {name: kinds[setting] for setting, name in columns.items() if setting in kinds}
    typed: dict[str, list[Any]] = {}
    notes = []
    for name in table.columns:
        cells = table.cells(name)
        if name in fed:
            typed[name] = [_inline(fed[name], read_cell(fed[name], cell)) if cell else None for cell in cells]
        elif name == names:
            typed[name] = [cell or f"row-{row}" for row, cell in enumerate(cells, start=1)]
        else:
            column = read_kept(name, cells, has_decimal_commas=name in table.decimal_commas)
            typed[name] = column.values
            if column.numbers is not None and name_numbers(name) not in table.columns:
                typed[name_numbers(name)] = column.numbers
            notes += [column.note] if column.note else []
    return [dict(zip(typed, row, strict=True)) for row in zip(*typed.values(), strict=True)], tuple(notes)


def _inline(spec: FieldSpec, value: Any) -> Any:
    """Convert a SMILES for a file setting to file contents with a final line break; keep other values."""
    is_given = isinstance(value, str) and "\n" not in value and "smi" in spec.extensions
    return f"{value}\n" if is_given and is_smiles(value, spec.extensions) else value


def _find_inlined(columns: Mapping[str, str], specs: Sequence[FieldSpec]) -> frozenset[str]:
    """Return the columns whose SMILES become contents of files."""
    files = {spec.name for spec in specs if spec.type == "string" and "smi" in spec.extensions}
    return frozenset(column for setting, column in columns.items() if setting in files)


def _type_texts(table: Any, columns: Mapping[str, str], specs: Sequence[FieldSpec]) -> Any:
    """Return the table with texts parsed like cells of a file, in columns that feed anything but plain text.

    SMILES that feed files of molecules become their contents; other values stay.
    """
    is_frame = hasattr(table, "columns")
    kinds = {
        spec.name: spec for spec in specs if spec.type != "string" or (is_frame and "smi" in spec.extensions)
    }
    fed = {name: kinds[setting] for setting, name in columns.items() if setting in kinds}
    if not fed:
        return table
    if not is_frame:
        return [
            {name: _type_text(fed[name], cell) if name in fed else cell for name, cell in row.items()}
            if isinstance(row, Mapping)
            else row
            for row in table
        ]
    changed = table.copy()
    for name in table.columns:
        spec, column = fed.get(str(name)), table[name]
        if spec is not None and any(isinstance(value, str) for value in column):
            typed = [_type_text(spec, value) for value in column]
            changed[name] = type(column)(typed, index=column.index, dtype=object)  # keeps integers
    return changed


def _type_text(spec: FieldSpec, value: Any) -> Any:
    """Return the value that a text represents; None for an empty text, other values unchanged."""
    if not isinstance(value, str):
        return value
    if spec.type == "string":
        return _inline(spec, value)
    return read_cell(spec, value.strip()) if value.strip() else None


def _sample(table: Any, heads: Sequence[str]) -> TextTable:
    """Return the column names, and for a DataFrame the first rows as text, to recognise contents by.

    Keys of mappings were written by hand, so only their names count.
    """
    if not hasattr(table, "columns"):
        return TextTable(tuple(heads), ())
    first = table.head(_SAMPLE)
    cells = [[_write(value) for value in first.iloc[:, position]] for position in range(len(heads))]
    return TextTable(tuple(heads), tuple(zip(*cells, strict=True)))


def _write(value: Any) -> str:
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return value.strip() if isinstance(value, str) else "" if value is None or value != value else str(value)


def _read_heads(table: Any) -> list[str]:
    """Return the names of a table's columns; empty for iterators, which can be read only once."""
    if hasattr(table, "columns"):
        return [str(name) for name in table.columns]
    rows = table if isinstance(table, list | tuple) else ()
    return list(dict.fromkeys(str(name) for row in rows if isinstance(row, Mapping) for name in row))
