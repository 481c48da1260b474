"""The files of one attempt: what the queue, an executor and a runner say to each other.

An attempt is one try to run one job. Everything about it is in one folder, so that any of the three may
die and the others still know the truth. What others wait for is published by an atomic rename;
``outcome.json`` is the last one. Only ``result.zip`` and ``cancel`` are synced: a power cut ends every
process of an attempt and may leave its other files empty or absent, and then the attempt counts as lost.
Nothing here starts, watches or kills a process, and nothing here imports more than the standard library,
since each runner loads it.

    spec.json      what to run (AttemptSpec), written last by ``prepare_attempt``
    work/          the engine's working directory: job.json, inputs/, outputs/, score.json
    lock           held (flock) for as long as a runner lives
    runner.json    process id and start of the runner; once it exists no other runner may begin
    progress.json  the newest progress
    log.txt        what the engine wrote, from its first line on
    cancel         asks the runner to stop; holds the seconds between TERM and KILL
    revoked        written by the recovery: a runner that comes late exits without doing anything
    result.zip     the archive of outputs, present when there is any
    manifest.json  what was really run, where there is no archive that holds it
    outcome.json   how it ended (Outcome)
    runner.log     what went wrong in the runner itself
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from foldnote.io import write_atomically
from foldnote.service.runner.untrusted import read_regular

SPEC = "spec.json"
WORK = "work"
LOCK = "lock"
RUNNER = "runner.json"
PROGRESS = "progress.json"
LOG = "log.txt"
CANCEL = "cancel"
REVOKED = "revoked"
RESULT = "result.zip"
MANIFEST = "manifest.json"
OUTCOME = "outcome.json"
RUNNER_LOG = "runner.log"

_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""Where JSON in ASCII may have a lone surrogate; two of them that are a pair are one character."""
_JSON_BYTES = 1 << 20
_SPEC_BYTES = 1 << 30
_NAME_BYTES = 255
NONCE_VARIABLE = "FOLDNOTE_ATTEMPT"
"""Environment variable of the engine's processes that holds the attempt's nonce."""

OutcomeState = Literal["succeeded", "failed", "stopped", "timed_out", "lost"]
"""``failed`` and ``timed_out`` are the tool's; ``lost`` is the machine's and may be tried again."""


@dataclass(frozen=True, slots=True)
class AttemptSpec:
    """All that a runner needs to know."""

    attempt_dir: str
    """Absolute path of the attempt's folder."""
    nonce: str
    """Single-use word that marks every process of this attempt."""
    job_name: str
    tool: str
    """Type of the tool, as submitted."""
    settings: Mapping[str, Any]
    """Settings with defaults filled in; a file field holds what the user gave."""
    command: tuple[str, ...]
    """Program and arguments of the engine; it runs in ``work/``."""
    environment: Mapping[str, str]
    """The whole environment of the engine, the nonce included."""
    seed: int = 0
    """Seed for everything that draws random numbers."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each file field, the paths below ``work/`` that hold its content."""
    time_limit_s: float = 86_400.0
    """Seconds after which the run ends as ``timed_out``."""
    cores: int = 1
    memory_mb: int = 1024
    """Memory to set aside, in MB (2**20 bytes)."""
    memory_limit_mb: int = 0
    """Memory in MB above which the run is ended as failed; 0 means no limit."""
    output_limit_bytes: int = 10 << 30
    """Bytes in ``outputs/`` above which nothing of it is kept."""
    gpus: int = 0
    engine: Mapping[str, Any] = field(default_factory=dict)
    """What the manifest says of the engine: name, method, kind, version, licence, note, packages."""

    @property
    def folder(self) -> Path:
        """The attempt's folder."""
        return Path(self.attempt_dir)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. Written once."""

    state: OutcomeState
    error: str | None = None
    """One sentence for the user; None when it succeeded."""
    score: Mapping[str, Any] | None = None
    """The engine's figures; None when it gave none."""
    result_size_bytes: int | None = None
    """Size of ``result.zip``; None when there is none."""
    result_sha256: str | None = None
    started: str | None = None
    """RFC 3339 UTC; None when the engine never started."""
    ended: str | None = None
    note: str | None = None
    """One sentence for the user about a run that succeeded, such as figures that were left out."""
    nonce: str | None = None
    """The attempt's own; None in what a runner of an earlier version wrote."""

    @classmethod
    def read(cls, attempt_dir: Path) -> Self | None:
        """The outcome published in ``attempt_dir``, or None.

        Raises:
            ValueError: something that is no regular file, or too large, is in its place.
            TypeError: its content is no outcome.
        """
        try:
            content = read_json(attempt_dir / OUTCOME)
        except json.JSONDecodeError:  # it was not on the disk when the power was cut
            return None
        return None if content is None else cls(**content)


@dataclass(frozen=True, slots=True)
class AttemptState:
    """What is seen of an attempt at one moment."""

    progress: float | None
    """0 to 1; None when the engine has said nothing."""
    message: str | None
    alive: bool
    """Whether a runner holds the lock. Not alive and no outcome means that the runner died."""
    outcome: Outcome | None


def as_content(record: AttemptSpec | Outcome) -> dict[str, Any]:
    """The record as a JSON object; it shares its values."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def now() -> str:
    """The present time, RFC 3339 UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def prepare_attempt(spec: AttemptSpec, inputs: Mapping[str, Path] | None = None) -> Path:
    """Make the attempt's folder with its work folder, inputs and specification; gives the folder.

    Whatever has the folder's name is another attempt's, and set aside.

    Args:
        spec: what to run.
        inputs: for each path below ``work/`` (``inputs/x.pdb``), the file whose content belongs there. It
            is copied, so that an engine cannot change a stored file.

    Raises:
        ValueError: an input's path leads out of the work folder.
        OSError: the folder cannot be written.
    """
    folder = spec.folder
    work = folder / WORK
    if os.path.lexists(folder):
        set_aside(folder)
    make_folders(folder.parent, folder, work, work / "outputs")
    for name, source in (inputs or {}).items():
        target = (work / name).resolve()
        if not target.is_relative_to(work.resolve()):
            raise ValueError(f"The input path {name!r} leads out of the work folder.")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    (work / "job.json").write_bytes(json.dumps(_job_file(spec)).encode())  # nobody is told of it yet
    write_json(folder / SPEC, as_content(spec), is_durable=False)
    return folder


def set_aside(folder: Path) -> Path:
    """Rename a folder that is not what its name says; gives its new path.

    Raises:
        OSError: it cannot be renamed.
    """
    number = 1
    while os.path.lexists(aside := folder.with_name(f"{folder.name}.aside-{number}")):
        number += 1
    return folder.rename(aside)


def fit_name(name: str) -> str:
    """The name, shortened where a file system has no room for it; the extension stays."""
    if len(os.fsencode(name)) <= _NAME_BYTES:
        return name
    stem, dot, extension = name.rpartition(".")
    if not stem or len(os.fsencode(extension)) > _NAME_BYTES // 4:
        stem, dot, extension = name, "", ""
    room = _NAME_BYTES - len(os.fsencode(dot + extension))
    while len(os.fsencode(stem)) > room:
        stem = stem[:-1]
    return stem + dot + extension


def without_path(fault: Exception) -> str:
    """What a fault says, without the server's paths that an OSError names."""
    return (isinstance(fault, OSError) and fault.strerror) or str(fault)


def scratch_folder(nonce: str) -> Path:
    """The temporary folder of an attempt's engine; its short path is for sockets."""
    return Path(tempfile.gettempdir(), f"foldnote-{nonce}")


def make_folders(*nested: Path) -> None:
    """Make folders of which each lies in the one before; the first one's parents are mostly there."""
    for folder in nested:
        try:
            folder.mkdir(exist_ok=True)
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)


def _job_file(spec: AttemptSpec) -> dict[str, Any]:
    return {
        "jobName": spec.job_name,
        "type": spec.tool,
        "settings": dict(spec.settings),
        "files": {name: list(paths) for name, paths in spec.files.items()},
        "seed": spec.seed,
    }


def read_spec(attempt_dir: Path) -> AttemptSpec:
    """The specification in ``attempt_dir``.

    Raises:
        FileNotFoundError: the attempt was never prepared to the end.
        ValueError: the power was cut meanwhile, or the engine wrote over it.
    """
    found = read_regular(attempt_dir / SPEC, _SPEC_BYTES)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(attempt_dir / SPEC))
    content = json.loads(found)
    content["command"] = tuple(content["command"])
    content["files"] = {name: tuple(paths) for name, paths in content["files"].items()}
    return AttemptSpec(**content)


def read_progress(attempt_dir: Path) -> tuple[float | None, str | None]:
    """The newest progress: fraction (0 to 1) and message, each None when not known."""
    try:
        content = read_json(attempt_dir / PROGRESS) or {}
    except ValueError:  # it was not on the disk when the power was cut
        return None, None
    return content.get("fraction"), content.get("message")


def write_progress(attempt_dir: Path, fraction: float | None, message: str | None) -> None:
    """Publish the newest progress; it is worth nothing after a power cut, so it is not synced."""
    content = {"fraction": fraction, "message": message, "updated": now()}
    write_json(attempt_dir / PROGRESS, content, is_durable=False)


def request_cancel(attempt_dir: Path, grace_s: float = 10.0) -> None:
    """Ask the runner to stop; it waits ``grace_s`` seconds between TERM and KILL."""
    publish_mark(attempt_dir / CANCEL, str(grace_s).encode())


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None when the file does not exist.

    Raises:
        NotRegularError: it is no regular file, or larger than any that a runner writes.
        ValueError: it is no JSON.

    Half characters (lone surrogates), which an engine may have written, become question marks: neither the
    database nor an answer takes them.
    """
    found = read_regular(path, _JSON_BYTES)
    if found is None:
        return None
    text = found.decode("utf-8", "replace")
    content: dict[str, Any] = json.loads(text)
    if _HALF_CHARACTER.search(text):
        content = json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
    return content


def write_json(path: Path, content: Mapping[str, Any], *, is_durable: bool = True) -> None:
    """Publish ``content`` as ``path``, in ASCII: a lone surrogate of a user's text has no other encoding."""
    write_atomically(path, json.dumps(content), is_durable=is_durable)


def publish_mark(path: Path, content: bytes) -> None:
    """Publish a file that says most by being there; on a full disk it is empty, which needs no room."""
    try:
        write_atomically(path, content, is_durable=True)
    except OSError as exc:
        if exc.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        path.touch()
