"""Read Excel workbooks (.xlsx) as tables of text with openpyxl, an optional dependency (``foldnote[excel]``).

For a formula, the value that the spreadsheet program saved is used; a formula without one is refused.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

from foldnote.client.inputs.table_text import TextTable, fold, make_table
from foldnote.errors import ArgumentError
from foldnote.text import join_words

_MAX_UNPACKED_BYTES = 500_000_000
_SHEETS = "xl/workbook.xml"
ZIP = b"PK\x03\x04"
"""First bytes of a workbook, which is a ZIP archive."""


def read_workbook(data: bytes, name: str, known: Collection[str] = (), sheet: str | None = None) -> TextTable:
    """Read a sheet of a workbook.

    Args:
        data: the file.
        name: name of the file in messages.
        known: names that occur only in a header line.
        sheet: name of the sheet; by default the one that was open when the workbook was saved, or the first
            with known names if that one has none.

    Raises:
        ArgumentError: it is not a workbook or is damaged, openpyxl is not installed, there is no such sheet,
            a formula has no value, or the sheet is not a table.
    """
    values = _load(data, name)
    with _explain_damage(name):
        written = _load(data, name, has_formulas=True)
        names = [each.title for each in values.worksheets]
        opened = values.active.title if values.active.title in names else names[0]  # a chart is not a sheet
    if sheet is not None:
        opened = _find_sheet(sheet, names, name)

    def read(title: str) -> TextTable | ArgumentError:
        with _explain_damage(name):
            lines = list(values[title].iter_rows(values_only=True))
            formulas = list(written[title].iter_rows(values_only=True))
        _refuse_unknown_values(lines, formulas, name)
        try:
            return make_table([[write_value(cell) for cell in line] for line in lines], known)
        except ArgumentError as exc:
            return ArgumentError(f"{name}, sheet {title!r}: {exc.message}")

    candidates = [opened] if sheet is not None else [opened, *(each for each in names if each != opened)]
    chosen, table = _choose_sheet(candidates, read, known)
    others = [repr(each) for each in names if each != chosen] if sheet is None else []
    notes = [f"The sheet {chosen!r} was read, not {join_words(others)}."] if others else []
    return replace(table, notes=(*notes, *table.notes), sheet=chosen if len(names) > 1 else "")


def list_sheets(data: bytes, name: str) -> tuple[str, ...]:
    """List the names of a workbook's sheets in order; empty for a file of another kind.

    Raises:
        ArgumentError: it is damaged, or openpyxl is not installed.
    """
    if not data.startswith(ZIP):
        return ()
    return tuple(sheet.title for sheet in _load(data, name).worksheets)


def _load(data: bytes, name: str, *, has_formulas: bool = False) -> Any:
    """Load the workbook with openpyxl, with either the values of formulas or the formulas themselves.

    Raises:
        ArgumentError: it is not a workbook or is damaged, or openpyxl is not installed.
    """
    _check_archive(data, name)
    try:
        import openpyxl
    except ImportError as exc:
        raise ArgumentError(
            f"{name} is an Excel workbook: to read it, run `pip install 'foldnote[excel]'`, or save it as"
            " .csv."
        ) from exc
    with _explain_damage(name):
        return openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=not has_formulas)


def _find_sheet(sheet: str, names: Sequence[str], name: str) -> str:
    """Find the name of a sheet, ignoring case and surrounding spaces.

    Raises:
        ArgumentError: there is no such sheet.
    """
    wanted = str(sheet).strip().casefold()
    found = [each for each in names if each.strip().casefold() == wanted]
    if not found:
        raise ArgumentError(
            f"{name} has no sheet {str(sheet)[:60]!r}. Its sheets are: {', '.join(map(repr, names))}."
        )
    return sheet if sheet in found else found[0]


def _choose_sheet(
    names: Sequence[str], read: Callable[[str], TextTable | ArgumentError], known: Collection[str]
) -> tuple[str, TextTable]:
    """Choose the first sheet with a column of a known name, else the first that is a table.

    Raises:
        ArgumentError: the first sheet has a formula without a value, or none is a table.
    """
    first = read(names[0])
    tables = [(names[0], first)] if isinstance(first, TextTable) else []
    for name in names:
        with suppress(ArgumentError):
            table = read(name) if name != names[0] else first
            if isinstance(table, TextTable):
                if any(fold(column) in known for column in table.columns):
                    return name, table
                tables.append((name, table))
    if isinstance(first, ArgumentError) and not tables:
        raise first
    return tables[0]


@contextmanager
def _explain_damage(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as exc:  # openpyxl raises many kinds of errors for a damaged file
        raise ArgumentError(f"The workbook {name} cannot be read: {type(exc).__name__}: {exc}.") from exc


def write_value(value: Any) -> str:
    """Format the value of a cell as text: numbers as typed, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _check_archive(data: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            size = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as exc:
        raise ArgumentError(f"The workbook {name} is damaged: {exc}.") from exc
    if _SHEETS not in names:
        what = "an OpenDocument spreadsheet" if "content.xml" in names else "an archive, not a workbook"
        raise ArgumentError(f"{name} is {what}. Save the table as .xlsx or .csv.")
    if size > _MAX_UNPACKED_BYTES:
        raise ArgumentError(f"The workbook {name} is too large. Save the sheet as .csv.")


def _refuse_unknown_values(lines: list[Any], formulas: list[Any], name: str) -> None:
    from openpyxl.utils import get_column_letter

    for number, (values, written) in enumerate(zip(lines, formulas, strict=False), start=1):
        for place, (value, formula) in enumerate(zip(values, written, strict=False), start=1):
            if value is None and isinstance(formula, str) and formula.startswith("="):
                cell = f"{get_column_letter(place)}{number}"
                raise ArgumentError(
                    f"{name}, cell {cell} has the formula {formula[:40]} without a value. Open and save the"
                    " workbook in a spreadsheet program, or save the sheet as .csv."
                )
