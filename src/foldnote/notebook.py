"""The verbs of a notebook, put together from all rooms: ``fn.form``, ``fn.submit``, ``fn.job``, ``fn.view``.

Only this module and the command line see the whole house. It holds no logic of its own beyond what shows
where: a form or a job is a live widget, and below it an output that the notebook keeps, so that a result is
still there when the notebook is opened again without its kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from foldnote.client import AsyncClient, BatchHandle, Client, FileValue, JobHandle, inline, uploaded
from foldnote.client.rows import expand_rows
from foldnote.errors import BadRequestError, JobFailedError, UnreadableFileError
from foldnote.forms import Form
from foldnote.models import BatchVerdict, Job, JobStatus, Tool, Verdict
from foldnote.results import Result, Structure, open_result
from foldnote.viewers import Scene, compose, compose_result
from foldnote.viewers.card_html import write_plain_card
from foldnote.viewers.output import LiveOutput, ResultSlot, is_notebook, show_live, show_progress

if TYPE_CHECKING:
    from foldnote.client.rows import Table
    from foldnote.viewers import JobCard

__all__ = [
    "NotebookForm",
    "NotebookJob",
    "connect",
    "form",
    "inline",
    "job",
    "jobs",
    "open_result",
    "submit",
    "submit_batch",
    "tool",
    "tools",
    "upload",
    "uploaded",
    "validate",
    "view",
]


class NotebookJob(JobHandle):
    """A job in a notebook: shown, it is a live card with its result below; used, it is a ``JobHandle``."""

    def wait(self, timeout_s: float | None = None) -> NotebookJob:
        """Wait until the job is complete, with its progress in the cell, and return it.

        Args:
            timeout_s: seconds after which the waiting ends; the job goes on.

        Raises:
            JobFailedError: the run failed; the log's end is in the exception.
            JobStoppedError: somebody stopped it.
            WaitTimeoutError: it was not final in time.
        """
        with show_progress(self.record) as show:
            self.finish(timeout_s, show)
        return self

    def result(self) -> Result:
        """What the job left behind: structures, tables, scores and files.

        Raises:
            JobFailedError: the run failed.
            BadRequestError: the job is not finished.
            ArchiveError: the archive is damaged or not safe to unpack.
        """
        if not self.record.is_final or self.record.completed is None:
            self.refresh()
        if self.record.is_failed:
            raise JobFailedError(f"{self.job_name!r} failed: {self.record.error}", self.record)
        return open_result(self.download())

    def _ipython_display_(self) -> None:
        if not is_notebook():
            print(repr(self))  # noqa: T201  IPython's terminal shows what is printed
            return
        slot = ResultSlot()
        card = make_card(self, slot)
        show_live(card._repr_mimebundle_())
        slot.show()


class NotebookBatch(BatchHandle):
    """A batch in a notebook."""

    def wait(self, timeout_s: float | None = None) -> NotebookBatch:
        """Wait until the batch is complete and its archive built, and return it.

        Args:
            timeout_s: seconds after which the waiting ends; the batch goes on.

        Raises:
            JobFailedError: no job of the batch left a result, or the archive could not be built.
            JobStoppedError: somebody stopped it.
            WaitTimeoutError: it was not final in time.
        """
        with show_progress(self.record) as show:
            self.finish(timeout_s, show)
        return self


class NotebookForm(Form):
    """A form whose job card stands at its end and whose result is kept below it."""

    def __init__(self, tool: Tool, client: Client, values: Mapping[str, Any], job_name: str | None) -> None:
        """Build the form; nothing is sent."""
        self._slot = ResultSlot()
        self._output = LiveOutput()
        self.job: NotebookJob | None = None
        super().__init__(
            tool, client, values=values, job_name=job_name, on_submit=self._take_job, on_attach=self._take_job
        )

    def result(self) -> Result:
        """The result of this form's job.

        Raises:
            JobFailedError: the run failed.
            BadRequestError: nothing was submitted, or the job is not finished.
        """
        if self.job is None:
            raise BadRequestError("This form has no job yet: press Submit, or call submit().", status=400)
        return self.job.result()

    def _take_job(self, handle: JobHandle) -> None:
        self.job = _live(handle)
        card = make_card(self.job, self._slot)
        self.footer.children = (card,)
        self._save()
        card.on_final(lambda _: self._save())

    def _save(self) -> None:
        """Let the notebook keep the settings and the job as they are now."""
        self._output.update(self._repr_mimebundle_())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if self.job is not None:
            state = write_plain_card(self.job.record)
            bundle["text/plain"] += f"\n{state}"
            bundle["text/html"] += f"<p>{escape(state)}</p>"
        return bundle

    def _ipython_display_(self) -> None:
        self._output.show(self._repr_mimebundle_())
        self._slot.show()


def make_card(job: NotebookJob, slot: ResultSlot) -> JobCard:
    """The live card of ``job``, which puts the result into ``slot`` when it is there."""
    from foldnote.viewers.card import JobCard

    def show_end(record: Job) -> None:
        job.record = record
        if record.status is JobStatus.COMPLETE:
            slot.fill(job.result())

    def find_result() -> Mapping[str, Any]:
        if not slot.bundle:
            slot.fill(job.result())
        return slot.bundle

    source = _async_client(job.profile_name).jobs
    return JobCard(job.record, source, on_final=show_end, find_result=find_result)


def connect(profile: str | None = None) -> Client:
    """The client of ``profile``, or of the active one; the embedded service is started when it is needed."""
    return _client(profile)


def form(
    tool: str | Tool, /, *, job_name: str | None = None, profile: str | None = None, **values: Any
) -> NotebookForm:
    """A form for a tool, made from its schema; nothing is sent until Submit is pressed.

    Args:
        tool: the tool's type, or a tool of any catalog.
        job_name: name of the job; by default one is proposed.
        profile: which service; by default the active profile's.
        **values: settings to start with.

    Raises:
        UnknownToolError: the service has no such tool.
        SettingsError: ``values`` names a setting that the tool does not have.
    """
    asked = _client(profile)
    known = tool if isinstance(tool, Tool) else asked.tools.get(tool)
    return NotebookForm(known, asked, values, job_name)


def submit(
    tool: str | Tool,
    /,
    *,
    job_name: str | None = None,
    project_tag: str | None = None,
    profile: str | None = None,
    again: bool = False,
    **settings: Any,
) -> NotebookJob:
    """The job that this submission is: the one that it became before, or a new one.

    Args:
        tool: the tool's type, or a tool of any catalog.
        job_name: name of the job; by default one is made of tool and settings.
        project_tag: identifier of a project.
        profile: which service; by default the active profile's.
        again: make a new job even if the same submission has one already.
        **settings: fields of the tool's schema. A file field takes ``fn.upload(path)``,
            ``fn.uploaded(name)``, ``job.file(path)`` or ``fn.inline(text)``.

    Raises:
        UnknownToolError: the service has no such tool.
        SettingsError: a setting or the name breaks a rule; nothing was sent.
        JobNameTakenError: the name belongs to another job; the message shows the difference.
        ServiceError: the service refused.
        TransportError: no answer came, and the service does not know the job.
    """
    handle = _client(profile).jobs.submit(
        tool, settings, job_name=job_name, project_tag=project_tag, again=again
    )
    return _live(handle)


def submit_batch(
    tool: str | Tool,
    table: Table,
    /,
    *,
    columns: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    names: str | None = None,
    batch_name: str | None = None,
    project_tag: str | None = None,
    profile: str | None = None,
    **settings: Any,
) -> NotebookBatch:
    """The batch of one job for each row of a table and each combination of a sweep.

    Every row is judged before any is submitted; the same call again finds the same batch.

    Args:
        tool: the tool's type, or a tool of any catalog.
        table: a DataFrame, or a list of mappings; a missing cell leaves its setting out.
        columns: the column of each setting; by default every column is the setting of its name.
        sweep: values of a setting that every row gets in turn; several settings are combined.
        names: the column with the jobs' names; by default they are the batch's name and a number.
        batch_name: name of the batch; by default one is made of tool and rows.
        project_tag: identifier of a project.
        profile: which service; by default the active profile's.
        **settings: settings of every row.

    Raises:
        FoldnoteError: the table cannot be read so; also what ``client.batches.submit`` raises.
        BatchSettingsError: rows break a rule; its ``to_frame()`` has the verdict on each row.
    """
    rows = expand_rows(table, columns, sweep, settings, names)
    handle = _client(profile).batches.submit(
        tool, rows.settings, batch_name, rows.names, project_tag=project_tag
    )
    return NotebookBatch(handle.record, handle._link, handle._world)


def validate(tool: str, /, *, profile: str | None = None, **settings: Any) -> Verdict | BatchVerdict:
    """The service's verdict on settings; nothing is submitted and it costs nothing.

    Raises:
        ServiceError: the service refused.
    """
    return _client(profile).jobs.validate(tool, settings)


def job(job_name: str, /, *, profile: str | None = None) -> NotebookJob:
    """A job by its name.

    Raises:
        NotFoundError: there is no such job.
    """
    return _live(_client(profile).jobs.get(job_name))


def jobs(limit: int = 50, *, profile: str | None = None) -> pd.DataFrame:
    """Jobs, newest first.

    Args:
        limit: the most rows.
        profile: which service; by default the active profile's.

    Returns:
        One row a job: ``job_name`` (str, the index), ``tool`` (str), ``status`` (str), ``created``,
        ``started``, ``completed`` (datetime64, UTC), ``duration_s`` (float64, seconds), ``progress``
        (float64, 0 to 1), ``weighted_hours`` (float64), ``batch`` (str; the batch it is part of), ``error``
        (str; why a run failed); what is not there is NaT or NaN.
    """
    return _client(profile).jobs.to_frame(limit)


def tools(search: str = "", /, *, runs_here: bool = False, profile: str | None = None) -> pd.DataFrame:
    """The tools of the service.

    Args:
        search: words that all must occur in a tool's name, description, family, modalities or functions.
        runs_here: only tools that the service can run now.
        profile: which service; by default the active profile's.

    Returns:
        One row a tool: ``type`` (str, the index), ``name``, ``family``, ``runs`` (bool), ``method`` (the
        method that is really run; empty when nothing runs it), ``description``.
    """
    rows = [
        {
            "type": row.type,
            "name": row.display_name or row.name,
            "family": row.family,
            "runs": row.available,
            "method": row.engine.method if row.engine else "",
            "description": row.description,
        }
        for row in _client(profile).tools.list()
        if (row.available or not runs_here) and _matches(row, search)
    ]
    return pd.DataFrame(rows, columns=["type", "name", "family", "runs", "method", "description"]).set_index(
        "type"
    )


def _matches(row: Tool, search: str) -> bool:
    text = " ".join(
        [row.type, row.display_name, row.description, row.family, *row.modalities, *row.functions]
    )
    return all(word in text.lower() for word in search.lower().split())


def tool(tool_type: str, /, *, profile: str | None = None) -> Tool:
    """One tool of the service.

    Raises:
        UnknownToolError: the service has no such tool.
    """
    return _client(profile).tools.get(tool_type)


def upload(
    source: str | Path | bytes | IO[bytes], name: str | None = None, folder: str | None = None,
    *, profile: str | None = None,
) -> FileValue:  # fmt: skip
    """Send a file to the account, and give what a file field takes for it: ``name`` or ``folder/name``.

    Raises:
        FoldnoteError: the source cannot be read, or has no name.
        ServiceError: the service refused.
    """
    return _client(profile).files.upload(source, name, folder)


def view(item: Result | Structure | Scene | str | Path, /) -> Scene:
    """A structure as a Scene: plain data that a cell draws, and ``.py3dmol()`` gives as a py3Dmol view.

    Args:
        item: a result (its first structure, CDRs marked where a numbering is there), a structure, a scene, or
            the path of a structure file.

    Raises:
        UnreadableFileError: the structure cannot be read.
    """
    if isinstance(item, Scene):
        return item
    if isinstance(item, Result):
        scene = compose_result(item)
        if scene is None:
            raise UnreadableFileError(f"{item.name} holds no structure that can be read.")
        return scene
    return compose(item if isinstance(item, Structure) else Structure.open(item))


@lru_cache(maxsize=8)
def _client(profile: str | None) -> Client:
    return Client(profile)


@lru_cache(maxsize=8)
def _async_client(profile: str | None) -> AsyncClient:
    return AsyncClient(profile)


def _live(handle: JobHandle) -> NotebookJob:
    return NotebookJob(handle.record, handle._link, handle._world)
