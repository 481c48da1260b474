"""Job handles: the last known record of a job, and its operations.

A handle is immutable: ``refresh()`` returns a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from foldnote import late
from foldnote.client.core import job_pages
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.operations import Api, AsyncApi, Operation, Run, SyncApi, operation
from foldnote.client.core.progress import ProgressCallback, track_jobs
from foldnote.client.downloads import download
from foldnote.client.downloads.origin import describe_origin, find_tool
from foldnote.client.inputs.file_values import FileValue, job_file, name_uploads
from foldnote.client.local.annotations import Annotations
from foldnote.client.local.ledger import Ledger
from foldnote.client.resources.pipeline_plan import resolve_stage_files
from foldnote.client.resources.tools import recall_tool
from foldnote.client.submission import job_submission
from foldnote.client.submission.extensions import read_label, warn_of_lost_webhook
from foldnote.client.watching import cancellation, waiting
from foldnote.client.watching.waiting import OnChange
from foldnote.errors import ArgumentError, JobFailedError, JobStoppedError, NotFoundError
from foldnote.models import BatchStatus, Job, JobStatus, Tool
from foldnote.models.html_repr import show_pairs
from foldnote.models.job import PIPELINE
from foldnote.text import join_words

if TYPE_CHECKING:
    from foldnote.results import Result

_TAIL_LINES = 20
_MAX_STAGES = 1000


class JobHandleOperations(Api):
    """Attributes and operations of a job."""

    def __init__(self, record: Job, connection: ServiceConnection, transport: Any) -> None:
        self._record, self._connection, self._transport = record, connection, transport

    @property
    def record(self) -> Job:
        """The job's record as the service returned it; immutable."""
        return self._record

    @property
    def job_name(self) -> str:
        """The job's name, which identifies it in every call."""
        return self.record.job_name

    @property
    def label(self) -> str:
        """The job's label: the last one given on this computer, else the service's; empty without one."""
        return Ledger(service=self._connection.service).label(self.job_name) or self.record.label

    def relabel(self, label: str) -> None:
        """Give the job, batch or pipeline another label on this computer; empty text removes it.

        Args:
            label: free text of one line, at most 200 characters.

        Raises:
            SettingsError: the label is too long, or not text.
        """
        Ledger(service=self._connection.service).remember_label(
            self.job_name, read_label(label, None) or None
        )

    @property
    def notes(self) -> str:
        """The note on the job that was written on this computer with :meth:`note`; empty without one."""
        return self._annotations.note(self.job_name)

    def note(self, text: str) -> None:
        """Write a note on the job, in place of an earlier one; empty text removes it.

        Notes are kept on this computer only. Card, panel and reports show them.

        Args:
            text: free text of at most 5,000 characters.

        Raises:
            ConfigurationError: the note is too long, or cannot be saved.
        """
        self._annotations.set_note(self.job_name, text)

    @property
    def tags(self) -> tuple[str, ...]:
        """The job's tags, in alphabetical order, as shown in the panel."""
        return self._annotations.tags_of(self.job_name)

    def tag(self, *tags: str) -> None:
        """Add tags to the job; they are kept on this computer only, and the panel groups jobs by them.

        Raises:
            ConfigurationError: a tag is empty or has more than 40 characters, the job would have more than
                20, or they cannot be saved.
        """
        self._annotations.change_tags([self.job_name], tags)

    def untag(self, *tags: str) -> None:
        """Remove tags from the job; tags that it does not have are ignored.

        Raises:
            ConfigurationError: the change cannot be saved.
        """
        self._annotations.change_tags([self.job_name], (), tags)

    @property
    def _annotations(self) -> Annotations:
        return Annotations(self._connection.service)

    @property
    def profile_name(self) -> str:
        """Name of the profile whose service runs the job."""
        return self._connection.profile.name

    @property
    def type(self) -> str:
        """The tool's type; ``batch`` for a batch parent."""
        return self.record.type

    @property
    def tool(self) -> str:
        """The tool's type, also for a batch."""
        return self.record.tool_type

    @property
    def status(self) -> JobStatus:
        """The last known status; ``refresh()`` updates it."""
        return self.record.status

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as submitted; values of file fields are marked as names at the service."""
        tool = find_tool(self._connection, self.record.tool_type)
        return self.record.settings if tool is None else name_uploads(tool, self.record.settings)

    @property
    def created(self) -> datetime | None:
        """Time of submission, UTC."""
        return self.record.created

    @property
    def started(self) -> datetime | None:
        """Start of the run, UTC; None before that."""
        return self.record.started

    @property
    def completed(self) -> datetime | None:
        """End of the run, UTC; None before that."""
        return self.record.completed

    @property
    def duration_s(self) -> float | None:
        """Seconds from start to end, or until now while running; None before the start."""
        return self.record.duration_s

    @property
    def weighted_hours(self) -> float | None:
        """Cost in weighted hours; None if not counted."""
        return self.record.weighted_hours

    @property
    def cpu_seconds(self) -> float | None:
        """Processor time of all its processes, in seconds; None before the end or if it is not measured."""
        return self.record.cpu_seconds

    @property
    def peak_memory_mb(self) -> float | None:
        """Peak memory of its largest process, in MB (2**20 bytes); None as for ``cpu_seconds``."""
        return self.record.peak_memory_mb

    @property
    def peak_gpu_memory_mb(self) -> float | None:
        """Peak GPU memory of all its processes, in MB (2**20 bytes); None also without a GPU."""
        return self.record.peak_gpu_memory_mb

    @property
    def retries(self) -> int | None:
        """Number of times it was run again because its tool failed; None if never."""
        return self.record.retries

    @property
    def reused_from(self) -> str | None:
        """Name of the finished job whose result this pipeline stage reuses; None if the stage ran itself."""
        return self.record.reused_from

    @property
    def webhook(self) -> str | None:
        """State of the webhook in a sentence; None without one. ``refresh()`` updates it."""
        return self.record.webhook

    @property
    def batch(self) -> str | None:
        """Name of the batch that the job is part of; None outside batches."""
        return self.record.batch

    @property
    def is_final(self) -> bool:
        """Whether the job has reached a final status."""
        return self.record.is_final

    @property
    def is_failed(self) -> bool:
        """Whether the run failed (and was not stopped by a user)."""
        return self.record.is_failed

    @property
    def is_not_run(self) -> bool:
        """Whether it is a stage of a pipeline that did not run because an earlier one has no result."""
        return self.record.is_not_run

    @property
    def error(self) -> str | None:
        """Why the run failed, or why a stage did not run; else None."""
        return self.record.error

    @property
    def progress(self) -> float | None:
        """Progress, 0 to 1; None if the engine does not report it."""
        return self.record.progress

    @property
    def message(self) -> str | None:
        """The engine's last progress message; None if there is none."""
        return self.record.message

    @property
    def score(self) -> dict[str, Any] | None:
        """Metrics of the result, by name; None until there are any."""
        return self.record.score

    def file(self, path: str) -> FileValue:
        """Refer to the file at ``path`` in this job's result in a file field of another job.

        Raises:
            FoldnoteError: ``path`` is not a path inside a result.
        """
        return job_file(self.job_name, path)

    def origin(self) -> dict[str, Any]:
        """Return the job's record, service, client version and input files, as JSON data for provenance."""
        return describe_origin(self._connection, self.record)

    @operation
    def refresh(self) -> Operation[Self]:
        """Get the job's current state, as a new handle.

        Raises:
            NotFoundError: it was deleted.
        """
        return self._with_record((yield from job_pages.get_job(self._connection, self.job_name)))

    @operation
    def wait(self, timeout_s: float | None = None, *, progress: bool = False) -> Operation[Self]:
        """Wait until the job is complete; returns a handle of its final state.

        Args:
            timeout_s: maximum time to wait, in seconds; the job itself continues.
            progress: show a progress bar, in the cell or on standard error.

        Raises:
            JobFailedError: the run failed; the exception has the end of its log.
            JobStoppedError: the job was stopped.
            WaitTimeoutError: the time is over; the job continues.
        """
        with track_jobs(progress, [self.job_name], None) as note:
            return self._with_record((yield from finish(self._connection, self.job_name, timeout_s, note)))

    @operation
    def finish(
        self, timeout_s: float | None = None, on_change: OnChange | None = None, *, progress: bool = False
    ) -> Operation[Job]:
        """Wait until the job is complete; returns its record.

        Args:
            timeout_s: maximum time to wait, in seconds; the job itself continues.
            on_change: called with the record at each change.
            progress: show a progress bar, in the cell or on standard error.

        Raises:
            JobFailedError: the run failed; the exception has the end of its log.
            JobStoppedError: the job was stopped.
            WaitTimeoutError: the time is over; the job continues.
        """
        with track_jobs(progress, [self.job_name], on_change) as note:
            return (yield from finish(self._connection, self.job_name, timeout_s, note))

    @operation
    def result(
        self,
        patterns: str | Sequence[str] = (),
        *,
        timeout_s: float | None = 0,
        pdbs_only: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Operation[Result]:
        """Download and open the job's result: structures, tables, scores and files.

        The files of a job that was stopped are those that it had written before: an `IncompleteResultWarning`
        says so.

        Args:
            patterns: a pattern (``*.pdb``) or several: only the files whose names match one; by default all.
            timeout_s: maximum time to wait for the job's end first, in seconds; None waits until it ends. By
                default a job must have ended.
            pdbs_only: download the structure files only.
            progress: True to show a bar, or a callback (bytes received, total bytes or None).

        Raises:
            JobFailedError: the run failed; the exception has the end of its log.
            JobStoppedError: the job was stopped while it was waited for.
            WaitTimeoutError: it has not ended in ``timeout_s`` seconds; it continues.
            UnfinishedJobError: the job has no result yet.
            NotFoundError: the job has no result.
            FoldnoteError: no file matches the patterns.
            ArchiveError: the archive is damaged or not safe to unpack.
        """
        job = yield from _fetch_final_record(self)
        if timeout_s != 0 and not job.is_final:
            job = yield from finish(self._connection, self.job_name, timeout_s, None)
        if job.is_failed or job.is_not_run:
            raise (yield from explain_failure(self._connection, job))
        path = yield from fetch(self._connection, job, None, patterns, pdbs_only, progress)
        open_result = late.load("open_result")
        result: Result = yield Run(
            lambda: open_result(
                path, self.job_name if patterns else None, describe_origin(self._connection, job)
            )
        )
        return result

    @operation
    def stop(self) -> Operation[Self]:
        """Stop the job, unless it has ended; returns a handle of its new state."""
        yield from cancellation.stop_job(self._connection, self.job_name)
        return self._with_record((yield from job_pages.get_job(self._connection, self.job_name)))

    @operation
    def delete(self) -> Operation[None]:
        """Delete the job and its result, with its tags and note."""
        yield from cancellation.delete_job(self._connection, self.job_name)

    @operation
    def logs(self, max_lines: int = 1000) -> Operation[str]:
        """Get the last lines of the job's log.

        Raises:
            NotFoundError: there is no such job, or the service provides no logs.
        """
        return (yield from cancellation.read_log(self._connection, self.job_name, max_lines))

    @operation
    def download(
        self,
        file_name: str | None = None,
        *,
        patterns: str | Sequence[str] = (),
        pdbs_only: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Operation[Path]:
        """Download the result archive, one file of it, or some files to a folder; returns the local path.

        The files of a job that failed or was stopped are those that it had written before: an
        `IncompleteResultWarning` says so.

        Args:
            file_name: download one file of the result instead of the archive.
            patterns: a pattern (``*.pdb``) or several; unpack the files whose names match one, and return
                their folder.
            pdbs_only: download an archive of the structure files only.
            progress: True to show a bar, or a callback (bytes received, total bytes or None).
        """
        job = yield from _fetch_final_record(self)
        return (yield from fetch(self._connection, job, file_name, patterns, pdbs_only, progress))

    @operation
    def run_again(self, *, webhook: str | None = None) -> Operation[Self]:
        """Submit the job's settings again as a new job, named after this one; returns the new job.

        The job of a pipeline stage is run alone, with the same files of earlier stages.

        Args:
            webhook: address that the service calls when the new job has ended, see ``jobs.submit``. A
                `NotSentWarning` tells if none is called, although one was for this job.

        Raises:
            ArgumentError: it is a batch or pipeline, or a stage that takes files which its settings do not
                name.
            UnknownToolError: the service no longer has the tool.
            ToolUnavailableError: the service cannot run the tool; the message says what to do.
            SettingsError: the service no longer accepts the settings; nothing was sent.
            ServiceError: the service refused.
            TransportError: no answer was received, and the service does not have the new job.
        """
        old, connection = self.record, self._connection
        if old.is_batch:
            raise ArgumentError(f"{old.job_name!r} is not a single job; run one of its jobs again.")
        tool = yield from recall_tool(connection, old.type)
        job = yield from job_submission.submit(
            connection,
            Ledger(service=connection.service),
            tool,
            (yield from self._find_own_settings(tool)),
            job_name=old.job_name,
            project_tag=old.project_tag,
            extensions=old.extensions,
            webhook=webhook,
            again=True,
        )
        if webhook is None and old.webhook is not None:
            job = yield from job_pages.get_job(connection, job.job_name)
            warn_of_lost_webhook(old, job)
        return type(self)(job, connection, self._transport)

    @operation
    def own_settings(self) -> Operation[dict[str, Any]]:
        """Get settings with which the job can be submitted by itself.

        These are its settings; files that a pipeline stage takes from earlier stages are named as files of
        the jobs of those stages.

        Raises:
            ArgumentError: the job is a stage that takes files which its settings do not name.
            UnknownToolError: the service no longer has the tool.
        """
        return (yield from self._find_own_settings((yield from recall_tool(self._connection, self.tool))))

    def _find_own_settings(self, tool: Tool) -> Operation[dict[str, Any]]:
        record, settings = self.record, self.record.settings
        if record.batch is not None and (yield from self._is_stage(record.batch)):
            jobs = yield from job_pages.list_many(self._connection, {"batch": record.batch}, _MAX_STAGES)
            settings, unnamed = resolve_stage_files(record, jobs, tool, settings)
            if unnamed:
                stages = join_words(unnamed, "and")
                raise ArgumentError(
                    f"{record.job_name!r} takes files of {stages} that the pipeline chooses; run its pipeline"
                    f" again: fn.job({record.batch!r}).run_again()"
                )
        return name_uploads(tool, settings)

    def _is_stage(self, parent: str) -> Operation[bool]:
        """Return whether the batch of this job is a pipeline run; False if the batch was deleted."""
        try:
            return (yield from job_pages.get_job(self._connection, parent)).tool == PIPELINE
        except NotFoundError:
            return False

    def _with_record(self, record: Job) -> Self:
        """Return a handle of the same job with a newer ``record``."""
        other = copy(self)
        other._record = record
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JobHandleOperations):
            return NotImplemented
        return self._connection.service == other._connection.service and self.record == other.record

    def __hash__(self) -> int:
        return hash((self._connection.service, self.job_name))

    def __repr__(self) -> str:
        record = self.record
        parts = [f"{self.job_name!r}", record.tool_type, record.word]
        if record.is_batch and record.statuses and record.batch_size:
            parts.append(f"{record.statuses.complete} of {record.batch_size} complete")
        elif record.progress is not None and not self.is_final:
            parts.append(f"{record.progress:.0%}")
        if record.error:
            parts.append(record.error)
        return f"<{'batch' if record.is_batch else 'job'} {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        record = self.record
        rows = {
            "tool": record.tool_type,
            "status": record.word,
            "progress": _progress(record),
            "created": record.created,
            "started": record.started,
            "completed": record.completed,
            "reason": record.error,
            "next": next_action(record),
        }
        return show_pairs(record.job_name, rows)


def _fetch_final_record(job: JobHandleOperations) -> Operation[Job]:
    """Return the record of a job that has ended; it is requested again if the known one is not final."""
    if job.record.is_final and job.record.completed is not None:
        return job.record
    return (yield from job_pages.get_job(job._connection, job.job_name))


class JobHandle(SyncApi, JobHandleOperations):
    """Handle of a job (synchronous)."""


class AsyncJobHandle(AsyncApi, JobHandleOperations):
    """Handle of a job (asynchronous)."""


def finish(
    connection: ServiceConnection, job_name: str, timeout_s: float | None, on_change: OnChange | None
) -> Operation[Job]:
    """Wait until a job is complete; returns its record. See ``JobHandleOperations.finish``.

    Raises:
        JobFailedError: the run failed, or the archive of a batch could not be built.
        JobStoppedError: the job was stopped.
        WaitTimeoutError: the time is over; the job continues.
    """
    done = yield from waiting.wait_all(connection, [job_name], timeout_s, on_change)
    job = done[job_name]
    if job.is_failed or job.is_not_run:
        raise (yield from explain_failure(connection, job))
    if job.batch_status is BatchStatus.AGGREGATION_FAILED:
        raise download.make_archive_error(job)
    if job.status is JobStatus.STOPPED:
        raise JobStoppedError(f"{job_name!r} was stopped before it was complete.", job)
    return job


def fetch(
    connection: ServiceConnection,
    job: Job,
    file_name: str | None,
    patterns: str | Sequence[str],
    pdbs_only: bool,
    progress: bool | ProgressCallback,
    job_email: str | None = None,
) -> Operation[Path]:
    """Download a result or parts of it; see ``JobHandleOperations.download``."""
    path = yield from download.fetch_result(connection, job, file_name, pdbs_only, progress, job_email)
    download.warn_if_incomplete(job)
    if not patterns:
        return path
    wanted = [patterns] if isinstance(patterns, str) else patterns
    folder: Path = yield Run(lambda: download.unpack_selected(path, wanted))
    return folder


def explain_failure(connection: ServiceConnection, job: Job) -> Operation[JobFailedError]:
    """Return the exception for a failed run, with the end of its log if the service provides logs.

    It also covers stages that did not run.
    """
    if job.is_not_run:
        return JobFailedError(f"{job.job_name!r} did not run. {job.error}", job)
    tail = yield from cancellation.read_tail(connection, job.job_name, _TAIL_LINES)
    return JobFailedError(f"{job.job_name!r} failed: {job.error}", job, tail)


def _progress(job: Job) -> str | None:
    if job.is_final or (job.progress is None and not job.message):
        return None
    percent = f"{job.progress:.0%}" if job.progress is not None else ""
    return f"{percent} {job.message or ''}".strip()


def next_action(job: Job) -> str:
    """Return the next step that the user can take with the job."""
    if not job.is_final:
        return "wait() waits for it, refresh() updates it, stop() stops it"
    if job.is_failed:
        return f"logs() returns the output of the tool; {_write_rerun_call(job)} runs it again"
    if job.is_batch and job.status is JobStatus.COMPLETE:
        return "results() returns its rows with their results, download() the archive of all results"
    if job.status is JobStatus.COMPLETE:
        return "result() opens its result, download() downloads the archive"
    return f"{_write_rerun_call(job)} runs it again"


def _write_rerun_call(job: Job) -> str:
    if job.is_batch:
        return "run_again()" if job.tool == PIPELINE else "retry()"
    if job.batch:
        return f"fn.job({job.job_name!r}).run_again()"
    return f"fn.submit({job.type!r}, **fn.job({job.job_name!r}).settings, again=True)"
