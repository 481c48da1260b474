"""Run times and costs of earlier jobs, and the limits that a job is compared with before it is submitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.job_pages import list_page
from foldnote.client.core.operations import Operation
from foldnote.client.inputs.plain_values import make_plain
from foldnote.errors import EstimateExceededError, NoEstimateWarning, NotSentWarning, warn_caller
from foldnote.models import Job, JobStatus, Problem, Tool
from foldnote.text import format_duration

_JOBS_READ = "200"


@dataclass(frozen=True)
class Experience:
    """Run times and costs of earlier jobs of a tool at this service.

    Attributes:
        count: number of jobs; if 0, the figures are None.
        duration_s: median run time of a job in seconds.
        weighted_hours: median weighted hours of a job; None if the service does not count them.
        peak_memory_mb: peak memory of a job's largest process, in MB (2**20 bytes); None where the service
            does not measure it.
    """

    count: int = 0
    duration_s: float | None = None
    weighted_hours: float | None = None
    peak_memory_mb: float | None = None


def summarize_runs(jobs: Sequence[Job], tool_type: str) -> Experience:
    """Compute medians over the complete jobs of a tool among ``jobs``."""
    from statistics import median  # deferred: slow to import

    ended = [job for job in jobs if job.type == tool_type and job.status is JobStatus.COMPLETE]
    times = [job.duration_s for job in ended if job.duration_s is not None]
    hours = [job.weighted_hours for job in ended if job.weighted_hours is not None]
    peaks = [job.peak_memory_mb for job in ended if job.peak_memory_mb is not None]
    return Experience(
        len(ended),
        median(times) if times else None,
        median(hours) if hours else None,
        max(peaks) if peaks else None,
    )


def read_experience(connection: ServiceConnection, tool_type: str) -> Operation[Experience]:
    """Learn from the complete jobs of a tool among the account's newest 200 jobs."""
    page = yield from list_page(connection, {"limit": _JOBS_READ, "includeSubjobs": "true"})
    return summarize_runs(page.jobs, tool_type)


@dataclass(frozen=True)
class RunLimits:
    """Limits of a job or batch.

    Attributes:
        max_runtime_s: time limit of each job in seconds; None for the tool's own.
        weighted_hours_budget: limit of weighted hours of the job, or of all jobs of the batch together; None
            for no limit.
    """

    max_runtime_s: float | None = None
    weighted_hours_budget: float | None = None

    def __post_init__(self) -> None:
        """Convert numbers of numpy."""
        for name in ("max_runtime_s", "weighted_hours_budget"):
            object.__setattr__(self, name, make_plain(getattr(self, name)))

    def find_problems(self) -> list[Problem]:
        """Return a problem for each limit that is not a positive finite number."""
        fields = {"maxRuntimeSeconds": self.max_runtime_s, "weightedHoursBudget": self.weighted_hours_budget}
        return [
            Problem(field=name, message=f"{value!r:.40} is not a number above 0.", code="limit")
            for name, value in fields.items()
            if value is not None and not _is_positive(value)
        ]

    @property
    def has_any(self) -> bool:
        """Whether a limit is set."""
        return self.max_runtime_s is not None or self.weighted_hours_budget is not None


NO_LIMITS = RunLimits()


def takes_runtime_limit(tool: Tool) -> bool:
    """Return whether the service accepts a time limit for a single job; only foldnote's own service does."""
    return bool(tool.extensions)


def compare_limits(tool: Tool, limits: RunLimits, experience: Experience, *, runs: int = 1) -> None:
    """Compare the limits with the estimate; a warning says what cannot be compared or is not sent.

    Args:
        tool: the tool.
        limits: the limits.
        experience: run times and costs of earlier jobs.
        runs: maximum number of runs of the job, including retries; the budget is compared with the cost of
            all of them.

    Raises:
        EstimateExceededError: the estimate is above a limit.
    """
    hours = None if experience.weighted_hours is None else experience.weighted_hours * runs
    rows = (
        ("max_runtime_s", limits.max_runtime_s, experience.duration_s, format_duration),
        ("weighted_hours_budget", limits.weighted_hours_budget, hours, "{:.3g} weighted hours".format),
    )
    for name, limit, estimate, write in rows:
        if limit is not None and estimate is not None and estimate > limit:
            raise EstimateExceededError(
                f"{tool.type} takes about {write(estimate)} ({describe_basis(experience)}),"
                f" which is above {name}, {write(limit)}. Nothing was submitted. Raise the limit,"
                " or leave it out.",
                estimate=estimate,
                limit=limit,
            )
    unknown = [name for name, limit, estimate, _ in rows if limit is not None and estimate is None]
    if unknown:
        warn_caller(
            f"There is no estimate to compare {' and '.join(unknown)} with: no job of {tool.type} among the"
            " newest ones has completed here with that figure.",
            NoEstimateWarning,
        )
    if limits.max_runtime_s is not None and not takes_runtime_limit(tool):
        warn_caller(
            "Not sent: max_runtime_s. This service takes no time limit for single jobs, so the job is not"
            " ended then.",
            NotSentWarning,
        )


def describe_basis(experience: Experience) -> str:
    """Describe the basis of the estimate."""
    if experience.count == 1:
        return "as the one earlier job of the tool, whatever its settings"
    return f"median of {experience.count} earlier jobs of the tool, whatever their settings"


def _is_positive(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value > 0  # type: ignore[arg-type, operator]
