"""The starter: a small process that has the runner's modules loaded and forks the runners.

A fresh interpreter takes tens of milliseconds, a fork a few, a runner that is there none. Whoever started
the starter holds the other end of a socket and sends for each attempt its folder and the descriptor that
holds its lock; the starter hands both to a runner that is free, or forks one, says `started PID`, and
`ended FOLDER` as soon as the attempt is over. When a runner dies, the starter ends what is left of its
engine. When the other end closes, runners that have nothing to do end at once, the others with their attempt,
and the starter with the last of them. Each runner is in a session of its own and lives on when the starter
dies.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Never

from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.runner import EXIT_UNPUBLISHED, receive_order, serve, wait_for_lock

RUNNER_NAME = b"foldnote-runner"
STARTER_NAME = b"foldnote-start"
RESTS_S = 60.0
"""A runner that has had nothing to do for so long is let go."""
MOST_ATTEMPTS = 1000
"""A runner is replaced after so many, so that nothing can pile up in it."""
_CHUNK_BYTES = 65_536


@dataclass
class Runner:
    """A runner and the starter's end of its socket; `folder` is its attempt's, None while it has none."""

    pid: int
    orders: socket.socket
    folder: str | None = None
    attempts: int = 0
    rests_since: float = 0.0

    @property
    def is_free(self) -> bool:
        """Whether it waits for an attempt and was not dismissed."""
        return self.folder is None and self.orders.fileno() >= 0


class Starter:
    """Serves the socket `requests` until its other end is closed and the last runner has ended."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._is_hung_up = False
        self._runners: dict[int, Runner] = {}
        self._selector = selectors.DefaultSelector()
        self._waker = processes.SignalWaker()

    def serve(self) -> None:
        """Hand attempts to runners, and tell of each that ended."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._selector.register(self._requests, selectors.EVENT_READ)
        self._selector.register(self._waker.receiver, selectors.EVENT_READ)
        processes.name_process(STARTER_NAME)
        processes.adopt_orphans()  # of runners that die: an engine may end its runner and hide from it
        tempfile.gettempdir()  # found out once, not by each runner
        gc.collect()
        gc.freeze()  # a collection in a runner would copy every page that it shares with the starter
        while self._runners or not self._is_hung_up:
            for key, _ in self._selector.select(self._grace_s()):
                if key.fileobj is self._requests:
                    self._answer()
                elif key.fileobj is self._waker.receiver:
                    self._waker.receiver.recv(_CHUNK_BYTES)
                    self._reap()
                else:
                    self._hear(key.data)
            self._let_go()

    def _answer(self) -> None:
        order = receive_order(self._requests)
        if order is None:
            self._is_hung_up = True
            self._selector.unregister(self._requests)
            return
        folder, lock = order
        try:
            self._tell(f"started {self._order(folder, lock).pid}")
        except OSError as exc:
            self._tell(f"refused {exc.strerror}")
        finally:
            os.close(lock)

    def _order(self, folder: Path, lock: int) -> Runner:
        """Give the attempt to a runner that is free: the one that was busy last, or a new one."""
        free = sorted((each for each in self._runners.values() if each.is_free), key=_rest)
        while True:
            runner = free.pop() if free else self._fork(lock)
            try:
                socket.send_fds(runner.orders, [os.fsencode(folder)], [lock])
            except OSError:
                if runner.attempts == 0:
                    raise
                continue  # it has just died
            runner.folder, runner.attempts = os.fspath(folder), runner.attempts + 1
            return runner

    def _fork(self, lock: int) -> Runner:
        """A new runner, which must not keep the lock that is about to be sent to it."""
        mine, theirs = socket.socketpair()
        try:
            pid = os.fork()
        except OSError:
            mine.close()
            theirs.close()
            raise
        if pid == 0:
            mine.close()
            os.close(lock)
            self._become_runner(theirs)
        theirs.close()
        runner = self._runners[pid] = Runner(pid, mine)
        self._selector.register(mine, selectors.EVENT_READ, runner)
        return runner

    def _hear(self, runner: Runner) -> None:
        """A runner is free, or gone; who is gone is told of when it is reaped."""
        try:
            word = runner.orders.recv(_CHUNK_BYTES)
        except OSError:
            word = b""
        if not word:
            self._dismiss(runner)
            return
        folder, runner.folder = runner.folder, None
        runner.rests_since = time.monotonic()
        self._tell(f"ended {folder}")

    def _let_go(self) -> None:
        """Dismiss those that are not needed any more."""
        moment = time.monotonic()
        for runner in self._runners.values():
            is_old = runner.attempts >= MOST_ATTEMPTS or moment - runner.rests_since >= RESTS_S
            if runner.is_free and (is_old or self._is_hung_up):
                self._dismiss(runner)

    def _grace_s(self) -> float | None:
        since = [each.rests_since for each in self._runners.values() if each.is_free]
        return max(0.0, min(since) + RESTS_S - time.monotonic()) if since else None

    def _dismiss(self, runner: Runner) -> None:
        if runner.orders.fileno() >= 0:
            self._selector.unregister(runner.orders)
            runner.orders.close()

    def _reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid not in self._runners:  # one that a runner left behind when it died
                continue
            runner = self._runners.pop(pid)
            self._dismiss(runner)
            processes.kill_all(lambda: processes.find_descendants(os.getpid(), self._runners))
            if runner.folder is not None:
                clear_away(Path(runner.folder))
                self._tell(f"ended {runner.folder}")

    def _tell(self, sentence: str) -> None:
        try:
            self._requests.sendall(os.fsencode(sentence) + b"\0")
        except OSError:
            return  # nobody listens; the next look at the socket says so

    def _become_runner(self, orders: socket.socket) -> Never:
        """In the child: let go of all that is the starter's, serve, and end."""
        code = EXIT_UNPUBLISHED
        try:
            self._waker.close()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            self._selector.close()
            others = [each.orders for each in self._runners.values()]
            for end in (self._requests, *others):
                end.close()
            os.setsid()
            processes.name_process(RUNNER_NAME)
            code = serve(orders)
        except BaseException:  # noqa: BLE001  the edge of a process: it must end here, not go on as a starter
            traceback.print_exc()
        finally:
            os._exit(code)


def _rest(runner: Runner) -> float:
    return runner.rests_since


def clear_away(folder: Path) -> None:
    """End what a runner that died has left of an attempt; who holds the attempt now does it instead."""
    if (folder / files.OUTCOME).exists():
        return
    try:
        nonce = files.read_spec(folder).nonce
        lock = wait_for_lock(folder)  # free when a copy of the runner has become the engine
    except (OSError, ValueError):  # deleted meanwhile
        return
    if lock is not None:
        processes.end_attempt(nonce)
        os.close(lock)


def main() -> None:
    """Serve the socket that is standard input."""
    requests = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    Starter(requests).serve()


if __name__ == "__main__":
    main()
