"""Nothing is submitted twice despite threads, processes, lost responses and lost ledgers."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from job_settings import SETTINGS, TOOLS
from probe_engine import write_probe_engine
from starlette.testclient import TestClient

from foldnote.client import Client
from foldnote.errors import FoldnoteError
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

SUBMIT = """
import json, sys
from foldnote.client import Client
url, key, settings = json.loads(sys.argv[1])
print(Client(base_url=url, api_key=key).jobs.submit("anarci", settings).job_name)
"""


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    """Disable the client's rate limit, which would only take time here."""
    monkeypatch.setenv("FOLDNOTE_REQUESTS_PER_SECOND", "1000")


class LostAnswers(httpx.BaseTransport):
    """The real service behind a connection that loses responses after the service has acted."""

    def __init__(self, http: TestClient, lost: int) -> None:
        self._http, self._lost = http, lost
        self.submissions = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        said = self._http.request(
            request.method, str(request.url), content=request.read(), headers=request.headers
        )
        answer = httpx.Response(said.status_code, json=said.json())
        if request.url.path == "/submit-job":
            self.submissions += 1
            if self.submissions <= self._lost:
                raise httpx.ReadError("the line broke", request=request)
        return answer


def jobs_with(client: Client, settings: dict) -> list[str]:
    return [job.job_name for job in client.jobs.list(limit=1000) if job.settings == settings]


def test_twenty_threads_make_one_job(client, settings):
    with ThreadPoolExecutor(20) as pool:
        names = set(pool.map(lambda _: client.jobs.submit("anarci", settings).job_name, range(20)))
    assert len(names) == 1
    assert jobs_with(client, settings) == list(names)


def test_twenty_threads_that_wish_one_name_for_different_jobs(client, settings, name):
    def submit(number):
        try:
            return client.jobs.submit(
                "anarci", settings | {"scheme": ("imgt", "kabat")[number % 2]}, job_name=name
            )
        except FoldnoteError as exc:
            return type(exc).__name__

    with ThreadPoolExecutor(20) as pool:
        ends = list(pool.map(submit, range(20)))
    assert sum(end == "JobNameTakenError" for end in ends) == 10
    assert client.jobs.get(name).settings in (settings, settings | {"scheme": "kabat"})


@pytest.mark.parametrize("lost", [1, 3])
@pytest.mark.parametrize("wish", [True, False])
def test_a_lost_answer_makes_no_second_job(http, key, settings, name, lost, wish):
    line = LostAnswers(http, lost)
    with httpx.Client(transport=line, base_url="http://testserver") as pool:
        client = Client(base_url="http://testserver", api_key=key, http_client=pool)
        job = client.jobs.submit("anarci", settings, job_name=name if wish else None)
    assert line.submissions == 1
    assert jobs_with(client_on(http, key), settings) == [job.job_name]


def client_on(http: TestClient, key: str) -> Client:
    return Client(base_url="http://testserver", api_key=key, http_client=http)


def test_a_lost_answer_to_again_makes_one_more_job(http, key, settings):
    first = client_on(http, key).jobs.submit("anarci", settings)
    with httpx.Client(transport=LostAnswers(http, 1), base_url="http://testserver") as pool:
        client = Client(base_url="http://testserver", api_key=key, http_client=pool)
        client.jobs.submit("anarci", settings, again=True)
    assert sorted(jobs_with(client_on(http, key), settings)) == [first.job_name, f"{first.job_name}-2"]


@pytest.mark.parametrize("damage", ["absent", "garbage", "a folder", "read-only"])
def test_a_damaged_ledger_makes_no_second_job(client, settings, home, damage):
    first = client.jobs.submit("anarci", settings)
    ledger = home / "data" / "ledger.db"
    ledger.unlink(missing_ok=True)
    if damage == "garbage":
        ledger.write_bytes(b"no database" * 1000)
    elif damage == "a folder":
        ledger.mkdir()
    elif damage == "read-only":
        ledger.touch(mode=0o400)
    assert client.jobs.submit("anarci", settings).job_name == first.job_name
    assert jobs_with(client, settings) == [first.job_name]


def test_processes_share_the_ledger_and_the_job(tmp_path, settings, free_service):
    argument = json.dumps([free_service.url, free_service.key, settings])
    running = [
        subprocess.Popen([sys.executable, "-c", SUBMIT, argument], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    names = {process.communicate(timeout=90)[0].strip() for process in running}
    client = Client(base_url=free_service.url, api_key=free_service.key)
    assert len(names) == 1
    assert jobs_with(client, settings) == list(names)
    client.close()


@pytest.fixture
def free_service(tmp_path):
    """Start the service on a port of this machine, for other processes."""
    import threading
    from types import SimpleNamespace

    import uvicorn

    engines = write_probe_engine(tmp_path / "engines", TOOLS, memory_mb=16)
    app = create_app(ServiceConfig(tmp_path / "data", engine_paths=(engines,), rate_limit=False))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield SimpleNamespace(url=f"http://127.0.0.1:{port}", key=app.state.service.local_key)
    server.should_exit = True
    thread.join(20)


def test_settings_in_another_order_are_the_same_job(client, settings):
    turned = dict(reversed(settings.items()))
    assert client.jobs.submit("anarci", turned).job_name == client.jobs.submit("anarci", settings).job_name


def test_another_service_is_another_ledger(http, key, settings, scripted):
    from scripted_service import answers

    known = client_on(http, key).jobs.submit("anarci", settings)
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("POST", "/submit-job", answers({"jobName": known.job_name}))
    with Client(base_url=scripted.url, api_key="k") as other:
        other.jobs.submit("anarci", SETTINGS | settings)
    assert scripted.count("POST", "/submit-job") == 1
