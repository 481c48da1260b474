"""Find this user's embedded service, and start it if it is not running.

Each user has one. It runs as a separate process, so that it outlives the kernel, Jupyter server or command
that started it; its runtime file has its address. This module starts a command and reads that file, and
imports nothing of the service.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from foldnote import settings
from foldnote.errors import EmbeddedServiceError, UnsupportedSystemError
from foldnote.io import hold_lock
from foldnote.late import find_version
from foldnote.models import RuntimeInfo, read_runtime

_POLL_INTERVAL_S = 0.05
_HEALTH_TIMEOUT_S = 2.0
_BUSY_TIMEOUT_S = 10.0
_RETRY_START_S = 1.0
_LOG_BYTES = 4_000_000
_TAIL_BYTES, _TAIL_LINES = 4000, 8


def ensure_service() -> RuntimeInfo:
    """Find the embedded service, or start it; returns its address and key.

    Several processes may call this at once: one of them starts the service, the others wait for it. A service
    of an older foldnote is stopped first, and its successor takes over its jobs.

    Raises:
        EmbeddedServiceError: it did not start in time; the message has the end of its log.
        UnsupportedSystemError: this is Windows.
    """
    if sys.platform == "win32":
        raise UnsupportedSystemError
    try:
        return _find_or_start()
    except OSError as exc:
        raise EmbeddedServiceError(
            f"The embedded service cannot be started: {exc}. It needs a writable folder:"
            " set FOLDNOTE_HOME to one."
        ) from exc


def _find_or_start() -> RuntimeInfo:
    running = find_service()
    if running is not None and not is_older(running.version, find_version()):
        return running
    limit_s: float = settings.option("service_start_timeout_s")
    deadline = time.monotonic() + limit_s
    with _hold_start_lock(deadline) as is_first:
        running = find_service()  # another process may have started it meanwhile
        if running is not None and is_older(running.version, find_version()):
            end_service(running, deadline)
            running = None
        if running is not None:
            return running
        if not is_first:
            raise EmbeddedServiceError(
                f"Another process has been starting the embedded service for {limit_s:g} s, but it does not"
                f" answer. Its log is {log_path()}; run `foldnote doctor` to find out more."
            )
        return start_service(deadline, limit_s)


def find_service() -> RuntimeInfo | None:
    """Return the running service, if one answers.

    If its process exists but does not answer, wait longer: the machine may be under load.
    """
    info = read_runtime(settings.runtime_dir())
    if info is None or not _is_alive(info.pid):  # another program may use its old port
        return None
    return info if is_healthy(info) or is_healthy(info, _BUSY_TIMEOUT_S) else None


def has_address(url: str) -> bool:
    """Return whether the embedded service was last started at this address, without a request."""
    info = read_runtime(settings.runtime_dir())
    if info is None:
        return False
    given, own = urlsplit(url), urlsplit(info.url)
    names = (own.hostname, "localhost", "127.0.0.1")
    return given.scheme == own.scheme and given.hostname in names and given.port == own.port


def is_healthy(info: RuntimeInfo, timeout_s: float = _HEALTH_TIMEOUT_S) -> bool:
    """Return whether a foldnote service of the version that ``info`` names answers at its address."""
    try:
        direct = build_opener(ProxyHandler({}))  # a proxy cannot reach loopback addresses
        with direct.open(f"{info.url}/healthz", timeout=timeout_s) as answer:
            health: Any = json.load(answer)
        return bool(health["status"] == "ok" and health["version"] == info.version)
    except (OSError, ValueError, TypeError, LookupError):
        return False


def is_older(version: str, than: str) -> bool:
    """Return whether ``version`` is older than ``than``; only numeric parts are compared."""
    return _numbers(version) < _numbers(than)


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def log_path() -> Path:
    """Return the path of the embedded service's log."""
    return settings.data_dir() / "service.log"


def end_service(info: RuntimeInfo, deadline: float) -> None:
    """Stop a running service; its jobs continue and are adopted by the next one.

    Raises:
        EmbeddedServiceError: it does not stop in time.
    """
    import psutil

    try:
        psutil.Process(info.pid).terminate()
        while _is_alive(info.pid) and read_runtime(settings.runtime_dir()) == info:
            if time.monotonic() > deadline:
                raise EmbeddedServiceError(
                    f"The embedded service of foldnote {info.version} (process {info.pid}) does not stop."
                    " Stop this process, then try again."
                )
            time.sleep(_POLL_INTERVAL_S)
    except psutil.NoSuchProcess:
        return
    except psutil.AccessDenied as exc:
        raise EmbeddedServiceError(
            f"{settings.runtime_dir()} names process {info.pid} as the embedded service, but it belongs to"
            " another user. Remove service.json there, then try again."
        ) from exc


def start_service(deadline: float, limit_s: float) -> RuntimeInfo:
    """Start the service, and wait until it answers.

    Raises:
        EmbeddedServiceError: it did not start in time.
    """
    process, began, next_start = None, 0, 0.0
    while time.monotonic() < deadline:
        code = process.poll() if process else 0
        if code:
            raise EmbeddedServiceError(_explain(began, f"ended with exit code {code}"))
        if code == 0 and time.monotonic() >= next_start:  # a service that is still stopping held the lock
            process, began = _launch()
            next_start = time.monotonic() + _RETRY_START_S
        info = read_runtime(settings.runtime_dir())
        if info is not None and _is_alive(info.pid) and is_healthy(info):
            return info
        time.sleep(_POLL_INTERVAL_S)
    raise EmbeddedServiceError(_explain(began, f"did not answer within {limit_s:g} s"))


def _launch() -> tuple[subprocess.Popen[bytes], int]:
    """Launch the service process; returns it and the offset at which its log begins."""
    path = log_path()
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".log.1"))
    with path.open("ab") as log:
        return _spawn(log), log.tell()


def _hold_start_lock(deadline: float) -> AbstractContextManager[bool]:
    """Hold the lock for starting the service; yields False if it was not acquired by the deadline."""
    return hold_lock(settings.runtime_dir() / "start.lock", max(0.0, deadline - time.monotonic()))


def _spawn(log: IO[bytes]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "foldnote", "serve", "--embedded"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # its address is in the runtime file
        stderr=log,
        env=settings.process_environment(),
        cwd=settings.data_dir(),
        start_new_session=True,
    )
    threading.Thread(target=process.wait, daemon=True, name="foldnote service").start()  # reaps the process
    return process


def _is_alive(pid: int) -> bool:
    """Return whether this user has a process with this id."""
    import psutil

    try:
        return psutil.Process(pid).username() == psutil.Process().username()
    except (psutil.Error, ValueError, OverflowError):  # not a valid process id
        return False


def _explain(began: int, what: str) -> str:
    path = log_path()
    try:
        with path.open("rb") as log:
            log.seek(began)
            lines = log.read()[-_TAIL_BYTES:].decode("utf-8", "replace").strip().splitlines()[-_TAIL_LINES:]
    except OSError:
        lines = []
    is_sentence = bool(lines) and lines[-1].endswith(".") and lines[-1][:1].isupper()
    # only the first line is shown in the panel, so it contains the reason
    reason = f": {lines.pop()}" if is_sentence else "."
    tail = "\n".join(lines) or ("" if is_sentence else "(the log is empty)")
    advice = f"Its log is {path}; run `foldnote doctor` to find out more."
    return f"The embedded service {what}{reason} {advice}\n{tail}".rstrip()
