"""The table of job states and of batch states.

It defines which states are final, and maps the status words of deployed services to those of the interface.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from foldnote.errors import ProtocolError

FAILED, NOT_RUN = "Failed", "Not run"
"""Displayed states that the interface calls ``Stopped``: a failed run, and a stage after a failed one."""
OF_A_STAGE = "The stage "
"""First words of the error of a stage that did not run; the rest names the stage without a result."""
CANNOT_START = "The stage cannot start: "
"""First words of the error of a stage that is itself the cause."""


class JobStatus(StrEnum):
    """The four statuses of the interface; the value is the word on the wire."""

    IN_QUEUE = "In Queue"
    RUNNING = "Running"
    COMPLETE = "Complete"
    STOPPED = "Stopped"

    @property
    def is_final(self) -> bool:
        """Whether a job in this status never changes again."""
        return ROWS[self].is_final


@dataclass(frozen=True)
class StatusRow:
    """The properties of one status.

    Attributes:
        is_final: whether the job never changes again.
        follows: possible previous statuses.
        foreign: equivalent words of some deployments, in lower case.
        failure_words: the words in ``foreign`` for a failed run.
    """

    is_final: bool
    follows: frozenset[JobStatus]
    foreign: frozenset[str]
    failure_words: frozenset[str] = frozenset()


ROWS: dict[JobStatus, StatusRow] = {
    JobStatus.IN_QUEUE: StatusRow(
        is_final=False,
        follows=frozenset({JobStatus.RUNNING}),  # the job of a lost attempt returns to the queue
        foreign=frozenset({"in queue", "inqueue", "in_queue", "queued", "pending", "submitted"}),
    ),
    JobStatus.RUNNING: StatusRow(
        is_final=False,
        follows=frozenset({JobStatus.IN_QUEUE}),
        foreign=frozenset({"running", "started", "in progress", "aggregating"}),
    ),
    JobStatus.COMPLETE: StatusRow(
        is_final=True,
        follows=frozenset({JobStatus.RUNNING}),
        foreign=frozenset({"complete", "completed", "done", "succeeded", "finished"}),
    ),
    JobStatus.STOPPED: StatusRow(
        is_final=True,
        follows=frozenset({JobStatus.IN_QUEUE, JobStatus.RUNNING}),
        foreign=frozenset({"stopped", "deleted", "cancelled", "canceled", "failed", "error"}),
        failure_words=frozenset({"failed", "error"}),
    ),
}

FINAL_STATUSES = tuple(str(status) for status in JobStatus if status.is_final)
"""The words of the statuses that never change again."""
_BY_WORD = {word: status for status, row in ROWS.items() for word in row.foreign}


def read_status(word: object) -> JobStatus:
    """Return the status that ``word`` means, in any letter case.

    Raises:
        ProtocolError: the word is unknown.
    """
    status = _BY_WORD.get(str(word).strip().lower())
    if status is None:
        known = ", ".join(JobStatus)
        raise ProtocolError(f"The service reports the job status {word!r}; known are {known}.")
    return status


def is_failure_word(word: object) -> bool:
    """Return whether a status word of a service means that the run failed."""
    return any(str(word).strip().lower() in row.failure_words for row in ROWS.values())


def is_behind(error: str) -> bool:
    """Return whether the error of a stage that never started is that an earlier stage has no result."""
    return error.startswith(OF_A_STAGE) and not error.startswith(CANNOT_START)


class BatchStatus(StrEnum):
    """The states of a batch parent; the value is the word on the wire."""

    IN_QUEUE = "In Queue"
    RUNNING = "Running"
    AGGREGATING = "Aggregating"
    COMPLETE = "Complete"
    STOPPED = "Stopped"
    AGGREGATION_FAILED = "AggregationFailed"

    @property
    def is_final(self) -> bool:
        """Whether a batch in this state never changes again."""
        return self in (BatchStatus.COMPLETE, BatchStatus.STOPPED, BatchStatus.AGGREGATION_FAILED)


def read_batch_status(word: object) -> BatchStatus:
    """Return the batch state that ``word`` means, in any letter case.

    Raises:
        ProtocolError: the word is unknown.
    """
    text = str(word).strip().lower().replace(" ", "").replace("_", "")
    if text in ("aggregationerror", "aggregationfailed"):
        return BatchStatus.AGGREGATION_FAILED
    if text in ("failed", "error"):
        return BatchStatus.STOPPED
    for status in BatchStatus:
        if status.value.lower().replace(" ", "") == text:
            return status
    return BatchStatus(read_status(word).value)
