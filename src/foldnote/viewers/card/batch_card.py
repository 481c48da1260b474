"""The card of a batch or pipeline, and the table of its jobs below it.

The table is live while jobs run, updated from the records that the card polls. When the batch has ended, the
table becomes an ordinary output with the figures of the results, which is saved in the notebook.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
import traitlets

from foldnote.cell_outputs import ResultSlot
from foldnote.client import BatchHandle, PipelineRun
from foldnote.client.tables.batch_results import SheetRow
from foldnote.errors import FoldnoteError
from foldnote.live_widget import LiveWidget, write_module
from foldnote.models import BatchStatus, Job, JobStatus
from foldnote.models.job import PIPELINE, StatusCounts
from foldnote.results import Result
from foldnote.results.batch import read_figures
from foldnote.viewers.card.card_html import CardNote, describe_rerun
from foldnote.viewers.card.job_card import JobCard
from foldnote.viewers.card.stage_graph import StageGraph, StageNode, read_stages, write_graph
from foldnote.viewers.card.watch import JobSource, WatchedJob
from foldnote.viewers.display.batch_rows import (
    BatchRow,
    count_states,
    describe_opening,
    make_row,
    tabulate_rows,
)
from foldnote.viewers.display.bundles import lay_out_jobs, rows_bundle
from foldnote.viewers.render.html import read_asset
from foldnote.viewers.tables.molecule_column import draw_column
from foldnote.viewers.tables.table import describe_table, list_shown, write_program

_GATHER_S = 0.3
"""Seconds within which received records are shown together."""
_DRAWING_S = 0.2
"""Time limit in seconds for drawing molecules at each update of the live table."""


class LiveTable(LiveWidget):
    """The table of a batch's jobs while they run; without its kernel, its saved copy is shown."""

    _esm = write_module(f"const program = {write_program(opens_rows=True)};\n{read_asset('live_table.js')}")
    _css = read_asset("table.css")
    _data = traitlets.Dict().tag(sync=True)
    _pictures = traitlets.Dict().tag(sync=True)

    def __init__(self, key: str, profile: str, rows: list[BatchRow]) -> None:
        """Create a table of ``rows``.

        Args:
            key: name of the batch.
            profile: the profile of its service.
            rows: the jobs of the batch.
        """
        self._key, self._profile = key, profile
        super().__init__(**self._describe(rows))

    def show(self, rows: list[BatchRow]) -> None:
        """Replace the rows; order, filter and open row are kept."""
        for name, value in self._describe(rows).items():
            self.set_trait(name, value)

    def _describe(self, rows: list[BatchRow]) -> dict[str, dict[str, Any]]:
        self._rows = rows
        opens = describe_opening(self._key, self._profile)
        frame = tabulate_rows(rows)
        return {
            "_data": describe_table(frame, count_states([row.state for row in rows]), opens),
            # sent separately from the values, which change with every poll
            "_pictures": dict(draw_column(list_shown(frame, opens), time_limit_s=_DRAWING_S) or {}),
        }

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data = live[0] if isinstance(live, tuple) else live  # None without a display
        return {**data, **rows_bundle(self._rows, self._key, self._profile)} if data else live


class BatchCard(JobCard):
    """The card of a batch or pipeline, which keeps the table of its jobs in an output up to date."""

    def __init__(
        self,
        batch: BatchHandle | PipelineRun,
        source: JobSource,
        slot: ResultSlot,
        *,
        profile: str,
        on_final: Callable[[Job], object],
        run_again: Callable[[], JobCard] | None = None,
        edit: Callable[[], widgets.Widget] | None = None,
        advise: Callable[[], str] | None = None,
    ) -> None:
        """Show the card, and put the table into ``slot``.

        Args:
            batch: the batch or pipeline.
            source: provides job records.
            slot: the output of the table.
            profile: the profile of the service.
            on_final: called with the record when the batch has ended, before the table is made.
            run_again: submits the jobs without a result again and returns the card of the new batch or run.
            edit: returns what *Edit settings* shows below the card.
            advise: describes what *Run again* does, if the batch has ended without all results.
        """
        self._batch, self._slot, self._on_final = batch, slot, on_final
        self._advise = advise
        self._jobs: dict[str, Job | None] = {}
        self._inputs: dict[str, Mapping[str, Any]] = {}
        self._table: LiveTable | None = None
        self._pending_refresh: asyncio.TimerHandle | None = None
        self._watched_jobs: list[WatchedJob] = []
        self._graph = StageGraph() if isinstance(batch, PipelineRun) else None
        super().__init__(
            batch.record, source, on_final=self._end, find_result=lambda: slot.bundle or self._finish_table(),
            run_again=run_again, edit=edit, label=batch.label, note=CardNote(batch.notes, batch.tags),
            profile=profile,
        )  # fmt: skip
        self.add_class("foldnote-batch")  # as wide as its table
        if self._graph is not None:
            first, *following = self.children
            self.set_trait("children", (first, self._graph, *following))
        if not self.job.is_final:
            self._begin()

    def bundle(self) -> dict[str, str]:
        """Return the current state of the card as a static mime bundle, for a pipeline with its graph."""
        own = super().bundle()
        if self._graph is None:
            return own
        return {**own, "text/html": own["text/html"] + write_graph(self._stages)}

    def close(self) -> None:
        """Stop following the batch and its jobs, which continue."""
        self._stop_watching()
        self._close_table()
        super().close()

    def _begin(self) -> None:
        """Show the live table, and follow the jobs that have not ended."""
        try:
            self._set_rows(self._batch.list_rows())
        except FoldnoteError as exc:
            self._show_outage(f"The jobs cannot be listed: {exc.message}")
            return
        self._table = LiveTable(self.job.job_name, self._profile, self._make_rows())
        self._slot.put(self._table._repr_mimebundle_())
        if self._watcher is None:
            return
        for name, job in self._jobs.items():
            if job is not None and not job.is_final:
                watched = WatchedJob(name, self._receive_row, lambda _reason, _last_good: None)
                self._watched_jobs.append(watched)
                self._watcher.add(watched)

    def _set_rows(self, rows: list[SheetRow]) -> None:
        self._jobs = {row.name: row.job for row in rows}
        self._inputs = {row.name: row.inputs for row in rows}
        self._draw_graph()

    @property
    def _stages(self) -> list[StageNode]:
        return read_stages([SheetRow(name, self._inputs[name], job) for name, job in self._jobs.items()])

    def _draw_graph(self) -> None:
        if self._graph is not None:
            self._graph.show(self._stages)

    async def _receive_row(self, job: Job) -> None:
        if self._jobs.get(job.job_name) is job:
            return
        self._jobs[job.job_name] = job
        if self._pending_refresh is None:
            self._pending_refresh = asyncio.get_running_loop().call_later(_GATHER_S, self._refresh)

    def _refresh(self) -> None:
        self._pending_refresh = None
        if self._table is not None and not self.job.is_final:
            self._table.show(self._make_rows())
            self._draw_graph()
            self._redraw()

    def _make_rows(self, results: Mapping[str, Result] | None = None) -> list[BatchRow]:
        """Return the rows; with the results by job name, also their figures."""
        rows = [make_row(name, job, self._inputs[name]) for name, job in self._jobs.items()]
        results = results or {}
        return [
            replace(row, figures=read_figures(results[row.name])) if row.name in results else row
            for row in rows
        ]

    def _end(self, record: Job) -> None:
        self._stop_watching()
        self._on_final(record)
        self._finish_table()
        if self._advise is not None and describe_rerun(self._shown_record()):
            self._again = self._advise()
            self._run_again_button.tooltip = self._again.partition(" In Python: ")[0]
        self._redraw()

    def _finish_table(self) -> Mapping[str, Any]:
        """Put the final table into the output, with the results that are saved with it."""
        self._set_rows(self._batch.list_rows())
        results = self._read_results()
        own_results = {name: results[name] for name in self._jobs if name in results}
        rows = self._make_rows(own_results)
        self._slot.put(
            rows_bundle(rows, self.job.job_name, self._profile, lay_out_jobs(own_results), own_results)
        )
        self._close_table()
        return self._slot.bundle

    def _close_table(self) -> None:
        """Close the live table once a saved output has replaced it, or it is no longer updated."""
        if self._table is not None:
            self._table.close()
            self._table = None

    def _read_results(self) -> dict[str, Result]:
        """Return the results by job name, for a retry also those of the earlier batches."""
        results: dict[str, Result] = {}
        earlier: list[BatchHandle] = (
            self._batch.list_earlier() if isinstance(self._batch, BatchHandle) else []
        )
        for batch in [*earlier, self._batch]:
            with suppress(
                FoldnoteError
            ):  # no job has a result, or no archive was built; the table says which
                results |= batch.result().jobs
        return results

    def _stop_watching(self) -> None:
        for watched in self._watched_jobs:
            if self._watcher:
                self._watcher.discard(watched)
        self._watched_jobs = []

    def _shown_record(self) -> Job:
        """Return the record with the number of failed jobs, which lists of jobs do not have.

        Services count stages that did not run among the failed ones of a pipeline. Until the batch has ended,
        its state and counts are taken from its rows, as in the table below.
        """
        record = self._count_rows(super()._shown_record())
        is_pipeline = record.tool == PIPELINE
        if not is_pipeline and (record.failed is not None or not self._jobs):
            return record
        failed = sum(job is not None and job.is_failed for job in self._jobs.values())
        return record.model_copy(update={"failed": failed if self._jobs else None})

    def _count_rows(self, record: Job) -> Job:
        """Return the record of a running batch with counts of its rows; for a retry, of those run again."""
        own = [job for job in self._jobs.values() if job is not None and job.batch == record.job_name]
        is_known = len(own) == record.statuses.total if record.statuses else bool(own)
        if record.is_final or not is_known or record.batch_status is BatchStatus.AGGREGATING:
            return record
        numbers = Counter(job.status for job in own)
        counts = StatusCounts(
            in_queue=numbers[JobStatus.IN_QUEUE],
            running=numbers[JobStatus.RUNNING],
            complete=numbers[JobStatus.COMPLETE],
            stopped=numbers[JobStatus.STOPPED],
        )
        status = JobStatus.IN_QUEUE if counts.in_queue == counts.total else JobStatus.RUNNING
        failed = sum(job.is_failed for job in own)
        return record.model_copy(update={"status": status, "statuses": counts, "failed": failed})
