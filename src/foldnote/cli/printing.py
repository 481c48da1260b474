"""Output of commands: results on standard output, everything else on standard error.

With ``--json``, standard output is one JSON document, even after a failure.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from foldnote.cli.exit_codes import Exit, ExitMeaning
from foldnote.errors import FoldnoteError, JobError, JobFailedError, ServiceError, SettingsError
from foldnote.text import visible

if TYPE_CHECKING:
    from foldnote.models import Job

IN_COMMANDS = {
    "fn.tools()": "`foldnote tools`",
    "fn.provision()": "`foldnote provision`",
    "fn.upload()": "`foldnote files upload`",
    "pass the contents with fn.inline()": "give the contents themselves",
    "fn.export writes": "`foldnote results JOB --export` writes",
    "batches.submit()": "`foldnote batch`",
    "Leave on_failure out; batch.stop()": "Leave --on-failure out; `foldnote stop BATCH`",
    "Leave retries out; batch.retry()": "Leave --retries out; `foldnote batch --retry BATCH`",
    "on_failure='continue'": "--on-failure continue",
    "on_failure='stop'": "--on-failure stop",
    "again=True": "--again",
    "Leave webhook out.": "Leave --webhook out.",
    "webhook=…": "--webhook URL",
    ", or client.webhook.renew_secret()": "",
    "none yet: renew_secret(), or ": "none yet: ",
}
"""Python calls that messages advise, and the equivalent commands."""
_OPTIONS = {
    "job_name": "--name",
    "batch_name": "--name",
    "project_tag": "--project",
    "max_runtime_s": "--max-runtime",
    "weighted_hours_budget": "--budget",
    "retries": "--retries",
    "on_failure": "--on-failure",
}
"""Arguments that messages name before a colon or as what to choose, and the corresponding options."""
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})(?=: )|(?<=Choose another )({'|'.join(_OPTIONS)})\b")
_MIN_LAST_COLUMN = 24
_INDENT = 4
_RETRIES = re.compile(r"\bretries=(\d+)")


def report(options: argparse.Namespace, content: Any, text: object) -> int:
    """Print a command's result: ``content`` as JSON, or ``text``; returns exit code 0."""
    print_json(content) if options.json else show(text)
    return Exit.DONE


def print_json(content: Any) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(content, default=str))


def show(text: object) -> None:
    """Print text on standard output, escaping control characters."""
    print(visible(str(text)))


def print_message(sentence: str) -> None:
    """Print a message on standard error, escaping control characters."""
    print(visible(sentence), file=sys.stderr)


def confirm(question: str) -> bool:
    """Ask a question on the terminal; return whether the user answers yes."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def find_columns() -> int | None:
    """Return the width of the terminal in characters; None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def format_table(titles: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None = None) -> str:
    """Align the columns of a table; the last is not padded.

    Args:
        titles: the heading of each column.
        rows: the cells of each row.
        columns: width of the terminal in characters. Where the last cell of a row is longer than the rest of
            the line, it is wrapped in its column, or below the row if its column would be narrower than 24
            characters. None: one line per row.
    """
    titles, *rows = ([visible(cell) for cell in row] for row in (titles, *rows))
    widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles))]
    heads = [
        "".join(f"{text:{width}}  " for text, width in zip(row[:-1], widths[:-1], strict=True))
        for row in (titles, *rows)
    ]
    if columns is None:
        return "\n".join(
            f"{head}{row[-1]}".rstrip() for head, row in zip(heads, (titles, *rows), strict=True)
        )
    title = titles[-1] if len(heads[0]) + len(titles[-1]) < columns else ""
    lines = [f"{heads[0]}{title}".rstrip()]
    for head, row in zip(heads[1:], rows, strict=True):
        lines += _wrap_last(head, row[-1], columns)
    return "\n".join(lines)


def _wrap_last(head: str, last: str, columns: int) -> list[str]:
    """Return the lines of a row: ``head``, the padded cells, and its last cell."""
    if not last or len(head) + len(last) < columns:
        return [f"{head}{last}".rstrip()]
    width = columns - 1 - len(head)
    if width >= _MIN_LAST_COLUMN:
        first, *continued = textwrap.wrap(last, width, break_on_hyphens=False)
        return [f"{head}{first}", *(" " * len(head) + line for line in continued)]
    below = textwrap.wrap(last, max(_MIN_LAST_COLUMN, columns - 1 - _INDENT), break_on_hyphens=False)
    return [head.rstrip(), *(" " * _INDENT + line for line in below)]


def state_of(job: Job) -> str:
    """Return the status and progress of a job, or of a batch as a whole."""
    if job.batch_status is not None and job.batch_size and job.statuses:
        done = job.statuses.complete + job.statuses.stopped
        return f"{job.batch_status} {done}/{job.batch_size}"
    percent = f" {job.progress:.0%}" if job.progress is not None and not job.is_final else ""
    return f"{job.word}{percent}"


def report_change(job: Job) -> None:
    """Print a job's new state as a line on standard error."""
    print_message(f"{job.job_name}: {state_of(job)}  {job.message or ''}".rstrip())


def print_failure(exc: BaseException, row: ExitMeaning, *, as_json: bool) -> None:
    """Print the message of an exception, and with ``--json`` its details."""
    sentence = describe_failure(exc)
    tail = exc.log_tail if isinstance(exc, JobFailedError) else ""
    if tail.strip() not in sentence:
        print_message(f"The end of the job's log:\n{tail.rstrip()}")
    print_message(f"foldnote: {sentence}")
    if as_json:
        print_json({"error": {"kind": row.kind, "exit": int(row.code), "message": sentence} | _details(exc)})


def describe_failure(exc: BaseException) -> str:
    """Return the message of an exception."""
    if isinstance(exc, FoldnoteError):
        return name_commands(exc.message)
    if isinstance(exc, OSError):
        return f"{exc.filename or 'A file'} cannot be used: {exc.strerror or exc}."
    return "interrupted; jobs at the service continue."


def name_commands(sentence: str) -> str:
    """Replace the functions and arguments that a sentence advises by commands and options."""
    sentence = _ARGUMENT.sub(lambda match: _OPTIONS[match[0]], sentence)
    for call, command in IN_COMMANDS.items():
        sentence = sentence.replace(call, command)
    return _RETRIES.sub(r"--retries \1", sentence)


def _details(exc: BaseException) -> dict[str, Any]:
    if isinstance(exc, SettingsError):
        problems = [problem.to_wire() for problem in exc.problems]
        return {"problems": [each | {"message": name_commands(each["message"])} for each in problems]}
    if isinstance(exc, JobError) and exc.job is not None:
        return {"job": exc.job.to_wire()}
    if isinstance(exc, ServiceError):
        details = {name: getattr(exc, name) for name in ("status", "code", "field", "row")}
        details["retryAfterSeconds"] = exc.retry_after_s
        return {name: value for name, value in details.items() if value is not None}
    return {}
