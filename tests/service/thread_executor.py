"""An executor as another package could provide it: its one machine is this one, reached by a thread per attempt.

It uses the complete protocol of nodes between the service and the engine, without a cluster.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foldnote.service.node.agent_link import run_here
from foldnote.service.queue.executors.node_executor import NodeExecutor
from foldnote.service.queue.executors.nodes import NodeAttempts
from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder, Capacity


class ThreadExecutor(NodeExecutor):
    def __init__(
        self, attempts: NodeAttempts, url: str, environment: Mapping[str, str], losses: int = 0
    ) -> None:
        """Create the executor; its first `losses` orders reach no machine."""
        super().__init__(attempts)
        self._url = url
        self._environment = dict(environment)
        self._delivering: set[str] = set()
        self._losses = losses

    def submit(self, order: AttemptOrder) -> None:
        identity = order.identity
        if self._losses:
            self._losses -= 1
            return
        self._delivering.add(identity.nonce)
        threading.Thread(target=self._run, args=(identity,), daemon=True).start()

    def _run(self, identity: AttemptIdentity) -> None:
        work = {
            "url": self._url,
            "job_id": identity.job_id,
            "number": identity.number,
            "nonce": identity.nonce,
        }
        try:
            run_here(work, self._environment)
        finally:
            self._delivering.discard(identity.nonce)

    def holds(self, identity: AttemptIdentity) -> bool:
        return identity.nonce in self._delivering

    def capacity(self) -> tuple[Capacity, ...]:
        return (Capacity(4, 4000, machine="here"),)


def make_executor(name: str, options: Mapping[str, Any], attempts: NodeAttempts) -> ThreadExecutor:
    given = (options["service_url"], options.get("environment", {}), options.get("losses", 0))
    return ThreadExecutor(attempts, *given)


def offer(folder: Path) -> Path:
    """Write what pip would install for a package that offers the executor `threads`."""
    info = folder / "thread_executor-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thread-executor\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[foldnote.executors]\nthreads = thread_executor:make_executor\n")
    return folder


def node_environment(folder: Path, engines: Path) -> dict[str, str]:
    """Return the variables of an agent whose files are in `folder`."""
    names = {"FOLDNOTE_ENGINE_PATH": str(engines), "FOLDNOTE_NODE_DIR": str(folder / "node")}
    return {**names, "FOLDNOTE_HOME": os.environ.get("FOLDNOTE_HOME", str(folder / "home"))}
