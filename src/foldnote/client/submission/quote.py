"""The cost of a job, estimated from earlier jobs of its tool; nothing is submitted."""

from __future__ import annotations

from dataclasses import dataclass

from foldnote.client.submission.experience import Experience, describe_basis
from foldnote.models import Job, Tool
from foldnote.models.html_repr import show_pairs
from foldnote.text import about_duration, format_size, format_weighted_hours


@dataclass(frozen=True, repr=False)
class Quote:
    """A job before submission.

    Attributes:
        tool: the tool.
        job_name: the name that the job would have, or has.
        existing: the same submission's job; None if it would be new.
        experience: run times and costs of earlier jobs of the tool, whatever their settings.
        jobs_left: upper bound of the jobs that the account may still submit; None if no limit is known.
    """

    tool: Tool
    job_name: str
    existing: Job | None
    experience: Experience
    jobs_left: int | None = None

    @property
    def has_estimate(self) -> bool:
        """Whether a job of the tool has completed at this service, so that figures are known."""
        return self.experience.duration_s is not None

    @property
    def duration_s(self) -> float | None:
        """Median run time of earlier jobs in seconds; 0 for an existing job, None if unknown."""
        return 0.0 if self.existing else self.experience.duration_s

    @property
    def weighted_hours(self) -> float | None:
        """Median weighted hours of earlier jobs; 0 for an existing job, None if unknown."""
        return 0.0 if self.existing else self.experience.weighted_hours

    @property
    def peak_memory_mb(self) -> float | None:
        """Peak memory of an earlier job's largest process, in MB (2**20 bytes); None if unknown."""
        return self.experience.peak_memory_mb

    def summary(self) -> dict[str, str]:
        """Return the quote as sentences by topic."""
        if self.existing:
            told = (
                f"{self.job_name}, submitted before and {self.existing.word}; submitting again costs nothing"
            )
            return {"job": told}
        seen, hours = self.experience, self.weighted_hours
        unknown = "unknown: no job of this tool among the newest ones has completed here"
        figures = {
            "run time": unknown if seen.duration_s is None else about_duration(seen.duration_s),
            "cost": "" if hours is None else format_weighted_hours(hours),
            "memory": ""
            if seen.peak_memory_mb is None
            else f"up to {format_size(seen.peak_memory_mb * 2**20)}",
            "estimated from": describe_basis(seen) if seen.count else "",
            "jobs": _describe_left(self.jobs_left),
            "not available": "" if self.tool.available else self.tool.unavailable_reason or "at this service",
        }
        return {"job": f"{self.job_name}, not submitted"} | {
            name: told for name, told in figures.items() if told
        }

    def __repr__(self) -> str:
        return "\n".join([f"Quote for {self.tool.type}", *(f"  {k}: {v}" for k, v in self.summary().items())])

    def _repr_html_(self) -> str:
        return show_pairs(f"Quote for {self.tool.label}", self.summary())


def _describe_left(jobs_left: int | None) -> str:
    if jobs_left is None:
        return ""
    return f"1 of the {jobs_left:,} that the account has left" if jobs_left else "the account has none left"
