"""``fn.export`` and ``fn.open_export``: jobs in one file, for a colleague."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from foldnote.client import BatchHandle, JobHandle, PipelineRun
from foldnote.errors import JobError, NotFoundError, UnfinishedJobError
from foldnote.notebook.argument_checks import check_arguments, list_items
from foldnote.notebook.views import job as find_job
from foldnote.results import ExportedJob, JobParts, Result, save_export, save_exports
from foldnote.results import open_export as _open_export
from foldnote.results.exported import SUFFIX
from foldnote.text import count


@check_arguments
def export(
    source: JobHandle | str | Sequence[JobHandle | str],
    /,
    path: str | Path | None = None,
    *,
    profile: str | None = None,
) -> Path:
    """Write a job, batch or pipeline to one file, which a colleague opens with ``fn.open_export``.

    The file contains the result, settings, scores, label, tags, note and, for a batch, the submitted table
    with its kept columns. It contains no keys, account names, addresses, logs or paths of this computer.
    Uploaded input files are named in it, but not included. For a list of jobs, each has its own folder in the
    file, named after the job; if one cannot be exported, the error names it and nothing is written.

    Args:
        source: a complete job, batch or pipeline, or its name; or a list of them.
        path: path of the file, ending in ``.zip``; by default ``NAME.foldnote.zip`` in the current folder, or
            ``NUMBER-jobs.foldnote.zip`` for several jobs. An existing file is replaced.
        profile: the service of jobs that are given by name; by default the active profile's.

    Returns:
        The path of the file.

    Raises:
        NotFoundError: there is no such job, or it has no result.
        UnfinishedJobError: a job has no result yet.
        JobFailedError: the run failed.
        ArgumentError: the list is empty, or an item is not a job.
        ConfigurationError: the path does not end in ``.zip``.
        UnreadableFileError: a file of a result is damaged.
        ResultError: the file cannot be written, for example because the disk is full; an old one is kept.
    """
    if isinstance(source, JobHandle | str):
        parts = _read_parts(source, profile)
        return save_export(f"{parts.record['jobName']}{SUFFIX}" if path is None else path, parts)
    jobs = list_items("export", source, (JobHandle, str), "a job or its name")
    found = [_read_parts(each, profile) for each in jobs]
    return save_exports(
        f"{count(len(found), 'job').replace(' ', '-')}{SUFFIX}" if path is None else path, found
    )


def _read_parts(source: JobHandle | str, profile: str | None) -> JobParts:
    """Read everything of a job that is exported."""
    job = find_job(source, profile=profile) if isinstance(source, str) else source
    results, table = [job.result()], None
    rows = job.list_rows() if isinstance(job, BatchHandle | PipelineRun) else []
    if isinstance(job, BatchHandle):
        table = job.results()
        results = [*_open_earlier(job), *results]
    elif isinstance(job, PipelineRun):
        table = job.to_frame()
    return JobParts(
        results,
        job.refresh().record.to_wire(),
        jobs=[row.name for row in rows],
        label=job.label,
        tags=job.tags,
        note=job.notes,
        table=table,
    )


def _open_earlier(batch: BatchHandle) -> Iterator[Result]:
    """Yield the results, if any, of the batches of which this one is a retry."""
    found: list[BatchHandle] = batch.list_earlier()
    for earlier in found:
        with suppress(JobError, UnfinishedJobError, NotFoundError):
            yield earlier.result()


@check_arguments
def open_export(path: str | Path, /, job: str | None = None) -> ExportedJob:
    """Return a job, batch or pipeline that a colleague exported; a cell shows it as the original.

    ``.result`` is what ``job.result()`` returns for the original, ``.table`` what ``batch.results()`` does.

    Args:
        path: the file that ``fn.export`` wrote.
        job: name of a job in a file with several.

    Raises:
        ArchiveError: the file does not exist, is damaged, is not safe to read, or was written by a newer
            version of foldnote in another format.
        ArgumentError: the file is a plain result, which ``fn.open_result`` opens; or it has several jobs,
            which the message lists, and ``job`` is not one of them.
    """
    return _open_export(path, job)
