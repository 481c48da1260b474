"""Excel workbooks (.xlsx) as tables of text, by openpyxl, which is an extra (``foldnote[excel]``).

A formula counts with the value that the spreadsheet program saved; without one it is refused.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

from foldnote.client.inputs.table_text import TextTable, make_table
from foldnote.errors import ArgumentError
from foldnote.text import join_words

_MAX_UNPACKED_BYTES = 500_000_000
_SHEETS = "xl/workbook.xml"


def read_workbook(data: bytes, name: str, known: Collection[str] = ()) -> TextTable:
    """Read the sheet that was open when the workbook was saved.

    Args:
        data: the file.
        name: name of the file in messages.
        known: names that only a header line has.

    Raises:
        ArgumentError: it is not a workbook or damaged, openpyxl is not installed, a formula has no value, or
            the sheet is not a table.
    """
    _check_archive(data, name)
    try:
        import openpyxl
    except ImportError as exc:
        raise ArgumentError(
            f"{name} is an Excel workbook: to read it, run `pip install 'foldnote[excel]'`, or save it as"
            " .csv."
        ) from exc
    try:
        values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        written = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False)
        sheet = values.active
        lines = list(sheet.iter_rows(values_only=True))
        formulas = list(written[sheet.title].iter_rows(values_only=True))
        names = [each.title for each in values.worksheets]
    except Exception as exc:  # openpyxl raises errors of many kinds for a damaged file
        raise ArgumentError(f"The workbook {name} cannot be read: {type(exc).__name__}: {exc}.") from exc
    _refuse_unknown_values(lines, formulas, name)
    try:
        table = make_table([[write_value(cell) for cell in line] for line in lines], known)
    except ArgumentError as exc:
        raise ArgumentError(f"{name}, sheet {sheet.title!r}: {exc.message}") from exc
    others = [repr(each) for each in names if each != sheet.title]
    note = f"The sheet {sheet.title!r} was read, not {join_words(others)}."
    return replace(table, notes=(note, *table.notes)) if others else table


def write_value(value: Any) -> str:
    """The text of a cell: numbers as typed, dates as ISO 8601."""
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
