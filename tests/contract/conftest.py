"""The job service in process, and both faces of the client on it; no mocks in between."""

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
    """A service process for all tests that ask as strangers do; each uses names of its own."""
    service = Served(tmp_path_factory.mktemp("served"), "--no-rate-limit")
    yield service
    service.close()


@pytest.fixture(scope="module")
def http(tmp_path_factory) -> Iterator[TestClient]:
    """The service, as the httpx.Client that Starlette makes of it."""
    folder = tmp_path_factory.mktemp("service")
    engines = write_probe_engine(folder / "engines", tools=TOOLS, memory_mb=16)
    limits = Limits(batch_rows=2000)  # more than one validation takes
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
    """Each test that takes this runs once on either face; `settle` gives an operation's value."""
    if request.param == "at once":
        yield Client(base_url="http://testserver", api_key=key, http_client=http)
        return
    async with httpx.AsyncClient(transport=httpx.ASGITransport(http.app)) as pool:
        yield AsyncClient(base_url="http://testserver", api_key=key, http_client=pool)


@pytest.fixture
def settle():
    """The value of an operation of either face."""

    async def value(outcome):
        return await outcome if inspect.isawaitable(outcome) else outcome

    return value


@pytest.fixture
def name() -> str:
    """A job name that no other test uses; what follows a dot tells the probe engine what to do."""
    return f"job{next(_numbers)}"


@pytest.fixture
def settings() -> dict:
    """Settings that no other test uses."""
    return dict(SETTINGS, sequence=SETTINGS["sequence"] + "SS" * next(_numbers))


@pytest.fixture
def connect(scripted: ScriptedService) -> Iterator[Callable[[], Client]]:
    """Makes clients of the scripted service, and closes them."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(Client(base_url=scripted.url, api_key="k"))


@pytest.fixture
def scripted() -> Iterator[ScriptedService]:
    """A service that answers what a test tells it to, on a real socket."""
    service = ScriptedService()
    yield service
    service.close()


def pytest_configure(config):
    """Starlette's client warns of its own future, and of a time-out that only matters on a network."""
    config.addinivalue_line("filterwarnings", "ignore:Using `httpx` with `starlette:DeprecationWarning")
    config.addinivalue_line("filterwarnings", "ignore:You should not use the 'timeout' argument")
