"""A stored archive damaged by an engine or the disk: every route that reads it refuses it and says so."""

import hashlib
import io
import json
import stat
import time
import zipfile
from functools import partial

import httpx
import pytest
from chaos import marked, rows
from service_process import SETTINGS
from waiting import wait_until

MB = 1 << 20
PIECES = range(0, 100, 1)


def archive(name="x.pdb", content=b"ATOM\n", mode=stat.S_IFREG):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        info = zipfile.ZipInfo(name)
        info.external_attr = (mode | 0o600) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        made.writestr(info, content)
        made.writestr("settings.json", "{}")
    return stream.getvalue()


SPOILT = {
    "traversal": partial(archive, "../../../../escaped.pdb"),
    "absolute": partial(archive, "/tmp/escaped.pdb"),
    "backslash": partial(archive, "..\\escaped.pdb"),
    "link": partial(archive, content=b"/etc/passwd", mode=stat.S_IFLNK),
    "device": partial(archive, content=b"", mode=stat.S_IFCHR),
    "bomb": lambda: archive(content=bytes(101 * MB)),
    "no archive": lambda: b"hello",
    "empty": bytes,
}


@pytest.fixture(scope="module")
def spoil(service):
    """Return a complete job and a function that replaces its stored archive."""
    if service.client.get("/jobs", params={"jobName": "spoilt.output-1"}).status_code == 404:
        service.run("spoilt.output-1")
    found = rows(service, "SELECT result_sha256 FROM jobs WHERE name = 'spoilt.output-1'")[0][0]
    path = service.folder / "data" / "objects" / found[:2] / found

    def exchange(content):
        path.write_bytes(content)

    exchange.good = path.read_bytes()
    yield exchange
    path.write_bytes(exchange.good)  # a worker may return to this module


def ask(service, job="spoilt.output-1"):
    """Send every request that reads the inside of the job's result."""
    settings = {"pdbFile": f"{job}/x.pdb", "chain": "A"}
    body = {"jobName": "reader", "type": "af2bind", "settings": settings}
    return [
        service.result(job, fileName="x.pdb"),
        service.result(job, pdbsOnly=True),
        service.client.post("/submit-job", json=body),
        service.client.post(
            "/submit-batch", json={"batchName": "readers", "type": "af2bind", "settings": [settings]}
        ),
    ]


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_archive_is_refused_wherever_it_is_read(service, spoil, kind):
    spoil(SPOILT[kind]())
    answers = ask(service)
    assert [answer.status_code for answer in answers] == [404, 404, 400, 400]
    assert {answer.json()["code"] for answer in answers[:2]} == {"result_damaged"}
    verdict = {"type": "af2bind", "settings": {"pdbFile": "spoilt.output-1/x.pdb", "chain": "A"}}
    assert service.client.post("/validate-job", json=verdict).status_code == 200
    assert httpx.get(service.result("spoilt.output-1").json()).status_code == 200
    assert not [path for path in service.folder.rglob("*") if "escaped" in path.name]


def test_an_archive_that_ends_at_each_hundredth_is_refused(service, spoil):
    for percent in PIECES:
        spoil(spoil.good[: len(spoil.good) * percent // 100])
        answers = ask(service)[:3]
        assert [answer.status_code for answer in answers] == [404, 404, 400], percent


def test_a_batch_with_a_spoilt_result_says_that_it_has_no_archive(make_service):
    """The row's result is damaged between its run and the building of the archive, during a restart of the service."""
    service = make_service("--no-rate-limit")
    body = {
        "batchName": "batch",
        "type": "anarci",
        "settings": [SETTINGS],
        "jobNames": ["row.sleep-1.output-1"],
    }
    assert service.client.post("/submit-batch", json=body).status_code == 200
    wait_until(lambda: marked(service), "the engine, which runs on without the service")
    service.kill()
    spoil_result(wait_for_result(service))
    service.start()
    batch = service.wait("batch")
    assert (batch["status"], batch["batchStatus"]) == ("Stopped", "AggregationFailed")
    assert "an unsafe path" in batch["error"]


def spoil_result(results):
    """Damage the result as an engine can that overwrites its attempt's files: the outcome names the damaged archive."""
    content = archive("../escaped.pdb")
    results.write_bytes(content)
    path = results.with_name("outcome.json")
    named = {"result_size_bytes": len(content), "result_sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps(json.loads(path.read_text()) | named))


def wait_for_result(service):
    """Wait for the archive that a runner left while no service ran."""
    until = time.monotonic() + 30
    while not (found := list((service.folder / "data" / "jobs").glob("*/*/*/*/outcome.json"))):
        assert time.monotonic() < until
        time.sleep(0.05)
    return found[0].with_name("result.zip")
