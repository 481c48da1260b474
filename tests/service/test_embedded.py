"""The embedded service: one per user, found again, replaced after its death."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import psutil
import pytest
from probe_engine import write_probe_engine
from pydantic import SecretStr

import foldnote as fn
from foldnote import settings
from foldnote.client import Client
from foldnote.client.local import embedded
from foldnote.errors import EmbeddedServiceError
from foldnote.models import RuntimeInfo, read_runtime
from foldnote.models.runtime_file import write_runtime
from foldnote.notebook.connection import make_client

SETTINGS = {"sequence": "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNG", "scheme": "imgt"}
ASK = "from foldnote.client.local.embedded import ensure_service as e; i = e(); print(i.url, i.pid)"


@pytest.fixture(autouse=True)
def _ended(home, tmp_path, monkeypatch):
    """Stop any service that a test started."""
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(write_probe_engine(tmp_path / "engines")))
    make_client.cache_clear()
    yield
    make_client.cache_clear()
    info = read_runtime(settings.runtime_dir())
    if info is not None and psutil.pid_exists(info.pid) and info.pid != os.getpid():
        end(info.pid, signal.SIGTERM)


def end(pid: int, number: int) -> None:
    os.kill(pid, number)
    with suppress(psutil.NoSuchProcess):
        psutil.wait_procs([psutil.Process(pid)], timeout=120)


def ask_in_process() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True)


def describe(url: str, pid: int) -> RuntimeInfo:
    info = RuntimeInfo(url=url, key=SecretStr("old-key"), pid=pid, version="1", started=datetime.now(UTC))
    write_runtime(settings.runtime_dir(), info)
    return info


@contextmanager
def stranger():
    """Run another program's server; return its address and the headers that it received."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(dict(self.headers))
            body = json.dumps({"status": "ok", "version": "1"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()


def test_a_service_of_an_older_foldnote_is_replaced(monkeypatch):
    old = embedded.ensure_service()
    monkeypatch.setattr(embedded, "is_older", lambda *_: read_runtime(settings.runtime_dir()) == old)
    assert embedded.ensure_service().pid != old.pid


async def test_a_form_is_shown_before_the_request_and_then_says_whether_the_tool_can_run():
    form = fn.form("anarci", **SETTINGS)
    assert "Checking whether the service" in form.frame.header.value
    assert (read_runtime(settings.runtime_dir()), form.wanted, form.value) == (None, "anarci", SETTINGS)
    async with asyncio.timeout(60):
        while "Checking whether the service" in form.frame.header.value:
            await asyncio.sleep(0.02)
    assert "Runs " in form.frame.header.value, form.frame.header.value
    assert form.tool.available
    assert form.wanted is form.tool
    assert form.value == SETTINGS


def test_without_an_event_loop_the_tool_of_a_form_is_requested_when_used():
    form = fn.form("anarci", **SETTINGS)
    assert read_runtime(settings.runtime_dir()) is None
    assert form.tool.available
    assert form.tool.engine.name == "probe"


def unused_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_ten_processes_at_once_get_one_service():
    asking = [ask_in_process() for _ in range(10)]
    answers = {process.communicate(timeout=90)[0].strip() for process in asking}
    assert [process.returncode for process in asking] == [0] * 10
    assert len(answers) == 1
    assert answers == {f"{(info := embedded.ensure_service()).url} {info.pid}"}


def test_threads_share_one_start(monkeypatch):
    starts = []

    class CountedPopen(subprocess.Popen):
        def __init__(self, *arguments, **more):
            starts.append(arguments)
            super().__init__(*arguments, **more)

    monkeypatch.setattr(subprocess, "Popen", CountedPopen)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: embedded.ensure_service().url, range(8)))
    assert len(set(found)) == 1
    assert len(starts) == 1


def test_after_a_kill_the_next_call_finds_the_jobs_at_a_new_service():
    with Client() as client:
        job = client.jobs.submit("anarci", SETTINGS, job_name="kept")
        client.jobs.finish(job.job_name, 60)
        first = read_runtime(settings.runtime_dir())
        end(first.pid, signal.SIGKILL)
        assert client.jobs.get("kept").status == "Complete"
        assert client.jobs.submit("anarci", SETTINGS, job_name="kept").job_name == "kept"
        assert [row.job_name for row in client.jobs.list()] == ["kept"]
    second = read_runtime(settings.runtime_dir())
    assert second.pid != first.pid


def test_a_service_that_is_ending_is_waited_for_and_replaced():
    first = embedded.ensure_service()
    os.kill(first.pid, signal.SIGSTOP)  # it holds the lock and does not respond
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(embedded.ensure_service)
        time.sleep(0.5)
        os.kill(first.pid, signal.SIGKILL)
        assert asked.result(60).pid != first.pid


def test_a_stranger_at_the_old_address_is_not_taken_for_the_service(home):
    with stranger() as (url, seen):
        describe(url, unused_pid())
        assert embedded.find_service() is None
        assert seen == []


def test_looking_for_a_service_sends_no_key(home):
    with stranger() as (url, seen):
        assert embedded.is_healthy(describe(url, os.getpid()))
    assert "old-key" not in json.dumps(seen)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"url": 1}'])
def test_a_damaged_runtime_file_is_ignored(content):
    (settings.runtime_dir() / "service.json").write_bytes(content)
    assert embedded.find_service() is None


def test_the_log_does_not_contain_the_key():
    info = embedded.ensure_service()
    assert info.key.get_secret_value() not in (settings.data_dir() / "service.log").read_text()
    assert info.key.get_secret_value() not in repr(info)


def test_a_service_that_cannot_start_says_why():
    (settings.data_dir() / "service").write_text("a file where a folder should be")
    with pytest.raises(EmbeddedServiceError, match="ended with exit code") as caught:
        embedded.ensure_service()
    first = caught.value.message.partition("\n")[0]
    assert re.search(r"ended with exit code \d+: The data folder ", first)
    assert "service.log" in first


def test_a_service_that_does_not_come_up_is_given_up(monkeypatch):
    monkeypatch.setenv("FOLDNOTE_SERVICE_START_TIMEOUT_S", "0.3")
    idle = [sys.executable, "-c", "import time; time.sleep(1)"]
    with subprocess.Popen(idle) as process:
        monkeypatch.setattr(embedded, "_spawn", lambda _: process)
        with pytest.raises(EmbeddedServiceError, match="did not answer within 0.3 s"):
            embedded.ensure_service()


def test_a_home_that_cannot_be_written_is_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    with monkeypatch.context() as patch:
        patch.setenv("FOLDNOTE_HOME", str(tmp_path / "file"))
        with pytest.raises(EmbeddedServiceError, match="FOLDNOTE_HOME"):
            embedded.ensure_service()


def test_a_relative_home_is_the_same_for_the_service(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDNOTE_HOME", "my-home")
    assert embedded.ensure_service().pid == read_runtime(tmp_path / "my-home" / "run").pid


def test_a_log_that_grew_large_is_put_aside(monkeypatch):
    monkeypatch.setattr(embedded, "_LOG_BYTES", 10)
    (settings.data_dir() / "service.log").write_text("x" * 11)
    embedded.ensure_service()
    assert (settings.data_dir() / "service.log.1").read_text() == "x" * 11
