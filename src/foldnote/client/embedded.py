"""Finding this user's embedded service, and starting it when it does not run.

There is one for each user. It is started as a process of its own, so that it outlives the kernel, Jupyter
server or command that needed it first; where it answers stands in its runtime file. This module starts a
command and reads that file: it imports nothing of the service.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.request import ProxyHandler, build_opener

from foldnote import settings
from foldnote.errors import EmbeddedServiceError
from foldnote.models import RuntimeInfo, read_runtime

_LOOK_EVERY_S = 0.05
_HEALTH_TIMEOUT_S = 2.0
_START_AGAIN_S = 1.0
_LOG_BYTES = 4_000_000


def ensure_service() -> RuntimeInfo:
    """Where the embedded service answers; it is started if it does not run.

    Many threads and processes may call this at once: one of them starts a service, the others wait for it.

    Raises:
        EmbeddedServiceError: it did not start in time; the message holds the end of its log.
    """
    try:
        running = find_service()
        return running if running is not None else start_service()
    except OSError as exc:
        raise EmbeddedServiceError(
            f"The embedded service cannot be started: {exc}. It needs a folder that can be written:"
            " set FOLDNOTE_HOME to one."
        ) from exc


def find_service() -> RuntimeInfo | None:
    """The running service, if one answers."""
    info = read_runtime(settings.runtime_dir())
    return info if info is not None and _is_alive(info.pid) and is_healthy(info) else None


def is_healthy(info: RuntimeInfo) -> bool:
    """Whether a job service answers where ``info`` says; the key is not sent."""
    try:
        direct = build_opener(ProxyHandler({}))  # a proxy knows nothing of this machine's loopback interface
        with direct.open(f"{info.url}/healthz", timeout=_HEALTH_TIMEOUT_S) as answer:
            return bool(json.load(answer).get("status") == "ok")
    except (OSError, ValueError, AttributeError):
        return False


def _is_alive(pid: int) -> bool:
    """Whether this user has such a process; when not, somebody else may answer at its old address."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def start_service() -> RuntimeInfo:
    """Start the service, or wait for the one that somebody else is starting.

    Raises:
        EmbeddedServiceError: it ended at once, or did not answer in time.
        OSError: a folder or the command cannot be used.
    """
    limit_s: float = settings.option("service_start_timeout_s")
    deadline = time.monotonic() + limit_s
    launch: Launch | None = None
    with _turn() as has_turn:
        while time.monotonic() < deadline:
            running = find_service()
            if running is not None:
                return running
            if (launch is None or launch.is_over()) and has_turn():
                launch = Launch()
            time.sleep(_LOOK_EVERY_S)
    raise EmbeddedServiceError(_explain(launch, f"did not answer within {limit_s:g} s"))


@contextmanager
def _turn() -> Iterator[_Turn]:
    """Whose turn it is to start the service: of the first who asks, until it is done or dead."""
    with (settings.runtime_dir() / "starting.lock").open("wb") as lock:
        yield _Turn(lock)


class _Turn:
    """A lock that one starter holds; asked again, it says so again."""

    def __init__(self, lock: IO[bytes]) -> None:
        self._lock = lock

    def __call__(self) -> bool:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: the service's own lock leaves one alive
            return True
        return True


class Launch:
    """One process that is to become the service."""

    def __init__(self) -> None:
        """Start the process; it belongs to no terminal and no parent."""
        self.log_path = settings.data_dir() / "service.log"
        if self.log_path.exists() and self.log_path.stat().st_size > _LOG_BYTES:
            self.log_path.replace(self.log_path.with_suffix(".log.1"))
        with self.log_path.open("ab") as log:
            self.log_begin = log.tell()
            self._process = _spawn(log)
        self._began = time.monotonic()
        threading.Thread(target=self._process.wait, daemon=True).start()  # leaves no zombie behind

    def is_over(self) -> bool:
        """Whether it ended because another service holds the lock, which may just be ending; try again.

        Raises:
            EmbeddedServiceError: it ended for another reason.
        """
        code = self._process.poll()
        if code:
            raise EmbeddedServiceError(_explain(self, f"ended with exit code {code}"))
        return code == 0 and time.monotonic() - self._began > _START_AGAIN_S


def _spawn(log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "foldnote", "serve", "--embedded"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # what it prints when it is ready holds its key; that is in no log
        stderr=log,
        env=settings.process_environment(),
        cwd=settings.data_dir(),
        start_new_session=True,
    )


def _explain(launch: Launch | None, what: str) -> str:
    log_path = launch.log_path if launch else settings.data_dir() / "service.log"
    tail = "\n".join(_last_lines(log_path, launch.log_begin if launch else 0)) or "(the log is empty)"
    return (
        f"The embedded service {what}. Its log is {log_path}; run `foldnote doctor` to find out more.\n{tail}"
    )


def _last_lines(path: Path, begin: int) -> list[str]:
    try:
        with path.open("rb") as log:
            log.seek(begin)
            return log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()[-8:]
    except OSError:
        return []
