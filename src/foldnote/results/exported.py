"""One file with a job, batch or pipeline, to hand to a colleague: written here, opened in any notebook.

The file is a ZIP archive of the result's files and one more, ``foldnote-export.json``: the job's record
without account, address and paths, label, tags, note, the table of a batch, and the SHA-256 of every file.
Logs are left out, since they may name folders of the computer that ran the job. Opening verifies every file.
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
from pathlib import Path, PureWindowsPath
from typing import IO, Any
from uuid import uuid4

import pandas as pd

from foldnote import late
from foldnote.errors import ArchiveError, ArgumentError, ConfigurationError, UnreadableFileError
from foldnote.results.archives.archive import BROKEN, Archive
from foldnote.results.archives.opening import open_archive
from foldnote.results.batch import TABLE, BatchResult, find_batch_table
from foldnote.results.naming.file_kinds import EXPORT_NAME
from foldnote.results.result import Result
from foldnote.results.tables.frame_json import read_frame, write_frame
from foldnote.results.tables.tabular import read_json

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
"""Fields of a job's record that are handed on; ``email``, ``projectTag`` and links are not."""
_ABSOLUTE = re.compile(r"(/|~|\\\\|[A-Za-z]:[\\/])[^\n]{1,4000}")


@dataclass(frozen=True, repr=False)
class ExportedJob:
    """A job, batch or pipeline from a file that a colleague exported.

    Attributes:
        result: the result, with all its structures and tables.
        record: the job's record on the wire: ``jobName``, ``type``, ``status``, ``settings``, times, scores.
        label: its label; "" without one.
        tags: the tags of who exported it.
        note: the note of who exported it; "" without one.
        table: of a batch the submitted rows with their results, kept columns included; of a pipeline its
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
        found = self.record.get("settings")
        return dict(found) if isinstance(found, Mapping) else {}

    def __repr__(self) -> str:
        name = f"{self.label!r} [{self.job_name}]" if self.label else repr(self.job_name)
        return f"<exported job {name}, {self.tool}, {len(self.result.files)} files>"

    def _ipython_display_(self) -> None:
        late.load("show_export")(self)


def save_export(
    path: str | Path,
    results: Sequence[Result],
    record: Mapping[str, Any],
    *,
    jobs: Sequence[str] = (),
    label: str = "",
    tags: Iterable[str] = (),
    note: str = "",
    table: pd.DataFrame | None = None,
) -> Path:
    """Write a job with its result to one file, which :func:`open_export` opens.

    Args:
        path: where the file goes, ending in ``.zip``; an existing file is replaced.
        results: the job's result; of a retried batch the results of the earlier batches, too, oldest first.
        record: the job's record on the wire; only fields about the run are written.
        jobs: names of the jobs of a batch or pipeline, in order.
        label: the label.
        tags: the tags.
        note: the note.
        table: the table of a batch or pipeline.

    Returns:
        The path of the file.

    Raises:
        ConfigurationError: the path does not end in ``.zip``.
        UnreadableFileError: a file of the result is damaged; nothing was written.
        OSError: the file cannot be written.
    """
    place = Path(path)
    if place.suffix.lower() != ".zip":
        raise ConfigurationError(f"{place.name}: an export is written to a file that ends in {SUFFIX}.")
    about: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "foldnoteVersion": late.find_version(),
        "exported": datetime.now(UTC).isoformat(timespec="seconds"),
        "job": _hide_paths({name: record[name] for name in _KEPT if record.get(name) is not None}),
        "jobs": list(jobs),
        "label": label,
        "tags": list(tags),
        "note": note,
        "table": None if table is None else _hide_paths(write_frame(table)),
    }
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f".{place.name}.{uuid4().hex}.part")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as target:
            about["files"] = _write_files(target, results, jobs)
            target.writestr(EXPORT_NAME, json.dumps(about, ensure_ascii=False))
        return draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def _write_files(target: zipfile.ZipFile, results: Sequence[Result], jobs: Sequence[str]) -> dict[str, str]:
    """Copy the files of the results; returns their SHA-256 (hex) by name."""
    digests: dict[str, str] = {}
    tables = [_read_batch_table(result) for result in results] if len(results) > 1 else []
    joined = [table for table in tables if table is not None]
    for result in reversed(results):  # what several batches have is that of the last
        for file in result.files:
            is_left_out = file.name.rpartition("/")[2] in (EXPORT_NAME, _LOG)
            if is_left_out or file.name in digests or (joined and TABLE.fullmatch(file.name)):
                continue
            digests[file.name] = _copy(result.archive, file.name, target)
    if joined:
        content = _join_tables(joined, jobs).to_csv(index=False).encode()
        target.writestr("results.csv", content)
        digests["results.csv"] = hashlib.sha256(content).hexdigest()
    return digests


def _read_batch_table(result: Result) -> pd.DataFrame | None:
    name = find_batch_table(file.name for file in result.files)
    return None if name is None else pd.read_csv(io.BytesIO(result.archive.read(name)), dtype=str)


def _join_tables(tables: Sequence[pd.DataFrame], jobs: Sequence[str]) -> pd.DataFrame:
    """The service's tables of a batch and its retries as one, with the current job of each row."""
    rows = pd.concat(tables, ignore_index=True).drop_duplicates("jobName", keep="last").set_index("jobName")
    return rows.reindex([job for job in jobs if job in rows.index]).reset_index()


def _copy(archive: Archive, name: str, target: zipfile.ZipFile) -> str:
    digest = hashlib.sha256()
    try:
        with archive.open(name) as source, target.open(name, "w", force_zip64=True) as member:
            while piece := source.read(1024**2):
                digest.update(piece)
                member.write(piece)
    except (UnreadableFileError, *BROKEN) as exc:
        raise UnreadableFileError(
            f"{name} is damaged, so the result is not exported. Download the result again."
        ) from exc
    return digest.hexdigest()


def _hide_paths(value: Any) -> Any:
    """The value with the name of the file in place of every path on this computer."""
    if isinstance(value, Mapping):
        return {key: _hide_paths(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_hide_paths(each) for each in value]
    if not isinstance(value, str):
        return value
    if _ABSOLUTE.fullmatch(value) and _is_here(value):
        return PureWindowsPath(value).name if "\\" in value else Path(value).name
    return value.replace(f"{Path.home()}/", "~/") if len(str(Path.home())) > 1 else value


def _is_here(text: str) -> bool:
    place = Path(text).expanduser() if text.startswith("~") else Path(text)
    try:
        return place.is_relative_to(Path.home()) or place.exists() or text.startswith("\\\\")
    except (OSError, ValueError):
        return False


def is_export(archive: Archive) -> bool:
    """Whether an archive was written by :func:`save_export`."""
    return any(member.name == EXPORT_NAME for member in archive.members)


def open_export(path: str | Path) -> ExportedJob:
    """A job, batch or pipeline from a file that was exported with ``fn.export``.

    Every file is verified; archives that are not safe to read are refused.

    Args:
        path: the file.

    Raises:
        ArchiveError: it does not exist, is no export, is damaged or incomplete, is not safe to read, or was
            written by a newer version of foldnote in another format.
        ArgumentError: it is an ordinary result, which ``fn.open_result`` opens.
    """
    archive = open_archive(path)
    name = archive.path.name
    if archive.problems:
        raise ArchiveError(f"{name} is damaged: {archive.problems[0][1]} Ask for the file again.")
    if not is_export(archive):
        raise ArgumentError(f"{name} was not exported by foldnote; fn.open_result opens plain results.")
    about = _read_about(archive, name)
    listed = _Listed(archive, _verify(archive, about, name))
    jobs = [str(job) for job in about.get("jobs") or ()]
    record, label = about["job"], str(about.get("label") or "")
    title, origin = label or str(record.get("jobName") or name), {"job": record}
    folders = {member.name.partition("/")[0] for member in listed.members}
    known = [job for job in jobs if job in folders]
    result = BatchResult(listed, known, title, origin) if jobs else Result(listed, title, origin)
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
    if not all(isinstance(each, dict) for each in parts) or not all(isinstance(e, list) for e in lists):
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
    """The files of an archive that its description lists; others are not part of the result."""

    def __init__(self, whole: Archive, names: frozenset[str]) -> None:
        self._whole = whole
        super().__init__(whole.path, [member for member in whole.members if member.name in names])

    def open(self, name: str) -> IO[bytes]:
        """A stream of a member's bytes."""
        return self._whole.open(name)
