"""Jobs: submitted once, watched, stopped, fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from foldnote.client.core import job_pages
from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import understand
from foldnote.client.core.operations import AsyncApi, Emit, Operation, Run, Stream, SyncApi, operation, stream
from foldnote.client.core.progress import ProgressCallback, follow
from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle, JobHandleOperations, fetch, finish
from foldnote.client.resources.tools import recall_tool
from foldnote.client.submission import job_submission
from foldnote.client.tables.frames import tabulate_jobs
from foldnote.client.tables.job_list import JobList
from foldnote.client.watching import cancellation, waiting
from foldnote.client.watching.poller import find_poller
from foldnote.client.watching.waiting import Watch, Watcher
from foldnote.models import BatchVerdict, Job, Tool, Verdict, read_verdict

if TYPE_CHECKING:
    import pandas as pd

H = TypeVar("H", bound=JobHandleOperations)


class JobsOperations(Resource, Generic[H]):
    """The job routes."""

    _handle: type[H]

    def _hold(self, job: Job) -> H:
        """A job handle of this API (sync or async)."""
        return self._handle(job, self._connection, self._transport)

    @operation
    def submit(
        self,
        tool: str | Tool,
        settings: Mapping[str, Any],
        *,
        job_name: str | None = None,
        project_tag: str | None = None,
        again: bool = False,
    ) -> Operation[H]:
        """The job that this submission is: the one that it became before, or a new one.

        Args:
            tool: the tool or its type.
            settings: fields of the tool's schema.
            job_name: the wished name; by default one is derived from tool and settings.
            project_tag: identifier of a project.
            again: make a new job even if the same submission has one already.

        Raises:
            UnknownToolError: the service has no such tool.
            ToolUnavailableError: the service cannot run it; the message says what to do.
            SettingsError: settings or name break a rule; nothing was sent.
            JobNameTakenError: the wished name belongs to another job; the message shows the difference.
            ServiceError: the service refused.
            TransportError: no answer came, and the service does not know the job.
        """
        known = tool if isinstance(tool, Tool) else (yield from recall_tool(self._connection, tool))
        job = yield from job_submission.submit(
            self._connection,
            self.ledger,
            known,
            settings,
            job_name=job_name,
            project_tag=project_tag,
            again=again,
        )
        return self._hold(job)

    @operation
    def validate(
        self, tool: str, settings: Mapping[str, Any] | list[Mapping[str, Any]], *, job_name: str = "check"
    ) -> Operation[Verdict | BatchVerdict]:
        """The service's verdict on settings, or on a batch of them; it costs nothing."""
        body = {"jobName": job_name, "type": tool, "settings": settings}
        answer = yield from self._connection.ask("POST", "/validate-job", json=body, repeatable=True)
        return understand(read_verdict, answer)

    @operation
    def get(self, job_name: str) -> Operation[H]:
        """One job by its name.

        Raises:
            NotFoundError: there is no such job.
        """
        return self._hold((yield from job_pages.get_job(self._connection, job_name)))

    @operation
    def record(self, job_name: str, *, job_email: str | None = None) -> Operation[Job]:
        """The record of a job, to be looked at.

        Args:
            job_email: the member of the organization whose job it is; None for one's own.

        Raises:
            NotFoundError: there is no such job, or its owner is in no organization with the caller.
        """
        return (yield from job_pages.get_job(self._connection, job_name, job_email))

    @operation
    def poll(
        self, job_names: Iterable[str], *, job_email: str | None = None, afresh: Iterable[str] = ()
    ) -> Operation[dict[str, Job | None]]:
        """The records of jobs that are followed, by name; call it as often as the page wants news.

        All that follows jobs of this account in this process shares its requests: one page for all jobs, at
        most 12 requests a minute, and more only in the first ten seconds of a job. Between two requests the
        records are those last seen.

        Args:
            job_names: the jobs.
            job_email: the member of the organization whose jobs they are; None for one's own.
            afresh: those that may be others now, or were just acted on: they are looked at anew.

        Returns:
            The record of each job, None for one that does not exist; one that was not seen yet is left out.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer came.
        """
        names = list(job_names)
        poller = find_poller(self._connection, job_email)
        poller.follow(afresh, afresh=True)
        poller.follow(names)
        if poller.is_due(names):
            yield from poller.look(self._connection, names)
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
        """Jobs, newest first, as rows with their verbs; its ``to_frame()`` is a DataFrame.

        Args:
            limit: the most rows; beyond 1000 from as many pages as it takes.
            start_key: continues after a list with this ``start_key``.
            batch: only the subjobs of this batch.
            include_subjobs: subjobs beside top-level jobs.
            organization: the jobs of all members.
            job_email: the jobs of this member.
            since: the ``mark`` of an earlier page, or an empty text to be given one; a service that can wait
                answers when something changed since.
            wait_s: how long it may wait for that, in seconds, at most 25.
        """
        limit = job_pages.check_limit(limit)
        given = {
            "startKey": start_key,
            "batch": batch,
            "includeSubjobs": "true" if include_subjobs else None,
            "organization": "true" if organization else None,
            "jobEmail": job_email,
            "since": since,
            "waitSeconds": f"{wait_s:g}" if since and wait_s else None,
        }
        params = {name: value for name, value in given.items() if value is not None}
        if limit <= job_pages.LARGEST_PAGE:
            page = yield from job_pages.list_page(self._connection, params | {"limit": str(limit)})
        else:
            page = yield from job_pages.read_pages(self._connection, params, limit)
        return JobList(page, self._hold)

    @operation
    def to_frame(
        self, limit: int = 1000, *, batch: str | None = None, include_subjobs: bool = False
    ) -> Operation[pd.DataFrame]:
        """Jobs as a DataFrame, newest first.

        Args:
            limit: the most rows, from as many pages as it takes.
            batch: only the subjobs of this batch.
            include_subjobs: subjobs beside top-level jobs.

        Returns:
            One row a job, with the index ``job_name`` (str) and the columns ``tool`` (str), ``status`` (str;
            ``Failed`` for a run that failed by itself, else the interface's word), ``created``, ``started``,
            ``completed`` (datetime64, UTC), ``duration_s`` (float64, seconds), ``progress`` (float64, 0
            to 1), ``weighted_hours`` (float64), ``batch`` and ``error`` (str); what is not there is NaT or
            NaN.
        """
        filters = {"batch": batch, "includeSubjobs": "true" if include_subjobs else None}
        params = {name: value for name, value in filters.items() if value is not None}
        found = yield from job_pages.list_many(self._connection, params, limit)
        frame: pd.DataFrame = yield Run(lambda: tabulate_jobs(found))
        return frame

    @operation
    def wait(
        self,
        jobs: Iterable[str | JobHandleOperations],
        timeout_s: float | None = None,
        on_change: Watcher | None = None,
        *,
        progress: bool = False,
    ) -> Operation[dict[str, H]]:
        """These jobs by their names, once all of them are final, however they ended.

        Args:
            jobs: names, or rows of a list.
            timeout_s: seconds after which the waiting ends; the jobs go on.
            on_change: called with each record that differs from the one before.
            progress: show a bar, in a cell or on standard error.

        Raises:
            WaitTimeoutError: not all were final in ``timeout_s`` seconds; they go on.
        """
        wanted = _name(jobs)
        with follow(progress, wanted, on_change) as note:
            done = yield from waiting.wait_all(self._connection, wanted, timeout_s, note)
        return {name: self._hold(job) for name, job in done.items()}

    @stream
    def as_completed(
        self,
        jobs: Iterable[str | JobHandleOperations],
        timeout_s: float | None = None,
        on_change: Watcher | None = None,
        *,
        progress: bool = False,
    ) -> Stream[H]:
        """Each of these jobs as soon as it is final, however it ended; an iterator.

        All of them cost one request a look. An ``AsyncClient`` gives an asynchronous iterator.

        Args:
            jobs: names, or rows of a list.
            timeout_s: seconds after which the waiting ends, counted from the first job asked for.
            on_change: called with each record that differs from the one before.
            progress: show a bar, in a cell or on standard error.

        Raises:
            WaitTimeoutError: not all were final in time; those that were have been given, the others go on.
            NotFoundError: one of them does not exist.
        """
        wanted = _name(jobs)
        with follow(progress, wanted, on_change) as note:
            watch = Watch(self._connection, wanted, timeout_s, note)
            while watch.pending:
                for job in (yield from watch.look()):
                    yield Emit(self._hold(job))
                yield from watch.pause()

    @operation
    def finish(
        self,
        job_name: str,
        timeout_s: float | None = None,
        on_change: Watcher | None = None,
        *,
        progress: bool = False,
    ) -> Operation[Job]:
        """The record of a job that ended well.

        Args:
            timeout_s: seconds after which the waiting ends; the job goes on.
            on_change: called with each record that differs from the one before.
            progress: show a bar, in a cell or on standard error.

        Raises:
            JobFailedError: the run failed; the log's end is in the exception.
            JobStoppedError: it was stopped.
            WaitTimeoutError: it was not final in ``timeout_s`` seconds; it goes on.
        """
        with follow(progress, [job_name], on_change) as note:
            return (yield from finish(self._connection, job_name, timeout_s, note))

    @operation
    def stop(self, job_name: str) -> Operation[None]:
        """Stop a job, or every unfinished job of a batch; one that has ended stays as it is.

        Raises:
            BadRequestError: there is no such job.
        """
        yield from cancellation.stop_job(self._connection, job_name)

    @operation
    def delete(self, job_name: str) -> Operation[None]:
        """Delete a job with its result, or a batch with its subjobs.

        Raises:
            BadRequestError: there is no such job.
        """
        yield from self._connection.ask("DELETE", "/delete-job", json={"jobName": job_name}, repeatable=False)

    @operation
    def logs(self, job_name: str, max_lines: int = 1000) -> Operation[str]:
        """The last lines of a job's log.

        Raises:
            NotFoundError: there is no such job, or the service tells no logs.
        """
        return (yield from cancellation.read_log(self._connection, job_name, max_lines))

    @stream
    def follow_log(self, job_name: str, max_lines: int = 1000) -> Stream[str]:
        """The last lines of a job's log and then what is written, until the job is final; an iterator.

        An ``AsyncClient`` gives an asynchronous iterator. Each text is one or more whole lines.

        Args:
            max_lines: lines to begin with.

        Raises:
            NotFoundError: there is no such job, or the service tells no logs.
        """
        yield from cancellation.follow_log(self._connection, job_name, max_lines)

    @operation
    def download(
        self,
        job_name: str,
        file_name: str | None = None,
        *,
        patterns: Sequence[str] = (),
        pdbs_only: bool = False,
        progress: bool | ProgressCallback = False,
        job_email: str | None = None,
    ) -> Operation[Path]:
        """The path of a job's result archive on this machine, of one file of it, or of a folder with some.

        The file lies in the cache folder; copy it to keep it.

        Args:
            file_name: one file of the result instead of the archive.
            patterns: unpack the files whose names match one of these (``*.pdb``), and give their folder.
            pdbs_only: an archive of the structure files only.
            progress: show a bar, or call this with the bytes that are there and all of them.
            job_email: the member of the organization whose job it is; None for one's own.

        Raises:
            UnfinishedJobError: the job has no result yet.
            NotFoundError: there is no such job, or it has no result.
            ArchiveError: what arrived is damaged.
            FoldnoteError: no file matches the patterns.
        """
        job = yield from job_pages.get_job(self._connection, job_name, job_email)
        return (yield from fetch(self._connection, job, file_name, patterns, pdbs_only, progress, job_email))


def _name(jobs: Iterable[str | JobHandleOperations]) -> list[str]:
    """The names of jobs; one name alone is no text to be taken apart."""
    given = [jobs] if isinstance(jobs, str) else jobs
    return [each if isinstance(each, str) else each.job_name for each in given]


class Jobs(SyncApi, JobsOperations[JobHandle]):
    """Jobs; each operation returns when it is done."""

    _handle = JobHandle


class AsyncJobs(AsyncApi, JobsOperations[AsyncJobHandle]):
    """Jobs; each operation is awaited."""

    _handle = AsyncJobHandle
