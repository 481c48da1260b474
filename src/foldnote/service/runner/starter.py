"""The starter: a small process with the runner's modules loaded, which forks runners.

A new interpreter takes tens of milliseconds to start, a fork a few, an idle runner none. The service holds
the other end of a socket. For each attempt, it sends the folder, the key of the worker that may run it, and
the descriptor of its lock. The starter passes them to an idle runner or a new one, answers ``started PID``,
and sends ``ended FOLDER`` when the attempt is over.

An order may state a number of runners with its worker. Such an order is not answered. While that many runners
are busy it is held; it is passed to the first that becomes free, or queued for a busy one, which gives it
back if its attempt takes long. After ``MAX_WAIT_S`` it is dropped unstarted and reported as ended.

If a runner dies, the starter ends the remaining processes of its engine, and reassigns the order queued for
it. When the other end is closed, idle runners end at once, busy ones after their attempt and those that are
held, and the starter after the last of them. Each runner has its own session and survives the starter. A tied
starter kills its busy runners instead, since on a node nothing would adopt them.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Never

from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.orders import GIVEN_BACK, RunnerOrder, receive_order, send_order
from foldnote.service.runner.runner import EXIT_UNPUBLISHED, serve, wait_for_lock

TIED = "--tied"
"""Argument of a starter whose runners are killed when its other end is closed."""
STARTED = "started"
"""Answer to an order that a runner has begun."""
RUNNER_NAME = b"foldnote-runner"
STARTER_NAME = b"foldnote-start"
IDLE_LIMIT_S = 60.0
"""Seconds after which an idle runner is dismissed."""
MAX_LOADED = 4
"""Idle runners with workers above which one of them, not a new runner, loads another engine."""
MIN_FREE_MEMORY = 0.2
"""Fraction of the machine's memory; if less is free, no worker is kept."""
MAX_WAIT_S = 2.0
"""Maximum time that an attempt waits for a busy runner, in seconds."""
MAX_ATTEMPTS = 1000
"""Attempts after which a runner is replaced, to bound any leak."""
_CHUNK_BYTES = 65_536


@dataclass
class Runner:
    """A runner and the starter's end of its socket; ``folder`` is its attempt's, None while idle."""

    pid: int
    orders: socket.socket
    folder: str | None = None
    worker_key: str = ""
    """The key of its worker; empty without one."""
    attempts: int = 0
    idle_since: float = 0.0
    ready: tuple[RunnerOrder, float] | None = None
    """The order queued for it, or begun by it before the last one was published; with the end of its waiting
    time."""
    lock: int | None = None
    """The starter's own descriptor of the attempt's lock, if the order was queued."""
    is_slow: bool = False
    """Whether it gave an order back during this attempt."""

    @property
    def is_free(self) -> bool:
        """Whether it is idle and not dismissed."""
        return self.folder is None and self.orders.fileno() >= 0


class Starter:
    """Serves the socket ``requests`` until its other end is closed and the last runner has ended.

    Args:
        requests: a socket.
        is_tied: whether busy runners are killed when the other end is closed.
    """

    def __init__(self, requests: socket.socket, *, is_tied: bool = False) -> None:
        self._requests = requests
        self._is_tied = is_tied
        self._is_closed = False
        self._runners: dict[int, Runner] = {}
        self._waiting: deque[tuple[RunnerOrder, float]] = deque()
        """Orders that wait for a busy runner, each with the end of its waiting time, oldest first."""
        self._selector = selectors.DefaultSelector()
        self._waker = processes.SignalWaker()

    def serve(self) -> None:
        """Pass attempts to runners, and report those that end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._selector.register(self._requests, selectors.EVENT_READ)
        self._selector.register(self._waker.receiver, selectors.EVENT_READ)
        processes.name_process(STARTER_NAME)
        processes.adopt_orphans()  # those of dead runners, since an engine may kill its runner
        tempfile.gettempdir()  # cached once for all runners
        gc.collect()
        gc.freeze()  # a collection in a runner would copy every page shared with the starter
        while self._runners or not self._is_closed:
            for key, _ in self._selector.select(self._pause_s()):
                if key.fileobj is self._requests:
                    self._receive_order()
                elif key.fileobj is self._waker.receiver:
                    self._waker.receiver.recv(_CHUNK_BYTES)
                    self._reap()
                else:
                    self._receive_report(key.data)
            self._dismiss_unneeded()

    def _receive_order(self) -> None:
        order = receive_order(self._requests)
        if order is None:
            self._is_closed = True
            self._selector.unregister(self._requests)
            if self._is_tied:
                self._drop_expired(math.inf)
                processes.send(self._runners, signal.SIGKILL)  # their remains are ended when they are reaped
            return
        if self._must_wait(order):
            self._waiting.append((order, time.monotonic() + MAX_WAIT_S))
            self._queue_waiting()
            return
        try:
            reply = f"{STARTED} {self._assign(order).pid}"
        except OSError as exc:
            reply = f"ended {order.folder}" if order.at_once else f"refused {exc.strerror}"
        finally:
            os.close(order.lock)
        if not order.at_once or not reply.startswith(STARTED):
            self._notify(reply)

    def _must_wait(self, order: RunnerOrder) -> bool:
        """Return whether the maximum number of runners with this worker is busy."""
        fitting = (runner for runner in self._runners.values() if runner.worker_key == order.worker_key)
        return 0 < order.at_once <= sum(runner.folder is not None for runner in fitting)

    def _start_waiting(self) -> None:
        """Start the oldest order that need not wait any more."""
        for index, (order, _) in enumerate(self._waiting):
            if not self._must_wait(order):
                del self._waiting[index]
                try:
                    self._assign(order)
                except OSError:  # treated as a timeout: the service tries again
                    self._notify(f"ended {order.folder}")
                finally:
                    os.close(order.lock)
                break
        self._queue_waiting()

    def _queue_waiting(self) -> None:
        """Queue held orders, the oldest first, for busy runners with their workers; one for each."""
        for runner in self._runners.values():
            if runner.folder is None or not runner.worker_key or runner.ready or runner.is_slow:
                continue
            if runner.orders.fileno() < 0 or runner.attempts >= MAX_ATTEMPTS:
                continue
            suitable = (entry for entry in self._waiting if entry[0].worker_key == runner.worker_key)
            next_entry = next(suitable, None)
            if next_entry is not None:
                order = next_entry[0]
                with contextlib.suppress(OSError):  # it has just died
                    send_order(runner.orders, order.folder, order.worker_key, order.lock)
                    self._waiting.remove(next_entry)
                    runner.ready = next_entry
                    runner.attempts += 1

    def _drop_expired(self, moment: float) -> None:
        """Drop the orders whose waiting time has ended."""
        while self._waiting and self._waiting[0][1] <= moment:
            order, _ = self._waiting.popleft()
            os.close(order.lock)
            self._notify(f"ended {order.folder}")

    def _assign(self, order: RunnerOrder) -> Runner:
        """Send the attempt to a suitable idle runner, or to a new one."""
        suitable = self._find_suitable(order.worker_key)
        while True:
            runner = suitable.pop() if suitable else self._fork(order.lock)
            try:
                send_order(runner.orders, order.folder, order.worker_key, order.lock)
            except OSError:
                if runner.attempts == 0:
                    raise
                continue  # it has just died
            runner.folder, runner.worker_key = os.fspath(order.folder), order.worker_key
            runner.attempts += 1
            return runner

    def _find_suitable(self, worker_key: str) -> list[Runner]:
        """Return idle runners for an attempt, the best last: those with its worker, else those without any.

        A runner with another worker is used only if there are enough of them, and then the one that has been
        idle for longest.
        """
        young = (runner for runner in self._runners.values() if runner.attempts < MAX_ATTEMPTS)
        free = sorted((runner for runner in young if runner.is_free), key=_idle_since)
        loaded = [runner for runner in free if runner.worker_key]
        fitting = [runner for runner in loaded if runner.worker_key == worker_key]
        others = [runner for runner in loaded if runner not in fitting] if len(loaded) >= MAX_LOADED else []
        return [*others[:1], *(runner for runner in free if not runner.worker_key), *fitting]

    def _fork(self, lock: int) -> Runner:
        """Fork a runner, which must not inherit the lock that is about to be sent to it."""
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

    def _receive_report(self, runner: Runner) -> None:
        """Handle an ended attempt, a returned order, or a runner's death, which is reported when reaped."""
        try:
            flags = runner.orders.recv(_CHUNK_BYTES)
        except OSError:
            flags = b""
        if not flags:
            self._dismiss(runner)
            return
        for flag in flags:
            if flag == GIVEN_BACK[0]:
                self._return_to_waiting(runner)
                self._start_waiting()
                continue
            folder = runner.folder
            self._finish(runner)
            self._start_waiting()
            self._notify(f"ended {folder}")

    @staticmethod
    def _finish(runner: Runner) -> None:
        """Note that a runner's oldest attempt has ended; its queued order has begun or is about to."""
        if runner.lock is not None:
            os.close(runner.lock)
        ready, runner.ready = runner.ready, None
        runner.folder, runner.lock = (os.fspath(ready[0].folder), ready[0].lock) if ready else (None, None)
        runner.is_slow = False
        runner.idle_since = time.monotonic()

    def _return_to_waiting(self, runner: Runner) -> None:
        """Hold the queued order again."""
        if runner.ready is not None:
            self._waiting.appendleft(runner.ready)
            runner.ready, runner.is_slow = None, True
            runner.attempts -= 1

    def _dismiss_unneeded(self) -> None:
        """Dismiss runners that are no longer needed, and those with workers while memory is short."""
        moment = time.monotonic()
        self._drop_expired(moment)
        for runner in self._runners.values():
            is_old = runner.attempts >= MAX_ATTEMPTS or moment - runner.idle_since >= IDLE_LIMIT_S
            if runner.is_free and (is_old or self._is_closed):
                self._dismiss(runner)
        loaded = [idle for idle in self._runners.values() if idle.is_free and idle.worker_key]
        if loaded and processes.measure_free_memory() < MIN_FREE_MEMORY:
            for runner in loaded:
                self._dismiss(runner)

    def _pause_s(self) -> float | None:
        ends = [runner.idle_since + IDLE_LIMIT_S for runner in self._runners.values() if runner.is_free]
        ends += [until for _, until in [*self._waiting][:1]]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

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
            if pid not in self._runners:  # an orphan of a runner that died
                continue
            runner = self._runners.pop(pid)
            self._dismiss(runner)
            processes.kill_all(lambda: processes.find_descendants(os.getpid(), self._runners))
            self._clean_up_after(runner)

    def _clean_up_after(self, runner: Runner) -> None:
        """Report the attempts that a dead runner had begun; hold its queued order again."""
        if runner.folder is None:
            return
        is_over = self._is_tied and self._is_closed
        if runner.ready is not None and not is_over and not files.is_spent(runner.ready[0].folder):
            self._return_to_waiting(runner)
        while runner.folder is not None:
            folder = runner.folder
            self._finish(runner)
            clean_up_after_runner(Path(folder))
            self._notify(f"ended {folder}")
        self._start_waiting()

    def _notify(self, sentence: str) -> None:
        try:
            self._requests.sendall(os.fsencode(sentence) + b"\0")
        except OSError:
            return  # the other end is closed, as the next read shows

    def _become_runner(self, orders: socket.socket) -> Never:
        """In the child: release everything that belongs to the starter, serve, and exit."""
        code = EXIT_UNPUBLISHED
        try:
            self._waker.close()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            self._selector.close()
            sockets = [other.orders for other in self._runners.values()]
            for end in (self._requests, *sockets):
                end.close()
            ready = (other.ready for other in self._runners.values() if other.ready is not None)
            for order, _ in (*self._waiting, *ready):
                os.close(order.lock)
            for other in self._runners.values():
                if other.lock is not None:
                    os.close(other.lock)
            os.setsid()
            processes.name_process(RUNNER_NAME)
            code = serve(orders)
        except BaseException:  # noqa: BLE001  the child must exit here, not continue as a starter
            traceback.print_exc()
        finally:
            os._exit(code)


def _idle_since(runner: Runner) -> float:
    return runner.idle_since


def clean_up_after_runner(folder: Path) -> None:
    """End the processes of a dead runner, unless another process now holds its attempt and does so."""
    if (folder / files.OUTCOME).exists():
        return
    try:
        nonce = files.read_spec(folder).nonce
        lock = wait_for_lock(folder)  # released once the runner's fork has become the engine
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
    Starter(requests, is_tied=TIED in sys.argv).serve()


if __name__ == "__main__":
    main()
