"""Validate every row of a batch, locally first, then at the service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from foldnote import catalog
from foldnote.catalog.sequences import is_fasta
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.error_mapping import name_calls, parse_response
from foldnote.client.core.operations import Operation
from foldnote.client.inputs.file_values import find_doubts, find_elsewhere
from foldnote.client.local.identity import with_extensions
from foldnote.client.submission.extensions import Extensions
from foldnote.errors import BatchSettingsError, ProtocolError, SettingsError, TooLargeError
from foldnote.models import BatchVerdict, Problem, RowVerdict, Tool, Verdict, read_verdict

V = TypeVar("V", Verdict, RowVerdict)
MAX_ROWS = 1000
MAX_BYTES = 4_400_000
"""Largest body of a validation request in bytes, less a margin."""
Row = Mapping[str, Any]


def check_rows(
    tool: Tool, rows: Sequence[Row], service: str
) -> tuple[list[dict[str, Any]], list[RowVerdict]]:
    """Validate rows by the tool's schema; returns them with defaults filled in, and the verdicts.

    Args:
        tool: the tool.
        rows: the settings of each job.
        service: the one that is to run them (see ``Client.service``).
    """
    normalized, verdicts = [], []
    for index, row in enumerate(rows):
        checked = catalog.check(tool, row)
        problem = next(
            iter((*find_doubts(tool, row), *find_elsewhere(row, service), *checked.problems)), None
        )
        normalized.append(checked.normalized)
        if problem is None:
            verdicts.append(RowVerdict(index=index, valid=True, normalized=checked.normalized))
        else:
            verdicts.append(RowVerdict(index=index, valid=False, error=problem.message, field=problem.field))
    return normalized, verdicts


def require_valid(tool: Tool, verdicts: Sequence[RowVerdict]) -> None:
    """Check that every row is valid.

    Raises:
        BatchSettingsError: some rows are invalid; it has the verdict on each row.
    """
    problems = [
        Problem(
            field=f"settings[{row.index}]{f'.{row.field}' if row.field else ''}",
            message=row.error or "The service refuses this row and gives no reason.",
        )
        for row in verdicts
        if not row.valid
    ]
    if problems:
        raise BatchSettingsError(problems, tool.type, verdicts)


def validate_rows(
    connection: ServiceConnection, tool: Tool, rows: Sequence[Row], sent: Extensions | None = None
) -> Operation[list[RowVerdict]]:
    """Validate every row at the service, in chunks within its limits of rows and bytes.

    Args:
        sent: extensions that are sent with every row.

    Raises:
        SettingsError: the service refuses the batch as a whole.
        ProtocolError: the service returned no verdict for some row.
        TooLargeError: a single row exceeds the service's limit.
    """
    verdicts: list[RowVerdict] = []
    for chunk in split_rows(rows):
        verdicts += yield from _validate_chunk(connection, tool, chunk, sent)
    return [verdict.model_copy(update={"index": row}) for row, verdict in enumerate(verdicts)]


def split_rows(
    rows: Sequence[Row], max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES
) -> Iterator[list[Row]]:
    """Split rows into chunks of at most ``max_rows`` rows and ``max_bytes`` bytes; larger rows go alone."""
    chunk: list[Row] = []
    size = 0
    for row in rows:
        added = len(json.dumps(row)) + 2
        if chunk and (len(chunk) == max_rows or size + added > max_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append(row)
        size += added
    if chunk:
        yield chunk


def has_records(settings: Row | Sequence[Row]) -> bool:
    """Return whether a text of the settings, or of those of a batch, may be a FASTA record."""
    rows = [settings] if isinstance(settings, Mapping) else settings
    texts = (value for row in rows if isinstance(row, Mapping) for value in row.values())
    return any(isinstance(text, str) and is_fasta(text) for text in texts)


def read_records(tool: Tool, settings: Row | Sequence[Row]) -> Any:
    """Replace FASTA records in the settings, or in those of a batch, by their letters."""
    if isinstance(settings, Mapping):
        return catalog.read_records(tool, settings)
    return [catalog.read_records(tool, row) if isinstance(row, Mapping) else row for row in settings]


def read_service_verdict(answer: object) -> Verdict | BatchVerdict:
    """Read the verdict in a service's answer, replacing routes in its advice by notebook calls.

    Raises:
        ProtocolError: the answer is not an object.
    """
    verdict = read_verdict(answer)
    if isinstance(verdict, BatchVerdict):
        return verdict.model_copy(update={"results": tuple(map(_name_calls, verdict.results))})
    return _name_calls(verdict)


def _name_calls(verdict: V) -> V:
    return verdict.model_copy(update={"error": verdict.error and name_calls(verdict.error)})


def _validate_chunk(
    connection: ServiceConnection, tool: Tool, rows: list[Row], sent: Extensions | None
) -> Operation[list[RowVerdict]]:
    body = with_extensions({"jobName": "check", "type": tool.type, "settings": rows}, sent)
    try:
        answer = yield from connection.request("POST", "/validate-job", json=body, repeatable=True)
    except TooLargeError:
        if len(rows) == 1:
            raise
        half = len(rows) // 2
        first = yield from _validate_chunk(connection, tool, rows[:half], sent)
        return first + (yield from _validate_chunk(connection, tool, rows[half:], sent))
    verdict = parse_response(read_service_verdict, answer)
    if not isinstance(verdict, BatchVerdict):
        message = verdict.error or "The service refuses the batch as a whole."
        raise SettingsError([Problem(field=verdict.field or "settings", message=message)], tool.type)
    if len(verdict.results) != len(rows):
        raise ProtocolError(
            f"The service validated {len(verdict.results)} of {len(rows)} rows, so nothing was submitted."
        )
    return list(verdict.results)
