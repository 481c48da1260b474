"""The job service in process, and the client's sync and async APIs connected to it, without mocks."""

import contextlib
import inspect
import itertools
from collections.abc import AsyncIterator, Callable, Iterator

import httpx
import pytest
from chosen_store import store_place
from fastapi.testclient import TestClient
from job_settings import SETTINGS, TOOLS
from probe_engine import write_probe_engine
from scripted_service import ScriptedService
from served import Served

from foldnote.client import AsyncClient, Client
from foldnote.service.config import Limits, ServiceConfig
from foldnote.service.http.app import create_app

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Served]:
    """Start a service process for all tests that use plain HTTP; each uses its own names."""
    service = Served(tmp_path_factory.mktemp("served"), "--no-rate-limit")
    yield service
    service.close()


@pytest.fixture(scope="module")
def http(tmp_path_factory) -> Iterator[TestClient]:
    """Return the service as Starlette's test client, which is an httpx.Client."""
    folder = tmp_path_factory.mktemp("service")
    engines = write_probe_engine(folder / "engines", tools=TOOLS, memory_mb=16)
    limits = Limits(batch_rows=2000)  # longer than one validation takes
    config = ServiceConfig(
        data_dir=folder / "data",
        rate_limit=False,
        engine_paths=(engines,),
        limits=limits,
        store=store_place(folder / "data"),
    )
    with TestClient(create_app(config)) as client:
        yield client


@pytest.fixture(scope="module")
def key(http: TestClient) -> str:
    return http.app.state.service.local_key


@pytest.fixture
def client(http: TestClient, key: str) -> Client:
    return Client(base_url="http://testserver", api_key=key, http_client=http)


@pytest.fixture(params=["at once", "awaited"])
async def api(request, http: TestClient, key: str) -> AsyncIterator[Client | AsyncClient]:
    """Run each test that uses this once with the sync and once with the async API; `settle` returns an operation's
    value.
    """
    if request.param == "at once":
        yield Client(base_url="http://testserver", api_key=key, http_client=http)
        return
    async with httpx.AsyncClient(transport=httpx.ASGITransport(http.app)) as pool:
        yield AsyncClient(base_url="http://testserver", api_key=key, http_client=pool)


@pytest.fixture
def settle():
    """Return the value of an operation of either API."""

    async def value(outcome):
        return await outcome if inspect.isawaitable(outcome) else outcome

    return value


@pytest.fixture
def name() -> str:
    """Return a job name that no other test uses; a suffix after a dot tells the probe engine what to do."""
    return f"job{next(_numbers)}"


@pytest.fixture
def settings() -> dict:
    """Return settings that no other test uses."""
    return dict(SETTINGS, sequence=SETTINGS["sequence"] + "SS" * next(_numbers))


@pytest.fixture
def connect(scripted: ScriptedService) -> Iterator[Callable[[], Client]]:
    """Return a function that creates clients of the scripted service, which are closed afterwards."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(Client(base_url=scripted.url, api_key="k"))


@pytest.fixture
def scripted() -> Iterator[ScriptedService]:
    """Start a service on a real socket whose responses the test scripts."""
    service = ScriptedService()
    yield service
    service.close()


def pytest_configure(config):
    """Ignore warnings of Starlette's client about its future, and about a timeout that matters only on a network."""
    config.addinivalue_line("filterwarnings", "ignore:Using `httpx` with `starlette:DeprecationWarning")
    config.addinivalue_line("filterwarnings", "ignore:You should not use the 'timeout' argument")
