"""A service in this process, with its HTTP server in a thread, whose jobs run through an executor of other machines."""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from chosen_store import store_place
from free_ports import free_port
from service_process import SETTINGS
from thread_executor import node_environment, offer

from foldnote.service.composition import Service
from foldnote.service.config import DispatcherTiming, ServiceConfig
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.http.app import create_app
from foldnote.service.queue.executors import AttemptIdentity, AttemptOrder, Capacity
from foldnote.service.queue.executors.table import Executors, ExecutorTable
from foldnote.service.queue.launching import Launcher, make_identity


class NodeService:
    """A service without a dispatcher unless `pace` is given: the test claims jobs and hands them to the executor."""

    def __init__(
        self,
        folder: Path,
        engines: Path,
        lease_s: float = 30.0,
        executor: dict | None = None,
        objects: BucketAddress | None = None,
        pace: DispatcherTiming | None = None,
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        environment = node_environment(folder, engines)
        self.config = ServiceConfig(
            data_dir=folder / "data",
            port=self.port,
            rate_limit=False,
            has_dispatcher=pace is not None,
            pace=pace or DispatcherTiming(),
            engine_paths=(engines,),
            store=store_place(folder / "data"),
            objects=objects,
            executors={
                "default": "nodes",
                "service_url": self.url,
                "lease_s": lease_s,
                "heartbeat_s": 0.2,
                "nodes": executor or {"kind": "threads", "environment": environment},
            },
        )
        self.service = Service(self.config)
        self.attempts = self.service.node_attempts
        self.root = self.config.data_dir / "jobs"
        self.client = httpx.Client(base_url=self.url, timeout=120)
        self.key = self.service.local_key

    @property
    def executor(self):
        return self.service.dispatcher._executors.find("nodes")  # noqa: SLF001  set by the service itself

    @contextmanager
    def serving(self) -> Iterator["NodeService"]:
        app = create_app(self.config, self.service)
        # by default it closes an idle connection after 5 s, in the moment in which httpx may still use it
        config = uvicorn.Config(app, port=self.port, log_config=None, lifespan="on", timeout_keep_alive=75)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield self
        finally:
            self.client.close()
            server.should_exit = True
            thread.join(20)

    def open_executor(self) -> None:
        """Open the executor, which is the dispatcher's part in a complete service."""
        self.executor.open(lambda nonce: None)
        while not self.executor.capacity():
            time.sleep(0.02)

    def prepare(self, name: str, machine: str = "here", **more) -> tuple[AttemptOrder, AttemptIdentity]:
        """Submit a job, claim it, and write the order of its attempt."""
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS} | more
        answer = self.client.post("/submit-job", json=body, headers={"x-api-key": self.key})
        assert answer.status_code == 200, answer.text
        store = self.service.store
        waiting = next(each for each in store.queue.waiting())
        # by which processes are found on the whole machine
        claim = store.queue.claim(waiting, uuid.uuid4().hex)
        executors = Executors({"local": self.executor, "nodes": self.executor}, ExecutorTable("nodes"))
        launcher = Launcher(self.root, self.service.objects, self.service.toolbox, executors, 1 << 30)
        order = launcher.prepare(claim, Capacity(1, 64, machine=machine), is_remote=True)
        return order, make_identity(claim)

    def place_on_node(self, identity: AttemptIdentity) -> Path:
        """Return the folder in which the node keeps the attempt's files."""
        name = f"{identity.job_id}-{identity.number}-{identity.nonce}"
        found = list((self.folder / "node").glob(f"agent-*/{name}"))
        return found[0] if found else self.folder / "node" / "absent" / name


def offer_thread_executor(monkeypatch, folder: Path) -> None:
    monkeypatch.syspath_prepend(str(offer(folder / "packages")))
