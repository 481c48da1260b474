"""The parent's side of the starter: start it, send it attempts, and receive their ends.

A dead starter is replaced at the next attempt. No state of this module has to survive a restart: it is in the
attempt's folder and lock.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.runner.orders import send_order
from foldnote.service.runner.starter import STARTED, TIED

_COMMAND = (sys.executable, "-P", "-m", "foldnote.service.runner.starter")
_ANSWER_S = 20.0
_CHUNK_BYTES = 65_536


class StarterDiedError(EngineError):
    """The starter died without saying whether the runner began; the attempt's lock and files show it."""


class StarterLink:
    """A connection to at most one starter process.

    Args:
        environment: environment of the starter, and so of the runners.
        on_ended: called with the folder of each attempt that ended, in a separate thread.
        is_tied: whether the starter kills its attempts when this end of the connection is closed.
    """

    def __init__(
        self, environment: Mapping[str, str], on_ended: Callable[[Path], None], *, is_tied: bool = False
    ) -> None:
        self._environment = dict(environment)
        self._command = (*_COMMAND, TIED) if is_tied else _COMMAND
        self._on_ended = on_ended
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def open(self) -> None:
        """Start the starter, so that the first attempt need not wait for it.

        Raises:
            OSError: it cannot be started.
        """
        with self._lock:
            self._find_running()

    def start(self, folder: Path, worker_key: str, lock: int, *, at_once: int = 0) -> None:
        """Start the runner of the attempt whose lock the descriptor `lock` holds.

        A runner whose worker has the key ``worker_key`` is preferred; the key is empty if no worker may run
        the attempt. If ``at_once`` is not 0, the attempt waits while this many of these runners are busy, and
        no answer is awaited: if it cannot begin, its end is reported.

        Raises:
            StarterDiedError: it is unknown whether the runner began.
            EngineError: it cannot begin.
            OSError: no starter can be started.
        """
        with self._lock:
            running = self._find_running()
            if at_once:
                running.send(folder, worker_key, lock, at_once=at_once)
                return
            reply = running.request(folder, worker_key, lock)
        state, _, rest = reply.partition(" ")
        if state != STARTED:
            raise EngineError(f"No runner could be started: {rest}.")

    def close(self) -> None:
        """Let the starter end with its last attempt; idle runners end now."""
        with self._lock:
            if self._running is not None:
                self._running.end()
                self._running = None

    def _find_running(self) -> _Running:
        if self._running is None or self._running.has_ended:
            self._running = _Running(self._command, self._environment, self._on_ended)
        return self._running


class _Running:
    """A starter process and the thread that reads its messages."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], on_ended: Callable[[Path], None]
    ) -> None:
        self.has_ended = False
        self._on_ended = on_ended
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._socket, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=other.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        threading.Thread(target=self._listen, name="starter", daemon=True).start()

    def send(self, folder: Path, worker_key: str, lock: int, *, at_once: int = 0) -> None:
        """Send an attempt.

        Raises:
            StarterDiedError: the starter did not receive it.
        """
        try:
            send_order(self._socket, folder, worker_key, lock, at_once=at_once)
        except OSError as exc:
            self._kill()
            raise StarterDiedError from exc

    def request(self, folder: Path, worker_key: str, lock: int) -> str:
        """Send an attempt and return the answer.

        Raises:
            StarterDiedError: there is none.
        """
        self.send(folder, worker_key, lock)
        try:
            reply = self._answers.get(timeout=_ANSWER_S)
        except queue.Empty as exc:
            self._kill()
            raise StarterDiedError from exc
        if reply is None:
            raise StarterDiedError
        return reply

    def end(self) -> None:
        """Close the connection."""
        self.has_ended = True
        with contextlib.suppress(OSError):  # the starter closed it first
            self._socket.shutdown(socket.SHUT_RDWR)

    def _kill(self) -> None:
        """End a starter that hangs, and wait for it, which releases a lock that it had not yet received."""
        self._process.kill()
        self._process.wait()
        self.end()

    def _listen(self) -> None:
        for sentence in self._sentences():
            state, _, rest = sentence.partition(" ")
            if state == "ended":
                self._on_ended(Path(rest))
            else:
                self._answers.put(sentence)
        self.has_ended = True
        self._answers.put(None)
        self._socket.close()
        self._process.wait()  # it ends with the last of its runners

    def _sentences(self) -> Iterator[str]:
        rest = b""
        while chunk := self._receive():
            *whole, rest = (rest + chunk).split(b"\0")
            yield from map(os.fsdecode, whole)

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(_CHUNK_BYTES)
        except OSError:
            return b""
