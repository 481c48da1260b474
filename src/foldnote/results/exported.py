"""One file with jobs, batches or pipelines, to give to a colleague: written here, opened in any notebook.

The file is a ZIP archive with the result's files and ``foldnote-export.json``: the job's record without
account, address and paths, label, tags, note, the table of a batch, and the SHA-256 of every file. Logs are
left out, since they may name folders of the computer that ran the job. Opening verifies every file. If there
are several jobs, each has its own folder with all of this.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path, PureWindowsPath
from typing import IO, Any, NamedTuple
from uuid import uuid4

import pandas as pd

from foldnote import late
from foldnote.errors import ArchiveError, ArgumentError, ConfigurationError, UnreadableFileError
from foldnote.io import saving
from foldnote.models.names import clean_job_name
from foldnote.results.archives.archive import BROKEN, Archive
from foldnote.results.archives.opening import open_archive
from foldnote.results.batch import TABLE, BatchResult, JobArchive, find_batch_table
from foldnote.results.naming.file_kinds import EXPORT_NAME
from foldnote.results.result import Result
from foldnote.results.tables.frame_json import read_frame, write_frame
from foldnote.results.tables.tabular import read_json
from foldnote.text import count as count_of

SUFFIX = ".foldnote.zip"
"""Ending of the file's name."""
_FORMAT, _VERSION = "foldnote-export", 1
_LOG = "job.log"
_LARGEST_BYTES = 256 * 1024**2
_KEPT = (
    "jobName", "type", "tool", "status", "settings", "created", "started", "completed", "score", "error",
    "weightedHours", "cpuSeconds", "peakMemoryMb", "peakGpuMemoryMb", "batchStatus", "batchSize", "statuses",
    "failed",
)  # fmt: skip
"""Fields of a job's record that are exported; ``email``, ``projectTag`` and links are not."""
_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]", re.IGNORECASE)
"""Names that Windows reserves for devices, also with an extension."""
_ABSOLUTE = re.compile(r"(/|~|\\\\|[A-Za-z]:[\\/])[^\n]{1,4000}")


@dataclass(frozen=True, repr=False)
class ExportedJob:
    """A job, batch or pipeline from a file that a colleague exported.

    Attributes:
        result: the result, with all its structures and tables.
        record: the job's record on the wire: ``jobName``, ``type``, ``status``, ``settings``, times, scores.
        label: its label; "" without one.
        tags: the tags given by the exporting user.
        note: the note of the exporting user; "" without one.
        table: for a batch, the submitted rows with their results and kept columns; for a pipeline, its
            stages; None for a single job.
        exported: when the file was written, RFC 3339, UTC.
        version: the version of foldnote that wrote it.
    """

    result: Result
    record: Mapping[str, Any]
    label: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    table: pd.DataFrame | None = field(default=None, compare=False)
    exported: str = ""
    version: str = ""

    @property
    def job_name(self) -> str:
        """Name of the job at the service that ran it."""
        return str(self.record.get("jobName") or self.result.name)

    @property
    def tool(self) -> str:
        """The tool's type, also for a batch."""
        return str(self.record.get("tool") or self.record.get("type") or "")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as submitted; files are named as at the service that ran the job."""
        settings = self.record.get("settings")
        return dict(settings) if isinstance(settings, Mapping) else {}

    def __repr__(self) -> str:
        name = f"{self.label!r} [{self.job_name}]" if self.label else repr(self.job_name)
        return f"<exported job {name}, {self.tool}, {count_of(len(self.result.files), 'file')}>"

    def _ipython_display_(self) -> None:
        late.load("show_export")(self)


class JobParts(NamedTuple):
    """The exported parts of one job, batch or pipeline."""

    results: Sequence[Result]
    """The job's result; for a retried batch, also the results of the earlier batches, oldest first."""
    record: Mapping[str, Any]
    """The job's record on the wire; only fields about the run are exported."""
    jobs: Sequence[str] = ()
    """Names of the jobs of a batch or pipeline, in order."""
    label: str = ""
    tags: Iterable[str] = ()
    note: str = ""
    table: pd.DataFrame | None = None
    """The table of a batch or pipeline."""


def save_export(path: str | Path, parts: JobParts) -> Path:
    """Write a job with its result to one file, which :func:`open_export` opens.

    Args:
        path: path of the file, ending in ``.zip``; an existing file is replaced.
        parts: the job.

    Returns:
        The path of the file.

    Raises:
        ConfigurationError: the path does not end in ``.zip``.
        UnreadableFileError: a file of the result is damaged; nothing was written.
        ResultError: the file cannot be written; no partial file remains.
    """
    return _save(path, {"": parts})


def save_exports(path: str | Path, parts: Iterable[JobParts]) -> Path:
    """Write several jobs to one file, each in its own folder; see :func:`save_export` for the arguments.

    A folder has the job's name, with characters replaced that some systems do not allow, and a number if
    another job has the same name, ignoring case.

    Returns:
        The path of the file.

    Raises:
        ArgumentError: there is no job.
        ConfigurationError: the path does not end in ``.zip``.
        UnreadableFileError: a file of a result is damaged; nothing was written.
        ResultError: the file cannot be written; no partial file remains.
    """
    by_folder: dict[str, JobParts] = {}
    for part in parts:
        by_folder[_name_folder(str(part.record.get("jobName") or ""), by_folder)] = part
    if not by_folder:
        raise ArgumentError("There is no job to export: the list is empty.")
    return _save(path, {f"{name}/": part for name, part in by_folder.items()})


def _name_folder(job_name: str, used: Iterable[str]) -> str:
    """Return a folder name that all systems allow and that is not taken."""
    base = clean_job_name(job_name)
    plain = f"{base}-job" if _DEVICES.fullmatch(base.partition(".")[0]) else base
    used_names = {name.lower() for name in used}
    names = chain([plain], (f"{plain}-{number}" for number in count(2)))
    return next(name for name in names if name.lower() not in used_names)


def _save(path: str | Path, parts: Mapping[str, JobParts]) -> Path:
    """Write jobs, each below its folder, which is "" or ends in ``/``."""
    target = Path(path)
    if target.suffix.lower() != ".zip":
        raise ConfigurationError(f"{target.name}: an export is written to a file that ends in {SUFFIX}.")
    size_bytes = sum(
        file.size_bytes for part in parts.values() for result in part.results for file in result.files
    )
    with saving(target, size_bytes):
        target.parent.mkdir(parents=True, exist_ok=True)
        return _write(target, parts)


def _write(target: Path, parts: Mapping[str, JobParts]) -> Path:
    draft = target.with_name(f".{target.name}.{uuid4().hex}.part")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            for folder, part in parts.items():
                description = _describe(part) | {
                    "files": _write_files(archive, folder, part.results, part.jobs)
                }
                archive.writestr(f"{folder}{EXPORT_NAME}", json.dumps(description, ensure_ascii=False))
        return draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _describe(parts: JobParts) -> dict[str, Any]:
    record, table = parts.record, parts.table
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "foldnoteVersion": late.find_version(),
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "job": _hide_paths({name: record[name] for name in _KEPT if record.get(name) is not None}),
        "jobs": list(parts.jobs),
        "label": parts.label,
        "tags": list(parts.tags),
        "note": parts.note,
        "table": None if table is None else _hide_paths(write_frame(table)),
    }


def _write_files(
    target: zipfile.ZipFile, folder: str, results: Sequence[Result], jobs: Sequence[str]
) -> dict[str, str]:
    """Copy the files of the results below ``folder``; returns their SHA-256 (hex) by name."""
    digests: dict[str, str] = {}
    tables = [_read_batch_table(result) for result in results] if len(results) > 1 else []
    existing = [table for table in tables if table is not None]
    for result in reversed(results):  # files that several batches have are taken from the last one
        for file in result.files:
            is_left_out = file.name.rpartition("/")[2] in (EXPORT_NAME, _LOG)
            if is_left_out or file.name in digests or (existing and TABLE.fullmatch(file.name)):
                continue
            digests[file.name] = _copy(result.archive, file.name, target, folder)
    if existing:
        content = _join_tables(existing, jobs).to_csv(index=False).encode()
        target.writestr(f"{folder}results.csv", content)
        digests["results.csv"] = hashlib.sha256(content).hexdigest()
    return digests


def _read_batch_table(result: Result) -> pd.DataFrame | None:
    name = find_batch_table(file.name for file in result.files)
    if name is None:
        return None
    return pd.read_csv(io.BytesIO(result.archive.read(name)), dtype=str, keep_default_na=False)


def _join_tables(tables: Sequence[pd.DataFrame], jobs: Sequence[str]) -> pd.DataFrame:
    """Return the service's tables of a batch and its retries as one, with the current job of each row."""
    rows = pd.concat(tables, ignore_index=True).drop_duplicates("jobName", keep="last").set_index("jobName")
    return rows.reindex([job for job in jobs if job in rows.index]).reset_index()


def _copy(archive: Archive, name: str, target: zipfile.ZipFile, folder: str) -> str:
    digest = hashlib.sha256()
    try:
        source = archive.open(name)
    except (UnreadableFileError, *BROKEN) as exc:
        raise _make_damage_error(name) from exc
    with source, target.open(f"{folder}{name}", "w", force_zip64=True) as member:
        while piece := _read_piece(source, name):
            digest.update(piece)
            member.write(piece)
    return digest.hexdigest()


def _read_piece(source: IO[bytes], name: str) -> bytes:
    """Read the next megabyte of a file, distinguishing its faults from those of the target disk."""
    try:
        return source.read(1024**2)
    except (UnreadableFileError, *BROKEN) as exc:
        raise _make_damage_error(name) from exc


def _make_damage_error(name: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"{name} is damaged, so the result is not exported. Download the result again."
    )


def _hide_paths(value: Any) -> Any:
    """Replace every path on this computer in the value by the name of the file."""
    if isinstance(value, Mapping):
        return {key: _hide_paths(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_hide_paths(item) for item in value]
    if not isinstance(value, str):
        return value
    if _ABSOLUTE.fullmatch(value) and _is_here(value):
        return PureWindowsPath(value).name if "\\" in value else Path(value).name
    return value.replace(f"{Path.home()}/", "~/") if len(str(Path.home())) > 1 else value


def _is_here(text: str) -> bool:
    location = Path(text).expanduser() if text.startswith("~") else Path(text)
    try:
        return location.is_relative_to(Path.home()) or location.exists() or text.startswith("\\\\")
    except (OSError, ValueError):
        return False


def is_export(archive: Archive) -> bool:
    """Return whether an archive was written by :func:`save_export`."""
    return any(member.name == EXPORT_NAME for member in archive.members)


def list_folders(archive: Archive) -> list[str]:
    """Return the folders of the jobs in an archive that :func:`save_exports` wrote; empty for another one."""
    parts = [member.name.split("/") for member in archive.members]
    return [] if is_export(archive) else [steps[0] for steps in parts if steps[1:] == [EXPORT_NAME]]


def open_export(path: str | Path, job: str | None = None) -> ExportedJob:
    """Return a job, batch or pipeline from a file that was exported with ``fn.export``.

    Every file of it is verified; archives that are not safe to read are refused.

    Args:
        path: the file.
        job: the folder of one of several jobs in the file, which is its name; not needed for a single one.

    Raises:
        ArchiveError: it does not exist, is not an export, is damaged or incomplete, is not safe to read, or
            was written by a newer version of foldnote in another format.
        ArgumentError: the file is an ordinary result, which ``fn.open_result`` opens; or it has several jobs
            and ``job`` is not one of them.
    """
    archive = open_archive(path)
    name = archive.path.name
    if archive.problems:
        raise ArchiveError(f"{name} is damaged: {archive.problems[0][1]} Ask for the file again.")
    folders = list_folders(archive)
    if not folders and not is_export(archive):
        raise ArgumentError(f"{name} was not exported by foldnote; fn.open_result opens plain results.")
    if folders:
        archive = JobArchive(archive, _choose(folders, job, path))
    about = _read_about(archive, name)
    if job is not None and not folders and job != about["job"].get("jobName"):
        raise ArgumentError(f"{name} has one job, {about['job'].get('jobName')!r}, and not {job!r}.")
    listed = _Listed(archive, _verify(archive, about, name))
    jobs = [str(job_name) for job_name in about.get("jobs") or ()]
    record, label = about["job"], str(about.get("label") or "")
    title, origin = label or str(record.get("jobName") or name), {"job": record}
    inside = {member.name.partition("/")[0] for member in listed.members}
    listed_jobs = [job_name for job_name in jobs if job_name in inside]
    result = BatchResult(listed, listed_jobs, title, origin) if jobs else Result(listed, title, origin)
    try:
        table = None if about.get("table") is None else read_frame(about["table"], name)
    except UnreadableFileError as exc:
        raise ArchiveError(exc.message) from exc
    return ExportedJob(
        result=result,
        record=record,
        label=label,
        tags=tuple(str(tag) for tag in about.get("tags") or ()),
        note=str(about.get("note") or ""),
        table=table,
        exported=str(about.get("exported") or ""),
        version=str(about.get("foldnoteVersion") or ""),
    )


def _choose(folders: Sequence[str], job: str | None, path: str | Path) -> str:
    """Return the folder of the wanted job."""
    if job in folders:
        return str(job)
    if job is None and len(folders) == 1:
        return folders[0]
    has = f"{Path(path).name} has {count_of(len(folders), 'job')}: {', '.join(folders)}."
    missing = "" if job is None else f" None of them is {job!r}."
    raise ArgumentError(f"{has}{missing} Name one: fn.open_export({str(path)!r}, job={folders[0]!r})")


def _read_about(archive: Archive, name: str) -> dict[str, Any]:
    try:
        about = read_json(archive.read(EXPORT_NAME, limit_bytes=_LARGEST_BYTES), EXPORT_NAME)
    except UnreadableFileError as exc:
        raise ArchiveError(f"{name} is damaged: {exc.message} Ask for the file again.") from exc
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise ArchiveError(f"{name} was not exported by foldnote: its description is another one.")
    version = about.get("version")
    if version != _VERSION:
        wrote = about.get("foldnoteVersion")
        raise ArchiveError(
            f"{name} has format {version!r} of exports (foldnote {wrote!s:.20}); this version reads format"
            f" {_VERSION}. Update foldnote."
        )
    lists = (about.get("jobs") or [], about.get("tags") or [])
    parts = (about.get("job"), about.get("files"))
    if not all(isinstance(part, dict) for part in parts) or not all(isinstance(e, list) for e in lists):
        raise ArchiveError(f"{name} is damaged: its description is incomplete. Ask for the file again.")
    return about


def _verify(archive: Archive, about: Mapping[str, Any], name: str) -> frozenset[str]:
    """Compare every file with its hash; returns their names.

    Raises:
        ArchiveError: a file is missing or differs.
    """
    there = {member.name for member in archive.members}
    for file, expected in about["files"].items():
        fault = "is missing" if file not in there else ""
        if not fault and _hash_member(archive, file) != expected:
            fault = "has changed"
        if fault:
            raise ArchiveError(f"{name} is damaged: {file} in it {fault}. Ask for the file again.")
    return frozenset(about["files"])


def _hash_member(archive: Archive, name: str) -> str | None:
    try:
        with archive.open(name) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
    except (UnreadableFileError, *BROKEN):
        return None


class _Listed(Archive):
    """The files that an archive's description lists; others are not part of the result."""

    def __init__(self, whole: Archive, names: frozenset[str]) -> None:
        self._whole = whole
        super().__init__(whole.path, [member for member in whole.members if member.name in names])

    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a member's bytes."""
        return self._whole.open(name)
