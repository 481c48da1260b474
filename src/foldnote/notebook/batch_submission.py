"""Functions that preview, submit and find batches; large ones must be confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from foldnote import settings as options
from foldnote.client import BatchHandle, Client
from foldnote.client.inputs.batch_table import Rows
from foldnote.client.submission.extensions import read_label
from foldnote.client.submission.preview import Preview
from foldnote.client.tables.job_list import JobList
from foldnote.errors import ArgumentError
from foldnote.forms import map_table
from foldnote.models import Tool
from foldnote.notebook import connection
from foldnote.notebook.argument_checks import check_arguments
from foldnote.notebook.live_outputs import NotebookBatch, make_live_batch
from foldnote.notebook.submission import choose_label

if TYPE_CHECKING:
    from foldnote.client.inputs.batch_table import Table as Rectangle

    Table = Rectangle | str | Path


@dataclass(frozen=True, repr=False)
class NotebookPreview(Preview):
    """A batch before submission; a notebook shows its cost and first rows."""

    client: Client = field(kw_only=True)
    label: str | None = None

    def submit(self) -> NotebookBatch:
        """Submit the batch without confirmation and without validating the rows again.

        Raises:
            BatchSettingsError: rows break a rule; its ``to_frame()`` has the verdict on each row.
            ServiceError: the service refused.
        """
        return _make_handle(self.client.batches.send(self), self.label)


def _make_handle(batch: BatchHandle, label: str | None) -> NotebookBatch:
    """Return the batch with its label."""
    if label is not None:
        batch.relabel(label)
    return make_live_batch(batch)


@overload
def submit_batch(
    tool: str | Tool,
    table: Table,
    /,
    *,
    columns: Mapping[str, str] | None = ...,
    sweep: Mapping[str, Sequence[Any]] | None = ...,
    names: str | None = ...,
    sheet: str | None = ...,
    batch_name: str | None = ...,
    label: str | None = ...,
    project_tag: str | None = ...,
    profile: str | None = ...,
    max_runtime_s: float | None = ...,
    weighted_hours_budget: float | None = ...,
    on_failure: Literal["continue", "stop"] = ...,
    retries: int = ...,
    extensions: Mapping[str, Any] | None = ...,
    webhook: str | None = ...,
    preview: Literal[False] = ...,
    ask: bool = ...,
    again: bool = ...,
    **settings: Any,
) -> NotebookBatch: ...
@overload
def submit_batch(
    tool: str | Tool, table: Table, /, *, preview: Literal[True], **settings: Any
) -> NotebookPreview: ...


@check_arguments
def submit_batch(
    tool: str | Tool,
    table: Table,
    /,
    *,
    columns: Mapping[str, str] | None = None,
    sweep: Mapping[str, Sequence[Any]] | None = None,
    names: str | None = None,
    sheet: str | None = None,
    batch_name: str | None = None,
    label: str | None = None,
    project_tag: str | None = None,
    profile: str | None = None,
    max_runtime_s: float | None = None,
    weighted_hours_budget: float | None = None,
    on_failure: Literal["continue", "stop"] = "continue",
    retries: int = 0,
    extensions: Mapping[str, Any] | None = None,
    webhook: str | None = None,
    preview: bool = False,
    ask: bool = True,
    again: bool = False,
    **settings: Any,
) -> NotebookBatch | NotebookPreview:
    """Submit one job for each row of a table and each combination of a sweep; returns the batch.

    Every row is validated before any is submitted; the same call again finds the same batch.

    Args:
        tool: the tool's type, or a tool of any catalog.
        table: a DataFrame of pandas or Polars, a list of mappings, or the path of a CSV, TSV, FASTA or Excel
            file; a missing cell leaves its setting out. Columns that feed no setting are kept on this
            computer and come back in ``batch.results()``.
        columns: which column feeds which setting, ``{"VH": "heavy"}`` or ``{"heavy": "VH"}``. By default the
            columns are matched by name (settings, titles, common names such as ``VH`` and ``SMILES``), then
            by content: a column of heavy chains feeds a setting of heavy chains.
        sweep: values of a setting that every row gets in turn; several settings are combined.
        names: the column with the jobs' names; by default ``id``, ``name`` or ``jobName`` unless that is a
            setting, else names are the batch's name and a number. If another job has one of these names, all
            rows are also named after the tool (``AB-1-anarci``), so that one table can be used for several
            tools.
        sheet: the sheet of an Excel workbook; by default the one that was open when it was saved, or the
            first with known columns if that one has none.
        batch_name: name of the batch; by default derived from tool and rows.
        label: free text that card, panel and lists show in place of the batch's name; it stays on this
            computer and does not identify the batch.
        project_tag: identifier of a project.
        profile: which service; by default the active profile's.
        max_runtime_s: time limit of each job in seconds, where the service supports it.
        weighted_hours_budget: limit of weighted hours for all jobs together, where the service supports it.
        on_failure: ``"stop"`` starts no more jobs of the batch once one has failed, after its retries;
            running jobs are completed. The service applies this, so the notebook may be closed.
        retries: how often (0 to 10) a job is run again after its tool failed or exceeded its time limit; each
            run costs. An input that the tool refused is not retried. Runs that are lost with a machine are
            repeated in any case. If the service does not offer ``on_failure`` or ``retries``, nothing is sent
            and a `SettingsError` is raised.
        extensions: what is sent in addition to the settings of every row, see ``fn.submit``.
        webhook: address that the service calls when the batch as a whole has ended, see ``fn.submit``.
        preview: validate, count and show the rows; nothing is submitted until ``submit()`` is called.
        ask: ask before a new batch of 50 jobs or more (the option ``ask_from_jobs``).
        again: submit a new batch even if the same rows were submitted before.
        **settings: settings of every row.

    Raises:
        FoldnoteError: the table cannot be read, or the user declined; also what
            ``client.batches.submit`` raises.
        BatchSettingsError: rows break a rule; its ``to_frame()`` has the verdict on each row.
        SettingsError: the label is too long.
    """
    client = connection.find_client(profile)
    tool = tool if isinstance(tool, Tool) else client.tools.get(tool)
    label = read_label(choose_label(tool, label, settings), None)
    mapped = map_table(tool, table, columns, names, {*settings, *(sweep or ())}, sheet)
    rows = mapped.expand(sweep, settings)
    limits: dict[str, Any] = {
        "again": again,
        "project_tag": project_tag,
        "max_runtime_s": max_runtime_s,
        "weighted_hours_budget": weighted_hours_budget,
        "on_failure": on_failure,
        "retries": retries,
        "extensions": extensions,
        "webhook": webhook,
    }
    if not preview and not (ask and len(rows.settings) >= options.option("ask_from_jobs")):
        return _make_handle(client.batches.submit(tool, rows, batch_name, **limits), label)
    found = replace(_make_preview(client, tool, rows, batch_name, limits), label=label)
    if preview:
        return found
    _confirm(found)
    return found.submit()


def _make_preview(
    client: Client, tool: str | Tool, rows: Rows, batch_name: str | None, limits: Mapping[str, Any]
) -> NotebookPreview:
    found = client.batches.preview(tool, rows, batch_name, **limits)
    return NotebookPreview(**{row.name: getattr(found, row.name) for row in fields(Preview)}, client=client)


def _confirm(preview: Preview) -> None:
    """Ask the user to confirm a large batch.

    Raises:
        ArgumentError: the user declined, or cannot be asked.
    """
    if preview.existing or not preview.is_valid:
        return
    question = "\n".join([*preview.summary(), f"Submit {preview.jobs_taken:,} jobs? [y/N] "])
    try:
        answer = input(question)
    except (EOFError, OSError, NotImplementedError) as exc:  # an unattended notebook, or a script
        raise ArgumentError(
            f"This would submit {preview.jobs_taken:,} jobs. Pass ask=False to submit unconfirmed, or"
            " preview=True to check them first."
        ) from exc
    if answer.strip().lower() not in ("y", "yes"):
        raise ArgumentError("Nothing was submitted.")


@check_arguments
def batch(batch_name: str, /, *, profile: str | None = None) -> NotebookBatch:
    """Return a batch by its name.

    Raises:
        NotFoundError: there is no such batch.
    """
    return make_live_batch(connection.find_client(profile).batches.get(batch_name))


@check_arguments
def batches(limit: int = 50, *, profile: str | None = None) -> JobList[NotebookBatch]:
    """List batches, newest first: a table in a cell, ``[0]`` takes one, ``.to_frame()`` is a DataFrame.

    Args:
        limit: maximum number of rows.
        profile: which service; by default the active profile's.
    """
    found = connection.find_client(profile).batches.list(limit=limit)
    return found.with_rows(make_live_batch)
