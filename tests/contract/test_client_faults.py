"""Faults of the connection: nothing is lost or submitted twice. Real sockets."""

import asyncio
import hashlib
import io
import zipfile

import pytest
from job_settings import SETTINGS
from scripted_service import answers, breaks, is_silent, serves

from foldnote.client import AsyncClient, Client
from foldnote.errors import (
    ArchiveError,
    JobFailedError,
    NotFoundError,
    RateLimitedError,
    RequestTimeoutError,
    ServiceFaultError,
    ServiceUnreachableError,
    TransportError,
)

RECORD = {
    "jobName": "a",
    "type": "anarci",
    "status": "Complete",
    "settings": SETTINGS,
    "completed": "2026-11-01T10:00:00Z",
}
NOT_FOUND = answers({"error": "no such job"}, 404)
BUSY = answers({"error": "slow down", "retryAfterSeconds": 0.1}, 429)


@pytest.fixture
def client(scripted, connect):
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("GET", "/jobs", answers(RECORD))
    return connect()


def archive(size: int = 3_000_000) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("m.pdb", "ATOM" * (size // 4))
    return content.getvalue()


def test_a_question_is_repeated_after_a_lost_answer(scripted, client):
    scripted.on("GET", "/jobs", breaks(), answers("oops", 503), answers(RECORD))
    assert client.jobs.get("a").is_final
    assert scripted.count("GET", "/jobs") == 3


def test_a_slow_service_is_a_timeout(scripted, connect, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_REQUEST_TIMEOUT_S", "0.1")
    scripted.on("DELETE", "/delete-job", is_silent(3))
    with pytest.raises(RequestTimeoutError, match=r"0\.1 s"):
        connect().jobs.delete("a")


def test_a_service_that_is_not_there_is_named():
    with (
        Client(base_url="http://127.0.0.1:9", api_key="k") as away,
        pytest.raises(ServiceUnreachableError, match=r"127\.0\.0\.1:9.*cannot be reached"),
    ):
        away.jobs.delete("a")


def test_an_ambiguous_submission_is_looked_up_and_not_repeated(scripted, client):
    scripted.on("POST", "/submit-job", breaks())
    assert client.jobs.submit("anarci", SETTINGS, job_name="a").is_final
    assert scripted.count("POST", "/submit-job") == 1


def test_a_submission_that_did_not_arrive_is_repeated(scripted, client):
    scripted.on("POST", "/submit-job", breaks(), answers("oops", 500), answers({"message": "ok"}))
    scripted.on("GET", "/jobs", NOT_FOUND)
    client.jobs.submit("anarci", SETTINGS, job_name="a")
    assert [asked.method for asked in scripted.asked[1:]] == ["POST", "GET", "POST", "GET", "POST"]


def test_a_submission_that_arrived_while_it_was_looked_up_is_met(scripted, client):
    taken = answers({"error": "taken", "code": "job_name_taken"}, 400)
    scripted.on("POST", "/submit-job", breaks(), taken)
    scripted.on("GET", "/jobs", NOT_FOUND, answers(RECORD))
    assert client.jobs.submit("anarci", SETTINGS, job_name="a").is_final


def test_a_submission_that_always_fails_is_an_error_in_the_end(scripted, client, monkeypatch):
    monkeypatch.setattr("foldnote.client.submission.idempotency.retry_delays", lambda: iter([0.01, 0.01]))
    scripted.on("POST", "/submit-job", answers({"error": "broken"}, 500))
    scripted.on("GET", "/jobs", NOT_FOUND)
    with pytest.raises(ServiceFaultError, match="broken"):
        client.jobs.submit("anarci", SETTINGS, job_name="a")
    assert scripted.count("POST", "/submit-job") == 3


def test_a_deletion_is_not_repeated(scripted, client):
    scripted.on("DELETE", "/delete-job", breaks())
    with pytest.raises(TransportError):
        client.jobs.delete("a")
    assert scripted.count("DELETE", "/delete-job") == 1


@pytest.mark.parametrize("method", ["get", "delete"])
def test_a_slower_pace_is_obeyed(scripted, client, method):
    scripted.on("GET", "/jobs", BUSY, BUSY, answers(RECORD))
    scripted.on("DELETE", "/delete-job", BUSY, BUSY, answers({"message": "gone"}))
    getattr(client.jobs, method)("a")
    assert len(scripted.asked) == 3


def test_a_pause_of_an_hour_is_reported_and_not_slept(scripted, client):
    scripted.on("GET", "/jobs", answers("later", 429, **{"retry-after": "3600"}))
    with pytest.raises(RateLimitedError) as caught:
        client.jobs.get("a")
    assert caught.value.retry_after_s == 3600


def test_a_storm_of_refusals_ends(scripted):
    scripted.on("GET", "/jobs", BUSY, BUSY, BUSY, answers(RECORD))

    async def storm():
        async with AsyncClient(base_url=scripted.url, api_key="k") as api:
            return await asyncio.gather(*(api.jobs.get("a") for _ in range(8)))

    assert len(asyncio.run(storm())) == 8


def test_waiting_survives_an_outage(scripted, client, monkeypatch):
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda: iter([]))
    running = answers(RECORD | {"status": "Running", "completed": None})
    scripted.on("GET", "/jobs", running, breaks(), answers("", 503), breaks(), answers(RECORD))
    assert client.jobs.finish("a", 30).job_name == "a"


def test_waiting_for_a_deleted_job_ends(scripted, client):
    scripted.on("GET", "/jobs", answers(RECORD | {"status": "Running"}), NOT_FOUND)
    with pytest.raises(NotFoundError):
        client.jobs.finish("a", 30)


def test_an_interrupted_download_resumes_where_it_was(scripted, client):
    content = archive()
    digest = hashlib.sha256(content).hexdigest()
    half = breaks(content[:1_500_000], len(content), etag=f'"{digest}"')
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", half, serves(content, etag=f'"{digest}"'))
    assert client.jobs.download("a").read_bytes() == content
    resumed = [asked.headers.get("range") for asked in scripted.asked if asked.path == "/f"]
    assert resumed == [None, "bytes=1500000-"]


async def test_an_interrupted_download_resumes_when_awaited(scripted, client):
    content = archive()
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", breaks(content[:1_500_000], len(content)), breaks(), serves(content))
    async with AsyncClient(base_url=scripted.url, api_key="k") as api:
        assert (await api.jobs.download("a")).read_bytes() == content


def test_a_download_without_range_support_restarts_from_the_beginning(scripted, client):
    content = archive()
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", breaks(content[:1_500_000], len(content)), answers(content))
    assert client.jobs.download("a").read_bytes() == content


def test_a_range_that_begins_elsewhere_is_not_appended(scripted, client):
    content = archive()
    wrong = answers(content[7:], 206, **{"content-range": f"bytes 7-{len(content) - 1}/{len(content)}"})
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", breaks(content[:1_500_000], len(content)), wrong, serves(content))
    assert client.jobs.download("a").read_bytes() == content


def test_a_link_that_became_too_old_is_asked_for_again(scripted, client):
    content = archive()
    scripted.on(
        "POST", "/result", answers({"url": f"{scripted.url}/old"}), answers({"url": f"{scripted.url}/f"})
    )
    scripted.on("GET", "/old", answers({"error": "too late"}, 403))
    scripted.on("GET", "/f", serves(content))
    assert client.jobs.download("a").read_bytes() == content


@pytest.mark.parametrize(
    "said",
    [
        answers(archive(), etag=f'"{"0" * 64}"'),
        answers(archive()[:-40]),
        answers(b"<html>not an archive</html>"),
    ],
    ids=["wrong hash", "truncated", "no archive"],
)
def test_a_damaged_download_is_refused_and_not_kept(scripted, client, home, said):
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", said)
    with pytest.raises(ArchiveError):
        client.jobs.download("a")
    assert not [path for path in (home / "cache").rglob("*") if path.is_file()]


def test_a_download_tells_how_far_it_is(scripted, client):
    content = archive()
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", breaks(content[:1_500_000], len(content)), serves(content))
    told = []
    client.jobs.download("a", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(content), len(content))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_an_archive_that_is_being_built_is_waited_for_to_the_end(scripted, client, monkeypatch):
    monkeypatch.setattr("foldnote.client.downloads.download.poll_delays", lambda **_: iter([0.01] * 99))
    content = archive()
    parent = RECORD | {"type": "batch", "batchStatus": "Complete", "status": "Complete"}
    building = answers(parent | {"batchStatus": "Aggregating"})
    built = answers(parent | {"resultUrl": f"{scripted.url}/f"})
    scripted.on("GET", "/jobs", answers(parent), building, building, built)
    preparing = answers({"status": "preparing", "jobName": "a", "message": "poll"}, 202)
    scripted.on("POST", "/result", preparing, answers(f"{scripted.url}/f"))
    scripted.on("GET", "/f", serves(content))
    assert client.jobs.download("a").read_bytes() == content
    assert (scripted.count("POST", "/result"), scripted.count("GET", "/jobs")) == (2, 4)


def test_waiting_ends_if_an_archive_cannot_be_built(scripted, client, monkeypatch):
    monkeypatch.setattr("foldnote.client.downloads.download.poll_delays", lambda **_: iter([0.01] * 99))
    parent = RECORD | {"type": "batch", "status": "Complete"}
    scripted.on("GET", "/jobs", answers(parent | {"batchStatus": "Complete"}),
                answers(parent | {"batchStatus": "AggregationError"}))  # fmt: skip
    scripted.on("POST", "/result", answers({"status": "preparing"}, 202))
    with pytest.raises(JobFailedError, match="could not be built"):
        client.jobs.download("a")


def test_two_downloads_at_once_do_not_meet(scripted, client):
    content = archive()
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", serves(content))

    async def both():
        async with AsyncClient(base_url=scripted.url, api_key="k") as api:
            return await asyncio.gather(api.jobs.download("a"), api.jobs.download("a"))

    first, second = asyncio.run(both())
    assert first == second
    assert first.read_bytes() == content


def test_a_result_without_times_is_not_taken_from_the_cache(scripted, client):
    scripted.on("GET", "/jobs", answers(RECORD | {"completed": None}))
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", answers(b"old"), answers(b"new"))
    assert client.jobs.download("a", "x.txt").read_bytes() == b"old"
    assert client.jobs.download("a", "x.txt").read_bytes() == b"new"


def test_an_upload_is_repeated_whole(scripted, client, tmp_path):
    path = tmp_path / "big.pdb"
    path.write_bytes(b"ATOM" * 700_000)
    scripted.on("PUT", "/upload/big.pdb", breaks(), answers({"message": "ok"}))
    client.files.upload(path)
    assert [len(asked.body) for asked in scripted.asked] == [2_800_000, 2_800_000]


def test_an_interrupted_wait_gives_its_things_back(scripted, client):
    """A cancelled awaitable ends at once and releases its resources."""
    scripted.on("GET", "/jobs", answers(RECORD | {"status": "Running"}))

    async def cancelled():
        async with AsyncClient(base_url=scripted.url, api_key="k") as api:
            task = asyncio.create_task(api.jobs.finish("a"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(cancelled())


def serve_twice(scripted, content: bytes, etag: str) -> None:
    scripted.on("GET", "/jobs", answers(RECORD), answers(RECORD | {"jobName": "b"}))
    scripted.on("POST", "/result", answers({"url": f"{scripted.url}/f"}))
    scripted.on("GET", "/f", answers(content, etag=f'"{etag}"'))


def test_a_content_that_is_here_is_stored_once_and_not_read_again(scripted, client):
    content = archive()
    serve_twice(scripted, content, hashlib.sha256(content).hexdigest())
    read = []
    first = client.jobs.download("a")
    second = client.jobs.download("b", progress=lambda done, _total: read.append(done))
    assert first != second
    assert first.stat().st_ino == second.stat().st_ino
    assert (second.read_bytes(), read) == (content, [])


async def test_a_content_that_is_here_is_not_read_again_when_awaited(scripted, client):
    content = archive()
    serve_twice(scripted, content, hashlib.sha256(content).hexdigest())
    first = client.jobs.download("a")
    async with AsyncClient(base_url=scripted.url, api_key="k") as api:
        second = await api.jobs.download("b")
    assert first.stat().st_ino == second.stat().st_ino


def test_a_kept_content_that_was_written_to_is_fetched_again(scripted, client):
    content = archive()
    serve_twice(scripted, content, hashlib.sha256(content).hexdigest())
    first = client.jobs.download("a")
    first.write_bytes(b"changed by somebody")
    assert client.jobs.download("b").read_bytes() == content
