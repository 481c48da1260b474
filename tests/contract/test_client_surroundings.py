"""The client's surroundings: proxies, certificates, disks, clocks and interruptions; each fault is explained in a
sentence.
"""

import asyncio
import errno
import io
import json
import os
import resource
import signal
import ssl
import subprocess
import sys
import threading
import traceback
import zipfile
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from job_settings import SETTINGS
from scripted_service import answers, is_silent, serves

from foldnote import settings as options
from foldnote.client import AsyncClient, Client
from foldnote.errors import (
    ConfigurationError,
    FoldnoteError,
    ResultError,
    ServiceFaultError,
    ServiceUnreachableError,
)

KEY = "fn-SENTINEL-4711"
FINAL = {
    "jobName": "a",
    "type": "anarci",
    "status": "Complete",
    "settings": SETTINGS,
    "created": "2026-01-01T00:00:00.000Z",
    "completed": "2026-01-01T00:01:00.000Z",
}
RECEIPT = answers("anarci submitted to queue.")


@pytest.fixture
def ready(scripted):
    """Return the scripted service with a tool, and one job that has a result."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("a.txt", "text" * 1000)
    scripted.on("GET", "/tools", answers([{"type": "anarci", "schema": {"type": "object"}}]))
    scripted.on("GET", "/jobs", answers(FINAL))
    scripted.on("POST", "/result", answers(f"{scripted.url}/a.zip"))
    scripted.on("GET", "/a.zip", serves(archive.getvalue()))
    scripted.on("POST", "/submit-job", RECEIPT)
    return scripted


def locals_of(exc: BaseException | None) -> str:
    """Return all variables that a verbose traceback (IPython's, rich's) would show."""
    if exc is None:
        return ""
    frames = [frame for frame, _ in traceback.walk_tb(exc.__traceback__)]
    shown = [repr(value) for frame in frames for name, value in frame.f_locals.items() if name != "KEY"]
    return "\n".join([*shown, locals_of(exc.__context__), locals_of(exc.__cause__)])


def test_an_interrupted_request_leaves_no_key_in_a_verbose_traceback(scripted):
    scripted.on("GET", "/jobs", is_silent(60))
    client = Client(base_url=scripted.url, api_key=KEY)

    def interrupt():
        while not scripted.asked:
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt) as caught:
        client.jobs.get("a")
    assert "jobs" in locals_of(caught.value)
    assert KEY not in locals_of(caught.value)
    client.close()


async def test_a_cancelled_request_leaves_no_key_in_a_verbose_traceback(scripted):
    scripted.on("GET", "/jobs", is_silent(60))
    async with AsyncClient(base_url=scripted.url, api_key=KEY) as client:
        asking = asyncio.create_task(client.jobs.get("a"))
        while not scripted.asked:
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await asking
    assert KEY not in locals_of(caught.value)


def test_a_fault_of_ones_own_meter_shows_its_place_and_no_key(ready):
    def meter(done, total):
        raise RuntimeError("the progress callback failed")

    ready.on("PUT", "/upload/a.txt", answers({"message": "ok"}))
    client = Client(base_url=ready.url, api_key=KEY)
    with client, pytest.raises(RuntimeError, match="the progress callback failed") as caught:
        client.files.upload(b"text", "a.txt", progress=meter)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-1] == "meter"
    assert KEY not in locals_of(caught.value)


def test_a_connection_is_not_pickled(ready):
    import copy
    import pickle

    with Client(base_url=ready.url, api_key=KEY) as client:
        job = client.jobs.get("a")
        rows = client.jobs.list()
        for spread in (pickle.dumps, copy.deepcopy):
            for each in (job, rows, rows.with_rows(str)):
                with pytest.raises(TypeError, match="they hold a key"):
                    spread(each)
        assert copy.copy(job) == job
        assert pickle.loads(pickle.dumps(job.record)) == job.record


FORKS = """
import os, sys
from foldnote.client import Client
client = Client(base_url=sys.argv[1])
client.jobs.get("a")
child = os.fork()
if child == 0:
    client.jobs.get("a")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
client.jobs.get("a")
"""


def test_a_forked_process_has_its_own_connections(ready):
    subprocess.run([sys.executable, "-c", FORKS, ready.url], check=True, timeout=120)
    assert (ready.connections, len(ready.asked)) == (2, 3)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "socks://127.0.0.1:1", "foo:bar"])
async def test_a_proxy_that_cannot_be_used_stands_in_the_way_of_others_only(ready, monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter(()))
    with Client(base_url=ready.url, api_key=KEY) as client:
        assert client.jobs.get("a").job_name == "a"
    other = Client(base_url="http://jobs.invalid")
    with other, pytest.raises(ServiceUnreachableError, match="the proxy that ALL_PROXY"):
        other.jobs.list()
    async with AsyncClient(base_url="http://jobs.invalid") as client:
        with pytest.raises(ServiceUnreachableError, match="the proxy that ALL_PROXY"):
            await client.jobs.list()


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read_are_named(tmp_path, monkeypatch, content):
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with pytest.raises(ConfigurationError, match="SSL_CERT_FILE"):
        Client(base_url="https://jobs.invalid")


def test_an_unknown_certificate_is_reported_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter(()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_certify(tmp_path))
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        client = Client(base_url=f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with client, pytest.raises(ServiceUnreachableError, match="SSL_CERT_FILE"):
            client.jobs.list()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        server.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def _certify(folder: Path) -> tuple[Path, Path]:
    """Return a self-signed certificate for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    text = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "here.pem").write_bytes(text)
    (folder / "here.key").write_bytes(secret)
    return folder / "here.pem", folder / "here.key"


@pytest.mark.parametrize("pace", ["0", "-1", "nan"])
def test_an_invalid_rate_is_reported(monkeypatch, pace):
    monkeypatch.setenv("FOLDNOTE_REQUESTS_PER_SECOND", pace)
    with pytest.raises(ConfigurationError, match="requests_per_second"):
        Client(base_url="http://jobs.invalid")


@pytest.mark.parametrize("address", ["http://[::1", "http://a..b", "http://127.0.0.1:x"])
def test_an_invalid_address_is_reported(monkeypatch, address):
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter(()))
    with (
        Client(base_url=address) as client,
        pytest.raises(ServiceUnreachableError, match="cannot be reached"),
    ):
        client.jobs.list()


@pytest.mark.parametrize("address", ["http://[::1", "http://a..b/", "http://127.0.0.1:x/"])
def test_an_invalid_link_is_reported(ready, monkeypatch, address):
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter(()))
    ready.on("POST", "/result", answers(address))
    with Client(base_url=ready.url) as client, pytest.raises(FoldnoteError):
        client.jobs.download("a")


def test_what_json_or_an_address_cannot_hold_is_reported_and_not_sent(ready):
    with Client(base_url=ready.url, api_key=KEY) as client:
        for ask in (
            lambda: client.jobs.submit("anarci", {"sequence": "EVQ\udc80"}),
            lambda: client.jobs.validate("anarci", {"number": float("nan")}),
            lambda: client.jobs.validate("anarci", {"thing": object()}),
            lambda: client.jobs.get("a\udc80"),
            lambda: client.files.upload(b"text", "a\udc80"),
        ):
            with pytest.raises(FoldnoteError, match="cannot be sent as JSON|not valid in a URL"):
                ask()
    assert {asked.path for asked in ready.asked} <= {"/tools"}


def test_a_notebook_whose_name_is_not_text_can_submit(ready, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", os.fsdecode(b"/home/\xff.ipynb"))
    with Client(base_url=ready.url) as client:
        assert client.jobs.submit("anarci", SETTINGS).job_name
        assert client.ledger.job_names()


def test_a_day_that_a_service_asks_for_after_a_submission_is_reported_and_not_slept(ready):
    ready.on("POST", "/submit-job", answers({"error": "closed for a day"}, 503, **{"retry-after": "86400"}))
    ready.on("GET", "/jobs", answers({"error": "none"}, 404))
    with Client(base_url=ready.url) as client, pytest.raises(ServiceFaultError, match="closed for a day"):
        client.jobs.submit("anarci", SETTINGS)
    assert ready.count("POST", "/submit-job") == 1


def test_a_file_that_goes_before_it_is_sent_is_reported(ready, tmp_path, monkeypatch):
    import foldnote.client.resources.files as files

    real = files.open_source

    def open_and_lose(source, name):
        found = real(source, name)
        source.unlink()
        return found

    monkeypatch.setattr(files, "open_source", open_and_lose)
    (tmp_path / "a.txt").write_text("text")
    client = Client(base_url=ready.url, api_key=KEY)
    with client, pytest.raises(FoldnoteError, match=r"a\.txt cannot be sent: No such file") as caught:
        client.files.upload(tmp_path / "a.txt")
    assert KEY not in locals_of(caught.value)


def test_a_file_that_the_system_does_not_read_is_reported(ready):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with Client(base_url=ready.url) as client, pytest.raises(FoldnoteError, match="cannot be read: Input"):
        client.files.upload(Broken(), "a.txt")


def test_cells_and_columns_of_a_table_are_settings(ready):
    table = pd.DataFrame({"sequence": ["EVQ", "QVQ"], "number": [1, 2]})
    given = {"number": table["number"].iloc[0], "sequences": table["sequence"], "share": np.float64(0.5)}
    with Client(base_url=ready.url) as client:
        client.jobs.submit("anarci", given)
    sent = json.loads(next(asked.body for asked in ready.asked if asked.path == "/submit-job"))
    assert sent["settings"] == {"number": 1, "sequences": ["EVQ", "QVQ"], "share": 0.5}


def test_a_download_that_finds_no_room_is_reported_and_leaves_nothing(ready):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Client(base_url=ready.url) as client:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
            with pytest.raises(ResultError, match="cannot be written to") as caught:
                client.jobs.download("a")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        assert os.strerror(errno.EFBIG) in str(caught.value)
        assert not [path for path in options.cache_dir().rglob("*") if path.is_file()]
        assert client.jobs.download("a").stat().st_size > 100


def test_a_cache_that_cannot_be_used_is_reported(ready):
    (options.cache_dir() / "results").write_text("no folder")
    with Client(base_url=ready.url) as client, pytest.raises(ResultError, match="FOLDNOTE_HOME"):
        client.jobs.download("a")


def test_files_that_vanish_while_space_is_freed_do_not_disturb_a_download(ready):
    other = options.cache_dir() / "results" / "other"
    other.mkdir(parents=True)
    (other / "b.zip.part").symlink_to("gone")  # looks like a part that got its final name a moment ago
    with Client(base_url=ready.url) as client:
        assert client.jobs.download("a").is_file()


def test_event_loops_that_take_turns_keep_their_connections():
    opened = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            opened.append(self.client_address)
            super().setup()

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        client = AsyncClient(base_url=f"http://127.0.0.1:{server.server_port}", api_key=KEY)
        with asyncio.Runner() as cells, asyncio.Runner() as clicks:
            for runner in [cells, clicks] * 5:
                assert list(runner.run(client.tools.list())) == []
            clicks.run(client.close())
        server.shutdown()
    assert len(opened) == 2
