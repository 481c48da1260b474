"""What a command prints: results on standard output, everything else on standard error.

With ``--json`` standard output is one JSON document, of a failure too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foldnote.errors import FoldnoteError, JobError, JobFailedError, ServiceError, SettingsError
from foldnote.models.texts import visible

if TYPE_CHECKING:
    from foldnote.cli.exit_codes import ExitMeaning
    from foldnote.models import Job


def print_json(content: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(content, default=str))


def show(text: object) -> None:
    """Text on standard output; control characters that others put into it are spelt out."""
    print(visible(str(text)))


def tell(sentence: str) -> None:
    """A sentence for a person, on standard error; control characters in it are spelt out."""
    print(visible(sentence), file=sys.stderr)


def format_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as they need to be; the last one may run on."""
    titles, rows = _make_visible(titles), [_make_visible(row) for row in rows]
    widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (titles, *rows)
    ]


def _make_visible(cells: Sequence[str]) -> list[str]:
    return [visible(cell) for cell in cells]


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output."""
    show("\n".join(format_table(titles, rows)))


def state_of(job: Job) -> str:
    """Status and progress in a few words; a batch's state is its own."""
    if job.batch_status is not None and job.batch_size and job.statuses:
        done = job.statuses.complete + job.statuses.stopped
        return f"{job.batch_status} {done}/{job.batch_size}"
    percent = f" {job.progress:.0%}" if job.progress is not None and not job.is_final else ""
    return f"{job.word}{percent}"


def report_change(job: Job) -> None:
    """A job's new state, as a line on standard error."""
    tell(f"{job.job_name}: {state_of(job)}  {job.message or ''}".rstrip())


def print_failure(exc: BaseException, row: ExitMeaning, *, as_json: bool) -> None:
    """What went wrong: the sentence, and with ``--json`` the same as data."""
    sentence = describe_failure(exc)
    tail = exc.log_tail if isinstance(exc, JobFailedError) else ""
    if tail.strip():
        tell(f"The end of the job's log:\n{tail.rstrip()}")
    tell(f"foldnote: {sentence}")
    if as_json:
        print_json({"error": {"kind": row.kind, "exit": int(row.code), "message": sentence} | _details(exc)})


def describe_failure(exc: BaseException) -> str:
    """The sentence for a person."""
    if isinstance(exc, FoldnoteError):
        return exc.message
    if isinstance(exc, OSError):
        return f"{exc.filename or 'A file'} cannot be used: {exc.strerror or exc}."
    return "interrupted; jobs at the service go on."


def _details(exc: BaseException) -> dict[str, Any]:
    if isinstance(exc, SettingsError):
        return {"problems": [problem.model_dump(mode="json") for problem in exc.problems]}
    if isinstance(exc, JobError) and exc.job is not None:
        return {"job": exc.job.to_wire()}
    if isinstance(exc, ServiceError):
        found = {
            "status": exc.status,
            "code": exc.code,
            "field": exc.field,
            "row": exc.row,
            "retryAfterSeconds": exc.retry_after_s,
        }
        return {name: value for name, value in found.items() if value is not None}
    return {}
