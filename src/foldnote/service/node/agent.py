"""The agent of a node: a process that runs attempts and reports to the service.

Its parent, such as a worker of Dask, writes one JSON line per attempt to the agent's standard input, and
reads one from its standard output when the attempt is over. When the input ends, because the parent has died
or ended, the agent kills its engines, reports their attempts as lost and exits. If the agent itself dies, its
starter kills the engines, and a runner without a starter ends at the end of its lease.
"""

from __future__ import annotations

import contextlib
import glob
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import IO

from foldnote import settings
from foldnote.ownership import make_own
from foldnote.service.node.agent_resources import DaemonThreads, EngineCache, GpuPool
from foldnote.service.node.attempt_run import AgentResources, NodeAttempt, NodeWork
from foldnote.service.node.service_link import NodeConnection
from foldnote.service.runner.local_runners import LocalRunners
from foldnote.service.runner.locking import is_locked, take_lock

_DRAFT = "new-"
_ENDING_PATTERN = 8 * "[!-]"
"""Pattern of the names that ``mkdtemp`` makes; it keeps folders of a machine ``node1-gpu`` apart from
``node1``."""
_JOIN_S = 30.0


class Agent:
    """Runs the attempts that it receives, each in a separate thread.

    Args:
        home: folder of their files.
        replies: receives one line for each attempt that is over.
    """

    def __init__(self, home: Path, replies: IO[str]) -> None:
        environment = settings.process_environment()
        runners = LocalRunners(environment, is_tied=True)
        runners.open(self._notify_runner_ended)
        self._resources = AgentResources(
            home, runners, EngineCache(), GpuPool(environment), DaemonThreads("heartbeat")
        )
        self._replies = replies
        self._lock = threading.Lock()
        self._active: dict[Path, NodeAttempt] = {}
        self._threads: list[threading.Thread] = []
        self._is_stopping = False

    def accept(self, line: str) -> None:
        """Start the attempt of one line from the parent."""
        work = NodeWork(**json.loads(line))
        attempt = NodeAttempt(work, self._resources, NodeConnection(work.url))
        thread = threading.Thread(target=self._run, args=(work, attempt), daemon=True)
        with self._lock:
            self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def stop(self) -> None:
        """Kill all engines and report their attempts."""
        with self._lock:
            self._is_stopping = True
            active, threads = list(self._active.values()), list(self._threads)
        for attempt in active:
            attempt.stop()
        deadline = time.monotonic() + _JOIN_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._resources.runners.close()

    def _run(self, work: NodeWork, attempt: NodeAttempt) -> None:
        """Run an attempt and those that follow it in the same slot of the parent."""
        next_attempt: NodeAttempt | None = attempt
        try:
            while next_attempt is not None:
                next_attempt = self._run_attempt(next_attempt)
        except Exception:  # outermost handler of an attempt: the others continue
            logging.getLogger(__name__).exception("The attempt of job %s failed.", work.job_id)
        finally:
            attempt.connection.close()
            with self._lock, contextlib.suppress(OSError, ValueError):  # the parent has died
                self._replies.write(json.dumps({"ended": work.nonce}) + "\n")
                self._replies.flush()

    def _run_attempt(self, attempt: NodeAttempt) -> NodeAttempt | None:
        with self._lock:
            self._active[attempt.folder] = attempt
            is_stopping = self._is_stopping
        try:
            if is_stopping:
                attempt.stop()
            return attempt.run()
        finally:
            with self._lock:
                self._active.pop(attempt.folder, None)

    def _notify_runner_ended(self, folder: Path) -> None:
        attempt = self._active.get(folder)
        if attempt is not None:
            attempt.notify_runner_ended()


def find_home() -> Path:
    """Create a folder for the attempts of this agent, and remove those of agents killed on this machine.

    It is below ``FOLDNOTE_NODE_DIR``, by default in the folder for temporary files. A lock in it, which ends
    with this process, shows that it is in use. Only folders of this machine are checked, since locks of a
    shared file system may not work across machines.
    """
    chosen = settings.option("node_dir")
    base = (
        Path(chosen).expanduser() if chosen else Path(tempfile.gettempdir(), f"foldnote-node-{os.getuid()}")
    )
    make_own(base, "Set FOLDNOTE_NODE_DIR to a folder of your own")
    prefix = f"agent-{os.uname().nodename}-"
    for left in base.glob(glob.escape(prefix) + _ENDING_PATTERN):
        if not is_locked(left):
            shutil.rmtree(left, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=base))
    take_lock(draft)
    return draft.rename(base / f"{prefix}{draft.name.removeprefix(_DRAFT)}")  # it appears already locked


def main() -> None:
    """Process the lines of standard input until it ends, or until a signal."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(message)s")
    home = find_home().resolve()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # no other output may come between the replies
    agent = Agent(home, replies)

    def end(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    with contextlib.suppress(KeyboardInterrupt):
        for line in sys.stdin:
            agent.accept(line)
    agent.stop()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
