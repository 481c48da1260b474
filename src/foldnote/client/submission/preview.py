"""Preview of a batch before submission: its rows, the verdict on each, and the expected cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from foldnote.client.inputs.batch_table import Rows
from foldnote.client.submission.batch_submission import BatchAttempt
from foldnote.client.submission.experience import Experience
from foldnote.models import Job, RowVerdict
from foldnote.models.extensions import ON_FAILURE, RETRIES, STOP
from foldnote.models.html_repr import show_grid
from foldnote.text import about_duration, count, format_size, format_weighted_hours

if TYPE_CHECKING:
    import pandas as pd

_FIRST = 5
_CELL = 40


@dataclass(frozen=True, repr=False)
class Preview:
    """A batch before submission.

    Attributes:
        attempt: the prepared request.
        verdicts: one per row.
        existing: the batch that these rows were submitted as before; None if it would be new.
        experience: run times and costs of earlier jobs of the tool.
        jobs_left: upper bound of the jobs that the account may still submit; None if no limit is known.
        rows: the rows as given.
    """

    attempt: BatchAttempt
    verdicts: tuple[RowVerdict, ...]
    existing: Job | None
    experience: Experience
    rows: Rows
    jobs_left: int | None = None

    @property
    def batch_name(self) -> str:
        """Name of the batch."""
        return self.existing.job_name if self.existing else self.attempt.name

    @property
    def count(self) -> int:
        """Number of rows; each is one job."""
        return len(self.verdicts)

    @property
    def is_valid(self) -> bool:
        """Whether every row is valid."""
        return all(verdict.valid for verdict in self.verdicts)

    @property
    def jobs_taken(self) -> int:
        """Number of jobs of the allowance that submitting uses; 0 if the batch exists already."""
        return 0 if self.existing else self.count

    @property
    def weighted_hours(self) -> float | None:
        """Expected weighted hours of the batch, from earlier jobs of the tool; None if unknown."""
        each = self.experience.weighted_hours
        return None if each is None else each * self.jobs_taken

    @property
    def duration_s(self) -> float | None:
        """Expected computing time in seconds, summed over the jobs, from earlier ones; None if unknown."""
        each = self.experience.duration_s
        return None if each is None else each * self.jobs_taken

    @property
    def retries(self) -> int:
        """Number of times a job is run again after its tool failed; 0 if the service does not offer it."""
        return int((self.attempt.extensions or {}).get(RETRIES) or 0)

    @property
    def weighted_hours_at_most(self) -> float | None:
        """Expected weighted hours if every job used all its retries; None if unknown."""
        hours = self.weighted_hours
        return None if hours is None else hours * (1 + self.retries)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows and the verdict on each.

        Returns:
            One row per job, with the index ``job_name`` (str) and the columns ``valid`` (bool), ``field`` and
            ``error`` (str; the first problem, missing where valid), then ``settings.NAME``.
        """
        import pandas as pd

        names = dict.fromkeys(name for row in self.attempt.rows for name in row)
        columns: dict[str, Any] = {
            "valid": pd.Series([verdict.valid for verdict in self.verdicts], dtype="bool"),
            "field": pd.Series([verdict.field for verdict in self.verdicts], dtype="str"),
            "error": pd.Series([verdict.error for verdict in self.verdicts], dtype="str"),
        }
        columns |= {f"settings.{name}": [row.get(name) for row in self.attempt.rows] for name in names}
        return pd.DataFrame(columns).set_axis(pd.Index(self.attempt.names, dtype="str", name="job_name"))

    def summary(self) -> list[str]:
        """Return the preview as sentences, one per line."""
        tool, invalid = self.attempt.tool, sum(not verdict.valid for verdict in self.verdicts)
        lines = [f"{self.batch_name}: {self.count} {'job' if self.count == 1 else 'jobs'} of {tool.label}"]
        if self.existing:
            lines.append(
                f"It was submitted before and is {self.existing.status}; submitting again costs nothing."
            )
            return lines
        if invalid:
            rows, verb = count(invalid, "row"), "is" if invalid == 1 else "are"
            lines.append(f"{rows} of {self.count} {verb} not valid, so nothing can be submitted:")
            wrong = [verdict for verdict in self.verdicts if not verdict.valid][:_FIRST]
            lines += [
                f"  row {verdict.index + 1}, {verdict.field or 'settings'}: {verdict.reason}"
                for verdict in wrong
            ]
            return lines
        if not tool.available:
            lines.append(tool.unavailable_reason or "The service cannot run this tool now.")
        left = "" if self.jobs_left is None else f" of the {self.jobs_left} that the account has left"
        if self.jobs_left is not None and self.jobs_left < self.count:
            lines.append(f"The account has {self.jobs_left} jobs left, which is not enough.")
        lines.append(f"It counts as {self.count} {'job' if self.count == 1 else 'jobs'}{left}.{self._cost()}")
        return [*lines, *self._describe_policy()]

    def _describe_policy(self) -> Iterator[str]:
        """Describe what happens after a failure, and the maximum cost."""
        if self.retries:
            told = f"A job that fails is run again, up to {count(self.retries, 'time')}"
            hours, budget = self.weighted_hours_at_most, self.attempt.limits.weighted_hours_budget
            cost = "" if hours is None else f": {format_weighted_hours(hours)}"
            cap = "" if budget is None else f"; the budget of {budget:g} weighted hours holds for all runs"
            yield f"{told}, so that the batch costs at most {1 + self.retries} times as much{cost}{cap}."
        if (self.attempt.extensions or {}).get(ON_FAILURE) == STOP:
            yield "After the first failure no more of its jobs start; running jobs are completed."

    def _cost(self) -> str:
        if self.duration_s is None:
            return " The run time is unknown: no job of this tool has completed here yet."
        each = f"median of {self.experience.count} earlier"
        text = f" It takes {about_duration(self.duration_s)} of computing ({each})"
        hours, peak = self.weighted_hours, self.experience.peak_memory_mb
        text += "" if hours is None else f", {format_weighted_hours(hours)}"
        text += "" if peak is None else f", up to {format_size(peak * 2**20)} of memory a job"
        return f"{text}."

    def __repr__(self) -> str:
        rows = [
            f"  {name}: " + ", ".join(f"{key}={_short(value)}" for key, value in row.items())
            for name, row in zip(self.attempt.names[:_FIRST], self.attempt.rows, strict=False)
        ]
        more = [f"  … and {self.count - _FIRST} more"] if self.count > _FIRST else []
        return "\n".join([*self.summary(), *rows, *more])

    def _repr_html_(self) -> str:
        first, *rest = (escape(line) for line in self.summary())
        frame = self.to_frame().head(_FIRST)
        columns = [name for name in frame if name not in ("valid", "field", "error")]
        shown = frame[columns].map(_short).rename(columns=lambda name: name.removeprefix("settings."))
        rows = shown.rename_axis("job").reset_index()
        table = show_grid("", [*rows.columns], rows.itertuples(index=False))
        more = f"<p>… and {self.count - _FIRST} more</p>" if self.count > _FIRST else ""
        return f"<p><b>{first}</b><br>{'<br>'.join(rest)}</p>{table}{more}"


def _short(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
