"""The rows of a form's batch, without widgets: table cells, settings from the form, and their mapping.

A row has cells, by column of the tables that were read, and its own settings, which come from the form, an
edit or a sweep and take precedence. The mapping defines which column feeds which setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from foldnote.client.inputs.batch_table import Rows
from foldnote.client.inputs.fasta import make_names
from foldnote.client.inputs.table_text import TextTable
from foldnote.errors import ArgumentError
from foldnote.forms.batch.cell_values import (
    KeptColumn,
    infer_values,
    name_numbers,
    read_cell,
    read_kept,
)
from foldnote.forms.batch.column_mapping import (
    ColumnMapping,
    Purpose,
    Target,
    doubt_mapping,
    propose_mapping,
)
from foldnote.forms.schema.spec import FieldSpec
from foldnote.text import join_words


@dataclass(eq=False)
class DraftRow:
    """One row."""

    cells: dict[str, str] = field(default_factory=dict)
    """Cells by column of the tables; a row from the form has none."""
    own: dict[str, Any] = field(default_factory=dict)
    """Settings that take precedence over the cells."""
    suffix: str = ""
    """Suffix of the job's name after a sweep."""
    validated: tuple[Any, str] | None = None
    """The settings that were validated last, and their first problem."""

    def copy(self) -> DraftRow:
        """Return an independent copy."""
        return DraftRow(dict(self.cells), deepcopy(self.own), self.suffix)


class DraftBatch:
    """The rows of one batch."""

    def __init__(self) -> None:
        self.rows: list[DraftRow] = []
        self.mapping = ColumnMapping({})
        """Use of each column of the tables."""
        self.swept: dict[str, list[Any]] = {}
        """Values of each swept setting."""
        self.file_name = ""
        """Name of the file that contains exactly these rows, unchanged; empty if there is none."""
        self.sheet = ""
        """The sheet of that file; empty if the file is not a workbook with several sheets."""
        self._decimal_commas: set[str] = set()
        """Columns of numbers with decimal commas."""

    def __len__(self) -> int:
        return len(self.rows)

    def add_settings(self, settings: Mapping[str, Any]) -> None:
        """Add a row of settings from the form."""
        self.file_name = ""
        self.rows.append(DraftRow(own=dict(settings)))

    def add_table(
        self,
        table: TextTable,
        specs: Sequence[FieldSpec],
        file_name: str = "",
        uses: Mapping[str, Target] | None = None,
    ) -> tuple[str, ...]:
        """Add the rows of a table; returns the assumptions as sentences.

        A column with the name of an earlier table's column, or for the same setting, extends that column.

        Args:
            table: the rows.
            specs: the tool's settings.
            file_name: name of the file that was read.
            uses: uses of columns; for the others, a use is proposed.
        """
        self.file_name = file_name if not self.rows else ""
        self.sheet = table.sheet
        proposed = propose_mapping(table, specs)
        for column, use in (uses or {}).items():
            proposed = replace(proposed.with_target(column, use), notes=proposed.notes)
        places, notes = self._place_columns(proposed)
        for cells in table.rows:
            pairs = zip(table.columns, cells, strict=True)
            self.rows.append(DraftRow({places[name]: cell for name, cell in pairs if cell}))
        self._decimal_commas |= {places[name] for name in table.decimal_commas}
        self._doubt()
        return (*table.notes, *proposed.notes, *notes, *self._describe_kept(table))

    def _describe_kept(self, table: TextTable) -> list[str]:
        """Describe what is assumed about a table's kept columns: decimal commas, missing values, limits."""
        commas = table.decimal_commas
        columns = [name for name in table.columns if name in self.mapping.kept]
        kept_columns = [
            read_kept(name, table.cells(name), has_decimal_commas=name in commas) for name in columns
        ]
        return [*self._describe_commas(table), *(column.note for column in kept_columns if column.note)]

    def _describe_commas(self, table: TextTable) -> list[str]:
        names = [repr(name) for name in self.mapping.kept if name in table.decimal_commas]
        if not names:
            return []
        subject = "The column" if len(names) == 1 else "The columns"
        return [
            f"{subject} {join_words(names, 'and')} {'has' if len(names) == 1 else 'have'} decimal commas."
        ]

    def _place_columns(self, proposed: ColumnMapping) -> tuple[dict[str, str], list[str]]:
        """Return where the cells of each new column are stored, adding unknown columns to the mapping."""
        targets = dict(self.mapping.targets)
        places, notes = {}, []
        for name, target in proposed.targets.items():
            same = next((own for own, use in targets.items() if use == target), None)
            if name in targets or target is Purpose.KEPT or same is None:
                places[name] = name
                targets.setdefault(name, target)
            else:
                places[name] = same
                notes.append(f"The column {name!r} continues {same!r}, which means the same.")
        self.mapping = ColumnMapping(targets)
        return places, notes

    def remap(self, column: str, target: Target) -> tuple[str, ...]:
        """Change the use of a column; returns the effects on other columns, as sentences.

        Raises:
            ArgumentError: there is no such column, or a sweep gives that setting already.
        """
        if target in self.swept:
            raise ArgumentError(f"The setting {target!r} is already swept; remove the sweep first.")
        self.mapping = self.mapping.with_target(column, target)
        notes = self.mapping.notes
        self._doubt()
        return notes

    def _doubt(self) -> None:
        table = TextTable(
            tuple(self.mapping.targets),
            tuple(tuple(row.cells.get(name, "") for name in self.mapping.targets) for row in self.rows),
        )
        self.mapping = replace(self.mapping, doubts=doubt_mapping(table, self.mapping.targets))

    def list_settings(self, specs: Iterable[FieldSpec]) -> list[dict[str, Any]]:
        """Return the settings that each row gives."""
        kinds = {spec.name: spec for spec in specs}
        fed = [(kinds[s], column) for s, column in self.mapping.columns.items() if s in kinds]
        return [
            {spec.name: read_cell(spec, row.cells[column]) for spec, column in fed if column in row.cells}
            | row.own
            for row in self.rows
        ]

    def list_names(self) -> list[str] | None:
        """Return a valid, unique name for each job if a column names any; None if they are numbered."""
        column = self.mapping.job_names
        names = [row.cells.get(column, "") if column else "" for row in self.rows]
        if not any(names):
            return None
        stems = [name or f"row-{number}" for number, name in enumerate(names, start=1)]
        return make_names(stem + row.suffix for stem, row in zip(stems, self.rows, strict=True))

    def to_rows(self, completed: Sequence[Mapping[str, Any]], specs: Iterable[FieldSpec]) -> Rows:
        """Return the batch to submit; table data other than settings stays on this computer.

        Args:
            completed: the settings of each row as they are sent.
            specs: the tool's settings.
        """
        settings = [dict(row) for row in completed]
        names = self.list_names()
        if not self.mapping.targets:
            return Rows(settings, names, settings)
        columns: dict[str, list[Any]] = {}
        numbers = []
        for name, target in self.mapping.targets.items():
            column = self._list_inputs(name, target)
            columns[name] = column.values
            if column.numbers is not None and name_numbers(name) not in self.mapping.targets:
                columns[name_numbers(name)] = column.numbers
                numbers.append(name_numbers(name))
        own = self.list_settings(specs)
        columns |= {name: [row.get(name) for row in own] for name in self.swept}
        inputs = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        names_column = self.mapping.job_names
        kept_columns = (*self.mapping.kept, *numbers, *([names_column] if names_column else []))
        order = tuple(name for name in columns if name in kept_columns)
        return Rows(settings, names, inputs, kept=order)

    def _list_inputs(self, column: str, target: Target) -> KeptColumn:
        texts = [row.cells.get(column, "") for row in self.rows]
        has_commas = column in self._decimal_commas
        if target is Purpose.KEPT:
            return read_kept(column, texts, has_decimal_commas=has_commas)
        cells = infer_values(texts, has_decimal_commas=has_commas)
        if not isinstance(target, str):
            return KeptColumn(cells)
        return KeptColumn([row.own.get(target, cell) for row, cell in zip(self.rows, cells, strict=True)])

    def remove(self, index: int) -> None:
        """Remove a row; with the last row, columns and sweeps are removed as well."""
        del self.rows[index]
        self.file_name = ""
        if not self.rows:
            self.clear()

    def duplicate(self, index: int) -> None:
        """Insert a copy of a row below it."""
        self.rows.insert(index + 1, self.rows[index].copy())
        self.file_name = ""

    def edit(self, index: int, spec: FieldSpec, text: str) -> None:
        """Set a setting of one row, in the cell that feeds it, if any; empty text means the form's value."""
        row, column = self.rows[index], self.mapping.columns.get(spec.name)
        row.own.pop(spec.name, None)
        if column is None:
            if text:
                row.own[spec.name] = read_cell(spec, text)
        elif text:
            row.cells[column] = text
        else:
            row.cells.pop(column, None)
        self.file_name = ""

    def sweep(self, setting: str, values: Sequence[Any]) -> None:
        """Repeat every row for each value of a setting.

        Raises:
            ArgumentError: there are no values, or a column or a sweep gives the setting already.
        """
        if not values:
            raise ArgumentError(f"The sweep of {setting!r} has no values.")
        if setting in self.mapping.columns:
            raise ArgumentError(
                f"The column {self.mapping.columns[setting]!r} gives {setting!r} already. Keep that column"
                " instead of using it, or sweep another setting."
            )
        if setting in self.swept:
            raise ArgumentError(f"The setting {setting!r} is already swept.")
        self.rows = [
            self._vary(row, setting, value, number if len(values) > 1 else 0)
            for row in self.rows
            for number, value in enumerate(values, start=1)
        ]
        self.swept[setting] = list(values)

    def _vary(self, row: DraftRow, setting: str, value: Any, number: int) -> DraftRow:
        varied = row.copy()
        varied.own[setting] = value
        varied.suffix += f"-{number}" if number else ""
        return varied

    def clear(self) -> None:
        """Remove all rows, columns and sweeps."""
        self.rows.clear()
        self.mapping, self.file_name = ColumnMapping({}), ""
        self.swept.clear()
        self._decimal_commas.clear()
