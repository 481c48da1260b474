"""Jobs: submit, watch, stop, list, and download results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from foldnote.client.core import job_pages
from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Emit, Operation, Run, Stream, SyncApi, operation, stream
from foldnote.client.core.progress import ProgressCallback, track_jobs
from foldnote.client.inputs.ages import read_age
from foldnote.client.inputs.plain_values import make_plain
from foldnote.client.local.identity import with_extensions
from foldnote.client.resources.account import count_left
from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle, JobHandleOperations, fetch, finish
from foldnote.client.resources.tools import recall_tool
from foldnote.client.submission import job_submission
from foldnote.client.submission.experience import RunLimits, read_experience
from foldnote.client.submission.extensions import Extensions, choose_sent
from foldnote.client.submission.quote import Quote
from foldnote.client.submission.validation import has_records, read_records, read_service_verdict
from foldnote.client.tables.frames import tabulate_jobs
from foldnote.client.tables.job_list import JobList
from foldnote.client.watching import cancellation, waiting
from foldnote.client.watching.poller import find_poller
from foldnote.client.watching.waiting import OnChange, Watch
from foldnote.errors import ArgumentError, BadRequestError, NotFoundError
from foldnote.models import BatchVerdict, Job, Tool, Verdict

if TYPE_CHECKING:
    import pandas as pd

H = TypeVar("H", bound=JobHandleOperations)
_ALL = 1_000_000


class JobsOperations(Resource, Generic[H]):
    """The job routes."""

    _handle: type[H]

    def _make_handle(self, job: Job) -> H:
        """Make a job handle of this API (sync or async)."""
        return self._handle(job, self._connection, self._transport)

    @operation
    def submit(
        self,
        tool: str | Tool,
        settings: Mapping[str, Any],
        *,
        job_name: str | None = None,
        project_tag: str | None = None,
        label: str | None = None,
        extensions: Extensions | None = None,
        webhook: str | None = None,
        max_runtime_s: float | None = None,
        weighted_hours_budget: float | None = None,
        again: bool = False,
    ) -> Operation[H]:
        """Submit a job, unless the same submission was made before; returns the job.

        Args:
            tool: the tool, or its type.
            settings: fields of the tool's schema.
            job_name: requested name; by default derived from tool and settings.
            project_tag: identifier of a project.
            label: free text of one line, at most 200 characters, which is shown in place of the name. It does
                not identify the job: with another label, the same submission finds the same job and relabels
                it here. It is stored on this computer, and by services that accept it.
            extensions: what is sent in addition to the settings if the service accepts it, such as
                ``{"external": ["msa-server"]}``; a `NotSentWarning` names what it does not accept.
            webhook: address that the service calls when the job has ended, if its administrator allows it; an
                empty text for none, even if the account has one. Raises `SettingsError` if the service calls
                no webhooks. The record's ``webhook`` reports its state.
            max_runtime_s: seconds after which the run is ended. A new job whose estimate is longer is not
                submitted. If the service accepts no limit for single jobs, it is not sent, and a
                `NotSentWarning` tells so.
            weighted_hours_budget: a new job whose estimate is higher, in weighted hours, is not submitted;
                the budget is compared with the estimate only. A `NoEstimateWarning` tells if there is none.
            again: submit a new job even if the same submission was made before.

        Raises:
            UnknownToolError: the service has no such tool.
            ToolUnavailableError: the service cannot run the tool; the message says what to do.
            SettingsError: the settings or the name are invalid; nothing was sent.
            JobNameTakenError: the requested name belongs to another job; the message shows the difference.
            EstimateExceededError: the estimate is above a limit; nothing was submitted.
            ServiceError: the service refused.
            TransportError: no answer was received, and the service does not have the job.
        """
        known = tool if isinstance(tool, Tool) else (yield from recall_tool(self._connection, tool))
        job = yield from job_submission.submit(
            self._connection,
            self.ledger,
            known,
            settings,
            job_name=job_name,
            project_tag=project_tag,
            label=label,
            extensions=extensions,
            webhook=webhook,
            limits=RunLimits(max_runtime_s, weighted_hours_budget),
            again=again,
        )
        return self._make_handle(job)

    @operation
    def quote(
        self,
        tool: str | Tool,
        settings: Mapping[str, Any],
        *,
        job_name: str | None = None,
        extensions: Extensions | None = None,
    ) -> Operation[Quote]:
        """Estimate run time and cost of a job from earlier jobs of its tool; nothing is submitted.

        The figures are medians over the complete jobs of the tool among the account's newest 200 jobs,
        whatever their settings.

        Args:
            tool: the tool, or its type.
            settings: fields of the tool's schema.
            job_name: requested name; by default derived from tool and settings.
            extensions: what would be sent in addition to the settings.

        Raises:
            UnknownToolError: the service has no such tool.
            SettingsError: the settings or the name are invalid.
            JobNameTakenError: the requested name belongs to another job; the message shows the difference.
        """
        known = tool if isinstance(tool, Tool) else (yield from recall_tool(self._connection, tool))
        sent = choose_sent(known, extensions, self._connection.service)
        attempt = yield Run(
            lambda: job_submission.prepare(self.ledger, known, settings, job_name, None, sent)
        )
        existing = yield from job_submission.find_existing(self._connection, self.ledger, attempt)
        experience = yield from read_experience(self._connection, known.type)
        left = yield from count_left(self._connection)
        name = existing.job_name if existing else attempt.name
        return Quote(known, name, existing, experience, left)

    @operation
    def validate(
        self,
        tool: str | Tool,
        settings: Mapping[str, Any] | list[Mapping[str, Any]],
        *,
        job_name: str = "check",
        extensions: Extensions | None = None,
    ) -> Operation[Verdict | BatchVerdict]:
        """Validate settings, or a batch of them, at the service; nothing is submitted, and it is free.

        Args:
            tool: the tool, or its type.
            settings: fields of the tool's schema, or a list of such objects.
            job_name: requested name.
            extensions: what is sent in addition to the settings if the service accepts it, such as
                ``{"external": ["msa-server"]}``; a `NotSentWarning` names what it does not accept.

        Raises:
            SettingsError: ``extensions`` cannot be read; nothing was sent.
        """
        tool_type = tool.type if isinstance(tool, Tool) else tool
        given = make_plain(settings)
        body = {"jobName": job_name, "type": tool_type, "settings": given}
        if extensions or has_records(given):
            known = tool if isinstance(tool, Tool) else (yield from recall_tool(self._connection, tool))
            body["settings"] = read_records(known, given)
        if extensions:
            body = with_extensions(body, choose_sent(known, extensions, self._connection.service))
        answer = yield from self._connection.request("POST", "/validate-job", json=body, repeatable=True)
        return parse_response(read_service_verdict, answer)

    @operation
    def get(self, job_name: str) -> Operation[H]:
        """Get a job by its name.

        Raises:
            NotFoundError: there is no such job.
        """
        return self._make_handle((yield from job_pages.get_job(self._connection, job_name)))

    @operation
    def record(self, job_name: str, *, job_email: str | None = None) -> Operation[Job]:
        """Get the record of a job.

        Args:
            job_email: address of the organization's member who owns the job; None for your own.

        Raises:
            NotFoundError: there is no such job, or its owner is not in the caller's organization.
        """
        return (yield from job_pages.get_job(self._connection, job_name, job_email))

    @operation
    def poll(
        self, job_names: Iterable[str], *, job_email: str | None = None, afresh: Iterable[str] = ()
    ) -> Operation[dict[str, Job | None]]:
        """Get the records of followed jobs, by name; may be called as often as a page refreshes.

        All callers in this process that follow jobs of this account share their requests: one page for all
        jobs, at most 12 requests a minute, and more only in the first ten seconds of a job. Between two
        requests the last known records are returned.

        Args:
            job_names: the jobs to follow.
            job_email: address of the organization's member who owns the jobs; None for your own.
            afresh: jobs whose known records are discarded, since they were just changed or may have been
                replaced.

        Returns:
            Records by name; None for a job that does not exist. Jobs without any record yet are omitted.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer was received.
        """
        names = list(job_names)
        poller = find_poller(self._connection, job_email)
        poller.follow(afresh, afresh=True)
        poller.follow(names)
        if poller.is_due(names):
            yield from poller.poll(self._connection, names)
        return poller.find(names)

    @operation
    def list(
        self,
        *,
        limit: int = 100,
        start_key: str | None = None,
        batch: str | None = None,
        include_subjobs: bool = False,
        organization: bool = False,
        job_email: str | None = None,
        since: str | None = None,
        wait_s: float = 0.0,
    ) -> Operation[JobList[H]]:
        """List jobs, newest first, as handles; ``to_frame()`` of the list makes a DataFrame.

        Args:
            limit: maximum number of jobs; above 1000, several pages are requested.
            start_key: continues the list that has this ``start_key``.
            batch: only subjobs of this batch.
            include_subjobs: include subjobs as well as top-level jobs.
            organization: jobs of all members of the organization.
            job_email: jobs of the member with this address.
            since: the ``mark`` of an earlier page, or an empty string to get a first one; a service that
                supports it answers when something has changed since.
            wait_s: maximum time that the service may wait for a change, in seconds, at most 25.

        Raises:
            ArgumentError: ``batch`` names a job that is not a batch.
            NotFoundError: there is no such batch.
        """
        limit = job_pages.check_limit(limit)
        options = {
            "startKey": start_key,
            "batch": batch,
            "includeSubjobs": "true" if include_subjobs else None,
            "organization": "true" if organization else None,
            "jobEmail": job_email,
            "since": since,
            "waitSeconds": f"{wait_s:g}" if since and wait_s else None,
        }
        params = {name: value for name, value in options.items() if value is not None}
        if limit <= job_pages.LARGEST_PAGE:
            page = yield from job_pages.list_page(self._connection, params | {"limit": str(limit)})
        else:
            page = yield from job_pages.read_pages(self._connection, params, limit)
        if batch is not None and not page.jobs and start_key is since is None and not organization:
            yield from job_pages.require_batch(self._connection, batch, job_email)
        labels = yield Run(self.ledger.labels)
        return JobList(page.with_labels(labels), self._make_handle)

    @operation
    def list_older(self, age: str | timedelta) -> Operation[JobList[H]]:
        """List the jobs and batches that ended longer ago than ``age``, newest first.

        Args:
            age: an age such as ``30d``, ``12h`` or ``4w``.

        Raises:
            ArgumentError: it is not an age.
        """
        before = datetime.now(UTC) - (age if isinstance(age, timedelta) else read_age(age))

        def is_old(job: Job) -> bool:
            ended = job.completed or job.created
            return job.is_final and ended is not None and ended < before

        page = yield from job_pages.read_pages(self._connection, {}, _ALL, is_old)
        labels = yield Run(self.ledger.labels)
        whole = page.model_copy(update={"start_key": None})
        return JobList(whole.with_labels(labels), self._make_handle)

    @operation
    def purge(self, jobs: Sequence[JobHandleOperations]) -> Operation[Sequence[str]]:
        """Delete jobs that have ended, with their results, tags and notes; returns their names.

        Jobs that were deleted meanwhile are skipped. After an error, the same call deletes the rest.

        Args:
            jobs: for example the list that ``client.jobs.list_older("30d")`` returns.

        Raises:
            ArgumentError: one of them has not ended; nothing was deleted.
            ServiceError: the service refused.
        """
        live = [job.job_name for job in jobs if not job.is_final]
        if live:
            raise ArgumentError(
                f"{live[0]!r} has not ended; only ended jobs are purged. Nothing was deleted."
            )
        gone = []
        for job in jobs:
            try:
                yield from cancellation.delete_job(self._connection, job.job_name)
            except (NotFoundError, BadRequestError) as exc:
                if isinstance(exc, BadRequestError) and exc.code != "job_not_found":
                    raise
            else:
                gone.append(job.job_name)
        return gone

    @operation
    def to_frame(
        self, limit: int = 1000, *, batch: str | None = None, include_subjobs: bool = False
    ) -> Operation[pd.DataFrame]:
        """Get jobs as a DataFrame, newest first.

        Args:
            limit: maximum number of rows, from as many pages as needed.
            batch: only subjobs of this batch.
            include_subjobs: include subjobs as well as top-level jobs.

        Returns:
            One row per job, with the index ``job_name`` (str) and the columns ``tool`` (str), ``status``
            (str; ``Failed`` for a failed run, otherwise the interface's status), ``created``, ``started``,
            ``completed`` (datetime64, UTC), ``duration_s`` (float64, seconds), ``progress`` (float64, 0 to
            1), ``weighted_hours`` (float64), ``batch`` and ``error`` (str); missing values are NaT or NaN.

        Raises:
            ArgumentError: ``batch`` names a job that is not a batch.
            NotFoundError: there is no such batch.
        """
        filters = {"batch": batch, "includeSubjobs": "true" if include_subjobs else None}
        params = {name: value for name, value in filters.items() if value is not None}
        found = yield from job_pages.list_many(self._connection, params, limit)
        if batch is not None and not found:
            yield from job_pages.require_batch(self._connection, batch)
        frame: pd.DataFrame = yield Run(lambda: tabulate_jobs(found))
        return frame

    @operation
    def wait(
        self,
        jobs: Iterable[str | JobHandleOperations],
        timeout_s: float | None = None,
        on_change: OnChange | None = None,
        *,
        progress: bool = False,
    ) -> Operation[dict[str, H]]:
        """Wait until all of these jobs have ended, whether complete, failed or stopped; returns them by name.

        Args:
            jobs: names, or job handles.
            timeout_s: maximum time to wait, in seconds; the jobs themselves continue.
            on_change: called with the record at each change.
            progress: show a progress bar, in the cell or on standard error.

        Raises:
            WaitTimeoutError: some had not ended after ``timeout_s`` seconds; they continue.
        """
        wanted = _name(jobs)
        with track_jobs(progress, wanted, on_change) as note:
            done = yield from waiting.wait_all(self._connection, wanted, timeout_s, note)
        return {name: self._make_handle(job) for name, job in done.items()}

    @stream
    def as_completed(
        self,
        jobs: Iterable[str | JobHandleOperations],
        timeout_s: float | None = None,
        on_change: OnChange | None = None,
        *,
        progress: bool = False,
    ) -> Stream[H]:
        """Iterate over these jobs as they end, whether complete, failed or stopped.

        One request polls all of them. An ``AsyncClient`` returns an asynchronous iterator.

        Args:
            jobs: names, or job handles.
            timeout_s: maximum time to wait, in seconds, from the first ``next()``.
            on_change: called with the record at each change.
            progress: show a progress bar, in the cell or on standard error.

        Raises:
            WaitTimeoutError: the time is over; jobs that ended were yielded, the others continue.
            NotFoundError: one of them does not exist.
        """
        wanted = _name(jobs)
        with track_jobs(progress, wanted, on_change) as note:
            watch = Watch(self._connection, wanted, timeout_s, note)
            while watch.pending:
                for job in (yield from watch.poll()):
                    yield Emit(self._make_handle(job))
                yield from watch.pause()

    @operation
    def finish(
        self,
        job_name: str,
        timeout_s: float | None = None,
        on_change: OnChange | None = None,
        *,
        progress: bool = False,
    ) -> Operation[Job]:
        """Wait until a job is complete; returns its record.

        Args:
            timeout_s: maximum time to wait, in seconds; the job itself continues.
            on_change: called with the record at each change.
            progress: show a progress bar, in the cell or on standard error.

        Raises:
            JobFailedError: the run failed; the exception has the end of its log.
            JobStoppedError: the job was stopped.
            WaitTimeoutError: it had not ended after ``timeout_s`` seconds; it continues.
        """
        with track_jobs(progress, [job_name], on_change) as note:
            return (yield from finish(self._connection, job_name, timeout_s, note))

    @operation
    def stop(self, job_name: str) -> Operation[None]:
        """Stop a job, or every unfinished job of a batch; jobs that have ended are unchanged.

        Raises:
            BadRequestError: there is no such job.
        """
        yield from cancellation.stop_job(self._connection, job_name)

    @operation
    def delete(self, job_name: str) -> Operation[None]:
        """Delete a job and its result, or a batch and its subjobs.

        Raises:
            BadRequestError: there is no such job.
        """
        yield from cancellation.delete_job(self._connection, job_name)

    @operation
    def logs(self, job_name: str, max_lines: int = 1000) -> Operation[str]:
        """Get the last lines of a job's log.

        Raises:
            NotFoundError: there is no such job, or the service provides no logs.
        """
        return (yield from cancellation.read_log(self._connection, job_name, max_lines))

    @stream
    def follow_log(self, job_name: str, max_lines: int = 1000) -> Stream[str]:
        """Iterate over the last lines of a job's log and what is appended, until the job ends.

        Each item is one or more whole lines. An ``AsyncClient`` returns an asynchronous iterator.

        Args:
            max_lines: number of earlier lines to start with.

        Raises:
            NotFoundError: there is no such job, or the service provides no logs.
        """
        yield from cancellation.follow_log(self._connection, job_name, max_lines)

    @operation
    def download(
        self,
        job_name: str,
        file_name: str | None = None,
        *,
        patterns: str | Sequence[str] = (),
        pdbs_only: bool = False,
        progress: bool | ProgressCallback = False,
        job_email: str | None = None,
    ) -> Operation[Path]:
        """Download a job's result archive, one file of it, or some files to a folder; returns the local path.

        The file is in the cache folder; copy it to keep it.

        Args:
            file_name: download one file of the result instead of the archive.
            patterns: a pattern (``*.pdb``) or several; unpack the files whose names match one, and return
                their folder.
            pdbs_only: download an archive of the structure files only.
            progress: True to show a bar, or a callback (bytes received, total bytes or None).
            job_email: address of the organization's member who owns the job; None for your own.

        Raises:
            UnfinishedJobError: the job has no result yet.
            NotFoundError: there is no such job, or it has no result.
            ArchiveError: the download is damaged.
            FoldnoteError: no file matches the patterns.
        """
        job = yield from job_pages.get_job(self._connection, job_name, job_email)
        return (yield from fetch(self._connection, job, file_name, patterns, pdbs_only, progress, job_email))


def _name(jobs: Iterable[str | JobHandleOperations]) -> list[str]:
    """Return the names of jobs; a single string is one name."""
    given = [jobs] if isinstance(jobs, str) else jobs
    return [each if isinstance(each, str) else each.job_name for each in given]


class Jobs(SyncApi, JobsOperations[JobHandle]):
    """Jobs (synchronous)."""

    _handle = JobHandle


class AsyncJobs(AsyncApi, JobsOperations[AsyncJobHandle]):
    """Jobs (asynchronous)."""

    _handle = AsyncJobHandle
