"""Services for the tests of this folder: a shared one, and separate ones for tests that need them."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from chosen_store import cluster
from free_ports import free_port
from service_process import ServiceProcess

_numbers = itertools.count()


@pytest.fixture(scope="session")
def service(tmp_path_factory) -> Iterator[ServiceProcess]:
    """Start one service for all tests that do not disturb each other; each test uses its own names."""
    running = ServiceProcess(tmp_path_factory.mktemp("shared"), "--no-rate-limit").start()
    yield running
    running.end()


@pytest.fixture
def client(service: ServiceProcess) -> httpx.Client:
    return service.client


@pytest.fixture
def name() -> str:
    """Return a job name that no other test uses."""
    return f"job{next(_numbers)}"


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[Callable[..., ServiceProcess]]:
    """Return a function that starts services with separate data folders; they end after the test.

    ``data`` is a folder to copy for a service; a service that should not be started yet is only created.
    """
    made: list[ServiceProcess] = []

    def make(*arguments: str, data: Path | None = None, is_started: bool = True) -> ServiceProcess:
        folder = tmp_path / f"service{len(made)}"
        folder.mkdir()
        made.append(ServiceProcess(folder, *arguments))
        if data is not None:
            shutil.copytree(data, folder / "data", symlinks=True)
        return made[-1].start() if is_started else made[-1]

    yield make
    for each in made:
        if each.process is not None and each.process.poll() is None:
            each.kill()


@pytest.fixture
def make_replicas(tmp_path: Path) -> Iterator[Callable[..., list[ServiceProcess]]]:
    """Return a function that starts replicas on one folder and database; `lease_s` is the time of their leases."""
    made: list[ServiceProcess] = []

    def make(
        number: int, lease_s: float = 60, is_started: bool = True, url: str = ""
    ) -> list[ServiceProcess]:
        config = tmp_path / "home" / "config" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"[store]\nlease_s = {lease_s}\n")
        url = url or cluster().make_database()
        for _ in range(number):
            made.append(ServiceProcess(tmp_path, "--no-rate-limit", "--port", str(free_port())))
            made[-1].environment = {"FOLDNOTE_STORE_URL": url}
        return [each.start() for each in made] if is_started else made

    yield make
    for each in made:
        if each.process is not None and each.process.poll() is None:
            each.kill()
