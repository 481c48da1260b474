"""The starter: a small process that has the runner's modules loaded and forks a runner for each attempt.

A fresh interpreter takes tens of milliseconds, a fork takes one. Whoever started the starter holds the other
end of a socket and sends for each attempt its folder and the descriptor that holds its lock; the starter says
`started PID`, and `ended FOLDER` as soon as that runner is gone. When the other end closes, the starter ends.
Each runner is in a session of its own and lives on.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import tempfile
import traceback
from pathlib import Path

from foldnote.service.queue import processes
from foldnote.service.queue.runner import EXIT_UNPUBLISHED, run_held

RUNNER_LOG = "runner.log"
RUNNER_NAME = b"foldnote-runner"
STARTER_NAME = b"foldnote-start"
_CHUNK_BYTES = 65_536


class Starter:
    """Forks runners on request until the other end of `requests` is closed."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._running: dict[int, str] = {}
        self._ear, self._mouth = socket.socketpair()
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Fork a runner for each request, and tell of each that ended."""
        for end in (self._ear, self._mouth):
            end.setblocking(False)
        signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._selector.register(self._requests, selectors.EVENT_READ)
        self._selector.register(self._ear, selectors.EVENT_READ)
        processes.name_process(STARTER_NAME)
        tempfile.gettempdir()  # found out once, not by each runner
        gc.collect()
        gc.freeze()  # a collection in a runner would copy every page that it shares with the starter
        while True:
            ready = {key.fileobj for key, _ in self._selector.select()}
            if self._ear in ready:
                self._ear.recv(_CHUNK_BYTES)
                self._tell_ended()
            if self._requests in ready and not self._answer():
                return

    def _answer(self) -> bool:
        """Serve one request; False when nobody is left to ask."""
        message, descriptors, _, _ = socket.recv_fds(self._requests, _CHUNK_BYTES, 1)
        if not message:
            return False
        folder, lock = os.fsdecode(message), descriptors[0]
        try:
            pid = os.fork()
        except OSError as exc:
            self._tell(f"refused {exc.strerror}")
        else:
            if pid == 0:
                self._become_runner(Path(folder), lock)
            self._running[pid] = folder
            self._tell(f"started {pid}")
        os.close(lock)
        return True

    def _tell_ended(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._tell(f"ended {self._running.pop(pid)}")

    def _tell(self, sentence: str) -> None:
        try:
            self._requests.sendall(os.fsencode(sentence) + b"\0")
        except OSError:
            return  # nobody listens; the next look at the socket ends the starter

    def _become_runner(self, folder: Path, lock: int) -> None:
        """In the child: let go of all that is the starter's, run the attempt, and end."""
        code = EXIT_UNPUBLISHED
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._selector.close()
            for end in (self._requests, self._ear, self._mouth):
                end.close()
            os.setsid()
            os.chdir(folder)
            log = os.open(RUNNER_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            os.set_inheritable(lock, False)
            processes.name_process(RUNNER_NAME)
            code = run_held(folder)
        except BaseException:  # noqa: BLE001  the edge of a process: it must end here, not go on as a starter
            traceback.print_exc()
        finally:
            os._exit(code)


def main() -> None:
    """Serve the socket that is standard input."""
    requests = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    Starter(requests).serve()


if __name__ == "__main__":
    main()
