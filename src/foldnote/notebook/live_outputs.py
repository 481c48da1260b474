"""Jobs and batches in cells: a live card, and below it an output saved in the notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from foldnote.cell_outputs import LiveOutput, ResultSlot, is_notebook
from foldnote.client import BatchHandle, JobHandle, PipelineRun
from foldnote.client.core.operations import explain_arguments
from foldnote.late import load
from foldnote.models import Job, JobStatus
from foldnote.models.job import PIPELINE
from foldnote.notebook import connection
from foldnote.viewers.card.output import ProgressOutput

if TYPE_CHECKING:
    import pandas as pd
    from ipywidgets import Widget

    from foldnote.client.core.progress import ProgressCallback
    from foldnote.results import Result
    from foldnote.viewers import JobCard
    from foldnote.viewers.card.card_html import CardNote

Handle = TypeVar("Handle", bound="LiveHandle")


class LiveHandle(JobHandle):
    """A handle that shows its progress in the cell while waiting.

    Card and code share the record of the handle: both update it, and waiting returns the same handle.
    """

    _card: JobCard | None = None
    """The last card shown."""
    _progress: ProgressOutput | None = None
    """The display of the last ``wait``'s progress."""
    _publish_again: Callable[[], None] = staticmethod(lambda: None)
    """Sends the last card and its result again."""
    _is_deleted = False

    def _with_record(self, record: Job) -> Self:
        self._record = record
        return self

    def note(self, text: str) -> None:
        """Write a note on the job, in place of an earlier one; the card shows it, empty text removes it.

        Args:
            text: free text of at most 5,000 characters, which stays on this computer.

        Raises:
            ConfigurationError: the note is too long, or cannot be saved.
        """
        super().note(text)
        self._show_note()

    def tag(self, *tags: str) -> None:
        """Add tags to the job; the card shows them, and the panel groups jobs by them.

        Raises:
            ConfigurationError: a tag is empty or has more than 40 characters, the job would have more than
                20, or they cannot be saved.
        """
        super().tag(*tags)
        self._show_note()

    def untag(self, *tags: str) -> None:
        """Remove tags from the job; tags that it does not have are ignored.

        Raises:
            ConfigurationError: the change cannot be saved.
        """
        super().untag(*tags)
        self._show_note()

    def delete(self) -> None:
        """Delete the job and its result, with its tags and note; the card shows that."""
        super().delete()
        self._is_deleted = True
        if self._card is not None:
            self._card.note_deletion()

    def _show_note(self) -> None:
        if self._card is not None:
            self._card.annotate(_read_note(self))

    @explain_arguments
    def wait(self, timeout_s: float | None = None, *, progress: bool = True) -> Self:  # type: ignore[override]
        """Wait until the job is complete, with its progress in the cell, and return it.

        Args:
            timeout_s: seconds after which the waiting ends; the job continues.
            progress: whether to show it in the cell.

        Raises:
            JobFailedError: the run failed; the log's end is in the exception.
            JobStoppedError: it was stopped.
            WaitTimeoutError: the job had not ended in time.
        """
        output = self._progress = ProgressOutput(self.record) if progress else None
        had_ended = self._card is not None and self._card.job.is_final

        def note(record: Job) -> None:
            self._with_record(record)
            if output is not None:
                output.show(record)

        try:
            return self._with_record(self.finish(timeout_s, note))
        finally:
            if self._card is not None:
                self._card.take(self.record)
                if had_ended:  # programs that execute notebooks drop messages that arrive between two cells
                    self._publish_again()

    @explain_arguments
    def result(
        self,
        patterns: str | Sequence[str] = (),
        *,
        timeout_s: float | None = 0,
        pdbs_only: bool = False,
        progress: bool | ProgressCallback = True,
    ) -> Result:
        """Return the result of the job; a large download shows a progress bar in the cell.

        Args:
            patterns: a pattern (``*.pdb``) or several: only the files whose names match one; by default all.
            timeout_s: seconds to wait for the job's end first; None waits until it ends. By default a job
                must have ended.
            pdbs_only: fetch the structure files only.
            progress: whether to show it in the cell, or a callback that receives the bytes so far.

        Raises:
            JobFailedError: the run failed; the log's end is in the exception.
            JobStoppedError: it was stopped while it was waited for.
            WaitTimeoutError: the job had not ended in time; it continues.
            UnfinishedJobError: the job has no result yet.
            NotFoundError: the job has no result.
            ArchiveError: the archive is damaged or not safe to unpack.
            FoldnoteError: no file matches the patterns.
        """
        if timeout_s != 0 and not self.is_final:
            self.wait(timeout_s, progress=progress is not False)
        return super().result(patterns, pdbs_only=pdbs_only, progress=progress)


class NotebookJob(LiveHandle, JobHandle):
    """A ``JobHandle`` that a notebook shows as a live card with the result below."""

    def continue_with(self, tool: str | None = None) -> pd.DataFrame | str:
        """Continue with another tool: write the next cell, with its form and this job's files by reference.

        The tools' schemas determine which files and sequences feed which tool.

        Args:
            tool: the tool's type; without one, the tools that can continue from this job are listed.

        Returns:
            The code of the cell. Without ``tool`` a table: one row per tool with ``tool`` (its type),
            ``name``, ``takes`` (files and settings of this job), ``you add`` (required inputs that the job
            does not have), all str, and ``runs here`` (bool). Tools that run here and need the fewest further
            inputs come first.

        Raises:
            ArgumentError: the tool takes nothing of this job.
            UnfinishedJobError: the job has no result yet.
            JobFailedError: the run failed; the log's end is in the exception.
        """
        from foldnote.notebook.continuing import tabulate_continuations, write_next_cell

        return tabulate_continuations(self) if tool is None else write_next_cell(self, tool)

    def _ipython_display_(self) -> None:
        _show(self, make_card)


class NotebookBatch(LiveHandle, BatchHandle):
    """A ``BatchHandle`` that a notebook shows as a live card with the table of results below."""

    def _ipython_display_(self) -> None:
        if self.tool == PIPELINE:
            make_live_run(self)._ipython_display_()
        else:
            _show(self, make_batch_card)

    def _make_job_handle(self, job: Job) -> JobHandle:
        return make_live(super()._make_job_handle(job))


class NotebookRun(LiveHandle, PipelineRun):
    """A run of a pipeline that a notebook shows as a live card with the table of its stages below."""

    def edit_settings(self) -> str:
        """Write the next cell: the code of this pipeline, so that a stage can be changed.

        Running it reuses the complete stages that did not change. Comments name the stages that failed.

        Returns:
            The code of the cell.

        Raises:
            FoldnoteError: the service keeps no stages with a run, and the job of one was deleted.
        """
        from foldnote.notebook.continuing import write_below
        from foldnote.notebook.pipeline_cell import write_cell

        return write_below(write_cell(self))

    def _ipython_display_(self) -> None:
        _show(self, make_batch_card)

    def _make_job_handle(self, job: Job) -> JobHandle:
        return make_live(super()._make_job_handle(job))


def _show(handle: Handle, make: Callable[[Handle, ResultSlot], JobCard]) -> None:
    """Show a job's card in a cell, and reserve the place of the result below it."""
    if not is_notebook():
        print(repr(handle))  # noqa: T201  IPython's terminal shows what is printed
        return
    if handle._progress is not None:
        handle._progress.withdraw()
    slot, output = ResultSlot(), LiveOutput()
    card = handle._card = make(handle, slot)
    output.show(card._repr_mimebundle_())
    slot.show()
    card.on_save = lambda: output.update(card._repr_mimebundle_())

    def publish_again() -> None:
        card.on_save()
        slot.update()

    handle._publish_again = publish_again
    if handle._is_deleted:
        card.note_deletion()
    if not card.job.is_final:  # the notebook keeps the card in its final state, above its result
        card.on_final(lambda _: card.on_save())


def make_card(job: NotebookJob, slot: ResultSlot, again: str | None = None) -> JobCard:
    """Return the live card of ``job``, which puts the result into ``slot`` when it is available.

    ``again`` is advice on running a job without a result again; by default it is a line of code.
    """
    from foldnote.viewers.card.job_card import JobCard

    def show_end(record: Job) -> None:
        job._with_record(record)
        if record.status is JobStatus.COMPLETE:
            slot.fill(job.result())

    def find_result() -> Mapping[str, Any]:
        if not slot.bundle:
            slot.fill(job.result())
        return slot.bundle

    source = connection.find_async_jobs(job._connection)

    def run_again() -> JobCard:
        return make_card(make_live(job.run_again()), slot)

    def edit() -> Widget:
        return load("form")(job, profile=job.profile_name).widget

    def choose_next_tool() -> Widget:
        from foldnote.notebook.continuing import make_chooser

        return make_chooser(job)

    return JobCard(
        job.record,
        source,
        on_final=show_end,
        find_result=find_result,
        again=again,
        run_again=None if again else run_again,  # a form can itself be submitted again
        edit=None if again else edit,
        go_on=choose_next_tool,
        label=job.label,
        note=_read_note(job),
        profile=job.profile_name,
    )


def _read_note(job: JobHandle) -> CardNote:
    from foldnote.viewers.card.card_html import CardNote

    return CardNote(job.notes, job.tags)


def make_batch_card(batch: NotebookBatch | NotebookRun, slot: ResultSlot) -> JobCard:
    """Return the live card of a batch or pipeline, which keeps the table of its jobs in ``slot``."""
    from foldnote.viewers.card.batch_card import BatchCard

    card = partial(
        BatchCard,
        batch,
        connection.find_async_jobs(batch._connection),
        slot,
        profile=batch.profile_name,
        on_final=batch._with_record,
    )
    if not isinstance(batch, PipelineRun):
        return card(run_again=lambda: make_batch_card(make_live_batch(batch.retry()), slot))
    from foldnote.notebook.pipeline_cell import advise, offer_cell

    return card(
        run_again=lambda: make_batch_card(batch.run_again(), slot),
        edit=lambda: offer_cell(batch),
        advise=lambda: advise(batch),
    )


def make_live(handle: JobHandle) -> NotebookJob:
    """Return the same job as a :class:`NotebookJob`."""
    return NotebookJob(handle.record, handle._connection, handle._transport)


def make_live_run(handle: JobHandle) -> NotebookRun:
    """Return the same run of a pipeline as a :class:`NotebookRun`."""
    return NotebookRun(handle.record, handle._connection, handle._transport)


def make_live_batch(handle: BatchHandle) -> NotebookBatch:
    """Return the same batch as a :class:`NotebookBatch`."""
    return NotebookBatch(handle.record, handle._connection, handle._transport, handle.sheet)
