"""A Jupyter server with our extension and a real job service, both in this process."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from jupyter_server.serverapp import ServerApp
from lab_fixtures import PACE, TOKEN, URL, JobService
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from traitlets.config import Config

from foldnote import settings
from foldnote.client import AsyncClient
from foldnote.lab.connection import ProfileConnection
from foldnote.lab.handlers.jobs import REGISTRY
from foldnote.lab.poller import JobPoller
from foldnote.lab.session_registry import SessionRegistry
from foldnote.models.account import Account
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[JobService]:
    """Start the service with the probe engine."""
    engines = (Path(__file__).parents[2] / "engines",)
    config = ServiceConfig(data_dir=tmp_path / "service", engine_paths=engines, rate_limit=False)
    app = create_app(config)
    async with app.router.lifespan_context(app):
        yield JobService(app, app.state.service.local_key)


@pytest.fixture
async def poller(service: JobService) -> AsyncIterator[JobPoller]:
    """Create a poller of that service with short intervals."""
    poller = JobPoller(ProfileConnection(None, service.connect), PACE)
    yield poller
    await poller.close()


@pytest.fixture
async def registry(service: JobService) -> AsyncIterator[SessionRegistry]:
    """Create sessions in which every profile leads to that service."""
    registry = SessionRegistry(service.connect, PACE)
    yield registry
    await registry.close()


@pytest.fixture
async def server_app(tmp_path: Path, registry: SessionRegistry, monkeypatch) -> AsyncIterator[ServerApp]:
    """Create a Jupyter server with our extension and those sessions, not listening yet."""
    for name in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path / name.lower()))
    options = {
        "ServerApp": {
            "base_url": "/hub/user/",
            "root_dir": str(tmp_path),
            "jpserver_extensions": {"foldnote": True},
        },
        "IdentityProvider": {"token": TOKEN},
    }
    server = ServerApp(config=Config(options))
    server.initialize(argv=[], new_httpserver=False, find_extensions=False)
    server.web_app.settings[REGISTRY] = registry
    yield server
    await server.cleanup_extensions()
    await server.cleanup_kernels()
    ServerApp.clear_instance()


@pytest.fixture
async def jupyter(server_app: ServerApp) -> AsyncIterator[httpx.AsyncClient]:
    """Return a client of that server, which sends no token by itself."""
    sockets = bind_sockets(0, "127.0.0.1")
    front = HTTPServer(server_app.web_app)
    front.add_sockets(sockets)
    port = sockets[0].getsockname()[1]
    address = f"http://127.0.0.1:{port}/hub/user/foldnote/api/"
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        yield client
    front.stop()
    await front.close_all_connections()


@pytest.fixture
async def trial(service: JobService, monkeypatch: pytest.MonkeyPatch) -> Account:
    """Return a hosted profile whose key is an unclaimed trial key of the service."""
    monkeypatch.setattr(settings, "_keyring_get", lambda name: None)
    monkeypatch.setattr(settings, "_keyring_set", lambda name, key: False)
    settings.save_profile("hosted", URL)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(service.app), base_url=URL) as http:
        account = await AsyncClient(base_url=URL, http_client=http).account.provision()
    service.hosted_key = settings.api_key(settings.Profile(f"trial:{URL}", URL)).get_secret_value()
    return account
