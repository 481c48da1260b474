"""Show a DataFrame as a table that can be sorted and filtered in the browser, without a kernel.

Rows are embedded compressed, by column; above :data:`MAX_BYTES` only the first rows are, with a note. The
first rows are also written as plain HTML, for readers without scripts.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from foldnote.results import find_metric
from foldnote.text import count, format_figure
from foldnote.viewers.render.compression import pack
from foldnote.viewers.render.html import read_asset, write_json
from foldnote.viewers.render.paper import is_paper
from foldnote.viewers.tables.molecule_column import ColumnPictures, draw_column
from foldnote.viewers.tables.printed_table import (
    FIRST_ROWS,
    MAX_ROWS,
    SAID,
    SAME,
    put_long_last,
    write_printed_table,
    write_value,
)

SHOWN_ROWS = 10
SHOWN_COLUMNS = 20
MAX_BYTES = 2_000_000
"""Maximum size of the compressed data of a table in bytes."""
_FEW = 3
"""Minimum number of rows with a value before the value counts as shared by all rows."""
MAX_UNIT_LENGTH = 20
"""Maximum length of a unit in a heading, in characters."""
_DISTANCE_DECIMALS = 3
"""Decimals of coordinates in files, in Å."""
_NO_DISTANCE = 5e-4
"""Å, half a unit of the last of these decimals."""
_LARGEST_WHOLE = 2**53
"""Largest whole number up to which JavaScript represents every one exactly."""
_JOB_PREFIX = re.compile(r"^(score|settings|input)\.")
_ROLES = {"score": "result", "settings": "setting", "input": "input"}
_WORDS = re.compile(r"_|(?<=[a-z]{2})(?=[A-Z])")


@dataclass(frozen=True)
class RowResults:
    """The results of jobs that the rows of a table open, below the table.

    Attributes:
        key: identifier of the table, under which the page restores its order, filter and open row.
        column: the column with the jobs' names.
        state: the column with their states in words.
        reason: the column with the reasons of failures; may be missing in the table.
        profile: the profile of the service that has the jobs; "" if unknown.
        is_named: whether code must name this profile because it is not the active one.
        saved: HTML of results by job name, saved with the table. The page requests others with the event
            ``fn-open-job``, and shows a line of code if nothing answers.
    """

    key: str
    column: str
    state: str
    reason: str
    profile: str = ""
    is_named: bool = False
    saved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RowSteps:
    """The steps of 3D views, such as poses, that the rows of a table show.

    Attributes:
        key: key of the structures shown, as :func:`foldnote.viewers.render.html.name_content` makes it.
        rows: 0-based step of each row; -1 for a row without one.
    """

    key: str
    rows: tuple[int, ...]


def write_table(
    frame: pd.DataFrame,
    title: str = "",
    *,
    rows: int = SHOWN_ROWS,
    opens: RowResults | None = None,
    steps: RowSteps | None = None,
    is_subject: bool = False,
    headings: Mapping[str, str] | None = None,
    pictures: ColumnPictures | None = None,
) -> str:
    """Return an interactive HTML table; until its script has run, the first ``rows`` rows are shown.

    On paper it has no script, and all rows, or the first ones of a long table that is not a page's subject.

    Args:
        frame: any table; an index other than a RangeIndex becomes the first column.
        title: heading; "" for none.
        rows: number of rows shown without scripts.
        opens: the results that its rows open.
        steps: the steps of 3D views that its rows show.
        is_subject: whether its rows are the subject of the page, as is always the case for a batch whose rows
            open results: on paper all are printed, with the values that they share above.
        headings: headings of columns in place of their names, by which metrics are still found.
        pictures: pictures of a column, on a screen; by default drawings of a column of molecules.
    """
    headings = headings or {}
    indexed = _name_index(frame)
    is_subject = is_subject or opens is not None
    if is_paper():
        return _print_frame(frame, title, opens, headings, is_subject=is_subject)
    same = _find_same(indexed, opens) if is_subject else {}
    heading = f"<p><b>{escape(title)}</b> <span>{escape(_write_shape(frame, rows))}</span></p>"
    heading += "".join(f"<p>{escape(line)}</p>" for line in _describe_same(indexed, same, headings))
    visible = _drop(indexed, same).rename(columns=headings)
    body = visible.head(rows).to_html(
        max_cols=SHOWN_COLUMNS,
        border=0,
        escape=True,
        index=False,
        na_rep="",
        float_format=format_figure,
        formatters=_make_formatters(visible),
    )
    packed = _pack_frame(frame, title, opens, steps, same, headings, pictures)
    return (
        f'<div class="fnv-table" style="overflow-x:auto">'
        f"<style>{read_asset('table.css')}</style>{heading}{body}"
        f"<script>{read_asset('table_start.js')}({write_json(packed)});</script></div>"
    )


def write_program(*, opens_rows: bool) -> str:
    """Return the program of tables: a JavaScript function of the root element and the table's data."""
    table = read_asset("table.js").strip()
    if not opens_rows:
        return table
    parts = [read_asset(name).strip() for name in ("table_rows.js", "table_plot.js", "table_pictures.js")]
    return f"(function(root,data){{({table})(root,data,{','.join(parts)})}})"


def describe_table(frame: pd.DataFrame, title: str, opens: RowResults) -> dict[str, Any]:
    """Return the data of a table whose rows open results, as JSON types, for :func:`write_program`.

    It lacks the drawings of molecules, which are ``pictures``.
    """
    described = _describe_frame(frame, frame, title, _find_same(frame, opens), {})
    return {**described, "note": "", "opens": _describe_opens(opens)}


def _describe_opens(opens: RowResults | None) -> dict[str, Any] | None:
    return None if opens is None else {**vars(opens), "saved": dict(opens.saved)}


def _describe_frame(
    frame: pd.DataFrame,
    part: pd.DataFrame,
    title: str,
    same: Mapping[Any, str],
    headings: Mapping[str, str],
) -> dict[str, Any]:
    """Return the title, shape, columns and the values of ``part``, the first rows of ``frame``."""
    unique_labels = _make_unique_labels(part, same, headings)
    return {
        "title": title,
        "shape": _count_shape(frame, len(part)),
        "columns": [
            {**_describe_column(name, column, headings, unique_labels), "same": same.get(name, "")}
            for name, column in part.items()
        ],
        "values": [_list_values(column) for _, column in part.items()],
    }


def write_plain_table(
    frame: pd.DataFrame,
    title: str = "",
    *,
    opens: RowResults | None = None,
    headings: Mapping[str, str] | None = None,
) -> str:
    """Return the first ``SHOWN_ROWS`` rows as plain text; for the arguments, see :func:`write_table`."""
    indexed = _name_index(frame)
    same = _find_same(indexed, opens) if opens else {}
    visible = _drop(indexed.head(SHOWN_ROWS), same).rename(columns=headings or {})
    body = visible.to_string(max_cols=SHOWN_COLUMNS, index=False, na_rep="")
    return "\n".join(
        [
            f"{title} {_write_shape(frame, SHOWN_ROWS)}".strip(),
            *_describe_same(indexed, same, headings or {}),
            body,
        ]
    ).strip()


def list_shown(frame: pd.DataFrame, opens: RowResults) -> pd.DataFrame:
    """Return the visible columns of a table, without those that are equal in all rows."""
    return _drop(frame, _find_same(frame, opens))


def _print_frame(
    frame: pd.DataFrame,
    title: str,
    opens: RowResults | None,
    headings: Mapping[str, str],
    *,
    is_subject: bool,
) -> str:
    indexed = _name_index(frame)
    same = _find_same(indexed, opens) if is_subject else {}
    printed = len(indexed) if is_subject or len(indexed) <= MAX_ROWS else FIRST_ROWS
    note = "" if printed == len(indexed) else f"the first {printed} of {len(indexed):,} rows"
    pictures = draw_column(_drop(indexed, same)) if is_subject else None
    table = _describe_frame(frame, indexed.head(printed), title, same, headings)
    return write_printed_table(title, table, pictures, printed, note)


def _find_same(frame: pd.DataFrame, opens: RowResults | None) -> dict[Any, str]:
    """Find the columns that are equal in all rows (``all``) or in all rows with a value (``known``), by name.

    A column with the label and value of an earlier one is ``said``. A value that few rows have may still
    differ in others, whose jobs have not ended. Job, state and reason are never included.
    """
    excluded = {opens.column, opens.state, opens.reason} if opens else set()
    if len(frame) < 2 or not frame.columns.is_unique:
        return {}
    kinds, seen = {}, set()
    for name, values in frame.items():
        present = values.dropna()
        if name in excluded or len(present) < min(_FEW, len(values)) or present.astype(str).nunique() != 1:
            continue
        description = (_write_label(str(name))[0].casefold(), _write_first(present))
        kinds[name] = SAID if description in seen else "all" if len(present) == len(values) else "known"
        seen.add(description)
    return kinds if len(kinds) < len(frame.columns) else {}


def _drop(frame: pd.DataFrame, same: Mapping[Any, str]) -> pd.DataFrame:
    return frame.loc[:, [name not in same for name in frame.columns]]


def _describe_same(frame: pd.DataFrame, same: Mapping[Any, str], headings: Mapping[str, str]) -> list[str]:
    """Describe the values that all rows share, in sentences."""
    lines = []
    labels = {**headings, **_make_unique_labels(frame, same, headings)}
    for kind, heading in SAME.items():
        pairs = [
            (labels.get(name) or _write_label(str(name))[0], _write_first(frame[name].dropna()))
            for name, found_kind in same.items()
            if found_kind == kind
        ]
        if pairs:
            lines.append(f"{heading}: {'; '.join(' '.join(pair) for pair in put_long_last(pairs))}.")
    return lines


def _make_unique_labels(
    frame: pd.DataFrame, same: Mapping[Any, str], headings: Mapping[str, str]
) -> dict[str, str]:
    """Return unique labels for settings and scores with the same label: ``scheme (setting)``."""
    names = [str(name) for name in frame.columns if same.get(name) != SAID]
    labels = {name: headings.get(name) or _write_label(name)[0] for name in names}
    counts = Counter(label.casefold() for label in labels.values())
    return {
        name: f"{label} ({_ROLES[role[1]]})"
        for name, label in labels.items()
        if name not in headings and counts[label.casefold()] > 1 and (role := _JOB_PREFIX.match(name))
    }


def _write_first(values: pd.Series[Any]) -> str:
    return write_value(_list_values(values.head(1))[0], _count_decimals(values))


def _pack_frame(
    frame: pd.DataFrame,
    title: str,
    opens: RowResults | None,
    steps: RowSteps | None,
    same: Mapping[Any, str],
    headings: Mapping[str, str],
    pictures: ColumnPictures | None,
) -> str:
    """Pack the frame, or as many of its first rows as fit into `MAX_BYTES`."""
    code = write_program(opens_rows=opens is not None)
    indexed = _name_index(frame)
    if pictures is None and opens:
        pictures = draw_column(_drop(indexed, same))
    rows = len(indexed)
    while True:
        part = indexed.head(rows)
        packed = pack(
            {
                "program": "foldnoteTable" + hashlib.sha256(code.encode()).hexdigest()[:8],
                "code": code,
                **_describe_frame(frame, part, title, same, headings),
                "note": "" if rows == len(indexed) else _describe_cut(rows, len(indexed)),
                "opens": _describe_opens(opens),
                "steps": None if steps is None else vars(steps),
                "pictures": pictures,
            }
        )
        if len(packed) <= MAX_BYTES or rows <= SHOWN_ROWS:
            return packed
        rows = max(SHOWN_ROWS, int(rows * 0.9 * MAX_BYTES / len(packed)))


def _describe_cut(shown: int, rows: int) -> str:
    return (
        f"This table has only the first {shown:,} of {rows:,} rows, to keep the notebook small. "
        "Sort or filter the DataFrame itself to see others."
    )


def _describe_column(
    name: object, values: pd.Series[Any], headings: Mapping[str, str], unique_labels: Mapping[str, str]
) -> Mapping[str, Any]:
    metric = find_metric(str(name))
    better, explanation = "", ""
    if metric is not None:
        better = {True: "higher", False: "lower", None: ""}[metric.higher_is_better]
        unit = f" ({metric.unit})" if metric.unit else ""
        direction = f" {better.capitalize()} is better." if better else ""
        explanation = f"{metric.label}{unit}: {metric.definition}{direction}"
    label, unit = (headings[str(name)], "") if str(name) in headings else _write_label(str(name))
    return {
        "name": str(name),
        "label": unique_labels.get(str(name), label),
        "unit": unit,
        "isNumber": _is_number(values),
        "decimals": _count_decimals(values),
        "better": better,
        "about": explanation,
    }


def _write_label(name: str) -> tuple[str, str]:
    """Return heading and unit of a column; for a batch's column, the metric's label or the name in words."""
    bare = _JOB_PREFIX.sub("", name)
    if bare == name:
        return name, ""
    metric = find_metric(bare) if name.startswith("score.") else None
    if metric is not None:
        arrow = {True: "↑", False: "↓", None: ""}[metric.higher_is_better]
        unit = metric.unit if len(metric.unit) <= MAX_UNIT_LENGTH else ""  # shown in the tooltip instead
        return metric.label, ", ".join(item for item in (unit, arrow) if item)
    parts = [part if part.isupper() else part.lower() for part in _WORDS.split(bare) if part]
    return " ".join(parts), ""


def _is_number(values: pd.Series[Any]) -> bool:
    """Whether the page gets numbers: not whole ones that JavaScript would round, such as long identifiers."""
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return False
    whole = values.dropna()
    if not pd.api.types.is_integer_dtype(values) or whole.empty:
        return True
    return max(-int(whole.min()), int(whole.max())) <= _LARGEST_WHOLE


def _count_decimals(values: pd.Series[Any]) -> int | None:
    """Choose the number of decimals for all figures of a column, so that they align.

    The decimals show up to four significant digits of each figure, but no more than four of the largest and
    two of the smallest. None for integers, and if the figures are too far apart or too small. Distances and
    figures from 0 to 1 have at least two decimals. Distances have at most three, like coordinates, and are
    zero if coordinates cannot distinguish them from zero.
    """
    if not _is_number(values):
        return None
    metric = find_metric(str(values.name))
    unit = metric.unit if metric is not None and values.dtype.kind == "f" else ""
    is_distance, is_measured = unit == "Å", unit in ("Å", "0 to 1")
    numbers = np.abs(values.to_numpy(np.float64, na_value=np.nan))
    numbers = numbers[np.isfinite(numbers) & (numbers >= _NO_DISTANCE if is_distance else numbers != 0)]
    if not len(numbers) or np.all(numbers == np.round(numbers)):
        return 2 if is_measured else None
    largest, smallest = numbers.max(), numbers.min()
    if largest >= 1e7 or (not is_distance and (smallest < 1e-3 or largest > 1e4 * smallest)):
        return None
    magnitudes = np.floor(np.log10(numbers))
    maximum = int(max(3 - magnitudes.max(), 1 - magnitudes.min(), 1))
    maximum = min(maximum, _DISTANCE_DECIMALS) if is_distance else maximum
    tolerances = 0.5 * 10 ** (magnitudes - 3)
    minimum = 2 if is_measured else 1
    for decimals in range(minimum, maximum):
        if np.all(np.abs(np.round(numbers, decimals) - numbers) <= tolerances):
            return decimals
    return max(maximum, minimum)


def _make_formatters(frame: pd.DataFrame) -> dict[Any, Any]:
    """Return pandas formatters for the columns whose figures have equal decimals."""
    if not frame.columns.is_unique:
        return {}
    decimals = {name: _count_decimals(column) for name, column in frame.items()}
    return {name: f"{{:.{number}f}}".format for name, number in decimals.items() if number is not None}


def _list_values(values: pd.Series[Any]) -> list[Any]:
    if _is_number(values):
        numbers = values.to_numpy(np.float64, na_value=np.nan)
        return [_plain_number(number) for number in numbers]
    missing = values.isna()
    return [None if is_missing else str(value) for value, is_missing in zip(values, missing, strict=True)]


def _plain_number(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    if math.isinf(value):  # JSON has no infinity; the page shows the largest float as ∞
        return math.copysign(sys.float_info.max, value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else float(value)


def _name_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Make an index other than a RangeIndex the first column, and join the levels of column names."""
    if not isinstance(frame.index, pd.RangeIndex):
        clash = set(frame.columns) & set(frame.index.names)
        frame = frame.reset_index(drop=bool(clash))
    if not isinstance(frame.columns, pd.MultiIndex):
        return frame
    return frame.set_axis([" ".join(filter(None, map(str, levels))) for levels in frame.columns], axis=1)


def _count_shape(frame: pd.DataFrame, shown: int | None = None) -> str:
    """Rows and columns, such as ``9 rows × 2 columns``, and how many of the rows were ``shown``."""
    part = "" if shown in (None, len(frame)) else f"the first {shown:,} of "
    return f"{part}{count(len(frame), 'row')} × {count(len(frame.columns), 'column')}"


def _write_shape(frame: pd.DataFrame, rows: int) -> str:
    shape = _count_shape(frame)
    return f"{shape}; the first {rows} are shown" if len(frame) > rows else shape
