"""Validate every row of a batch, locally first, then at the service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldnote import catalog
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.error_mapping import understand
from foldnote.client.core.operations import Operation
from foldnote.client.inputs.file_values import find_doubts
from foldnote.errors import BatchSettingsError, ProtocolError, SettingsError, TooLargeError
from foldnote.models import BatchVerdict, Problem, RowVerdict, Tool, read_verdict

MOST_ROWS = 1000
MOST_BYTES = 4_400_000
"""What one validation takes, less the room for the rest of the body."""
Row = Mapping[str, Any]


def check_rows(tool: Tool, rows: Sequence[Row]) -> tuple[list[dict[str, Any]], list[RowVerdict]]:
    """The rows with defaults filled in, and the verdict on each by the tool's schema."""
    normalized, verdicts = [], []
    for index, row in enumerate(rows):
        checked = catalog.check(tool, row)
        problem = next(iter((*find_doubts(tool, row), *checked.problems)), None)
        normalized.append(checked.normalized)
        if problem is None:
            verdicts.append(RowVerdict(index=index, valid=True, normalized=checked.normalized))
        else:
            verdicts.append(RowVerdict(index=index, valid=False, error=problem.message, field=problem.field))
    return normalized, verdicts


def require_valid(tool: Tool, verdicts: Sequence[RowVerdict]) -> None:
    """Go on only when every row is right.

    Raises:
        BatchSettingsError: some are not; it has the verdict on each row.
    """
    problems = [
        Problem(
            field=f"settings[{row.index}]{f'.{row.field}' if row.field else ''}",
            message=row.error or "The service refuses this row and does not say why.",
        )
        for row in verdicts
        if not row.valid
    ]
    if problems:
        raise BatchSettingsError(problems, tool.type, verdicts)


def judge_rows(connection: ServiceConnection, tool: Tool, rows: Sequence[Row]) -> Operation[list[RowVerdict]]:
    """The service's verdict on every row, in chunks within its limits of rows and bytes.

    Raises:
        SettingsError: it refuses the batch as a whole.
        ProtocolError: it left a row without a verdict.
        TooLargeError: a single row is too large for it.
    """
    verdicts: list[RowVerdict] = []
    for chunk in cut_rows(rows):
        verdicts += yield from _judge(connection, tool, chunk)
    return [verdict.model_copy(update={"index": row}) for row, verdict in enumerate(verdicts)]


def cut_rows(
    rows: Sequence[Row], most_rows: int = MOST_ROWS, most_bytes: int = MOST_BYTES
) -> Iterator[list[Row]]:
    """The rows in chunks of at most ``most_rows`` rows and ``most_bytes`` bytes; a larger row goes alone."""
    chunk: list[Row] = []
    size = 0
    for row in rows:
        added = len(json.dumps(row)) + 2
        if chunk and (len(chunk) == most_rows or size + added > most_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += added
    if chunk:
        yield chunk


def _judge(connection: ServiceConnection, tool: Tool, rows: list[Row]) -> Operation[list[RowVerdict]]:
    body = {"jobName": "check", "type": tool.type, "settings": rows}
    try:
        answer = yield from connection.ask("POST", "/validate-job", json=body, repeatable=True)
    except TooLargeError:
        if len(rows) == 1:
            raise
        half = len(rows) // 2
        first = yield from _judge(connection, tool, rows[:half])
        return first + (yield from _judge(connection, tool, rows[half:]))
    verdict = understand(read_verdict, answer)
    if not isinstance(verdict, BatchVerdict):
        told = verdict.error or "The service refuses the batch as a whole."
        raise SettingsError([Problem(field=verdict.field or "settings", message=told)], tool.type)
    if len(verdict.results) != len(rows):
        raise ProtocolError(
            f"The service judged {len(verdict.results)} of {len(rows)} rows, so nothing was submitted."
        )
    return list(verdict.results)
