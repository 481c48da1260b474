"""Read delimited text with any separator, with a preamble, or without column names.

The layout is determined here; pandas reads the values.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pandas as pd

from foldnote.errors import UnreadableFileError
from foldnote.results.core.messages import explain
from foldnote.results.naming.families import strip_packing

HIT_COLUMNS = (
    "query", "target", "fident", "alnlen", "mismatch", "gapopen", "qstart", "qend", "tstart", "tend",
    "evalue", "bits",
)  # fmt: skip
"""Default columns of BLAST-tab output (MMseqs2, Foldseek) without a header line."""
JOB_COLUMN = "jobName"
"""Column of the service's tables with the names of jobs."""
_HEAD_BYTES = 64 * 1024
_MAX_PREAMBLE = 40
_BLANKS = r"\s+"
_SCORE_LINE = re.compile(rb"^SCORE:\s", re.MULTILINE)
_NUMBER = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.IGNORECASE)


def read_delimited(data: bytes, name: str) -> pd.DataFrame:
    """Read a delimited table with a header line.

    The separator is determined from the header: a comma, else a tab, else (in CSV files) a semicolon, else
    white space. Comments before the table are skipped; search hits without a header get :data:`HIT_COLUMNS`.

    Returns:
        The file's columns with pandas' dtypes, one row per line; :data:`JOB_COLUMN` is text, since a job may
        be called ``007`` or ``NA``. An empty file, such as a search without hits, has no rows.

    Raises:
        UnreadableFileError: the file cannot be read as a table.
    """
    plain = strip_packing(name)
    if not data.strip():
        return pd.DataFrame(columns=list(HIT_COLUMNS) if plain.endswith(".m8") else None)
    if _SCORE_LINE.search(data[:_HEAD_BYTES]):
        data = _take_score_lines(data)
    lines = data[:_HEAD_BYTES].decode("utf-8", "replace").splitlines()
    skipped = _count_preamble(lines, plain)
    first = lines[skipped] if skipped < len(lines) else ""
    separator = _find_separator(first, plain)
    cells = first.split(None if separator == _BLANKS else separator)
    names = _name_hits(cells) if plain.endswith(".m8") else None
    options: dict[str, Any] = {
        "sep": separator,
        "low_memory": False,
        "skiprows": skipped,
        "header": "infer" if names is None else None,
        "names": names,
    }
    try:
        frame: pd.DataFrame = pd.read_csv(io.BytesIO(data), **options)
        if JOB_COLUMN in frame.columns:
            options |= {"usecols": [JOB_COLUMN], "dtype": "str", "keep_default_na": False}
            frame[JOB_COLUMN] = pd.read_csv(io.BytesIO(data), **options)[JOB_COLUMN]
    except (ValueError, csv.Error, OverflowError, MemoryError) as exc:
        raise UnreadableFileError(f"{name} cannot be read as a table: {explain(exc)}.") from exc
    return frame


def _find_separator(first: str, plain: str) -> str:
    if plain.endswith(".tsv") or ("," not in first and "\t" in first):
        return "\t"
    if "," in first or plain.endswith(".csv"):
        return ";" if "," not in first and ";" in first else ","
    return _BLANKS


def _count_preamble(lines: list[str], plain: str) -> int:
    """Return the number of comment lines before the table, without one that is the table's header."""
    for index, line in enumerate(lines[:_MAX_PREAMBLE]):
        if plain.endswith(".fxout"):
            if line.count("\t") > 1:
                return index
        elif line.strip() and not line.startswith("#"):
            previous = lines[index - 1] if index else ""
            separator = _find_separator(line, plain)
            counts = [len(re.split(separator, text.strip("\r\n"))) for text in (previous, line)]
            return index - 1 if previous.startswith("#") and counts[0] == counts[1] > 1 else index
    return 0


def _name_hits(cells: list[str]) -> list[str] | None:
    """Name the columns of hits without a header, whose first line has numbers from the third cell on."""
    if len(cells) < len(HIT_COLUMNS) or not all(_NUMBER.match(cell) for cell in cells[2 : len(HIT_COLUMNS)]):
        return None
    return [*HIT_COLUMNS, *(f"column_{n}" for n in range(len(HIT_COLUMNS) + 1, len(cells) + 1))]


def _take_score_lines(data: bytes) -> bytes:
    """Return the SCORE lines of a Rosetta score file as tab-separated text, with one header line."""
    rows = [line.split()[1:] for line in data.splitlines() if line.startswith(b"SCORE:")]
    score_rows = [rows[0], *(row for row in rows[1:] if len(row) == len(rows[0]) and row != rows[0])]
    return b"\n".join(b"\t".join(row) for row in score_rows)


def is_json_lines(data: bytes) -> bool:
    """Return whether the first line is a JSON object, as in JSON lines."""
    first = data.lstrip().split(b"\n", 1)[0]
    try:
        return first.startswith(b"{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False
