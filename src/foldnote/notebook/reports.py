"""``fn.report``: a report on jobs, for a meeting or a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path

from foldnote.cell_outputs import CellOutput, is_notebook
from foldnote.client import BatchHandle, JobHandle, PipelineRun
from foldnote.client.tables.batch_results import SheetRow
from foldnote.errors import ArgumentError, JobError, NotFoundError, UnfinishedJobError
from foldnote.io import names_path
from foldnote.notebook.argument_checks import check_arguments, list_items
from foldnote.notebook.views import job as find_job
from foldnote.results import ExportedJob, Result
from foldnote.results import open_result as open_archive
from foldnote.results.batch import read_figures
from foldnote.text import count
from foldnote.viewers import ReportPart, write_report
from foldnote.viewers.display.batch_rows import BatchRow, make_row
from foldnote.viewers.display.page import check_page_path

Reportable = JobHandle | Result | ExportedJob | str | Path
_WORDS = "a job, a name, a result, an exported job or the path of an archive"


@check_arguments
def report(
    source: Reportable | Sequence[Reportable],
    /,
    path: str | Path = "report.html",
    *,
    title: str = "",
    notes: str = "",
    author: str = "",
    profile: str | None = None,
) -> Path:
    """Write a report as HTML or PDF: results, methods, references (BibTeX, RIS), settings, seeds, versions.

    An HTML page needs no network and no kernel. A PDF has still pictures, all rows of batches, and the
    references attached as files. A job without a result is listed with the reason.

    Args:
        source: a job, batch or pipeline, its name, one that a colleague exported, a result, the path of an
            archive, or several of these.
        path: path of the page, ending in ``.html`` or ``.pdf``; an existing file is replaced.
        title: heading of the page; by default the names of the jobs.
        notes: text below the heading; an empty line begins a new paragraph.
        author: author, shown below the heading and in the metadata of a PDF; by default none.
        profile: the service of jobs that are given by name; by default the active profile's.

    Returns:
        The path of the page, which a notebook shows as a link that opens it.

    Raises:
        ArgumentError: there is nothing to report on.
        ConfigurationError: the path does not end in ``.html`` or ``.pdf`` or is a folder; or, for a PDF,
            WeasyPrint is not installed (``pip install 'foldnote[pdf]'``) or the system lacks Pango.
        NotFoundError: there is no such job.
        ArchiveError: an archive cannot be read.
        ResultError: the page cannot be written, for example because the disk is full; an old one is kept.
    """
    items = list_items("report", source, (JobHandle, Result, ExportedJob, str, Path), _WORDS)
    if not items:
        raise ArgumentError("fn.report needs at least one job or result.")
    place = check_page_path(path)  # fail before results are fetched
    parts = [_read_part(item, profile) for item in items]
    with _show_busy(place, parts):
        return write_report(place, title or _join_titles(parts), parts, notes=notes, author=author)


@contextmanager
def _show_busy(place: Path, parts: Sequence[ReportPart]) -> Iterator[None]:
    """Show in the running cell that pages are being laid out, which takes seconds to minutes."""
    if not is_notebook():
        yield
        return
    jobs = sum(max(1, len(part.rows)) for part in parts)
    pages = " as pages; 2,000 rows take about a minute" if place.suffix.lower() == ".pdf" else ""
    words = f"Writing {place.name}: laying out {count(jobs, 'job')}{pages}."
    output = CellOutput()
    output.show({"text/html": f'<p role="status">{escape(words)}</p>', "text/plain": words})
    try:
        yield
    finally:
        output.update({"text/html": "", "text/plain": ""})


def _join_titles(parts: Sequence[ReportPart]) -> str:
    first = parts[0].title
    return first if len(parts) == 1 else f"{first} and {len(parts) - 1} more"


def _read_part(item: Reportable, profile: str | None) -> ReportPart:
    if isinstance(item, str) and not names_path(item):
        item = find_job(item, profile=profile)
    if isinstance(item, str | Path):
        item = open_archive(item)
    if isinstance(item, ExportedJob):
        title = item.label or item.job_name
        return ReportPart(title, item.result, item.table, note=item.note, tags=item.tags)
    if isinstance(item, Result):
        return ReportPart(item.name, item)
    part = ReportPart(item.label or item.job_name, note=item.notes, tags=item.tags, profile=item.profile_name)
    try:
        part = replace(part, result=item.result())
    except (JobError, UnfinishedJobError, NotFoundError) as exc:
        part = replace(part, reason=str(exc))
    return replace(part, rows=_list_rows(item, part.result))


def _list_rows(item: JobHandle, result: Result | None) -> tuple[BatchRow, ...]:
    """Return the rows of a batch or pipeline with the user's own columns; none for a single job."""
    if not isinstance(item, BatchHandle | PipelineRun):
        return ()
    found = {} if result is None else result.jobs
    listed = item.list_rows()
    has_tools = len({row.job.tool_type for row in listed if row.job is not None}) > 1
    rows = [
        make_row(row.name, row.job, {**_name_tool(row, has_tools=has_tools), **row.inputs}) for row in listed
    ]
    return tuple(
        replace(row, figures=read_figures(found[row.name])) if row.name in found else row for row in rows
    )


def _name_tool(row: SheetRow, *, has_tools: bool) -> dict[str, str]:
    """Return the tool of a stage if its pipeline uses several tools."""
    return {"tool": row.job.tool_type} if has_tools and row.job is not None else {}
