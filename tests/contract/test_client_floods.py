"""A service that sends without end, or far too much, fills neither memory nor disk."""

import gzip
import os
import subprocess
import sys

import pytest
from scripted_service import answers, floods

from foldnote.client import AsyncClient, Client
from foldnote.errors import ProtocolError, RequestTimeoutError, ResultError

RECORD = {"jobName": "a", "type": "anarci", "status": "Complete", "completed": "2026-11-01T10:00:00Z"}
CONFINED = """
import resource, sys
from foldnote.client import Client
from foldnote.errors import ProtocolError
client = Client(base_url=sys.argv[1], api_key="k")
client.tools.list()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
for _ in range(2):
    try:
        client.jobs.get("a")
    except ProtocolError as exc:
        print(exc)
"""


@pytest.fixture(params=["at once", "awaited"])
async def api(request, scripted, tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path))
    monkeypatch.setenv("FOLDNOTE_LARGEST_ANSWER_MB", "1")
    monkeypatch.setenv("FOLDNOTE_LARGEST_DOWNLOAD_GB", "0.001")
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "0.3")
    if request.param == "at once":
        with Client(base_url=scripted.url, api_key="k") as client:
            yield client
    else:
        async with AsyncClient(base_url=scripted.url, api_key="k") as client:
            yield client


@pytest.mark.parametrize(
    "said",
    [
        floods(),
        answers(b"[" + b" " * 2_000_000 + b"]"),
        answers(gzip.compress(b" " * 2_000_000), content_encoding="gzip"),
        answers(b"{}", content_encoding="br"),
        answers(gzip.compress(gzip.compress(b"{}")), content_encoding="gzip, gzip"),
    ],
    ids=["endless", "announced", "packed", "packed otherwise", "packed twice"],
)
async def test_an_answer_beyond_the_limit_is_refused(api, settle, scripted, said):
    scripted.on("GET", "/jobs", said)
    with pytest.raises(ProtocolError, match="larger than 1 MB and was not read|compressed its answer"):
        await settle(api.jobs.get("a"))
    assert scripted.count("GET", "/jobs") == 1


async def test_an_answer_that_trickles_is_given_up(api, settle, scripted):
    scripted.on("DELETE", "/delete-job", floods(b" ", 0.02))
    with pytest.raises(RequestTimeoutError, match="sends too slowly"):
        await settle(api.jobs.delete("a"))


@pytest.mark.parametrize(
    "said", [floods(), floods(content_length="9999999999")], ids=["endless", "announced"]
)
async def test_a_download_beyond_the_limit_is_refused_and_nothing_stays(
    api, settle, scripted, tmp_path, said
):
    scripted.on("GET", "/jobs", answers(RECORD))
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", said)
    with pytest.raises(ResultError, match="larger than 0.001 GB.*FOLDNOTE_LARGEST_DOWNLOAD_GB"):
        await settle(api.jobs.download("a"))
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


async def test_a_download_that_trickles_is_given_up(api, settle, scripted, monkeypatch):
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda: iter([0.01] * 2))
    scripted.on("GET", "/jobs", answers(RECORD))
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", floods(b"x", 0.02))
    with pytest.raises(RequestTimeoutError, match="sends too slowly"):
        await settle(api.jobs.download("a"))
    assert scripted.count("GET", "/f") == 3


def test_answers_without_end_fit_into_little_memory(scripted, tmp_path):
    """An endless response, and 400 MB compressed to 2 MB, are read with 300 MB of memory to spare."""
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    bomb = gzip.compress(b" " * 400_000_000, 1)
    scripted.on("GET", "/jobs", floods(), answers(bomb, content_encoding="gzip"))
    run = subprocess.run(
        [sys.executable, "-c", CONFINED, scripted.url], capture_output=True, text=True, timeout=60,
        env=os.environ | {"FOLDNOTE_HOME": str(tmp_path)}, check=True,
    )  # fmt: skip
    assert run.stdout.count("larger than 64 MB") == 2
