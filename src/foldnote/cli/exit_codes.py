"""The table of exit codes; scripts may rely on it, and a test compares the documentation with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from foldnote import errors


class Exit(IntEnum):
    """Exit codes of commands."""

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
        kind: its name in the JSON of a failure.
        meaning: one sentence for the documentation.
        causes: exceptions that a command exits with this code for.
    """

    code: Exit
    kind: str
    meaning: str
    causes: tuple[type[BaseException], ...] = ()


CODES: tuple[ExitMeaning, ...] = (
    ExitMeaning(Exit.DONE, "done", "Success."),
    ExitMeaning(Exit.TIMEOUT, "timeout", "The --timeout has passed; the job continues.",
        (errors.WaitTimeoutError,)),
    ExitMeaning(Exit.JOB_FAILED, "job_failed",
        "A job failed or was stopped, a batch has no result, or `foldnote doctor` or `engines check` failed.",
        (errors.JobError,)),
    ExitMeaning(Exit.NOT_FOUND, "not_found", "There is no job, file, tool or engine with this name.",
        (errors.NotFoundError, errors.UnknownToolError, errors.UnknownEngineError)),
    ExitMeaning(Exit.UNREACHABLE, "unreachable",
        "The service does not answer, reports an internal error, or is not a job service.",
        (errors.TransportError, errors.ServiceFaultError, errors.ProtocolError, errors.EmbeddedServiceError)),
    ExitMeaning(Exit.BROKEN, "broken",
        "A download is damaged, an engine cannot be installed, or a file or folder is unusable.",
        (errors.ResultError, errors.EngineError, OSError)),
    ExitMeaning(Exit.REFUSED, "refused",
        "The service refused (key, budget, allowance, rate limit, size), or the name is taken.",
        (errors.JobNameTakenError, errors.ForbiddenError, errors.UnauthorizedError, errors.RateLimitedError,
         errors.TooLargeError, errors.ToolUnavailableError)),
    ExitMeaning(Exit.BAD_INPUT, "bad_input", "The command, a setting, a profile or an option is invalid.",
        (errors.FoldnoteError,)),
    ExitMeaning(Exit.INTERRUPTED, "interrupted", "Interrupted by Ctrl+C; jobs at the service continue.",
        (KeyboardInterrupt,)),
    ExitMeaning(Exit.PIPE_CLOSED, "pipe_closed", "The reader of the output closed the pipe.",
        (BrokenPipeError,)),
)  # fmt: skip
"""All exit codes, in the order in which exceptions are matched."""


def find_code(exc: BaseException) -> ExitMeaning:
    """Find the row for an exception."""
    if isinstance(exc, errors.BadRequestError) and (exc.code or "").endswith("_not_found"):
        return next(row for row in CODES if row.code is Exit.NOT_FOUND)
    if isinstance(exc, errors.NotFoundError) and exc.code == "no_result":
        return next(row for row in CODES if row.code is Exit.JOB_FAILED)
    return next(row for row in CODES if isinstance(exc, row.causes))
