"""A JupyterLab server for tests, with its own folders and home, and no network but this computer."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
from patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
QUIET = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": False,
    }
}

_NO_BUILDS = {"buildAvailable": False, "buildCheck": False}
"""JupyterLab's check whether it must be rebuilt takes each server a second of Node.js."""

_NO_LANGUAGE_SERVERS = {"LanguageServerManager": {"autodetect": False}}
"""Looking for them runs npm and other programs at each start, a tenth of its processor time."""


class LabServer:
    """A running JupyterLab.

    Attributes:
        folder: all files of this server.
        notebooks: the root folder that the page shows.
        home: ``FOLDNOTE_HOME`` of the server and its kernels.
        url: base address with a trailing slash.
        token: the login token.
    """

    def __init__(
        self, folder: Path, base_url: str = "/", engine_path: Path | None = None, port: int | None = None
    ) -> None:
        """Prepare the folders, without starting anything. ``engine_path`` holds engines that stand in for the real ones."""
        self._engine_path = engine_path
        self.folder = folder
        self.notebooks = folder / "notebooks"
        self.home = folder / "home"
        self.token = secrets.token_hex(8)
        self.base_url = base_url
        self.port = port or find_free_port()
        self.url = f"http://127.0.0.1:{self.port}{base_url}"
        self._refused = folder / "refused.txt"
        self._process: subprocess.Popen[bytes] | None = None
        for path in (self.notebooks, self.home):
            path.mkdir(parents=True)
        self._write_labextension()

    @property
    def refused(self) -> list[str]:
        """Addresses outside this computer that Python processes of the server tried to reach."""
        return self._refused.read_text().split() if self._refused.exists() else []

    @property
    def log(self) -> str:
        """The server's output."""
        return (self.folder / "server.log").read_text(errors="replace")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(), env=self.environment(), stdout=log, stderr=log, start_new_session=True
            )
        self._wait_until_ready()

    def command(self) -> list[str]:
        """The program and its arguments; subclasses for other front ends override it."""
        return [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
            *(f"--port={self.port}", "--ServerApp.port_retries=0", f"--ServerApp.base_url={self.base_url}"),
            *(f"--IdentityProvider.token={self.token}", f"--ServerApp.root_dir={self.notebooks}"),
            "--LabApp.expose_app_in_browser=True",
        ]

    def stop(self) -> None:
        """Stop the server, its kernels, and the embedded service if they have started one."""
        if self._process is not None:
            end_session(self._process)
        with suppress(OSError, ValueError):
            pid = json.loads((self.home / "run" / "service.json").read_text())["pid"]
            os.kill(pid, signal.SIGTERM)

    def end_kernels(self) -> None:
        """Shut down every kernel; the server and its notebooks stay."""
        for session in json.loads(self.request("api/sessions")[1]):
            self.request(f"api/sessions/{session['id']}", method="DELETE")

    def kill(self) -> None:
        """Kill the server, as a power cut would; ``start`` starts it again on the same port."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def environment(self) -> dict[str, str]:
        """The environment of the server; its kernels and services inherit it."""
        jupyter = {
            f"JUPYTER_{name}_DIR": str(self.folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
        }
        lab = {
            f"JUPYTERLAB_{name}_DIR": str(self.folder / name.lower()) for name in ("SETTINGS", "WORKSPACES")
        }
        own = {
            "JUPYTER_PATH": str(self.folder / "share"),
            "JUPYTER_CONFIG_PATH": str(ROOT / "jupyter-config"),
            "IPYTHONDIR": str(self.folder / "ipython"),
            "FOLDNOTE_HOME": str(self.home),
            "FOLDNOTE_TEST_REFUSED": str(self._refused),
            "PYTHONPATH": str(Path(__file__).parent / "offline"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOLDNOTE_")}
        engines = {name: value for name, value in os.environ.items() if name == "FOLDNOTE_ENGINES_DIR"}
        if self._engine_path is not None:
            engines["FOLDNOTE_ENGINE_PATH"] = str(self._engine_path)
        return kept | engines | jupyter | lab | own

    def write_notebook(self, name: str, *cells: str | nbformat.NotebookNode, kernel: str = "python3") -> Path:
        """Write a notebook of code cells; ``kernel`` may name a kernel that does not exist."""
        made = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
        spec = {"name": kernel, "display_name": kernel, "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": spec})
        path = self.notebooks / name
        nbformat.write(notebook, path)
        return path

    def write_settings(self, plugin: str, options: object) -> None:
        """Write the user's settings of a plugin, for pages that are opened afterwards."""
        package, name = plugin.rsplit(":", 1)
        file = self.folder / "settings" / package / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(options))

    def request(self, path: str, *, method: str = "GET", with_token: bool = True) -> tuple[int, bytes]:
        """Send a request to the server without the page; return status and body."""
        headers = {"Authorization": f"token {self.token}"} if with_token else {}
        request = urllib.request.Request(f"{self.url}{path}", method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as fault:
            return fault.code, fault.read()

    def _write_labextension(self) -> None:
        target = self.folder / "share" / "labextensions" / "foldnote"
        shutil.copytree(ROOT / "src" / "foldnote" / "labextension", target)  # JupyterLab 4.4 serves no links
        for name, options in QUIET.items():
            self.write_settings(name, options)
        page = self.folder / "config" / "labconfig" / "page_config.json"
        page.parent.mkdir(parents=True)
        page.write_text(json.dumps(_NO_BUILDS))
        (self.folder / "config" / "jupyter_server_config.json").write_text(json.dumps(_NO_LANGUAGE_SERVERS))

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with suppress(OSError):
                if self.request("api/status")[0] == 200:
                    return
            if self._process is None or self._process.poll() is not None:
                break
            time.sleep(0.2)
        raise RuntimeError(f"JupyterLab did not start:\n{self.log}")


def service_of(server: LabServer) -> dict[str, Any]:
    """Read the runtime file of the server's service; ``pid`` is None while a new service writes its own."""
    with suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads((server.home / "run" / "service.json").read_text())
        return found
    return {"pid": None}


def end_session(process: "subprocess.Popen[bytes]", patience_s: float = 10) -> None:
    """Terminate a program that leads its own session; kill it if it does not exit."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(120)


def find_free_port() -> int:
    """Return a port of this computer on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_lasting_port() -> int:
    """Return a port on which nothing listens, outside the range from which the system assigns ports to programs."""
    while True:
        port = secrets.choice(range(20_000, 30_000))
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
