"""Finding this user's embedded service, and starting it when it does not run.

There is one for each user. It is started as a process of its own, so that it outlives the kernel, Jupyter
server or command that needed it first; where it answers stands in its runtime file. This module starts a
command and reads that file: it imports nothing of the service.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import IO
from urllib.request import ProxyHandler, build_opener

from foldnote import settings
from foldnote.errors import EmbeddedServiceError
from foldnote.models import RuntimeInfo, read_runtime

_LOOK_EVERY_S = 0.05
_HEALTH_TIMEOUT_S = 2.0


def ensure_service() -> RuntimeInfo:
    """Where the embedded service answers; it is started if it does not run.

    Many processes may call this at once: each may start a service, and all but one of those end by
    themselves because the service holds a lock.

    Raises:
        EmbeddedServiceError: it did not start in time; the message holds the end of its log.
    """
    running = find_service()
    return running if running is not None else start_service()


def find_service() -> RuntimeInfo | None:
    """The running service, if one answers."""
    info = read_runtime(settings.runtime_dir())
    return info if info is not None and is_healthy(info) else None


def is_healthy(info: RuntimeInfo) -> bool:
    """Whether the service that ``info`` describes answers, and is the one described."""
    try:
        direct = build_opener(ProxyHandler({}))  # a proxy knows nothing of this machine's loopback interface
        with direct.open(f"{info.url}/healthz", timeout=_HEALTH_TIMEOUT_S) as answer:
            return bool(json.load(answer).get("status") == "ok")
    except (OSError, ValueError, AttributeError):
        return False


def start_service() -> RuntimeInfo:
    """Start the service, and wait until one answers.

    Raises:
        EmbeddedServiceError: it did not start in time.
    """
    log_path = settings.data_dir() / "service.log"
    limit_s: float = settings.option("service_start_timeout_s")
    deadline = time.monotonic() + limit_s
    with log_path.open("ab") as log:
        began = log.tell()
        process = _spawn(log)
    while time.monotonic() < deadline:
        running = find_service()
        if running is not None:
            return running
        if process.poll() not in (None, 0):  # 0: another service holds the lock and is starting
            raise EmbeddedServiceError(
                _explain(log_path, began, f"ended with exit code {process.returncode}")
            )
        time.sleep(_LOOK_EVERY_S)
    raise EmbeddedServiceError(_explain(log_path, began, f"did not answer within {limit_s:g} s"))


def _spawn(log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "foldnote", "serve", "--embedded"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=settings.process_environment(),
        cwd=settings.data_dir(),
        start_new_session=True,
    )


def _explain(log_path: Path, began: int, what: str) -> str:
    try:
        with log_path.open("rb") as log:
            log.seek(began)
            lines = log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()[-8:]
    except OSError:
        lines = []
    tail = "\n".join(lines) or "(the log is empty)"
    return (
        f"The embedded service {what}. Its log is {log_path}; run `foldnote doctor` to find out more.\n{tail}"
    )
