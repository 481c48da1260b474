"""A real JupyterHub for tests of the service: its API, without users' servers and a proxy."""

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import httpx
from free_ports import free_port

SERVICE = "foldnote"
SCOPE = f"access:services!service={SERVICE}"
_CONFIG = """
from jupyterhub.proxy import Proxy


class NoProxy(Proxy):
    async def add_route(self, routespec, target, data): pass
    async def delete_route(self, routespec): pass
    async def get_all_routes(self): return {{}}
    async def check_routes(self, *arguments): pass
    should_start = False


c = get_config()
c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.bind_url = "http://127.0.0.1:{public_port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.services = [
    {{"name": {service!r}}},
    {{"name": "operator", "api_token": {token!r}}},
]
c.JupyterHub.load_roles = [
    {{"name": "operator", "services": ["operator"],
      "scopes": ["admin:users", "admin:groups", "tokens", "list:users", {scope!r}]}},
    {{"name": "user", "scopes": ["self", {scope!r}]}},
]
"""


class HubProcess:
    """A hub and the operations of its administrator.

    Attributes:
        url: address of its API.
        operator_token: the token of a service of the hub, which may use the service of these tests, too.
    """

    def __init__(self, folder: Path) -> None:
        """Write the configuration, without starting anything."""
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/hub/api"
        self.operator_token = token = secrets.token_hex(16)
        (folder / "jupyterhub_config.py").write_text(
            _CONFIG.format(port=self.port, public_port=free_port(), service=SERVICE, token=token, scope=SCOPE)
        )
        self._operator = httpx.Client(
            base_url=self.url, headers={"Authorization": f"token {token}"}, timeout=60
        )
        self._process: subprocess.Popen | None = None

    @property
    def log(self) -> str:
        """The hub's output."""
        return (self.folder / "hub.log").read_text(errors="replace")

    def start(self) -> "HubProcess":
        """Start the hub, and wait until it responds."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FOLDNOTE_")}
        with (self.folder / "hub.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub"], cwd=self.folder, env=kept, stdout=log, stderr=log
            )
        end = time.monotonic() + 120
        while time.monotonic() < end and self._process.poll() is None:
            try:
                httpx.get(f"{self.url}/", timeout=60)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                return self
        raise RuntimeError(f"JupyterHub did not start:\n{self.log}")

    def stop(self) -> None:
        """Stop the hub, which can be started again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)

    def close(self) -> None:
        """Stop the hub and close the client."""
        self.stop()
        self._operator.close()

    def ask(self, method: str, path: str, **options) -> httpx.Response:
        """Send a request as the administrator."""
        answer = self._operator.request(method, path, **options)
        assert answer.status_code < 400, answer.text
        return answer

    def add_user(self, name: str, *groups: str) -> None:
        """Add a user to these groups."""
        self.ask("POST", f"/users/{name}")
        for group in groups:
            self.join(name, group)

    def join(self, name: str, group: str) -> None:
        """Add a user to a group, creating the group if needed."""
        self._operator.post(f"/groups/{group}")
        self.ask("POST", f"/groups/{group}/users", json={"users": [name]})

    def leave(self, name: str, group: str) -> None:
        """Remove a user from a group."""
        self.ask("DELETE", f"/groups/{group}/users", json={"users": [name]})

    def issue(self, name: str, *scopes: str) -> str:
        """Create a user's token, with the scopes of a user's server unless others are given."""
        return self.issue_row(name, *scopes)["token"]

    def issue_row(self, name: str, *scopes: str) -> dict:
        """Create a token and return it with its id."""
        wanted = list(scopes) or ["users:activity!user", SCOPE]
        return self.ask("POST", f"/users/{name}/tokens", json={"scopes": wanted}).json()

    def revoke(self, name: str, token_id: str) -> None:
        """Revoke a token, as the hub does when a server is stopped."""
        self.ask("DELETE", f"/users/{name}/tokens/{token_id}")
