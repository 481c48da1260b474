"""The HTML of a job card, from a job record.

The live card and the static copy saved in the notebook use the same HTML, so that a reopened notebook shows
the last known state. The state is given in words; colour and icon only repeat it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from foldnote import late
from foldnote.models import BatchStatus, Job, JobStatus
from foldnote.models.job import PIPELINE, StatusCounts
from foldnote.text import count, format_duration, format_size, mark_code, visible
from foldnote.viewers.render.html import read_asset

LOG_TAIL_LINES = 200


@dataclass(frozen=True)
class CardNote:
    """The user's note and tags on a job, which are stored on this computer.

    Attributes:
        text: free text; empty without one.
        tags: in alphabetical order.
    """

    text: str = ""
    tags: tuple[str, ...] = ()


NO_NOTE = CardNote()
_ICONS = {
    "queue": "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Zm.7 3v3.2l2.3 1.4-.7 1.2-3-1.8v-4z",
    "running": "M4.5 2.8v10.4L13 8z",
    "complete": "M6.4 12.6 2 8.2l1.5-1.5 2.9 2.9 6.1-6.1L14 5z",
    "stopped": "M3 3h10v10H3z",
    "failed": "M8 1 15.5 14.5H.5zM7.2 5.8v4.4h1.6V5.8zm0 5.4v1.6h1.6v-1.6z",
    "mixed": "M8 1 15.5 14.5H.5zM8 4 13 13H3zM7.2 6.8v3.2h1.6V6.8zm0 4v1.4h1.6v-1.4z",
}


@dataclass(frozen=True)
class StateAppearance:
    """How a state is shown.

    Attributes:
        key: word for the style sheet and the icon.
        words: the state in words.
        advice: what happens next, or what the reader can do.
    """

    key: str
    words: str
    advice: str


_APPEARANCES = {
    JobStatus.IN_QUEUE: StateAppearance(
        "queue", "In Queue", "It starts when resources are free, and runs even if this notebook is closed."
    ),
    JobStatus.RUNNING: StateAppearance("running", "Running", ""),
    JobStatus.COMPLETE: StateAppearance("complete", "Complete", ""),
    JobStatus.STOPPED: StateAppearance("stopped", "Stopped", "It has no result."),
}
_FAILED = StateAppearance(
    "failed", "Failed", "See the log for details, change the settings and submit again."
)
FORM_AGAIN = "Submit the form again to start over."
"""Advice on running a failed or stopped job again when its form is in the same cell."""


def find_appearance(job: Job) -> StateAppearance:
    """Return the appearance of the job's state; for a complete batch also how many of its jobs failed."""
    if job.is_failed:
        return _FAILED
    appearance, lost = _APPEARANCES[job.status], count_lost(job)
    if job.status is JobStatus.COMPLETE and lost:
        return StateAppearance("mixed", f"{appearance.words}, {lost}", "")
    return appearance


def name_tool(tool_type: str) -> str:
    """Return the display name of a tool for cards; code and the wire use its type."""
    return str(late.load("name_tool")(tool_type))


def count_lost(job: Job) -> str:
    """Return the number of failed jobs of a batch, ``2 failed``; empty without any.

    A service that does not count failures has jobs without a result, which may have been stopped.
    """
    if not job.is_batch:
        return ""
    lost, description = (job.failed, "failed")
    if lost is None:
        lost, description = (job.statuses.stopped if job.statuses else 0), "without a result"
    return f"{lost:,} {description}" if lost else ""


def draw_icon(key: str) -> str:
    """Return the icon of a state, by the key of its appearance."""
    path = f'<path fill-rule="evenodd" d="{_ICONS[key]}"/>'
    return f'<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">{path}</svg>'


def describe_rerun(job: Job) -> str:
    """Describe how a failed or stopped job is run again in code, with a line to copy; else empty."""
    has_failed = job.is_batch and bool(job.failed)
    if not job.is_final or (job.status is JobStatus.COMPLETE and not has_failed):
        return ""
    if job.tool == PIPELINE:
        return f"To continue from the stage without a result: `fn.job({job.job_name!r}).run_again()`"
    if job.is_batch:
        return f"To run the jobs without a result again: `fn.batch({job.job_name!r}).retry()`"
    if job.batch:  # a stage's settings name files of other stages, which only its run knows
        return f"To run it again with the same settings: `fn.job({job.job_name!r}).run_again()`"
    return (
        "To run it again with the same settings: "
        f"`fn.submit({job.type!r}, **fn.job({job.job_name!r}).settings, again=True)`"
    )


def write_card(
    job: Job,
    *,
    outage: str = "",
    is_live: bool = True,
    again: str | None = None,
    note: CardNote = NO_NOTE,
    profile: str = "",
) -> str:
    """Return the card as HTML.

    Args:
        job: the record as last seen.
        outage: a message that the service does not answer; empty if it does.
        is_live: False for the copy saved in the notebook, which states its time.
        again: advice on running a job without a result again; by default a line of code.
        note: the user's note and tags.
        profile: the profile of its service, with which the page can request its result.
    """
    appearance = find_appearance(job)
    attributes = (
        f' data-fn-job="{escape(job.job_name)}" data-fn-profile="{escape(profile)}"' if profile else ""
    )
    title, wide = escape(visible(job.label) or job.job_name), " fnc-batch" if job.is_batch else ""
    parts = [
        _write_top(job, appearance),
        _paragraph("fnc-advice fnc-job", job.job_name if job.label else ""),
        _write_note(note),
        _write_progress(job),
        _paragraph("fnc-message", _count_jobs(job)),
        _paragraph("fnc-error", job.error if job.is_failed else ""),
        _paragraph("fnc-message", _choose_message(job)),
        _paragraph("fnc-message", _count_retries(job)),
        _paragraph("fnc-message", f"Reused from {job.reused_from}." if job.reused_from else ""),
        _paragraph("fnc-message", f"Webhook: {job.webhook}" if job.webhook and job.is_final else ""),
        _paragraph("fnc-advice", _advise(job, appearance)),
        _paragraph("fnc-advice fnc-again", describe_rerun(job) and (again or describe_rerun(job))),
        _paragraph("fnc-outage", outage),
        "" if is_live else _paragraph("fnc-advice", _write_moment(job)),
    ]
    return (
        f"<style>{read_asset('card.css')}</style>"
        f'<div class="fnc fnc-{appearance.key}{wide}" role="group" aria-label="Job {title}"{attributes}>'
        f"{''.join(parts)}</div>"
    )


def _advise(job: Job, appearance: StateAppearance) -> str:
    """Return what happens next; for a stopped batch, also what remains and how it can be continued."""
    has_results = job.is_batch and job.statuses is not None and job.statuses.complete > 0
    is_explained = (job.is_failed and job.tool == PIPELINE) or (
        job.status is JobStatus.STOPPED and has_results
    )
    return "" if is_explained else appearance.advice


def write_plain_card(job: Job, again: str | None = None, note: CardNote = NO_NOTE) -> str:
    """Return the card in a few lines of text."""
    appearance = find_appearance(job)
    detail = (job.error if job.is_failed else job.message) or _count_jobs(job)
    again = again or describe_rerun(job).replace("`", "") if describe_rerun(job) else ""
    name = f"{visible(job.label)} [{job.job_name}]" if job.label else job.job_name
    state_line = f"{name} ({name_tool(job.tool_type)}): {appearance.words}{': ' if detail else ''}{detail}"
    tags = f"Tags: {visible(', '.join(note.tags))}" if note.tags else ""
    return "\n".join(filter(None, [state_line, tags, visible(note.text), again]))


def _write_note(note: CardNote) -> str:
    """Return the tags and note as HTML; line ends of the note are kept."""
    tags = "".join(f'<span class="fnc-tag">{escape(visible(tag))}</span>' for tag in note.tags)
    text = f'<p class="fnc-note">{escape(visible(note.text))}</p>' if note.text else ""
    return f'<p class="fnc-tags"><span>Tags:</span> {tags}</p>{text}' if tags else text


def write_log(text: str) -> str:
    """Return the last lines of a log as HTML."""
    lines = text.splitlines()
    omitted = f"… {len(lines) - LOG_TAIL_LINES:,} earlier lines\n" if len(lines) > LOG_TAIL_LINES else ""
    tail = "\n".join(lines[-LOG_TAIL_LINES:])
    body = escape(omitted + tail) if lines else "The log is empty."
    return f'<pre class="fnc-log" tabindex="0" aria-label="Log">{body}</pre>'


def _write_top(job: Job, appearance: StateAppearance) -> str:
    tip = f' title="{escape(job.job_name)}"' if job.label else ""
    return (
        '<div class="fnc-top">'
        f'<span class="fnc-state">{draw_icon(appearance.key)} {appearance.words}</span>'
        f' <span class="fnc-name"{tip}>{escape(visible(job.label) or job.job_name)}</span> '
        f'<span class="fnc-tool">{escape(name_tool(job.tool_type))}</span> '
        f'<span class="fnc-time">{_write_elapsed(job)}</span></div>'
    )


def _write_elapsed(job: Job) -> str:
    if job.duration_s is not None:
        return f"{'took' if job.is_final else 'for'} {format_duration(job.duration_s)}{_format_usage(job)}"
    if job.created is not None and not job.is_final:
        return f"waiting {format_duration((datetime.now(UTC) - job.created).total_seconds())}"
    return ""


def _format_usage(job: Job) -> str:
    """Return the processor time, memory and GPU memory of a run, where they were measured."""
    if job.cpu_seconds is None or job.peak_memory_mb is None:
        return ""
    gpu = job.peak_gpu_memory_mb
    return (
        f", CPU {format_duration(job.cpu_seconds)}, memory {format_size(job.peak_memory_mb * 2**20)}"
        f"{f', GPU memory {format_size(gpu * 2**20)}' if gpu is not None else ''}"
    )


def _write_progress(job: Job) -> str:
    if job.is_batch and not job.is_final and job.statuses and job.statuses.total:
        return _write_shares(job.statuses, job.failed)
    if job.status is not JobStatus.RUNNING:
        return ""
    progress = job.progress
    if progress is None:
        label = 'role="progressbar" aria-label="Progress unknown"'
        return f'<div class="fnc-bar fnc-unknown" {label}><i></i></div>'
    percent = round(100 * min(max(progress, 0.0), 1.0))
    values = f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent}"'
    label = f'role="progressbar" aria-label="Progress" {values}'
    bar = f'<div class="fnc-bar" {label}><i style="width:{percent}%"></i></div>'
    return f'<div class="fnc-progress">{bar}<span class="fnc-percent">{percent} %</span></div>'


def _write_shares(counts: StatusCounts, failed: int | None) -> str:
    """Return the bar of a batch: the shares of its complete, failed, stopped and running jobs.

    A service that does not count failures has one share for failed and stopped jobs.
    """
    failed = counts.stopped if failed is None else failed
    stopped = counts.stopped - failed
    shares = [
        ("complete", counts.complete),
        ("failed", failed),
        ("stopped", stopped),
        ("running", counts.running),
    ]
    parts = "".join(
        f'<i class="fnc-share-{word}" style="width:{100 * number / counts.total:.2f}%"></i>'
        for word, number in shares
        if number
    )
    percent = int(100 * (counts.complete + counts.stopped) / counts.total)
    values = f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{percent}"'
    label = f'role="progressbar" aria-label="Jobs that have ended" {values}'
    bar = f'<div class="fnc-bar fnc-shares" {label}>{parts}</div>'
    return f'<div class="fnc-progress">{bar}<span class="fnc-percent">{percent} %</span></div>'


def _count_jobs(job: Job) -> str:
    """Return the number of jobs of a batch in each state; empty for a single job."""
    if not job.is_batch or job.statuses is None or not job.statuses.total:
        return ""
    counts = job.statuses
    parts = [(counts.running, "running"), (counts.in_queue, "queued")]
    if job.failed is None:
        parts.append((counts.stopped, "without a result"))
    else:
        rest = "not run" if job.tool == PIPELINE and job.failed else "stopped"
        parts += [(job.failed, "failed"), (counts.stopped - job.failed, rest)]
    noun = "stages" if job.tool == PIPELINE else "jobs"
    told = [f"{counts.complete:,} of {counts.total:,} {noun} complete"]
    if job.batch_status is BatchStatus.AGGREGATING:
        told.append("building the archive of all results")
    return ", ".join(told + [f"{count:,} {word}" for count, word in parts if count > 0]) + "."


def _choose_message(job: Job) -> str:
    """Return the message of a run, of a waiting retry, or of a stopped job or batch."""
    if job.is_batch:
        return job.message or ""
    if job.status is JobStatus.IN_QUEUE:
        return job.message or "" if job.retries else ""
    return "" if job.is_failed or job.status is JobStatus.COMPLETE else job.message or ""


def _count_retries(job: Job) -> str:
    if not job.retries or job.status is JobStatus.IN_QUEUE:
        return ""
    return f"Run {job.retries + 1}: the tool failed {count(job.retries, 'time')} before."


def _write_moment(job: Job) -> str:
    if job.is_final:
        return ""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"State at {now}. Run the cell again for the current state; nothing is submitted twice."


def _paragraph(css_class: str, text: str | None) -> str:
    return f'<p class="{css_class}">{mark_code(text)}</p>' if text else ""
