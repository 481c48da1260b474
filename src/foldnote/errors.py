"""All exceptions that foldnote raises on purpose, in one tree.

The message of each exception says what happened, to which thing, and what to do next. Exceptions of libraries
are translated into these once, where the library is called, with ``from exc``. This module does no I/O and
does not depend on HTTP libraries.

    FoldnoteError
    ├── ArgumentError
    ├── ConfigurationError
    ├── TransportError
    │   ├── ServiceUnreachableError
    │   └── RequestTimeoutError
    ├── ProtocolError
    ├── ServiceError
    │   ├── BadRequestError
    │   │   └── JobNameTakenError
    │   ├── UnauthorizedError
    │   ├── ForbiddenError
    │   │   ├── BudgetExceededError
    │   │   ├── RestrictedRouteError
    │   │   ├── AllowanceExceededError
    │   │   ├── JobLimitError
    │   │   ├── RouterDisabledError
    │   │   └── GatewayForbiddenError
    │   ├── NotFoundError
    │   ├── TooLargeError
    │   ├── RateLimitedError
    │   └── ServiceFaultError
    ├── SettingsError
    │   └── BatchSettingsError
    ├── ToolError
    │   ├── UnknownToolError
    │   │   └── ToolFunctionError
    │   └── ToolUnavailableError
    ├── JobError
    │   ├── JobFailedError
    │   ├── JobStoppedError
    │   └── WaitTimeoutError
    ├── UnfinishedJobError
    ├── EstimateExceededError
    ├── ResultError
    │   ├── ArchiveError
    │   └── UnreadableFileError
    ├── EngineError
    │   ├── UnknownEngineError
    │   └── EngineInstallError
    └── EmbeddedServiceError
        └── UnsupportedSystemError

``Interrupted`` is a ``KeyboardInterrupt`` and outside this tree, so that handlers of errors let it pass.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Mapping, Sequence
from traceback import walk_tb
from types import TracebackType
from typing import TYPE_CHECKING, Any

from foldnote.text import describe_path

if TYPE_CHECKING:
    import pandas as pd

    from foldnote.models.job import Job
    from foldnote.models.problem import Problem
    from foldnote.models.verdict import RowVerdict


class _ShortTraceback(BaseException):
    """An exception for which notebooks show the message, and the traceback on demand."""

    _shown_trace: TracebackType | None = None
    """The traceback of the last exception for which IPython showed only the message."""

    def __init__(self, message: str | None = None) -> None:
        """Store ``message``; the default is the class's docstring."""
        super().__init__(message or (type(self).__doc__ or "").splitlines()[0])

    @property
    def message(self) -> str:
        """The message."""
        return str(self.args[0])

    @property
    def first_line(self) -> str:
        """The first line of the message; the others may quote a log, which is not sent to the browser."""
        return self.message.partition("\n")[0]

    def _render_traceback_(self, *_: object) -> list[str]:
        """Return the lines that IPython shows: the message, and on a second call, by ``%tb``, the traceback.

        ``%debug`` and ``sys.last_value`` work as for other exceptions. Source code is not shown, since it may
        contain a key.
        """
        from IPython.core.getipython import get_ipython

        trace = self.__traceback__
        shell = get_ipython()
        if shell is not None and self._shown_trace is trace:
            lines: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, trace)
            return lines
        self._shown_trace = trace
        head, *more = f"\x1b[31m{type(self).__name__}\x1b[0m: {self}".split("\n")
        notes = [line for note in getattr(self, "__notes__", ()) for line in note.split("\n")]
        place = next((at for frame, at in walk_tb(trace) if frame.f_globals.get("__name__") == "__main__"), 0)
        where = f"Line {place} of the cell. " if place else ""
        return [head, *more, *notes, f"\x1b[2m{where}%tb shows the traceback.\x1b[0m"]


class FoldnoteError(_ShortTraceback, Exception):
    """Base class of all exceptions of foldnote."""


class Interrupted(_ShortTraceback, KeyboardInterrupt):
    """Jobs that the service has accepted continue there; run this again to go on."""


class ArgumentError(FoldnoteError, ValueError):
    """An argument of a call cannot be used; no service was asked."""


class ConfigurationError(FoldnoteError):
    """A profile, an option or a stored key is invalid."""


class TransportError(FoldnoteError):
    """A request received no response."""

    def __init__(self, message: str | None = None, *, was_sent: bool = True) -> None:
        """Store whether the service may have received the request; if not, repeating it is safe."""
        super().__init__(message)
        self.was_sent = was_sent


class ServiceUnreachableError(TransportError):
    """The connection to the service failed or broke."""


class RequestTimeoutError(TransportError):
    """The service did not respond in time."""


class ProtocolError(FoldnoteError):
    """The service's response does not conform to the interface."""


class ServiceError(FoldnoteError):
    """The service refused the request."""

    def __init__(
        self,
        message: str | None = None,
        *,
        status: int = 0,
        code: str | None = None,
        field: str | None = None,
        row: int | None = None,
        body: Mapping[str, Any] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        """Store the parts of the refusal.

        Args:
            message: the service's sentence.
            status: HTTP status.
            code: stable identifier of the refusal, if the service sent one.
            field: dotted path of the invalid field, if any.
            row: 0-based invalid row of a batch, if any.
            body: the whole response if it was a JSON object.
            retry_after_s: seconds to wait before the same call may succeed.
        """
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field
        self.row = row
        self.body = dict(body or {})
        self.retry_after_s = retry_after_s


class BadRequestError(ServiceError):
    """The service found the request invalid."""


class JobNameTakenError(BadRequestError):
    """The name belongs to another job of this account."""


class UnauthorizedError(ServiceError):
    """The key is missing, wrong or expired."""


class ForbiddenError(ServiceError):
    """The key is valid but does not permit this request."""


class BudgetExceededError(ForbiddenError):
    """The budget of the organization or team is used up."""

    @property
    def spent_weighted_hours(self) -> float | None:
        """Used part of the budget, in weighted hours; None if the service did not report it."""
        return _number(self.body.get("spentWeightedHours"))

    @property
    def budget_weighted_hours(self) -> float | None:
        """The budget, in weighted hours; None if the service did not report it."""
        return _number(self.body.get("budgetWeightedHours"))


class RestrictedRouteError(ForbiddenError):
    """An unclaimed trial key may not use this route."""


class AllowanceExceededError(ForbiddenError):
    """The run's estimated cost is above the free-energy allowance of a trial key."""

    @property
    def estimated_weighted_hours(self) -> float | None:
        """Estimated cost of the run, in weighted hours; None if the service did not report it."""
        return _number(self.body.get("estimatedWeightedHours"))

    @property
    def allowance_weighted_hours(self) -> float | None:
        """Allowance of the key, in weighted hours; None if the service did not report it."""
        return _number(self.body.get("allowanceWeightedHours"))


class JobLimitError(ForbiddenError):
    """The account has reached its limit of jobs."""

    @property
    def jobs_allowed(self) -> int | None:
        """Maximum number of jobs of the account; None if the service did not report it."""
        return _count(self.body.get("jobsAllowed"))

    @property
    def jobs_used(self) -> int | None:
        """Number of these that are used; None if the service did not report it."""
        return _count(self.body.get("jobsUsed"))


class RouterDisabledError(ForbiddenError):
    """Tool recommendations are not enabled for this account."""


class GatewayForbiddenError(ForbiddenError):
    """The gateway received no key: it is missing, or was sent under another header's name."""


class NotFoundError(ServiceError):
    """The job, file or route does not exist for this account."""


class TooLargeError(ServiceError):
    """The request exceeds the service's size limit."""


class RateLimitedError(ServiceError):
    """Too many requests in too short a time."""


class ServiceFaultError(ServiceError):
    """The service itself failed."""


class SettingsError(FoldnoteError):
    """The settings do not fit the tool; nothing was sent."""

    def __init__(
        self,
        problems: Sequence[Problem],
        tool: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Store all ``problems``; the message names at most three of them.

        Args:
            problems: the problems of all fields, in the order of the form.
            tool: the tool whose settings these are.
            settings: the settings, by which the message tells positions in lists from names in maps.
        """
        self.problems = tuple(problems)
        self.sentences = tuple(
            f"{_format_path(problem.field, settings)}: {problem.message}" for problem in self.problems
        )
        """What is wrong with each field; rows and items are counted from 1."""
        self.tool = tool
        shown = [sentence.rstrip(".") for sentence in self.sentences[:3]]
        more = len(self.problems) - len(shown)
        if more > 0:
            shown.append(f"and {more} more")
        head = f"The settings of {tool} need attention" if tool else "The settings need attention"
        told = "; ".join(shown)
        super().__init__(f"{head}. {told}" + ("" if told.endswith("?") else "."))


class BatchSettingsError(SettingsError):
    """Rows of a batch do not fit the tool; none was submitted."""

    def __init__(
        self, problems: Sequence[Problem], tool: str | None = None, verdicts: Sequence[RowVerdict] = ()
    ) -> None:
        """Store the verdict on each row and the ``problems``, which name row and field."""
        super().__init__(problems, tool)
        self.verdicts = tuple(verdicts)

    def to_frame(self) -> pd.DataFrame:
        """Return the verdicts as a DataFrame.

        Returns:
            One row per row of the batch, with the index ``row`` (int64, from 0) and the columns ``valid``
            (bool), ``field`` and ``error`` (str; the first problem of the row, missing if it is valid).
        """
        import pandas as pd

        columns = {
            "valid": pd.Series([row.valid for row in self.verdicts], dtype="bool"),
            "field": pd.Series([row.field for row in self.verdicts], dtype="str"),
            "error": pd.Series([row.error for row in self.verdicts], dtype="str"),
        }
        return pd.DataFrame(columns).rename_axis("row")


class NotSentWarning(UserWarning):
    """A value beside the settings was not sent, because the service does not accept it for the tool."""


class TableWarning(UserWarning):
    """An assumption was made about a table file, or part of the file was left out."""


class IncompleteResultWarning(UserWarning):
    """The job did not complete: its files are those that it had written before."""


class NoEstimateWarning(UserWarning):
    """A limit of a job could not be compared with an estimate before it was submitted."""


class EstimateExceededError(FoldnoteError):
    """The estimate for a job is above its limit; nothing was submitted."""

    def __init__(self, message: str | None = None, *, estimate: float = 0.0, limit: float = 0.0) -> None:
        """Store ``estimate`` and ``limit``, both in seconds or both in weighted hours."""
        super().__init__(message)
        self.estimate = estimate
        self.limit = limit


class ToolError(FoldnoteError):
    """A tool cannot be used."""


class UnknownToolError(ToolError):
    """No tool has this type."""

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        """Store the unknown ``name`` and similar names (``near``)."""
        self.name = name
        self.near = tuple(near)
        hint = f" Did you mean {' or '.join(near)}?" if near else " fn.tools() lists them."
        super().__init__(f"There is no tool {name!r} here.{hint}")


class ToolFunctionError(UnknownToolError, AttributeError):
    """``fn.tools`` has no function of this name; also an ``AttributeError``."""

    name: str


class ToolUnavailableError(ToolError):
    """The tool is known, but the connected service cannot run it."""


class JobError(FoldnoteError):
    """A job did not complete, although all requests succeeded."""

    def __init__(self, message: str | None = None, job: Job | None = None) -> None:
        """Keep the ``job`` record as it was last seen."""
        super().__init__(message)
        self.job = job


class JobFailedError(JobError):
    """The tool's run failed."""

    def __init__(self, message: str | None = None, job: Job | None = None, log_tail: str = "") -> None:
        """Store the job's record and the last lines of its log."""
        super().__init__(message, job)
        self.log_tail = log_tail
        reason = job.error if job is not None else None
        told = "\n".join(line for line in log_tail.rstrip().splitlines() if line.strip() != reason)
        if told.strip():  # the log is shown below the message in a traceback
            self.add_note(f"The end of its log:\n{told}")


class JobStoppedError(JobError):
    """The job was stopped before it was complete."""


class UnfinishedJobError(FoldnoteError):
    """The job has no result yet."""

    def __init__(self, message: str | None = None, job: Job | None = None) -> None:
        """Keep the ``job`` record as it was last seen."""
        super().__init__(message)
        self.job = job


class WaitTimeoutError(JobError):
    """The job was not complete when the waiting ended; it continues."""


class ResultError(FoldnoteError):
    """A result cannot be read."""


class ArchiveError(ResultError):
    """The archive is damaged, or not safe to unpack."""


class UnreadableFileError(ResultError):
    """A file of a result does not have the format that its name implies."""


class EngineError(FoldnoteError):
    """An engine cannot be used."""


class UnknownEngineError(EngineError):
    """No engine has this name."""


class EngineInstallError(EngineError):
    """The engine's environment could not be installed."""


class EmbeddedServiceError(FoldnoteError):
    """The embedded service did not start."""


class UnsupportedSystemError(EmbeddedServiceError):
    """The job service and its engines need Linux or macOS; on Windows, use WSL or a hosted service."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that names the caller's line, not a line of this package."""
    package, level, frame = __name__.partition(".")[0], 1, inspect.currentframe()
    while (
        frame is not None
        and frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == package
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _format_path(field: str, settings: object = None) -> str:
    """Format a field's path for display, as it is written in Python, counting from 1.

    ``settings[0].heavy`` becomes ``row 1, heavy``, ``jobName`` becomes ``job_name``.
    """
    if field in _ARGUMENTS:
        return _ARGUMENTS[field]
    found = re.match(rf"({'|'.join(_PARTS)})\[(\d+)\]\.?(.*)", field)
    if found is None:
        beside = field.removeprefix("foldnote.")
        return f"extensions, {beside}" if beside != field else describe_path(field, settings)
    name = describe_path(found[3].removeprefix("settings."))
    return f"{_PARTS[found[1]]} {int(found[2]) + 1}{', ' if name else ''}{name}"


_ARGUMENTS = {
    "jobName": "job_name",
    "batchName": "batch_name",
    "pipelineName": "name of the pipeline",
    "projectTag": "project_tag",
    "maxRuntimeSeconds": "max_runtime_s",
    "weightedHoursBudget": "weighted_hours_budget",
    "foldnote.label": "label",
    "foldnote.retries": "retries",
    "foldnote.onFailure": "on_failure",
    "foldnote.webhook": "webhook",
}
"""Fields of requests that are arguments of functions."""
_PARTS = {
    "settings": "row",
    "jobNames": "name of row",
    "ligands": "ligand",
    "stages": "stage",
    "inputs": "input",
}
"""Lists of requests, and what an item of each is called."""


def _count(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
