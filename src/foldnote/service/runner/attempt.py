"""The files of one attempt, through which the queue, an executor and a runner communicate.

An attempt is one run of an engine for a job. Its whole state is in one folder, so that any of the three may
die without loss. Files that others wait for are published by an atomic rename, ``outcome.json`` last. Only
``revoked`` and a large ``result.zip`` are synced, and the latter not on a node, which keeps nothing. A power
cut ends every process of an attempt and may leave its other files empty or absent; the attempt then counts as
lost. The service syncs a small ``result.zip`` before it counts. This module starts, watches and kills no
process and imports only the standard library, since each runner loads it.

    spec.json      what to run (AttemptSpec), written last by ``prepare_attempt``
    work/          the engine's working directory: job.json, inputs/, outputs/, score.json
    lock           held (flock) for as long as a runner lives
    runner.json    process id and start of the runner; once it exists no other runner may begin
    progress.json  the newest progress
    log.txt        the engine's output, from its first line on
    lease          on a node: the time until which the runner may run without contact to the agent
    cancel         asks the runner to stop; contains the seconds between TERM and KILL
    revoked        written by the recovery: a runner that starts late exits without doing anything
    result.zip     the archive of outputs; absent if there are none
    manifest.json  what was run, if there is no archive to hold it
    outcome.json   how it ended (Outcome)
    runner.log     traceback of a fault in the runner itself
"""

from __future__ import annotations

import errno
import functools
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

from foldnote.io import FULL_DISK, write_atomically
from foldnote.service.runner.untrusted import read_regular

SPEC = "spec.json"
WORK = "work"
LOCK = "lock"
RUNNER = "runner.json"
PROGRESS = "progress.json"
LOG = "log.txt"
LEASE = "lease"
CANCEL = "cancel"
REVOKED = "revoked"
RESULT = "result.zip"
MANIFEST = "manifest.json"
OUTCOME = "outcome.json"
RUNNER_LOG = "runner.log"
SCRATCH = "foldnote-"
"""Prefix of the name of an attempt's temporary folder, before the nonce."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""Escaped surrogates in ASCII JSON; a pair of them is one character, a lone one is invalid."""
_JSON_BYTES = 1 << 20
_SPEC_BYTES = 1 << 30
_NAME_BYTES = 255
NONCE_VARIABLE = "FOLDNOTE_ATTEMPT"
"""Environment variable of the engine's processes that holds the attempt's nonce."""

SPOILT_SENTENCE = (
    "The tool overwrote files of the service, so the outcome of the run cannot be read."
    " A tool may write to its working folder only."
)

OutcomeState = Literal["succeeded", "failed", "stopped", "timed_out", "lost"]
"""``failed`` and ``timed_out`` are caused by the tool; ``lost`` by the machine, and may be retried."""


@dataclass(frozen=True, slots=True)
class AttemptSpec:
    """Everything that a runner needs to run an attempt."""

    attempt_dir: str
    """Absolute path of the attempt's folder."""
    nonce: str
    """Single-use identifier that marks every process of this attempt."""
    job_name: str
    tool: str
    """Type of the tool, as submitted."""
    settings: Mapping[str, Any]
    """Settings with defaults filled in; a file field contains what the user submitted."""
    command: tuple[str, ...]
    """Program and arguments of the engine; it runs in ``work/``."""
    environment: Mapping[str, str]
    """The complete environment of the engine, including the nonce."""
    worker: tuple[str, ...] = ()
    """Program and arguments that load the engine for many jobs, the engine's folder last; empty for none."""
    seed: int = 0
    """Seed of all random numbers."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each file field, the paths below ``work/`` that hold its content."""
    time_limit_s: float = 86_400.0
    """Time limit in seconds; then the run ends as ``timed_out``."""
    cores: int = 1
    memory_mb: int = 1024
    """Reserved memory in MB (2**20 bytes)."""
    memory_limit_mb: int = 0
    """Memory in MB (2**20 bytes) above which the run is ended as failed; 0 means no limit."""
    output_limit_bytes: int = 10 << 30
    """Maximum size of ``outputs/`` in bytes; larger outputs are not kept."""
    gpus: tuple[str, ...] = ()
    """The GPUs assigned to the run, as ``CUDA_VISIBLE_DEVICES`` names them; empty for none."""
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """Extensions besides the settings: ``external``, the purposes for which inputs may leave the machine, and
    ``label``. The user's own alignment is in ``files`` as ``foldnote.alignment``."""
    owner: str = ""
    """Opaque identity of the job's owner: only jobs of one owner share a process; empty if none may."""
    has_lease: bool = False
    """Whether the run ends when the time in the file ``lease`` has passed, as on a node of a cluster."""
    is_kept: bool = True
    """Whether this machine keeps the result; a node does not, it sends the result to the service."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """Engine in the manifest: name, method, kind, version, licence, note, packages."""
    engine_version: str = ""
    """Names and versions of the engine and its add-ons; empty if unknown."""

    @property
    def folder(self) -> Path:
        """The attempt's folder."""
        return _as_path(self.attempt_dir)

    def has(self, name: str) -> bool:
        """Return whether the attempt's folder contains an entry of this name; called often."""
        return os.path.lexists(f"{self.attempt_dir}/{name}")


@functools.lru_cache(maxsize=16)
def _as_path(folder: str) -> Path:
    return Path(folder)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. Written once."""

    state: OutcomeState
    error: str | None = None
    """One sentence for the user; None when it succeeded."""
    score: Mapping[str, Any] | None = None
    """The engine's figures; None if it reported none."""
    result_size_bytes: int | None = None
    """Size of ``result.zip``; None if there is none."""
    result_sha256: str | None = None
    started: str | None = None
    """RFC 3339 UTC; None if the engine never started."""
    ended: str | None = None
    note: str | None = None
    """One sentence for the user about a successful run, such as omitted figures."""
    nonce: str | None = None
    """The attempt's nonce; None if written by a runner of an earlier version."""
    cpu_seconds: float | None = None
    """User and system time of all processes of the engine; None if their end was not observed."""
    peak_memory_mb: float | None = None
    """Peak resident memory, in MB (2**20 bytes), of the process with the highest peak; None as above."""
    peak_gpu_memory_mb: float | None = None
    """Peak GPU memory, in MB (2**20 bytes), of its processes together; None if none was observed."""
    is_input_refused: bool = False
    """Whether the engine rejected its settings or files, as it would in another run."""
    engine_version: str | None = None
    """Names and versions of the engine and its add-ons; None if unknown."""

    @classmethod
    def read(cls, attempt_dir: Path) -> Self | None:
        """Return the outcome published in ``attempt_dir``, or None.

        Raises:
            ValueError: it is not a regular file, or too large.
            TypeError: its content is not an outcome.
        """
        try:
            content = read_json(attempt_dir / OUTCOME)
        except json.JSONDecodeError:  # lost in a power cut
            return None
        return None if content is None else cls(**content)


@dataclass(frozen=True, slots=True)
class AttemptState:
    """Observed state of an attempt."""

    progress: float | None
    """0 to 1; None if the engine has reported nothing."""
    message: str | None
    alive: bool
    """Whether a runner holds the lock. False without an outcome means that the runner died."""
    outcome: Outcome | None


def as_content(record: AttemptSpec | Outcome) -> dict[str, Any]:
    """Return the record as a JSON object that shares its values."""
    return {entry.name: getattr(record, entry.name) for entry in fields(record)}


def now() -> str:
    """Return the current time, RFC 3339 UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def prepare_attempt(spec: AttemptSpec, inputs: Mapping[str, Path] | None = None) -> Path:
    """Create the attempt's folder with its work folder, inputs and specification; return its path.

    An existing folder of the same name belongs to another attempt and is set aside.

    Args:
        spec: the specification.
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
    (work / "job.json").write_bytes(json.dumps(_job_file(spec)).encode())  # no process reads it yet
    write_json(folder / SPEC, as_content(spec), is_durable=False)
    return folder


def set_aside(folder: Path) -> Path:
    """Rename a folder that belongs to another attempt, and return its new path.

    Raises:
        OSError: it cannot be renamed.
    """
    number = 1
    while os.path.lexists(aside := folder.with_name(f"{folder.name}.aside-{number}")):
        number += 1
    return folder.rename(aside)


def fit_name(name: str) -> str:
    """Shorten the name to the 255 bytes that file systems allow, keeping the extension."""
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
    """Return the message of an exception without the server's paths that an OSError contains."""
    return (isinstance(fault, OSError) and fault.strerror) or str(fault)


def scratch_folder(nonce: str) -> Path:
    """Return the temporary folder of an attempt's engine; its path is short enough for sockets."""
    return Path(tempfile.gettempdir(), f"{SCRATCH}{nonce}")


def make_scratch(nonce: str) -> Path:
    """Create the temporary folder of an attempt's engine, for this user only, and return it.

    A runner that died before the attempt began may have left an empty one.

    Raises:
        OSError: it cannot be created, or something else is there.
    """
    folder = scratch_folder(nonce)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        folder.rmdir()
        folder.mkdir(mode=0o700)
    return folder


def is_spent(attempt_dir: Path) -> bool:
    """Return whether the attempt must not be started: it was begun, revoked or ended before."""
    return any(os.path.lexists(f"{attempt_dir}/{name}") for name in (RUNNER, REVOKED, OUTCOME))


def make_folders(*nested: Path) -> None:
    """Create nested folders; the parents of the first usually exist."""
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
        "extensions": dict(spec.extensions),
    }


def read_spec(attempt_dir: Path) -> AttemptSpec:
    """Return the specification in ``attempt_dir``.

    Raises:
        FileNotFoundError: the attempt was never completely prepared.
        ValueError: it is damaged, by a power cut or by the engine.
    """
    data = read_regular(attempt_dir / SPEC, _SPEC_BYTES)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(attempt_dir / SPEC))
    content = json.loads(data)
    content["command"] = tuple(content["command"])
    content["worker"] = tuple(content.get("worker", ()))
    gpus = content.get("gpus")  # a number in attempts of earlier versions
    content["gpus"] = tuple(gpus) if isinstance(gpus, list) else ()
    content["files"] = {name: tuple(paths) for name, paths in content["files"].items()}
    return AttemptSpec(**content)


def read_progress(attempt_dir: Path) -> tuple[float | None, str | None]:
    """Return the latest progress: fraction (0 to 1) and message, each None if unknown."""
    try:
        content = read_json(attempt_dir / PROGRESS) or {}
    except ValueError:  # lost in a power cut
        return None, None
    return content.get("fraction"), content.get("message")


def write_progress(attempt_dir: Path, fraction: float | None, message: str | None) -> None:
    """Publish the latest progress, without sync, since it is worthless after a power cut."""
    content = {"fraction": fraction, "message": message, "updated": now()}
    write_json(attempt_dir / PROGRESS, content, is_durable=False)


def request_cancel(attempt_dir: Path, grace_s: float = 10.0) -> None:
    """Ask the runner to stop; it waits ``grace_s`` seconds between TERM and KILL.

    The file is not synced, which would delay the stop: after a power cut no runner is alive.
    """
    publish_mark(attempt_dir / CANCEL, str(grace_s).encode(), is_durable=False)


def boot_time_s() -> float:
    """Return the seconds since the machine booted, including sleep; the same for all of its processes."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


def extend_lease(attempt_dir: Path, until_s: float) -> None:
    """Let the runner run until this boot time."""
    write_json(attempt_dir / LEASE, {"until": until_s}, is_durable=False)


def is_lease_over(attempt_dir: Path) -> bool:
    """Return whether the runner's lease has passed; an unreadable lease counts as passed."""
    try:
        until = (read_json(attempt_dir / LEASE) or {}).get("until")
    except (OSError, ValueError):
        return True
    return not isinstance(until, int | float) or boot_time_s() > until


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in ``path``; None if the file does not exist.

    Lone surrogates, which an engine may have written, become question marks: neither the database nor JSON
    responses can hold them.

    Raises:
        NotRegularError: it is not a regular file, or larger than any that a runner writes.
        ValueError: it is not JSON.
    """
    data = read_regular(path, _JSON_BYTES)
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    content: dict[str, Any] = json.loads(text)
    if _SURROGATE.search(text):
        content = json.loads(json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))
    return content


def write_json(path: Path, content: Mapping[str, Any], *, is_durable: bool = True) -> None:
    """Publish ``content`` as ``path``, in ASCII, the only encoding for lone surrogates of a user's text."""
    write_atomically(path, json.dumps(content), is_durable=is_durable)


def publish_mark(path: Path, content: bytes, *, is_durable: bool = True) -> None:
    """Publish a file whose presence matters most; on a full disk an empty one, which needs no space."""
    try:
        write_atomically(path, content, is_durable=is_durable)
    except OSError as exc:
        if exc.errno not in FULL_DISK:
            raise
        path.touch()
