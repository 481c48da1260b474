"""The verbs that send: one job, a batch from a table, a file; and the verdict before any of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from foldnote.client import FileValue
from foldnote.client.rows import expand_rows
from foldnote.models import BatchVerdict, Tool, Verdict
from foldnote.notebook import connection
from foldnote.notebook.live import NotebookBatch, NotebookJob, make_live

if TYPE_CHECKING:
    from foldnote.client.rows import Table


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
    handle = connection.find_client(profile).jobs.submit(
        tool, settings, job_name=job_name, project_tag=project_tag, again=again
    )
    return make_live(handle)


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
    handle = connection.find_client(profile).batches.submit(
        tool, rows.settings, batch_name, rows.names, project_tag=project_tag
    )
    return NotebookBatch(handle.record, handle._link, handle._world)


def validate(tool: str, /, *, profile: str | None = None, **settings: Any) -> Verdict | BatchVerdict:
    """The service's verdict on settings; nothing is submitted and it costs nothing.

    Raises:
        ServiceError: the service refused.
    """
    return connection.find_client(profile).jobs.validate(tool, settings)


def upload(
    source: str | Path | bytes | IO[bytes], name: str | None = None, folder: str | None = None,
    *, profile: str | None = None,
) -> FileValue:  # fmt: skip
    """Send a file to the account, and give what a file field takes for it: ``name`` or ``folder/name``.

    Raises:
        FoldnoteError: the source cannot be read, or has no name.
        ServiceError: the service refused.
    """
    return connection.find_client(profile).files.upload(source, name, folder)
