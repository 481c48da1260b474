"""Edge cases of the client: prefixes, names, routes of other deployments, all kinds of homes."""

import os
import re
import zipfile
from pathlib import Path

import pytest
from job_settings import SETTINGS
from scripted_service import answers, breaks, serves

from foldnote.client import AsyncClient, Client
from foldnote.client.core.operations import operation
from foldnote.client.resources.files import FilesOperations
from foldnote.client.resources.job_handle import JobHandleOperations
from foldnote.client.resources.jobs import JobsOperations
from foldnote.client.resources.tools import ToolsOperations
from foldnote.errors import (
    BadRequestError,
    ConfigurationError,
    JobFailedError,
    JobNameTakenError,
    NotFoundError,
    RateLimitedError,
    ServiceUnreachableError,
    SettingsError,
    TooLargeError,
    UnauthorizedError,
)
from foldnote.models import JobStatus

NOUNS = {
    "jobs": JobsOperations,
    "files": FilesOperations,
    "tools": ToolsOperations,
    "job": JobHandleOperations,
}
RUNNING = {"jobName": "a", "type": "anarci", "status": "Running", "settings": SETTINGS}
FAILED = RUNNING | {"status": "Failed", "error": "out of memory"}


@pytest.mark.parametrize(("noun", "kind"), NOUNS.items())
def test_every_operation_is_called_by_a_contract(noun, kind):
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    called = set(re.findall(rf"\b{'(?:job|again|first|second)' if noun == 'job' else noun}\.(\w+)\(", text))
    defined = {name for name, value in vars(kind).items() if isinstance(value, operation)}
    assert defined <= called


@pytest.mark.parametrize("prefix", ["/v1", "/api", "/v1/"])
def test_every_prefix_of_the_interface_works(http, key, settings, name, prefix):
    client = Client(base_url=f"http://testserver{prefix}", api_key=key, http_client=http)
    job = client.jobs.submit("anarci", settings, job_name=name)
    job.finish(60)
    assert zipfile.is_zipfile(job.download())


def test_a_wrong_key_is_reported_as_such(http):
    with pytest.raises(UnauthorizedError):
        Client(base_url="http://testserver", api_key="fn-wrong", http_client=http).jobs.list()


async def test_every_problem_is_reported_before_anything_is_sent(api, settle):
    with pytest.raises(SettingsError) as caught:
        await settle(api.jobs.submit("anarci", {"sequence": "EVQ1", "schema": "imgt"}, job_name="a b"))
    assert {problem.field for problem in caught.value.problems} >= {"jobName", "sequence", "schema"}


async def test_a_taken_name_of_another_tool_is_reported(api, settle, settings, name):
    await settle(api.jobs.submit("anarci", settings, job_name=name))
    with pytest.raises(JobNameTakenError, match="runs the tool anarci, this one abodybuilder"):
        await settle(api.jobs.submit("abodybuilder", {"heavy": "EVQL", "light": "DIQM"}, job_name=name))


async def test_a_job_handle_refreshes_stops_reads_logs_and_deletes(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.chatter-3.sleep-60"))
    assert (await settle(job.refresh())).job_name == job.job_name
    await settle(job.stop())
    await settle(api.jobs.stop(job.job_name))
    assert (await settle(api.jobs.wait([job.job_name], 30)))[job.job_name].status is JobStatus.STOPPED
    assert len((await settle(job.logs(1))).splitlines()) <= 1
    await settle(job.delete())
    with pytest.raises(NotFoundError, match=name):
        await settle(job.refresh())
    with pytest.raises(BadRequestError):
        await settle(api.jobs.delete(job.job_name))


async def test_the_result_of_a_new_job_under_an_old_name_is_its_own(api, settle, settings, name):
    paths = []
    for _ in range(2):
        job = await settle(api.jobs.submit("anarci", settings, job_name=name))
        await settle(api.jobs.finish(name, 60))
        paths.append(await settle(api.jobs.download(name)))
        await settle(job.delete())
    assert paths[0] != paths[1]
    assert [path.name for path in paths[1].parent.glob("[!.]*")] == [f"{name}.zip"]


@pytest.mark.parametrize("wanted", ["a b.pdb", "ä€.pdb", "50%.pdb", "sharp#1.pdb", "plus+and&.pdb"])
async def test_any_file_name_arrives_as_it_is(api, settle, wanted):
    assert await settle(api.files.upload(b"content", wanted)) == wanted
    assert wanted in {file.file_name for file in (await settle(api.files.list(limit=100))).files}


async def test_waiting_for_nothing_ends_at_once(api, settle):
    assert await settle(api.jobs.wait([])) == {}


def test_a_deployment_stops_jobs_by_another_route(scripted, connect):
    scripted.on("GET", "/jobs", answers(RUNNING))
    scripted.on("POST", "/cancelJob", answers("ok"))
    connect().jobs.stop("a")
    assert scripted.asked[-1].body == b'{"jobName":"a"}'


@pytest.mark.parametrize("refusal", [answers("", 404), answers({"message": "Forbidden"}, 403)])
def test_a_deployment_stops_batches_by_another_route(scripted, connect, refusal):
    parent = RUNNING | {"type": "batch", "batchStatus": "Running"}
    scripted.on("POST", "/stop-job", refusal)
    scripted.on("GET", "/jobs", answers(parent))
    scripted.on("POST", "/cancelBatch", answers("ok"))
    connect().jobs.stop("a")
    assert scripted.asked[-1].body == b'{"batchName":"a"}'


def test_nothing_is_cancelled_that_has_ended(scripted, connect):
    scripted.on("GET", "/jobs", answers(FAILED))
    connect().jobs.stop("a")
    assert scripted.count("POST", "/cancelJob") == 0


def test_a_deployment_without_logs_says_so(scripted, connect):
    scripted.on("GET", "/jobs", answers(FAILED))
    with pytest.raises(NotFoundError, match="does not provide logs"):
        connect().jobs.logs("a")
    with pytest.raises(JobFailedError, match="out of memory") as caught:
        connect().jobs.finish("a")
    assert caught.value.log_tail == ""


def test_a_list_that_ignores_paging_ends(scripted, connect):
    scripted.on("GET", "/jobs", answers({"jobs": [FAILED], "startKey": "always the same"}), answers(FAILED))
    scripted.on("GET", "/jobs", *[answers({"jobs": [FAILED], "startKey": "same"})] * 2, answers(FAILED))
    done = connect().jobs.wait(["a", "b", "c"])
    assert set(done) == {"a", "b", "c"}


def test_a_pause_may_be_given_as_a_date(scripted, connect):
    when = {"retry-after": "Fri, 20 Nov 2026 13:00:00 GMT", "date": "Fri, 20 Nov 2026 12:00:00 GMT"}
    scripted.on("GET", "/jobs", answers({"error": "later"}, 429, **when))
    with pytest.raises(RateLimitedError) as caught:
        connect().jobs.get("a")
    assert caught.value.retry_after_s == 3600


def test_an_absent_service_is_reported_soon(monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    client = Client(base_url="http://127.0.0.1:9", api_key="k")
    with client, pytest.raises(ServiceUnreachableError, match="cannot be reached"):
        client.jobs.submit("anarci", SETTINGS)
    assert sum(pauses) < 2


def test_an_address_of_version_6_is_reached(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ServiceUnreachableError, match=r"http://\[::1\]:9/jobs cannot be reached"):
        Client(base_url="http://[::1]:9", api_key="k").jobs.list()


def test_a_proxy_is_not_asked_for_this_machine(scripted, connect, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    scripted.on("GET", "/jobs", answers(RUNNING))
    assert connect().jobs.get("a").job_name == "a"


def test_a_home_that_cannot_be_written_still_asks_a_service(scripted, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("POST", "/submit-job", answers("a submitted to queue."))
    with monkeypatch.context() as patch:
        client = Client(base_url=scripted.url, api_key="k")
        patch.setenv("FOLDNOTE_HOME", str(tmp_path / "file"))
        assert client.jobs.submit("anarci", SETTINGS, job_name="a").job_name == "a"
        client.close()


def test_a_relative_link_belongs_to_the_service(scripted, connect, tmp_path):
    scripted.on("GET", "/jobs", answers(RUNNING | {"status": "Complete"}))
    scripted.on("POST", "/result", answers('"/files/m.pdb"'))
    scripted.on("GET", "/files/m.pdb", serves(b"ATOM"))
    assert connect().jobs.download("a", "m.pdb").read_bytes() == b"ATOM"


def test_a_key_without_an_address_is_refused():
    for kind in (Client, AsyncClient):
        with pytest.raises(ConfigurationError, match="which service"):
            kind(api_key="k")


DONE = RUNNING | {"status": "Complete", "completed": "2026-11-01T10:00:00Z"}


def interrupted(scripted, connect, etag):
    """Return a client whose download broke off for good, as when its process ends."""
    scripted.on("GET", "/jobs", answers(DONE))
    scripted.on("POST", "/result", answers('"/m.pdb"'))
    first = breaks(b"ATOM" * 100, 800, **({"etag": etag} if etag else {}))
    scripted.on("GET", "/m.pdb", first, breaks())
    with pytest.raises(ServiceUnreachableError):
        connect().jobs.download("a", "m.pdb")


def asked_for(scripted):
    asked = scripted.asked[-1].headers
    return asked.get("range"), asked.get("if-range")


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr("foldnote.client.core.connection.retry_delays", lambda *_: iter([0.0]))


def test_the_next_process_resumes_a_download(scripted, connect, hasty):
    interrupted(scripted, connect, '"v1"')
    scripted.on("GET", "/m.pdb", serves(b"ATOM" * 200, etag='"v1"'))
    path = connect().jobs.download("a", "m.pdb")
    assert path.read_bytes() == b"ATOM" * 200
    assert asked_for(scripted) == ("bytes=400-", '"v1"')
    assert [each.name for each in path.parent.glob("[!.]*")] == ["m.pdb"]


@pytest.mark.parametrize("answer", [answers("HETATM", etag='"v2"'), serves(b"HETA" * 200, etag='"v2"')])
def test_what_arrived_of_another_content_is_not_used(scripted, connect, hasty, answer):
    interrupted(scripted, connect, '"v1"')
    scripted.on("GET", "/m.pdb", answer)
    assert connect().jobs.download("a", "m.pdb").read_bytes()[:4] == b"HETA"


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_what_arrived_of_an_unmarked_content_is_dropped(scripted, connect, hasty, etag):
    interrupted(scripted, connect, etag)
    scripted.on("GET", "/m.pdb", serves(b"HETA" * 200))
    assert connect().jobs.download("a", "m.pdb").read_bytes() == b"HETA" * 200
    assert asked_for(scripted) == (None, None)


def test_the_least_recently_used_results_are_removed_from_the_cache(scripted, connect, monkeypatch, home):
    monkeypatch.setenv("FOLDNOTE_RESULT_CACHE_GB", "0.000001")
    old, young = home / "cache" / "results" / "old", home / "cache" / "results" / "young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "a.zip").write_bytes(b"x" * 2000)
    os.utime(old, (1, 1))
    scripted.on("GET", "/jobs", answers(DONE))
    scripted.on("POST", "/result", answers('"/m.pdb"'))
    scripted.on("GET", "/m.pdb", serves(b"ATOM" * 1000))
    path = connect().jobs.download("a", "m.pdb")
    assert (path.is_file(), young.exists(), old.exists()) == (True, True, False)


def test_a_large_file_goes_by_a_presigned_link(scripted, connect, tmp_path):
    (tmp_path / "large.pdb").write_bytes(b"ATOM" * 1000)
    scripted.on("PUT", "/upload/large.pdb", answers("", 413))
    scripted.on(
        "POST", "/getPresignedUploadUrl", answers({"uploadUrl": f"{scripted.url}/s3?sig=1", "key": "u/1"})
    )
    scripted.on("PUT", "/s3", answers(""))
    assert connect().files.upload(tmp_path / "large.pdb", folder="study") == "study/large.pdb"
    asked = scripted.asked[-1]
    assert (asked.body, asked.headers.get("x-api-key")) == (b"ATOM" * 1000, None)
    assert b'"filename":"study/large.pdb"' in scripted.asked[-2].body


def test_a_file_that_is_too_large_for_every_way_is_refused(scripted, connect):
    scripted.on("PUT", "/upload/large.pdb", answers({"error": "at most 5 MB"}, 413))
    with pytest.raises(TooLargeError, match="at most 5 MB"):
        connect().files.upload(b"x", "large.pdb")
