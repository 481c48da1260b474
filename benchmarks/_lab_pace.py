"""A real service, in its own process, that counts the requests of all clients.

``lab.py`` connects JupyterLab to it. Run as a program, this file serves the data in a folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

SETTINGS = {"sequence": "EVQLVESGGGLVQPGG", "scheme": "imgt"}
_ENGINES = Path(__file__).parents[1] / "tests" / "engines"
_UNCOUNTED = (b"x-uncounted", b"1")


class CountedService:
    """A service that counts its requests.

    Attributes:
        url: its base address.
        key: its API key.
    """

    def __init__(self, url: str, key: str) -> None:
        """Connect to the service at ``url``."""
        self.url, self.key = url, key
        headers = {"x-api-key": key, "x-uncounted": "1"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=60)

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that connect a Jupyter server to this service."""
        return {"FOLDNOTE_BASE_URL": self.url, "FOLDNOTE_API_KEY": self.key}

    @property
    def asked(self) -> Counter[str]:
        """Return the requests so far by method and path, without those of this program."""
        return Counter(self._client.get("/asked").json())

    def submit(self, name: str) -> None:
        """Submit one job."""
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
        self._client.post("/submit-job", json=body).raise_for_status()

    def moment(self, name: str, which: str) -> float:
        """Return when a job ``started`` or was ``completed``, in milliseconds since 1970."""
        record = self._client.get("/jobs", params={"jobName": name}).json()
        found = {key.lower(): value for key, value in record.items()}
        return datetime.fromisoformat(found[which]).timestamp() * 1000

    def close(self) -> None:
        """Close the client."""
        self._client.close()


@contextmanager
def counted(folder: Path) -> Iterator[CountedService]:
    """Run a counting service for the duration of the block."""
    program = [sys.executable, __file__, str(folder)]
    home = {**os.environ, "FOLDNOTE_HOME": str(folder / "home")}
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=home) as process:
        assert process.stdout is not None
        service = CountedService(**json.loads(process.stdout.readline()))
        try:
            yield service
        finally:
            service.close()
            process.terminate()


def serve(folder: Path) -> None:
    """Serve until a signal arrives."""
    import uvicorn

    from foldnote.service.config import ServiceConfig
    from foldnote.service.http.app import create_app

    app = create_app(ServiceConfig(data_dir=folder / "data", engine_paths=(_ENGINES,)))
    asked: Counter[str] = Counter()

    async def count(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/asked":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": json.dumps(asked).encode()})
            return
        if scope["type"] == "http" and _UNCOUNTED not in scope["headers"]:
            asked[f"{scope['method']} {scope['path']}"] += 1
        await app(scope, receive, send)

    class Announced(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            port = self.servers[0].sockets[0].getsockname()[1]
            key = str(app.state.service.local_key)
            sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{port}", "key": key}) + "\n")
            sys.stdout.flush()

    Announced(uvicorn.Config(count, port=0, log_level="error", lifespan="on")).run()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
