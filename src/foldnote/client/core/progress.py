"""Progress as one line, updated in place in a cell or terminal, or appended to a log.

Anything that ends within half a second shows nothing. In a terminal the line goes to standard error, which
keeps standard output clean; a file gets a line now and then. This module only displays.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol, TextIO

from foldnote.models import Job, JobStatus
from foldnote.text import format_duration, format_size, visible

ProgressCallback = Callable[[int, int | None], None]
"""Called with the bytes done and the total in bytes (None if unknown)."""

_QUIET_S = 0.5
_CELL_S = 0.25
_TERMINAL_S = 0.1
_FILE_S = 15.0
_WIDTH = 24
_LINE = 100


class ProgressDisplay(Protocol):
    """Where a progress bar is shown."""

    pause_s: float
    """Minimum seconds between two updates."""

    def show(self, share: float | None, text: str) -> None:
        """Show or update the bar; ``share`` is 0 to 1, or None if unknown."""

    def close(self) -> None:
        """Leave the last state on display."""


class Bar:
    """A title, a share of 0 to 1 and a text, shown at a limited rate."""

    def __init__(
        self, title: str, display: ProgressDisplay | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Show nothing yet."""
        self._title = title
        self._display = display or find_display()
        self._clock = clock
        self._begun = clock()
        self._shown: float | None = None
        self._last: tuple[float | None, str] | None = None

    @property
    def elapsed_s(self) -> float:
        """Seconds since the bar was created."""
        return self._clock() - self._begun

    def update(self, share: float | None, text: str) -> None:
        """Set the progress; it is shown when the next update is due."""
        self._last = (share, text)
        now = self._clock()
        due = self._begun + _QUIET_S if self._shown is None else self._shown + self._display.pause_s
        if now >= due:
            self._shown = now
            self._display.show(share, self._line(text))

    def close(self) -> None:
        """Show the last state, if anything was shown before."""
        if self._shown is not None and self._last is not None:
            share, text = self._last
            self._display.show(share, self._line(text))
            self._display.close()

    def _line(self, text: str) -> str:
        return f"{self._title} · {text} · {format_duration(self.elapsed_s)}"


class Terminal:
    """One line of a terminal, overwritten at each update."""

    pause_s = _TERMINAL_S

    def __init__(self, stream: TextIO) -> None:
        """Write to ``stream``, which is a terminal."""
        self._stream = stream

    def show(self, share: float | None, text: str) -> None:
        """Overwrite the line."""
        full = round((share or 0.0) * _WIDTH)
        bar = "" if share is None else f"{'━' * full}{'╌' * (_WIDTH - full)} {share:4.0%}  "
        self._stream.write(f"\r\x1b[2K{(bar + visible(text))[:_LINE]}")
        self._stream.flush()

    def close(self) -> None:
        """Start a new line."""
        self._stream.write("\n")
        self._stream.flush()


class Lines:
    """Separate lines at long intervals, for a file or a pipe."""

    pause_s = _FILE_S

    def __init__(self, stream: TextIO) -> None:
        """Write to ``stream``."""
        self._stream = stream

    def show(self, share: float | None, text: str) -> None:
        """Append a line."""
        self._stream.write(f"{'' if share is None else f'{share:4.0%}  '}{visible(text)}\n")
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: every line is complete."""


class Cell:
    """An output of a notebook cell that is updated in place."""

    pause_s = _CELL_S

    def __init__(self) -> None:
        """Show nothing yet."""
        self._output: Any = None
        self._last: tuple[float | None, str] = (None, "")

    def show(self, share: float | None, text: str) -> None:
        """Show or update the output."""
        self._last = (share, text)
        value = "" if share is None else f' value="{share:.4f}"'
        style = "width:14em;accent-color:var(--jp-brand-color1)"
        html = (
            '<div style="display:flex;align-items:center;gap:.6em">'
            f'<progress max="1"{value} style="{style}" aria-label="{escape(text)}"></progress>'
            f"<span>{escape(text)}</span></div>"
        )
        self._put(text, html)

    def close(self) -> None:
        """Replace the bar by a sentence, which the saved notebook keeps without an animation."""
        share, text = self._last
        told = text if share in (None, 1.0) else f"Left at {share:.0%}: {text}"
        self._put(told, f"<div>{escape(told)}</div>")

    def _put(self, text: str, html: str) -> None:
        from IPython.display import display

        bundle = {"text/plain": text, "text/html": html}
        if self._output is None:
            self._output = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._output.update(bundle, raw=True)


def find_display() -> ProgressDisplay:
    """Return the current notebook cell, or standard error outside notebooks."""
    shell = sys.modules.get("IPython")
    if shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None:
        return Cell()
    return Terminal(sys.stderr) if sys.stderr.isatty() else Lines(sys.stderr)


@contextmanager
def track_bytes(progress: bool | ProgressCallback, title: str) -> Iterator[ProgressCallback | None]:
    """Return a callback for transferred bytes: the caller's own, one that updates a progress bar, or None."""
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    bar = Bar(title)
    try:
        yield lambda done, total: bar.update(done / total if total else None, _write_bytes(bar, done, total))
    finally:
        bar.close()


@contextmanager
def track_jobs(
    progress: bool, names: Iterable[str], on_change: Callable[[Job], None] | None
) -> Iterator[Callable[[Job], None] | None]:
    """Return a callback for changed jobs: one that updates a progress bar, ``on_change``, both, or None."""
    if not progress:
        yield on_change
        return
    group = JobGroupProgress(names)
    bar = Bar(group.title)

    def update(job: Job) -> None:
        if on_change is not None:
            on_change(job)
        bar.update(*group.update(job))

    try:
        yield update
    finally:
        bar.close()


class JobGroupProgress:
    """Combined progress of the jobs waited for."""

    def __init__(self, names: Iterable[str]) -> None:
        """Start with no records."""
        self._names = list(dict.fromkeys(names))
        self._records: dict[str, Job] = {}

    @property
    def title(self) -> str:
        """Title of the bar."""
        return self._names[0] if len(self._names) == 1 else f"{len(self._names)} jobs"

    def update(self, job: Job) -> tuple[float | None, str]:
        """Add a record; returns the share done (0 to 1) and a text."""
        self._records[job.job_name] = job
        if len(self._names) == 1:
            return find_progress(job), describe_state(job)
        records = self._records.values()
        shares = [find_progress(record) or 0.0 for record in records]
        failed = sum(record.is_failed for record in records)
        not_run = sum(record.is_not_run for record in records)
        counts = {
            "complete": sum(record.status is JobStatus.COMPLETE and record.is_final for record in records),
            "running": sum(record.status is JobStatus.RUNNING for record in records),
            "failed": failed,
            "stopped": sum(record.status is JobStatus.STOPPED for record in records) - failed - not_run,
            "not run": not_run,
        }
        words = [f"{count} {word}" for word, count in counts.items() if count or word == "complete"]
        return sum(shares) / max(1, len(self._names)), ", ".join(words)


def find_progress(job: Job) -> float | None:
    """Return the progress of a job, 0 to 1; None if unknown."""
    if job.is_final:
        return 1.0
    if job.batch_size and job.statuses:
        return (job.statuses.complete + job.statuses.stopped) / job.batch_size
    return job.progress


def describe_state(job: Job) -> str:
    """Describe the state of a job."""
    if job.batch_status is not None:
        state = str(job.batch_status)
        if job.statuses and job.batch_size:
            state += f", {job.statuses.complete + job.statuses.stopped} of {job.batch_size} jobs done"
        return state
    return f"{job.status}{f': {job.message}' if job.message and not job.is_final else ''}"


def _write_bytes(bar: Bar, done: int, total: int | None) -> str:
    rate = done / bar.elapsed_s if bar.elapsed_s > 0 else 0.0
    amount = format_size(done) if total is None else f"{format_size(done)} of {format_size(total)}"
    return f"{amount}, {format_size(rate)}/s"
