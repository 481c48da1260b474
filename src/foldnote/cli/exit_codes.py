"""The one table of exit codes: scripts may rely on it, and the documentation is checked against it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from foldnote import errors


class Exit(IntEnum):
    """What the command's end means."""

    DONE = 0
    JOB_FAILED = 1
    BAD_INPUT = 2
    REFUSED = 3
    NOT_FOUND = 4
    UNREACHABLE = 5
    BROKEN = 6
    TIMEOUT = 124
    INTERRUPTED = 130
    PIPE_CLOSED = 141


@dataclass(frozen=True)
class ExitMeaning:
    """One exit code.

    Attributes:
        code: the number.
        kind: the same as a word, in the JSON of a failure.
        meaning: one sentence for the documentation.
        causes: exceptions that end a command so.
    """

    code: Exit
    kind: str
    meaning: str
    causes: tuple[type[BaseException], ...] = ()


CODES: tuple[ExitMeaning, ...] = (
    ExitMeaning(Exit.DONE, "done", "It is done."),
    ExitMeaning(Exit.TIMEOUT, "timeout", "The time of --timeout is over; the job goes on.",
        (errors.WaitTimeoutError,)),
    ExitMeaning(Exit.JOB_FAILED, "job_failed",
        "A job failed or was stopped, a batch left no result, or a check of the doctor did not pass.",
        (errors.JobError,)),
    ExitMeaning(Exit.NOT_FOUND, "not_found", "There is no job, file, tool or engine of this name.",
        (errors.NotFoundError, errors.UnknownToolError, errors.UnknownEngineError)),
    ExitMeaning(Exit.UNREACHABLE, "unreachable",
        "The service does not answer, answers with a fault of its own, or is no job service.",
        (errors.TransportError, errors.ServiceFaultError, errors.ProtocolError, errors.EmbeddedServiceError)),
    ExitMeaning(Exit.BROKEN, "broken",
        "A download is damaged, an engine cannot be installed, or a file or folder cannot be used.",
        (errors.ResultError, errors.EngineError, OSError)),
    ExitMeaning(Exit.REFUSED, "refused",
        "The service or a name that is taken does not allow it: key, budget, allowance, pace, size.",
        (errors.JobNameTakenError, errors.ForbiddenError, errors.UnauthorizedError, errors.RateLimitedError,
         errors.TooLargeError, errors.ToolUnavailableError)),
    ExitMeaning(Exit.BAD_INPUT, "bad_input", "The command, a setting, a profile or an option is not valid.",
        (errors.FoldnoteError,)),
    ExitMeaning(Exit.INTERRUPTED, "interrupted", "Ctrl+C; jobs at the service go on.", (KeyboardInterrupt,)),
    ExitMeaning(Exit.PIPE_CLOSED, "pipe_closed", "The reader of the output went away.", (BrokenPipeError,)),
)  # fmt: skip
"""In the order in which an exception is looked for."""


def find_code(exc: BaseException) -> ExitMeaning:
    """The row that ``exc`` ends a command with."""
    if isinstance(exc, errors.BadRequestError) and (exc.code or "").endswith("_not_found"):
        return next(row for row in CODES if row.code is Exit.NOT_FOUND)
    return next(row for row in CODES if isinstance(exc, row.causes))
