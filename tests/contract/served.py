"""`foldnote serve` as a user starts it, used with plain httpx and without importing the package."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import httpx
from chosen_store import store_environment
from probe_engine import write_probe_engine

COMMAND = Path(sys.executable).parent / "foldnote"
SEQUENCE = "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS"
SETTINGS = {"sequence": SEQUENCE, "scheme": "imgt"}


class Served:
    """A service on a folder; `http` sends its key, `open` sends none."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.engines = folder / "engines"
        if not self.engines.exists():
            write_probe_engine(self.engines, tools=("anarci", "af2bind"), memory_mb=16)
        place = ("--port", "0", "--data-dir", str(folder / "data"))
        with (folder / "service.log").open("ab") as log:  # an unread pipe would block the service
            self.process = self.start(*place, "--json", *options, errors=log)
        self.line = self.process.stdout.readline()
        ready = json.loads(self.line)
        self.url, self.key = ready["url"], ready["key"]
        self.http = httpx.Client(base_url=self.url, headers={"x-api-key": self.key}, timeout=120)
        self.open = httpx.Client(base_url=self.url, timeout=120)

    def start(self, *arguments: str, errors: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen:
        environment = os.environ | {
            "FOLDNOTE_HOME": str(self.folder / "home"),
            "FOLDNOTE_ENGINE_PATH": str(self.engines),
            **store_environment(self.folder / "data"),
        }
        return subprocess.Popen(
            [COMMAND, "serve", *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        )

    def refuse(self, *arguments: str) -> str:
        """Return the error output of a start that must fail; standard output must be empty."""
        process = self.start(*arguments, "--json")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (2, "")
        assert "Traceback" not in err
        return err

    def close(self, number: int = 15) -> tuple[int, str]:
        """Close the service; return its exit status, and its standard output after the first line."""
        self.http.close()
        self.open.close()
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out

    def submit(self, name: str, **more) -> httpx.Response:
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS} | more
        return self.http.post("/submit-job", json=body)

    def job(self, name: str) -> dict:
        return self.http.get("/jobs", params={"jobName": name}).raise_for_status().json()

    def wait(self, name: str) -> dict:
        until = time.monotonic() + 60
        while (job := self.job(name))["status"] not in ("Complete", "Stopped"):
            assert time.monotonic() < until, job
            time.sleep(0.05)
        return job
