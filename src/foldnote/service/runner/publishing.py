"""Publish an engine's output: the result archive, the manifest and the score.

The archive contains the files of ``outputs/`` at its root, with the manifest, the score and the log. Links
are not followed, even if ``outputs`` itself is one: an engine cannot put a file of the machine into a result.
Each file is read once. Packing has a deadline and is aborted when the job is stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foldnote.service.runner import attempt as files
from foldnote.service.runner import untrusted
from foldnote.service.runner.attempt import AttemptSpec, OutcomeState
from foldnote.service.runner.manifest import SMALL_BYTES, make_manifest, read_small
from foldnote.text import count, format_size

OWN_NAMES = frozenset({"manifest.json", "score.json", "job.log"})
"""Files that the service itself adds to an archive."""
MAX_FIGURES = 1000
_STRANGE = re.compile("[\\\\\x00-\x1f\ud800-\udfff]")
_CHUNK_BYTES = 1 << 20
_ZIP64_BYTES = 1 << 31
_LARGE_BYTES = 1 << 20
"""Archives of this size take so long to sync that the service must not do it."""
_FEW_FILES = 100
_MAX_NAMED, _MAX_LETTERS = 5, 200
"""Maximum number of outputs named in a sentence, and of characters of each name."""
MIN_ALLOWANCE_S = 5.0
_MAX_ALLOWANCE_S = 600.0


class StoppedError(Exception):
    """The job was stopped."""


class LateError(Exception):
    """The deadline has passed."""


class Deadline:
    """The deadline for packing outputs: the job's time limit, or a stop of the job.

    A run that ended at its time limit has an additional tenth of the limit, at least 5 seconds and at most 10
    minutes; one that was stopped has 5 seconds.

    Args:
        spec: specification of the run.
        state: final state of the run.
        began_s: start of the run on the monotonic clock.
    """

    def __init__(self, spec: AttemptSpec, state: OutcomeState, began_s: float) -> None:
        allowance = min(_MAX_ALLOWANCE_S, max(MIN_ALLOWANCE_S, spec.time_limit_s / 10))
        moment = time.monotonic()
        self._is_stopped = state == "stopped"
        self._ends_s = moment + (MIN_ALLOWANCE_S if self._is_stopped else allowance)
        if state in ("succeeded", "failed"):
            self._ends_s = max(self._ends_s, began_s + spec.time_limit_s)
        self._request = f"{spec.attempt_dir}/{files.CANCEL}"

    def check(self) -> None:
        """Check that packing may continue.

        Raises:
            StoppedError: the job was stopped meanwhile.
            LateError: the deadline has passed.
        """
        if not self._is_stopped and os.path.lexists(self._request):
            raise StoppedError
        if time.monotonic() > self._ends_s:
            raise LateError


class NotKeptError(Exception):
    """The outputs are not kept; the message completes ``Its outputs were not kept: …``."""


@dataclass(frozen=True, slots=True)
class ResultArchive:
    """The published result archive, and a sentence if outputs could not be read."""

    size_bytes: int
    sha256: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """Content of ``score.json``: figures, and a sentence if any of it was omitted."""

    figures: dict[str, Any] | None = None
    note: str | None = None
    content: bytes | None = None
    """The file as stored in the archive; None if it is not."""


def publish_result(
    spec: AttemptSpec, state: str, started: str, score: Score, check: Callable[[], None]
) -> ResultArchive | None:
    """Write ``result.zip`` with its manifest; without output, only ``manifest.json``, and return None.

    Args:
        spec: specification of the run.
        state: final state of the run.
        started: start time, RFC 3339 UTC.
        score: from ``read_score``.
        check: called before each MB is read; an exception from it aborts the packing.

    Raises:
        NotKeptError: there are too many files or bytes.
        OSError: the folder cannot be read or written, for example because the disk is full.
    """
    with ExitStack() as stack:
        attempt = stack.enter_context(untrusted.open_folder(spec.folder))
        try:
            work = stack.enter_context(untrusted.open_folder(files.WORK, attempt))
            outputs = stack.enter_context(untrusted.open_folder("outputs", work))
            paths, closed = find_outputs(spec, outputs)
        except OSError as exc:  # removed, or replaced by a link
            if untrusted.is_refused(exc):
                raise NotKeptError("outputs/ may not be read by the user that runs the job") from exc
            if not untrusted.is_absent(exc):
                raise
            paths, closed = {}, []
        if not paths and not closed:
            write_manifest(spec, state, started, check)
            return None
        return _Packer(spec, check, attempt, outputs).pack(paths, closed, state, started, score)


def write_manifest(spec: AttemptSpec, state: str, started: str, check: Callable[[], None] | None) -> None:
    """Write ``manifest.json`` of an attempt without archive; with no ``check``, inputs are not hashed."""
    manifest = make_manifest(spec, state, started, [], check)
    files.write_json(spec.folder / files.MANIFEST, manifest, is_durable=False)


def measure_left(spec: AttemptSpec) -> float:
    """Return the bytes that packing has to read; infinity if counting them would take too long."""
    work = f"{spec.attempt_dir}/{files.WORK}"
    size = 0.0
    try:
        with os.scandir(f"{work}/outputs") as entries:
            for number, entry in enumerate(entries, start=1):
                if number > _FEW_FILES or entry.is_dir(follow_symlinks=False):
                    return math.inf
                size += entry.stat(follow_symlinks=False).st_size
        for path in (f"{work}/{name}" for names in spec.files.values() for name in names):
            size += os.lstat(path).st_size
        if spec.has(files.LOG):
            size += os.lstat(f"{spec.attempt_dir}/{files.LOG}").st_size
    except OSError:
        return math.inf
    return size


def find_outputs(spec: AttemptSpec, outputs: int) -> tuple[dict[str, str], list[str]]:
    """Return the path below ``outputs`` of each name in the archive, and the unreadable folders.

    Raises:
        NotKeptError: there are more files or bytes than are kept.
    """
    try:
        listing = untrusted.list_files(outputs)
    except untrusted.TooManyFilesError as exc:
        raise NotKeptError(f"outputs/ has {exc}") from exc
    size = sum(output.size_bytes for output in listing.files)
    if size > spec.output_limit_bytes:
        limit = format_size(spec.output_limit_bytes)
        raise NotKeptError(f"outputs/ holds {format_size(size)}; this service keeps {limit} of a job")
    return name_members(output.path for output in listing.files), [f"{folder}/" for folder in listing.closed]


def name_members(paths: Iterable[str]) -> dict[str, str]:
    """Map each name in the archive, sorted, to its path; all names are portable."""
    members: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for path in sorted(paths, key=lambda candidate: (plain_name(candidate) != candidate, candidate)):
        plain = member = plain_name(path)
        while member in members:  # continue counting from the last one, which keeps this linear
            counts[plain] += 1
            number = f"{counts[plain]}_" if counts[plain] > 1 else ""
            member = "/".join(map(files.fit_name, f"_{number}{plain}".split("/")))
        members[member] = path
    for name in sorted(OWN_NAMES & members.keys()):
        path, member = members.pop(name), f"outputs/{name}"
        while member in members:
            member = f"outputs/{member}"
        members[member] = path
    return dict(sorted(members.items()))


def plain_name(path: str) -> str:
    """Return a portable path: without backslashes, drive, control characters or lone surrogates."""
    plain = _STRANGE.sub("_", path)
    return plain.replace(":", "_", 1) if plain[1:2] == ":" else plain


def read_score(attempt_dir: Path) -> Score:
    """Return the figures of the engine's ``score.json``; empty if it is absent or not a flat object."""
    try:
        content = read_small(attempt_dir, "score.json")
    except untrusted.NotRegularError:
        limit = format_size(SMALL_BYTES)
        return Score(
            note=f"The tool's score.json was omitted: it is larger than {limit}, or is not a regular file."
        )
    if content is None:
        return Score()
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return Score(content=content)
    if not isinstance(parsed, dict):
        return Score(content=content)
    figures = {name: value for name, value in parsed.items() if _is_figure(value)}
    note = None
    if len(figures) > MAX_FIGURES:
        note = f"The tool's score.json has {len(figures):,} figures; the first {MAX_FIGURES:,} are shown."
        figures = dict(list(figures.items())[:MAX_FIGURES])
    return Score(figures or None, note, content)


class _Packer:
    """Writes one archive, reading each output only once to hash and compress it."""

    def __init__(self, spec: AttemptSpec, check: Callable[[], None], attempt: int, outputs: int) -> None:
        self._spec = spec
        self._check = check
        self._attempt = attempt
        self._outputs = outputs

    def pack(
        self, paths: Mapping[str, str], closed: Sequence[str], state: str, started: str, score: Score
    ) -> ResultArchive:
        draft = self._spec.folder / f".{files.RESULT}"
        try:
            note = self._write(draft, paths, closed, state, started, score)
            archive = ResultArchive(draft.stat().st_size, self._hash(draft), note)
            draft.rename(self._spec.folder / files.RESULT)
        finally:
            draft.unlink(missing_ok=True)
        return archive

    def _write(
        self,
        draft: Path,
        paths: Mapping[str, str],
        closed: Sequence[str],
        state: str,
        started: str,
        score: Score,
    ) -> str | None:
        """Write the archive; return a sentence if outputs could not be read."""
        draft.unlink(missing_ok=True)
        with draft.open("xb") as stream:
            with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                rows = {path: self._add(archive, self._outputs, path, name) for name, path in paths.items()}
                packed = [row for row in rows.values() if row is not None]
                lost = [*(path for path, row in rows.items() if row is None), *closed]
                if lost and not packed:
                    raise NotKeptError(_explain_lost(lost, "none of outputs/ could be read"))
                verb = "is" if len(lost) == 1 else "are"
                problem = f"{count(len(lost), 'output')} could not be read and {verb} not in the result"
                note = f"{_explain_lost(lost, problem)}." if lost else None
                manifest = make_manifest(self._spec, state, started, packed, self._check, note)
                archive.writestr("manifest.json", json.dumps(manifest))
                if score.content is not None:
                    archive.writestr("score.json", score.content)
                if self._add(archive, self._attempt, files.LOG, "job.log") is None:
                    archive.writestr("job.log", b"")
            stream.flush()
            if self._spec.is_kept and stream.tell() > _LARGE_BYTES:
                os.fsync(stream.fileno())  # the service syncs small ones, several at a time
        return note

    def _add(self, archive: zipfile.ZipFile, folder: int, path: str, name: str) -> dict[str, Any] | None:
        """Add a regular file and return its row of the manifest; None if it no longer exists."""
        descriptor = untrusted.open_file(path, folder)
        if descriptor is None:
            return None
        digest, size = hashlib.sha256(), 0
        with os.fdopen(descriptor, "rb", buffering=0) as source:
            status = os.fstat(descriptor)
            info = _describe_member(name, status)
            with archive.open(info, "w", force_zip64=status.st_size >= _ZIP64_BYTES) as target:
                while size < status.st_size:  # a file that is still growing is cut at its initial size
                    self._check()
                    chunk = source.read(min(_CHUNK_BYTES, status.st_size - size))
                    if not chunk:
                        break
                    size += len(chunk)
                    digest.update(chunk)
                    target.write(chunk)
        return {"name": name, "sizeBytes": size, "sha256": digest.hexdigest()}

    def _hash(self, path: Path) -> str:
        digest = hashlib.sha256()
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                self._check()
                digest.update(chunk)
        return digest.hexdigest()


def _explain_lost(paths: Sequence[str], problem: str) -> str:
    """Say what happened, with the first of the paths."""
    names = [plain_name(path) for path in paths[:_MAX_NAMED]]
    listed = ", ".join(name if len(name) <= _MAX_LETTERS else f"…{name[-_MAX_LETTERS:]}" for name in names)
    return f"{problem}: {listed}{', …' if len(paths) > _MAX_NAMED else ''}"


def _describe_member(name: str, status: os.stat_result) -> zipfile.ZipInfo:
    try:
        moment = time.localtime(status.st_mtime)[:6]
    except (OverflowError, ValueError, OSError):
        moment = (1980, 1, 1, 0, 0, 0)
    year = min(max(moment[0], 1980), 2107)
    info = zipfile.ZipInfo(name, (year, *moment[1:]))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (status.st_mode & 0xFFFF) << 16
    info.file_size = status.st_size
    return info


def _is_figure(value: object) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
