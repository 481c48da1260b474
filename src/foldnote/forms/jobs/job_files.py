"""Files of earlier jobs for file fields: listed as a tree, and read for checks.

The client downloads and caches a job's archive.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from foldnote.forms.files.file_reference import has_extension
from foldnote.forms.jobs.background_calls import call
from foldnote.text import count, format_size

if TYPE_CHECKING:
    from foldnote.models import Job

_MAX_FILES: Final = 300
_MAX_OPEN: Final = 12
"""Maximum number of files for which all folders of a job are shown open."""
_READ_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file of a job."""

    path: str
    size_bytes: int


async def list_members(client: Any, job: str) -> list[ListedFile]:
    """Return the files of a job's result.

    Raises:
        FoldnoteError: the job has no result, or the service does not answer.
        BadZipFile: the archive is damaged.
    """
    with zipfile.ZipFile(await _fetch(client, job)) as archive:
        return [ListedFile(info.filename, info.file_size) for info in archive.infolist() if not info.is_dir()]


async def fetch_texts(client: Any, job: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the files of a result as text, by path; missing files and those above 20 MB are left out.

    Raises:
        FoldnoteError: the job has no result, or the service does not answer.
        BadZipFile: the archive is damaged.
    """
    texts: dict[str, str] = {}
    with zipfile.ZipFile(await _fetch(client, job)) as archive:
        for path in paths:
            if path in archive.namelist() and archive.getinfo(path).file_size <= _READ_BYTES:
                texts[path] = archive.read(path).decode("utf-8", "replace")
    return texts


def write_jobs(jobs: Iterable[Job], title: str) -> str:
    """Return the HTML tree of jobs, whose files are listed when a job is opened."""
    rows = "".join(
        f"<details><summary>{escape(job.job_name)} <span>{escape(job.type)}</span></summary>"
        f'<div class="fn-files" data-job="{escape(job.job_name)}"></div></details>'
        for job in jobs
    )
    return write_tree(rows, title)


def write_tree(rows: str, title: str) -> str:
    """Return the HTML tree of jobs' files, for the field ``title``."""
    return f'<div class="fn-tree" role="group" aria-label="Files of jobs, for {escape(title)}">{rows}</div>'


def write_members(job: str, members: Iterable[ListedFile], extensions: tuple[str, ...]) -> str:
    """Return the HTML list of a job's files that a field accepts, by folder, and the number of others."""
    members = list(members)
    accepted = [member for member in members if has_extension(member.path, extensions)]
    listed = sorted(accepted[:_MAX_FILES], key=lambda member: member.path)
    hidden = len(members) - len(listed)
    if not listed:
        return "<p>This job has no file that can be used here.</p>"
    note = f"<p>{count(hidden, 'other file')} of this job cannot be used here.</p>" if hidden else ""
    return _write_level(job, listed, "", is_open=len(listed) <= _MAX_OPEN) + note


def _write_level(job: str, members: list[ListedFile], folder: str, *, is_open: bool) -> str:
    """Return the HTML of the files directly in a folder, then of its folders."""
    folders: dict[str, list[ListedFile]] = {}
    items = []
    for member in members:
        name, slash, _ = member.path[len(folder) :].partition("/")
        if slash:
            folders.setdefault(name, []).append(member)
        else:
            items.append(
                f'<button type="button" data-job="{escape(job)}" data-path="{escape(member.path)}">'
                f"{escape(name)} <span>{format_size(member.size_bytes)}</span></button>"
            )
    items += [
        f"<details{' open' if is_open else ''}><summary>{escape(name)}</summary>"
        f'<div class="fn-files">{_write_level(job, inner, f"{folder}{name}/", is_open=is_open)}</div>'
        "</details>"
        for name, inner in folders.items()
    ]
    return "".join(items)


async def _fetch(client: Any, job: str) -> Path:
    return Path(await call(client.jobs, "download", job))
