"""Derive the end of a job from the outcome of its attempt.

A failure of the tool ends the job, unless its submission asked for retries and the tool did not reject its
input. An attempt lost with its process or machine is repeated, up to three attempts in all. The job's
``error`` says which of the two happened. This module writes nothing.
"""

from __future__ import annotations

from foldnote.models.status import JobStatus
from foldnote.service.runner.attempt import SPOILT_SENTENCE, Outcome
from foldnote.service.store import clock
from foldnote.service.store.jobs.queue import STOPPED_MESSAGE, Claim, JobEnd

MAX_ATTEMPTS = 3
LOST_SENTENCE = "The run was lost with the process or machine that ran it."
NOT_STARTED_SENTENCE = "The run was lost before it began, with the process or machine that was to run it."


def make_job_end(outcome: Outcome, *, cores: int, has_result: bool, is_cancelled: bool) -> JobEnd | None:
    """Return how the job ends; None if the attempt was lost and the job may be retried."""
    error, message = None, None
    if outcome.state == "succeeded" and has_result:
        message = outcome.note
    elif outcome.state == "succeeded":
        error = "The tool ended without any output."
    elif is_cancelled:
        message = STOPPED_MESSAGE
    elif outcome.state in ("failed", "timed_out"):
        error = outcome.error or "The tool failed and gave no reason."
    else:
        return None
    return JobEnd(
        state=JobStatus.COMPLETE if outcome.state == "succeeded" and has_result else JobStatus.STOPPED,
        error=error,
        message=message,
        score=None if outcome.score is None else dict(outcome.score),
        measures={
            "weighted_hours": weighted_hours(outcome.started, outcome.ended, cores),
            "cpu_seconds": outcome.cpu_seconds,
            "peak_memory_mb": outcome.peak_memory_mb,
            "peak_gpu_memory_mb": outcome.peak_gpu_memory_mb,
            "engine_version": outcome.engine_version,
        },
        is_tool_failure=error is not None,
        is_input_refused=error is not None and outcome.is_input_refused,
        result_sha256=outcome.result_sha256 if has_result else None,
        result_size=outcome.result_size_bytes if has_result else None,
    )


def cancelled_ending() -> JobEnd:
    """Return the end of a cancelled job without a run."""
    return JobEnd(JobStatus.STOPPED, message=STOPPED_MESSAGE)


def refused_ending(reason: str) -> JobEnd:
    """Return the end of a job that cannot be started."""
    return JobEnd(JobStatus.STOPPED, error=reason)


def overwritten_outcome_ending() -> JobEnd:
    """Return the end of a job whose outcome the tool overwrote."""
    return refused_ending(SPOILT_SENTENCE)


def exhausted_ending(reason: str) -> JobEnd:
    """Return the end of a job that was lost too often."""
    error = f"{reason} It was tried {MAX_ATTEMPTS} times; the tool itself reported no fault. Submit it again."
    return JobEnd(JobStatus.STOPPED, error=error)


def is_exhausted(claim: Claim) -> bool:
    """Return whether the lost attempt was the last one allowed."""
    return claim.losses + 1 >= MAX_ATTEMPTS


def weighted_hours(started: str | None, ended: str | None, cores: int) -> float | None:
    """Return elapsed hours times reserved cores; None if the run never started."""
    if started is None or ended is None:
        return None
    elapsed_s = (clock.read(ended) - clock.read(started)).total_seconds()
    return round(max(0.0, elapsed_s) / 3600 * max(1, cores), 6)
