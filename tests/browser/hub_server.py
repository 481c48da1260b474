"""A real JupyterHub for tests: its proxy, a login without passwords, and a JupyterLab for each user."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from lab_server import QUIET, ROOT, end_session, find_free_port
from patience import PATIENCE_S
from playwright.sync_api import Page

_PROXY = ROOT / "node_modules" / ".bin" / "configurable-http-proxy"
_BASE_URL = "/lab-hub/"
_CONFIG = """
c = get_config()
c.JupyterHub.bind_url = {url!r}
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub_port}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.Authenticator.allow_all = True
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True"]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.Spawner.environment = {environment!r}
"""


class HubUser:
    """A user with a JupyterLab on the hub, with the attributes of a server that ``LabPage`` uses.

    Attributes:
        name: the user's name.
        home: foldnote's folder in the user's home, as ``FOLDNOTE_HOME`` elsewhere. Only this distinguishes the
            users of this hub: all are the same user of the operating system.
        url: base address with a trailing slash.
        token: empty, since users log in.
    """

    token = ""

    def __init__(self, hub: "HubServer", name: str) -> None:
        """Create the home."""
        self.name = name
        place = hub.homes / name
        self.home = place / ".local" / "share" / "foldnote"
        self.url = f"{hub.url}user/{name}/"
        self._login = f"{hub.url}hub/login"
        for plugin, options in QUIET.items():
            package, word = plugin.rsplit(":", 1)
            file = place / ".jupyter" / "lab" / "user-settings" / package / f"{word}.jupyterlab-settings"
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps(options))

    def log_in(self, page: Page) -> None:
        """Log in through the page, which starts the user's server."""
        page.goto(self._login)
        page.get_by_label("Username").fill(self.name)
        page.get_by_label("Password").fill("none")
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.url}lab**")


class HubServer:
    """A running hub.

    Attributes:
        folder: all files of this hub.
        homes: the users' homes.
        url: base address with a trailing slash.
        api_url: address of its API.
    """

    def __init__(self, folder: Path, service_url: str = "") -> None:
        """Write the configuration, without starting anything.

        Args:
            folder: for all files of this hub.
            service_url: the service of all users; empty for one service per user.
        """
        self.folder = folder
        self.homes = folder / "homes"
        self.homes.mkdir(parents=True)
        self.url = f"http://127.0.0.1:{find_free_port()}{_BASE_URL}"
        extensions = folder / "share" / "labextensions"
        extensions.mkdir(parents=True)
        (extensions / "foldnote").symlink_to(ROOT / "src" / "foldnote" / "labextension")
        self._refused = folder / "refused.txt"
        environment = {
            "JUPYTER_PATH": str(folder / "share"),
            "JUPYTER_CONFIG_PATH": str(ROOT / "jupyter-config"),
            "FOLDNOTE_ENGINE_PATH": str(ROOT / "tests" / "engines"),
            "FOLDNOTE_TEST_REFUSED": str(self._refused),
            "PYTHONPATH": str(Path(__file__).parent / "offline"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        places = {
            "url": self.url,
            "homes": str(self.homes),
            "proxy": str(_PROXY),
            "python": sys.executable,
        }
        ports = {"hub_port": find_free_port(), "proxy_port": find_free_port()}
        self.api_url = f"http://127.0.0.1:{ports['hub_port']}{_BASE_URL}hub/api"
        config = _CONFIG.format(environment=environment, **places, **ports)
        if service_url:
            page = (ROOT / "docs" / "jupyterhub.md").read_text()  # what foldnote tells administrators to add
            lines = (
                page.split("```python\n")[1].split("```")[0].replace("https://foldnote.lab.org", service_url)
            )
            config += lines + f"c.Spawner.environment |= {environment!r}\n"
        (folder / "jupyterhub_config.py").write_text(config)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """The output of the hub and the users' servers."""
        return (self.folder / "hub.log").read_text(errors="replace")

    @property
    def refused(self) -> list[str]:
        """Addresses outside this computer that Python processes of the users' servers tried to reach."""
        return self._refused.read_text().split() if self._refused.exists() else []

    def start(self) -> None:
        """Start the hub and its proxy, and wait until users can log in."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOLDNOTE_")}
        with (self.folder / "hub.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub"],
                cwd=self.folder,
                env=kept,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self._process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}hub/login", timeout=60):
                return
            time.sleep(0.2)
        raise RuntimeError(f"JupyterHub did not start:\n{self.log}")

    def stop(self) -> None:
        """Stop the hub, which ends the users' servers, and the services that these have started."""
        if self._process is not None:
            end_session(self._process, 60)
        for file in self.homes.glob("*/.local/share/foldnote/run/service.json"):
            with suppress(OSError, ValueError):
                os.kill(json.loads(file.read_text())["pid"], signal.SIGTERM)


def status_of(url: str, key: str) -> int:
    """Return the HTTP status of the service's answer to ``key``."""
    request = urllib.request.Request(url, headers={"x-api-key": key})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as fault:
        return fault.code
