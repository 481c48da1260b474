"""Services for the tests of this folder: one that is shared, and as many of their own as a test wants."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from service_process import ServiceProcess

_numbers = itertools.count()


@pytest.fixture(scope="session")
def service(tmp_path_factory) -> Iterator[ServiceProcess]:
    """One service for all tests that do not disturb each other; each uses names of its own."""
    running = ServiceProcess(tmp_path_factory.mktemp("shared"), "--no-rate-limit").start()
    yield running
    running.end()


@pytest.fixture
def client(service: ServiceProcess) -> httpx.Client:
    return service.client


@pytest.fixture
def name() -> str:
    """A job name that no other test uses."""
    return f"job{next(_numbers)}"


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[Callable[..., ServiceProcess]]:
    """Starts services with data folders of their own, and ends them after the test."""
    made: list[ServiceProcess] = []

    def make(*arguments: str) -> ServiceProcess:
        folder = tmp_path / f"service{len(made)}"
        folder.mkdir()
        made.append(ServiceProcess(folder, *arguments))
        return made[-1].start()

    yield make
    for each in made:
        if each.process.poll() is None:
            each.kill()
