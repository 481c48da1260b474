"""A real service in its own process, to be sent requests, killed and restarted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
from chosen_store import store_environment
from forked_python import ForkedPython
from probe_engine import release, write_probe_engine

TOOLS = ("abodybuilder", "anarci", "af2bind", "align-pdbs", "abmpnn")
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
SETTINGS = {"sequence": SEQUENCE, "scheme": "imgt"}
PDB = "".join(
    f"ATOM  {i:5d}  CA  ALA A{i:4d}    {i:8.3f}{0:8.3f}{0:8.3f}  1.00 50.00           C  \n"
    for i in range(1, 6)
)
FINAL = ("Complete", "Stopped")


QUICK = """
import argparse, dataclasses, sys
from foldnote.service.config import DispatcherTiming
from foldnote.service.serve import add_arguments, config_of, main
parser = argparse.ArgumentParser()
add_arguments(parser)
options = parser.parse_args()
config = dataclasses.replace(config_of(options), pace=DispatcherTiming(retry_s=0.5, grace_s=2.0))
sys.exit(main(config, options.json))
"""
"""The command line of `foldnote serve` with short waits between attempts and before KILL."""


class ServiceProcess:
    """A data folder, and the service on it while it runs."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.arguments = arguments
        self.engines = folder / "engines"
        if not self.engines.exists():  # another replica has created them
            write_probe_engine(self.engines, tools=TOOLS, memory_mb=16)
        self.environment: dict[str, str] = {}
        self.code = QUICK
        self.prefix: tuple[str, ...] = ()
        """A program that starts the service, with its arguments."""
        self.process: ForkedPython | subprocess.Popen | None = None
        self.client: httpx.Client | None = None

    def spawn(self) -> ForkedPython | subprocess.Popen:
        """Start a process of the service, without waiting until it responds."""
        environment = os.environ | {
            "FOLDNOTE_HOME": str(self.folder / "home"),
            "FOLDNOTE_ENGINE_PATH": str(self.engines),
            **store_environment(self.folder / "data"),
            **self.environment,
        }
        where = () if "--embedded" in self.arguments else ("--data-dir", str(self.folder / "data"))
        with (self.folder / "service.log").open("ab") as log:
            arguments = ("--json", *where, *self.arguments)
            if "LD_PRELOAD" not in environment and not self.prefix:
                return ForkedPython(self.code, *arguments, environment=environment, stderr=log)
            return subprocess.Popen(
                [*self.prefix, sys.executable, "-c", self.code, *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
            )

    def store_url(self) -> str:
        """The address of its PostgreSQL database; empty for SQLite."""
        return (store_environment(self.folder / "data") | self.environment).get("FOLDNOTE_STORE_URL", "")

    def start(self) -> "ServiceProcess":
        self.process = self.spawn()
        line = self.process.stdout.readline()
        if not line:
            self.process.stdout.close()
        assert line, (self.folder / "service.log").read_text()[-3000:]
        ready = json.loads(line)
        self.url, self.key = ready["url"], ready["key"]
        self.client = httpx.Client(base_url=self.url, headers={"x-api-key": self.key}, timeout=120)
        return self

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(120)
        self.process.stdout.close()
        if self.client is not None:
            self.client.close()
        return code

    def submit(self, name: str, **more) -> httpx.Response:
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS} | more
        return self.client.post("/submit-job", json=body)

    def job(self, name: str) -> dict:
        answer = self.client.get("/jobs", params={"jobName": name})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def wait(self, name: str, statuses: tuple[str, ...] = FINAL, patience_s: float = 180) -> dict:
        until, pause_s = time.monotonic() + patience_s, 0.05
        while (job := self.job(name))["status"] not in statuses:
            assert time.monotonic() < until, job
            time.sleep(pause_s)
            pause_s = min(1.3 * pause_s, 0.2)
        return job

    def run(self, name: str, **more) -> dict:
        answer = self.submit(name, **more)
        assert answer.status_code == 200, answer.text
        return self.wait(name)

    def release(self, name: str) -> None:
        """Let a run of the job with ``hold`` in its name continue."""
        release(name, self.engines / "probe")

    def result(self, name: str, **more) -> httpx.Response:
        return self.client.post("/result", json={"jobName": name} | more)


def has_process(word: str) -> bool:
    """Return whether any process has `word` in its environment or command line."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            text = (path / "environ").read_bytes() + (path / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in text and int(path.name) != os.getpid():
            return True
    return False
