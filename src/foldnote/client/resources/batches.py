"""Batches: many jobs of one tool, submitted together, watched together, downloaded as one archive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from foldnote import late
from foldnote.client.core import job_pages
from foldnote.client.core.connection import Resource, ServiceConnection
from foldnote.client.core.operations import AsyncApi, Operation, Run, SyncApi, operation
from foldnote.client.downloads.download import fetch_result
from foldnote.client.inputs.batch_table import Rows, as_rows
from foldnote.client.inputs.file_values import name_uploads
from foldnote.client.local.ledger import Ledger
from foldnote.client.resources.account import count_left
from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle, JobHandleOperations
from foldnote.client.resources.tools import recall_tool
from foldnote.client.submission import batch_submission
from foldnote.client.submission.experience import RunLimits, read_experience
from foldnote.client.submission.extensions import (
    Extensions,
    choose_sent,
    put_policy,
    put_webhook,
    warn_of_lost_webhook,
)
from foldnote.client.submission.idempotency import find_free_name, find_job
from foldnote.client.submission.preview import Preview
from foldnote.client.submission.validation import Row, require_valid, validate_rows
from foldnote.client.tables.batch_results import Sheet, SheetRow, add_kept, join_results
from foldnote.client.tables.frames import tabulate_batch, tabulate_batches
from foldnote.client.tables.job_list import JobList
from foldnote.errors import FoldnoteError, JobError, NotFoundError, UnfinishedJobError
from foldnote.models import Job, JobPage, RowVerdict, Tool
from foldnote.models.extensions import WEBHOOK
from foldnote.models.job import PIPELINE

if TYPE_CHECKING:
    import pandas as pd

B = TypeVar("B", bound="BatchHandleOperations[Any]")
J = TypeVar("J", bound=JobHandleOperations)
_MAX_SUBJOBS = 1_000_000
_NUMBERED = re.compile(r"(.*)-([0-9]{1,9})")


class BatchHandleOperations(JobHandleOperations, Generic[J]):
    """Operations of a batch; it is final once its archive is built, or there is nothing to build."""

    _job_handle: type[J]

    def __init__(
        self, record: Job, connection: ServiceConnection, transport: Any, sheet: Sheet | None = None
    ) -> None:
        super().__init__(record, connection, transport)
        self.sheet = sheet
        """Maps rows of the table to jobs; None for a batch found by its name, whose sheet is then looked up
        in the ledger."""

    def _make_job_handle(self, job: Job) -> J:
        """Make a handle of one of the batch's jobs, of this API (sync or async)."""
        return self._job_handle(job, self._connection, self._transport)

    @operation
    def subjobs(self) -> Operation[JobList[J]]:
        """Get the batch's jobs, in the order of their rows."""
        found = yield from _list_subjobs(self._connection, self.job_name)
        return JobList(JobPage(jobs=tuple(found)), self._make_job_handle)

    @operation
    def to_frame(self) -> Operation[pd.DataFrame]:
        """Get the batch's jobs with their settings and scores.

        Returns:
            One row per subjob, in the order of the batch's rows, with the columns of
            ``client.jobs.to_frame``, then ``settings.NAME`` (as submitted), ``score.NAME`` (the result's
            metrics, in the tool's units; missing where a job has none) and ``input.NAME`` for the columns of
            the submitted table that feed no setting, if it was submitted from this computer.
        """
        found = yield from _list_subjobs(self._connection, self.job_name)
        sheet = yield from _find_sheet(self, found)
        frame: pd.DataFrame = yield Run(lambda: tabulate_batch(found))
        return frame if sheet is None else (yield Run(lambda: add_kept(frame, sheet)))

    @operation
    def results(self, table: pd.DataFrame | None = None, *, figures: bool = False) -> Operation[pd.DataFrame]:
        """Join the submitted rows with their results; for a retried row, the last one.

        Args:
            table: the input rows. By default the table that was submitted from this computer; for a batch
                that was submitted elsewhere, its settings.
            figures: also the figures that the batch's table in a cell takes from the result files: for an
                antibody numbering, chain type, species, germline genes and CDRs. This downloads the results;
                a batch that has not ended has none.

        Returns:
            One row per row of the batch, with the index of the table (numbers from 0 after a sweep) and the
            table's columns in their dtypes, then ``job_name``, ``status`` (``Failed`` for a failed run,
            ``Deleted`` for a job that no longer exists) and ``error`` (str: why it failed or did not run),
            ``retries`` (int64: how often it was run again after a failure), ``duration_s`` (float64,
            seconds), ``weighted_hours`` (float64), the figures that were asked for (str, such as ``V gene``
            and ``CDR-H3``; missing where a job has none), and ``score.NAME`` for the results' metrics in the
            tool's units; those that differ between rows come first, as do settings if there is no table. A
            column of the table with one of these names becomes ``input.NAME``.

        Raises:
            FoldnoteError: ``table`` has a different number of rows.
        """
        sheet, jobs = yield from _read_sheet(self)
        chosen = sheet if table is None else sheet.with_inputs(table)
        found = (yield from self._read_figures(sheet)) if figures else {}
        frame: pd.DataFrame = yield Run(lambda: join_results(chosen, jobs, found))
        return frame

    def _read_figures(self, sheet: Sheet) -> Operation[dict[str, dict[str, Any]]]:
        """Return the figures by job name, including retried rows; empty until the batch has ended."""
        found: dict[str, dict[str, Any]] = {}
        for name in sheet.batches:
            with suppress(UnfinishedJobError, JobError, NotFoundError):  # no job of it has a result
                record = yield from job_pages.get_job(self._connection, name)
                if record.is_final:
                    path = yield from fetch_result(self._connection, record)
                    found |= yield Run(partial(_open_figures, path))
        return found

    @operation
    def list_rows(self) -> Operation[list[SheetRow]]:
        """List the rows with their own columns and the records of their jobs; for a retried row, the last."""
        sheet, jobs = yield from _read_sheet(self)
        return sheet.list_rows(jobs)

    @operation
    def list_earlier(self) -> Operation[list[Self]]:
        """List the batches of which this one is a retry, oldest first; empty for a first submission.

        Batches that were deleted are omitted.
        """
        sheet, _ = yield from _read_sheet(self)
        found = []
        for name in sheet.batches:
            with suppress(NotFoundError):
                if name != self.job_name:
                    job = yield from job_pages.get_job(self._connection, name)
                    found.append(type(self)(job, self._connection, self._transport))
        return found

    @operation
    def retry(self, *, webhook: str | None = None) -> Operation[Self]:
        """Submit the rows whose job failed, was stopped or was deleted again, as a new batch.

        Repeating the call finds the same batch. ``results()`` of the new batch covers all rows.

        Args:
            webhook: address that the service calls when the new batch has ended. By default that of this
                batch, if it was submitted from this computer; a `NotSentWarning` tells if none is called for
                the new batch, although one was for this one. ``""`` calls none.

        Raises:
            FoldnoteError: some jobs are unfinished, or every job is complete.
            SettingsError: the service no longer calls webhooks; nothing was sent.
            BatchSettingsError: the service refuses some rows.
            ServiceError: the service refused.
        """
        if self.tool == PIPELINE:
            raise FoldnoteError(
                f"{self.job_name!r} is the run of a pipeline. To continue from the stage without a result:"
                f" client.pipelines.get({self.job_name!r}).run_again()"
            )
        sheet, jobs = yield from _read_sheet(self)
        unfinished = sum(not job.is_final for job in jobs.values())
        if unfinished:
            raise FoldnoteError(
                f"Wait for the batch {self.job_name!r} first. Unfinished jobs: {unfinished:,}."
            )
        rows = sheet.open_rows(jobs)
        if not rows:
            raise FoldnoteError(f"Every job of {self.job_name!r} is complete; there is nothing to retry.")
        name, names, after = sheet.retry(rows)
        tool = yield from recall_tool(self._connection, self.record.tool_type)
        settings = [name_uploads(tool, sheet.settings[row]) for row in rows]
        ledger = Ledger(service=self._connection.service)
        called = sheet.webhook if webhook is None else webhook
        sent = choose_sent(tool, put_webhook(self.record.extensions, called), self._connection.service)
        limits = RunLimits()
        attempt = yield Run(
            lambda: batch_submission.prepare(
                ledger, tool, settings, name, names, self.record.project_tag, limits, sent
            )
        )
        job = (yield from batch_submission.submit_batch(self._connection, ledger, attempt)).job
        after = replace(after, webhook=called)
        yield Run(lambda: ledger.remember_sheet(job.job_name, after.write()))
        if called is None and self.record.webhook is not None:
            job = yield from job_pages.get_job(self._connection, job.job_name)
            warn_of_lost_webhook(self.record, job)
        return type(self)(job, self._connection, self._transport, after)


class BatchHandle(JobHandle, BatchHandleOperations[JobHandle]):
    """Handle of a batch (synchronous)."""

    _job_handle = JobHandle


class AsyncBatchHandle(AsyncJobHandle, BatchHandleOperations[AsyncJobHandle]):
    """Handle of a batch (asynchronous)."""

    _job_handle = AsyncJobHandle


class BatchesOperations(Resource, Generic[B]):
    """POST /submit-batch, and batches in the list of jobs."""

    _handle: type[B]

    def _make_handle(self, job: Job, sheet: Sheet | None = None) -> B:
        """Make a batch handle of this API (sync or async)."""
        return self._handle(job, self._connection, self._transport, sheet)

    @operation
    def submit(
        self,
        tool: str | Tool,
        rows: Sequence[Row] | Rows,
        batch_name: str | None = None,
        names: Sequence[str] | None = None,
        *,
        project_tag: str | None = None,
        max_runtime_s: float | None = None,
        weighted_hours_budget: float | None = None,
        on_failure: str | None = None,
        retries: int | None = None,
        extensions: Extensions | None = None,
        webhook: str | None = None,
        again: bool = False,
    ) -> Operation[B]:
        """Submit rows as a batch, unless the same rows were submitted before; returns the batch.

        Every row is validated, here and by the service, before any is submitted.

        Args:
            tool: the tool, or its type.
            rows: the settings of each job, or the ``Rows`` that ``expand_rows`` makes from a table.
            batch_name: name of the batch; by default derived from tool and rows.
            names: names of the jobs, in the order of ``rows``; by default those that a column of the table
                gives, else the batch's name and a number. Where another job has a name of the table, all rows
                are named after the tool, too: ``AB-1-anarci``.
            project_tag: identifier of a project.
            max_runtime_s: time limit of each job in seconds, where the service supports it.
            weighted_hours_budget: limit of weighted hours for all jobs together, where the service supports
                it.
            on_failure: ``"stop"`` starts no more jobs once one has failed, after its retries; running jobs
                are completed. The default, ``"continue"``, runs all of them. The service applies it, so
                nothing has to stay open.
            retries: how often (0 to 10) a job is run again after its tool failed or exceeded its time limit.
                Runs lost with a machine are repeated in any case.
            extensions: what is sent beside the settings of every row where the service takes it, such as
                ``{"external": ["msa-server"]}``; a `NotSentWarning` names the rest.
            webhook: address that the service calls when the batch as a whole has ended, see ``jobs.submit``.
            again: submit a new batch even if these rows were submitted before.

        Raises:
            UnknownToolError: the service has no such tool.
            ToolUnavailableError: the service cannot run the tool; the message says what to do.
            BatchSettingsError: some rows are invalid; its ``to_frame()`` has the verdict on each row.
            SettingsError: a name is invalid, the service does not offer ``on_failure`` or ``retries``, or it
                refuses the batch as a whole.
            JobNameTakenError: the name belongs to another job or batch; the message shows the difference.
            ProtocolError: the service returned no verdict for some row.
            ServiceError: the service refused.
            TransportError: no answer was received, and the service does not have the batch.
        """
        limits = RunLimits(max_runtime_s, weighted_hours_budget)
        table = as_rows(rows, names)
        attempt, verdicts = yield from self._draft(
            tool,
            table,
            names,
            batch_name,
            project_tag,
            limits,
            put_policy(put_webhook(extensions, webhook), on_failure, retries),
            again,
        )
        require_valid(attempt.tool, verdicts)
        sent = yield from batch_submission.submit_batch(self._connection, self.ledger, attempt)
        return self._make_handle(sent.job, (yield from self._save_sheet(sent, table, attempt)))

    @operation
    def preview(
        self,
        tool: str | Tool,
        rows: Sequence[Row] | Rows,
        batch_name: str | None = None,
        names: Sequence[str] | None = None,
        *,
        project_tag: str | None = None,
        max_runtime_s: float | None = None,
        weighted_hours_budget: float | None = None,
        on_failure: str | None = None,
        retries: int | None = None,
        extensions: Extensions | None = None,
        webhook: str | None = None,
        again: bool = False,
    ) -> Operation[Preview]:
        """Report what ``submit`` with the same arguments would do; nothing is submitted, and it is free.

        Raises:
            UnknownToolError: the service has no such tool.
            SettingsError: a name is invalid, the service does not offer ``on_failure`` or ``retries``, or it
                refuses the batch as a whole.
            JobNameTakenError: the name belongs to another job or batch; the message shows the difference.
            ServiceError: the service refused.
        """
        limits = RunLimits(max_runtime_s, weighted_hours_budget)
        table = as_rows(rows, names)
        attempt, verdicts = yield from self._draft(
            tool,
            table,
            names,
            batch_name,
            project_tag,
            limits,
            put_policy(put_webhook(extensions, webhook), on_failure, retries),
            again,
        )
        existing = None
        if all(verdict.valid for verdict in verdicts):
            if not attempt.is_new_run:
                existing = yield from batch_submission.find_batch(self._connection, self.ledger, attempt)
            if existing is None:
                verdicts = yield from validate_rows(
                    self._connection, attempt.tool, attempt.rows, attempt.extensions
                )
        experience = yield from read_experience(self._connection, attempt.tool.type)
        left = yield from count_left(self._connection)
        return Preview(attempt, tuple(verdicts), existing, experience, table, left)

    def _draft(
        self,
        tool: str | Tool,
        rows: Rows,
        names: Sequence[str] | None,
        batch_name: str | None,
        project_tag: str | None,
        limits: RunLimits,
        extensions: Extensions | None,
        again: bool,
    ) -> Operation[tuple[batch_submission.BatchAttempt, list[RowVerdict]]]:
        """Prepare the request, and validate each row by the tool's schema."""
        known = tool if isinstance(tool, Tool) else (yield from recall_tool(self._connection, tool))
        sent = choose_sent(known, extensions, self._connection.service)
        draft: tuple[batch_submission.BatchAttempt, list[RowVerdict]] = yield Run(
            lambda: batch_submission.draft(
                self.ledger,
                known,
                rows.settings,
                batch_name,
                rows.names,
                project_tag,
                limits,
                sent,
                is_named_by_table=names is None and rows.names is not None,
            )
        )
        attempt, verdicts = draft
        if again and (yield from find_job(self._connection, attempt.name)) is not None:
            stem = f"{attempt.name[:80]}-run"  # NAME-1 would be the name of a job of the batch
            attempt = attempt.as_new_batch((yield from find_free_name(self._connection, stem)))
        return attempt, verdicts

    @operation
    def send(self, preview: Preview) -> Operation[B]:
        """Submit a previewed batch; valid rows are not validated again.

        Raises:
            BatchSettingsError: some rows are invalid.
            ServiceError: the service refused.
        """
        require_valid(preview.attempt.tool, preview.verdicts)
        sent = yield from batch_submission.submit_batch(
            self._connection, self.ledger, preview.attempt, is_judged=True
        )
        return self._make_handle(sent.job, (yield from self._save_sheet(sent, preview.rows, preview.attempt)))

    def _save_sheet(
        self, sent: batch_submission.SubmittedBatch, rows: Rows, attempt: batch_submission.BatchAttempt
    ) -> Operation[Sheet]:
        """Make the sheet of a batch and record it in the ledger, where a handle obtained by name finds it."""
        called = (attempt.extensions or {}).get(WEBHOOK)
        sheet = Sheet.of_rows(sent.job.job_name, sent.names, rows, called)
        yield Run(lambda: self.ledger.remember_sheet(sent.job.job_name, sheet.write()))
        return sheet

    @operation
    def to_frame(self, limit: int = 100) -> Operation[pd.DataFrame]:
        """Get the newest batches as a DataFrame.

        Returns:
            One row per batch, with the columns of ``client.jobs.to_frame`` and ``jobs``, ``complete`` and
            ``stopped`` (Int64, counts of jobs; missing where the service does not count them).
        """
        found = yield from job_pages.list_many(
            self._connection, {}, job_pages.check_limit(limit), lambda job: job.is_batch
        )
        frame: pd.DataFrame = yield Run(lambda: tabulate_batches(found))
        return frame

    @operation
    def list(self, *, limit: int = 100) -> Operation[JobList[B]]:
        """Get the newest batches, at most ``limit``, from as many pages of jobs as needed."""
        found = yield from job_pages.list_many(
            self._connection, {}, job_pages.check_limit(limit), lambda job: job.is_batch
        )
        return JobList(JobPage(jobs=tuple(found)), self._make_handle, tabulate_batches)

    @operation
    def get(self, batch_name: str) -> Operation[B]:
        """Get a batch by its name.

        Raises:
            NotFoundError: there is no such batch.
        """
        job = yield from job_pages.get_job(self._connection, batch_name)
        if not job.is_batch:
            raise NotFoundError(f"{batch_name!r} is a single job, not a batch.", status=404)
        return self._make_handle(job)


def _read_sheet(batch: BatchHandleOperations[Any]) -> Operation[tuple[Sheet, dict[str, Job]]]:
    """Get the sheet of a batch, and the records of its jobs by name."""
    found = yield from _list_subjobs(batch._connection, batch.job_name)
    jobs = {job.job_name: job for job in found}
    sheet = yield from _find_sheet(batch, found)
    if sheet is None:
        return Sheet.of_jobs(batch.job_name, found), jobs
    for name in sheet.batches:
        if name != batch.job_name:
            earlier = yield from _list_subjobs(batch._connection, name)
            jobs |= {job.job_name: job for job in earlier}
    return sheet, jobs


def _open_figures(archive: Path) -> dict[str, dict[str, Any]]:
    """Return the figures of the jobs of an archive by name."""
    read_figures = late.load("read_figures")
    return {name: read_figures(result) for name, result in late.load("open_result")(archive).jobs.items()}


def _find_sheet(batch: BatchHandleOperations[Any], jobs: Sequence[Job]) -> Operation[Sheet | None]:
    """Return the sheet of the handle, else the one in the ledger; None for a batch of another computer."""
    if batch.sheet is not None:
        return batch.sheet
    ledger = Ledger(service=batch._connection.service)
    names = [job.job_name for job in jobs]
    sheet: Sheet | None = yield Run(lambda: Sheet.recover(ledger.sheet(batch.job_name), names))
    return sheet


def _list_subjobs(connection: ServiceConnection, batch_name: str) -> Operation[Sequence[Job]]:
    """Get the jobs of a batch in the order of its rows.

    Where all names end in a number, sort by the number: some deployments list jobs that were created at the
    same time in any order.
    """
    found = yield from job_pages.list_many(connection, {"batch": batch_name}, _MAX_SUBJOBS)
    numbers = [_NUMBERED.fullmatch(job.job_name) for job in found]
    matched = [number for number in numbers if number is not None]
    if len(matched) == len(found) and len({number[1] for number in matched}) <= 1:
        return sorted(found, key=lambda job: int(job.job_name.rpartition("-")[2]))
    return found[::-1]


class Batches(SyncApi, BatchesOperations[BatchHandle]):
    """Batches (synchronous)."""

    _handle = BatchHandle


class AsyncBatches(AsyncApi, BatchesOperations[AsyncBatchHandle]):
    """Batches (asynchronous)."""

    _handle = AsyncBatchHandle
