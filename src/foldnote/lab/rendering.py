"""Render results and files in separate renderer processes, two at a time, each with a timeout.

Starting a renderer takes about a second, mostly for imports. An idle renderer therefore waits a minute for
the next result. At most two are kept idle, and one whose environment is out of date is not used.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from foldnote import settings
from foldnote.errors import ResultError

LIMIT_S = 120.0
IDLE_LIMIT_S = 60.0
"""Seconds that an idle renderer waits for the next result."""
_MAX_IDLE = 2
_AT_ONCE = asyncio.Semaphore(_MAX_IDLE)


async def lay_out(
    kind: str, path: Path, title: str, colors: str = "", *, service: str = "", label: str = ""
) -> bytes:
    """Return a ``ResultResponse`` as JSON; ``kind`` is ``result``, ``row`` or ``file``.

    ``colors`` is the initial colour scheme of structures; empty for the one in this computer's options.
    ``service`` is the address of the service of a result that is the user's own, ``label`` its label there.

    Raises:
        ResultError: the file cannot be read, or reading it takes too long.
    """
    request = [kind, str(path), title, *([service, label] if kind == "result" else [])]
    environment = settings.process_environment(view_colors=colors)
    async with _AT_ONCE:
        try:
            async with asyncio.timeout(LIMIT_S):
                status, output = await _request(request, environment)
        except TimeoutError as exc:
            sentence = f"Reading {title} takes longer than {LIMIT_S:.0f} s. Open it in a cell."
            raise ResultError(sentence) from exc
    if status:
        raise ResultError(output.decode(errors="replace").strip() or f"{title} cannot be read.")
    return output


async def _request(request: Sequence[str], environment: Mapping[str, str]) -> tuple[int, bytes]:
    """Send a request to a renderer; if it had exited while idle, use another one."""
    renderer = _POOL.acquire(environment)
    try:
        response = await asyncio.to_thread(renderer.request, request)
        if response is not None or not renderer.was_idle:
            return response or (1, renderer.error_text)
    finally:
        _POOL.release(renderer)
    return await _request(request, environment)


class _Renderer:
    """A process that renders one result after another."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.was_idle = False
        self._is_idle = True
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "foldnote.lab.renderer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=dict(environment),
        )

    @property
    def is_reusable(self) -> bool:
        """Whether it has completed its request and accepts another one."""
        return self._is_idle and self._process.poll() is None

    @property
    def error_text(self) -> bytes:
        """The last line on its standard error; empty if there is none."""
        self._stderr.seek(0)
        lines = self._stderr.read().strip().splitlines()
        return lines[-1] if lines else b""

    def request(self, request: Sequence[str]) -> tuple[int, bytes] | None:
        """Return the status and the body of its response; None if it exited without a response."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._is_idle = False
        with suppress(OSError, ValueError):  # it may have exited, and its streams may be closed
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            status, is_reusable, length = map(int, self._process.stdout.readline().split())
            output = self._process.stdout.read(length)
            if len(output) == length:
                self._is_idle = bool(is_reusable)
                return status, output
        return None

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                with suppress(OSError):  # discards unwritten data
                    stream.close()


class _RendererPool:
    """Pool of idle renderers, in the order in which they became idle."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._renderers: dict[_Renderer, threading.Timer] = {}

    def acquire(self, environment: Mapping[str, str]) -> _Renderer:
        """Return an idle renderer with this environment, or a new one."""
        with self._lock:
            idle = [
                renderer
                for renderer in self._renderers
                if renderer.environment == environment and renderer.is_reusable
            ]
            if not idle:
                return _Renderer(environment)
            self._renderers.pop(idle[-1]).cancel()
            idle[-1].was_idle = True
            return idle[-1]

    def release(self, renderer: _Renderer) -> None:
        """Keep a renderer for a minute or until two newer ones are idle; kill it if it is not idle."""
        if not renderer.is_reusable:
            renderer.end()
            return
        timer = threading.Timer(IDLE_LIMIT_S, self._dismiss, [renderer])
        timer.daemon = True
        with self._lock:
            self._renderers[renderer] = timer
            surplus = list(self._renderers)[:-_MAX_IDLE]
        timer.start()
        for unneeded in surplus:
            self._dismiss(unneeded)

    def dismiss_all(self) -> None:
        """Kill all idle renderers."""
        for renderer in list(self._renderers):
            self._dismiss(renderer)

    def _dismiss(self, renderer: _Renderer) -> None:
        with self._lock:
            timer = self._renderers.pop(renderer, None)
        if timer is not None:  # it is still idle
            timer.cancel()
            renderer.end()


_POOL = _RendererPool()
atexit.register(_POOL.dismiss_all)
