"""A service with its contents in a bucket, as seen by users and administrators, and with a failing object store."""

import io
import os
import shutil
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from bucket_process import BucketService
from chaos import rows
from forked_python import run_forked
from node_attempts import RunningNode
from node_service import NodeService, offer_thread_executor
from object_server import AWAY, CREDENTIALS, object_server, refusal
from probe_engine import write_probe_engine
from service_process import PDB, SETTINGS, TOOLS

from foldnote.client import Client
from foldnote.errors import TooLargeError
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.node.order import NodeInput
from foldnote.service.node.service_link import fetch_input

ADMIN = "import sys; from foldnote.service.admin import main; sys.exit(main())"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """Start a service for tests that do not disturb each other."""
    running = BucketService(tmp_path_factory.mktemp("bucket")).start()
    yield running
    running.end()


@pytest.fixture
def own(tmp_path):
    """Start a service for a test that disturbs it."""
    running = BucketService(tmp_path).start()
    yield running
    if running.process.poll() is None:
        running.end()


def test_a_result_is_downloaded_from_the_bucket_by_a_link_that_it_signed(shared, name):
    shared.run(f"{name}.output-1")
    answer = httpx.get(shared.result(f"{name}.output-1").json())
    assert answer.status_code == 307
    place = answer.headers["location"]
    assert place.startswith(f"{shared.gate.url}/{shared.bucket}/lab/objects/")
    assert httpx.get(place, headers={"range": "bytes=0-1"}).content == b"PK"
    shared.assert_whole(f"{name}.output-1")


def test_the_client_verifies_what_it_gets_from_the_bucket(shared, name):
    shared.run(f"{name}.output-1")
    with Client(base_url=shared.url, api_key=shared.key) as client:
        path = client.jobs.get(f"{name}.output-1").download()
    assert zipfile.is_zipfile(path)
    assert not any(shared.key in line for line in shared.gate.requests)


def test_a_deleted_job_has_no_link(shared, name):
    shared.run(f"{name}.output-1")
    link = shared.result(f"{name}.output-1").json()
    assert (
        shared.client.request("DELETE", "/delete-job", json={"jobName": f"{name}.output-1"}).status_code
        == 200
    )
    assert httpx.get(link).status_code == 404


def test_files_of_a_result_are_extracted_without_a_local_copy(shared, name):
    shared.run(f"{name}.output-1")
    shared.drop_copies()
    link = shared.result(f"{name}.output-1", fileName="file-0.txt").json()
    assert httpx.get(link, follow_redirects=True).content == b"output 0\n"


def test_a_job_gets_its_inputs_from_the_bucket(shared, name):
    content = f"REMARK {name}\n{PDB}".encode()
    for number in "12":
        assert shared.client.put(f"/upload/{name}{number}.pdb", content=content).status_code == 200
    shared.drop_copies()
    settings = {"pdbFiles": [f"{name}1.pdb", f"{name}2.pdb"]}
    shared.run(f"{name}.output-1", type="align-pdbs", settings=settings)
    shared.assert_whole(f"{name}.output-1")


def test_a_file_of_the_account_is_sent_by_the_service_since_its_key_is_for_it_only(shared, name):
    shared.client.put(f"/upload/{name}.txt", content=b"0123456789")
    for _ in range(2):  # with and without a local copy
        whole = shared.client.get(f"/files/{name}.txt")
        part = shared.client.get(f"/files/{name}.txt", headers={"range": "bytes=2-4"})
        beyond = shared.client.get(f"/files/{name}.txt", headers={"range": "bytes=10-"})
        assert (whole.status_code, whole.content) == (200, b"0123456789")
        assert (part.status_code, part.content) == (206, b"234")
        assert part.headers["content-range"] == "bytes 2-4/10"
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */10")
        assert whole.headers["etag"] == part.headers["etag"]
        assert f"{name}.txt" in whole.headers["content-disposition"]
        shared.drop_copies()


def test_a_batch_has_an_archive_of_results_from_the_bucket(shared, name):
    names = [f"{name}-{number}.output-1" for number in range(2)]
    body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * 2, "jobNames": names}
    assert shared.client.post("/submit-batch", json=body).status_code == 200
    assert shared.wait(name)["status"] == "Complete"
    shared.drop_copies()
    content = httpx.get(shared.result(name).json(), follow_redirects=True).content
    assert zipfile.is_zipfile(io.BytesIO(content))


def test_a_run_sees_no_credentials(shared, name):
    shared.run(f"{name}.env")
    link = shared.result(f"{name}.env", fileName="environment.json").json()
    found = httpx.get(link, follow_redirects=True).json()
    assert not [key for key in found if key.startswith("AWS_")]
    log = (shared.folder / "service.log").read_text()
    assert not [word for word in CREDENTIALS.values() if word.startswith("testing") and word in log]


def test_a_ready_service_has_a_usable_bucket(shared):
    assert shared.client.get("/readyz").status_code == 200


def test_a_deleted_file_leaves_the_bucket(own):
    own.client.put("/upload/a.txt", content=b"of nobody any more")
    (key,) = own.contents()
    own.client.delete("/delete-file", params={"filePath": "a.txt"})
    claim = own.folder / "data" / "copies" / "claims" / key.rpartition("/")[2]
    old = time.time() - 7200
    os.utime(claim, (old, old))
    until = time.monotonic() + 60
    while own.contents() or list((own.folder / "data" / "copies").glob("??/*")):
        assert time.monotonic() < until
        time.sleep(0.2)


@pytest.mark.parametrize(
    "answer",
    [AWAY, pytest.param(refusal("403 Forbidden", "InvalidAccessKeyId"), marks=pytest.mark.exhaustive)],
)
def test_a_result_waits_for_a_store_that_is_away(own, answer):
    run_until_the_result_waits(own, answer)
    refused = own.client.put("/upload/a.txt", content=b"one")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    reasons = own.client.get("/readyz").json()["reasons"]
    assert [each["code"] for each in reasons] == ["object_store_unusable"]
    own.gate.answer = None
    own.assert_whole("late.output-1")


def run_until_the_result_waits(service: BucketService, answer: bytes) -> None:
    service.gate.answer = answer
    assert service.submit("late.output-1").status_code == 200
    until = time.monotonic() + 60
    while service.job("late.output-1").get("message") != "The result waits for the object store.":
        assert time.monotonic() < until, service.job("late.output-1")
        time.sleep(0.1)


def test_a_service_that_is_killed_while_it_stores_a_result_stores_it_when_it_starts_again(own):
    run_until_the_result_waits(own, AWAY)
    own.kill()
    own.gate.answer = None
    own.start()
    own.assert_whole("late.output-1")
    assert own.client.get("/jobs").json()["statuses"]["Complete"] == 1


def test_a_full_store_is_reported(own):
    own.gate.answer = refusal("507 Insufficient Storage", "XMinioStorageFull")
    assert own.client.put("/upload/a.txt", content=b"one").status_code == 507
    own.gate.answer = None
    assert own.client.put("/upload/a.txt", content=b"one").status_code == 200


def test_a_service_does_not_start_without_its_bucket(own):
    own.end()
    own.gate.answer = refusal("403 Forbidden", "SignatureDoesNotMatch")
    process = own.spawn()
    with process.stdout:
        assert (process.stdout.readline(), process.wait(60)) == (b"", 2)
    told = (own.folder / "service.log").read_text().splitlines()[-1]
    assert "refuses the service's credentials (SignatureDoesNotMatch)" in told
    assert "[objects]" in told


def test_a_store_that_users_cannot_reach_is_read_by_the_service(tmp_path):
    hidden = BucketService(tmp_path, has_links=False).start()
    hidden.run("a.output-1")
    hidden.drop_copies()
    answer = httpx.get(hidden.result("a.output-1").json())
    assert answer.status_code == 200
    assert zipfile.is_zipfile(io.BytesIO(answer.content))
    hidden.end()


def test_a_result_missing_from_the_bucket_is_reported(shared, name):
    job = f"{name}.output-1"
    shared.run(job)
    link = shared.result(job).json()
    shared.delete(httpx.get(link).headers["location"].partition("?")[0].partition("/lab/")[2])
    assert zipfile.is_zipfile(io.BytesIO(httpx.get(link).content))  # the copy
    shared.drop_copies()
    assert (httpx.get(link).status_code, shared.result(job).status_code) == (404, 404)
    assert shared.job(job)["status"] == "Complete"


def test_a_node_gets_its_inputs_from_the_bucket(tmp_path, monkeypatch):
    for variable, value in CREDENTIALS.items():
        monkeypatch.setenv(variable, value)
    offer_thread_executor(monkeypatch, tmp_path)
    engines = write_probe_engine(tmp_path / "engines", tools=TOOLS)
    gate = object_server().make_gate()
    address = BucketAddress(f"s3://{object_server().make_bucket()}", endpoint=gate.url)
    with NodeService(tmp_path, engines, objects=address).serving() as service:
        for file in "ab":
            content, headers = f"REMARK {file}\n{PDB}", {"x-api-key": service.key}
            assert (
                service.client.put(f"/upload/{file}.pdb", content=content, headers=headers).status_code == 200
            )
        settings = {"pdbFiles": ["a.pdb", "b.pdb"]}
        _, identity = service.prepare("one", type="align-pdbs", settings=settings)
        gate.requests.clear()
        for row in RunningNode(service, identity).order["inputs"]:
            fetch_input(NodeInput(**row), tmp_path / row["name"])
        assert len([line for line in gate.requests if line.startswith("GET /lab-")]) == 2
    assert (tmp_path / "b.pdb").read_text() == f"REMARK b\n{PDB}"


# uploads directly to the bucket


def presign(service: BucketService, name: str) -> dict:
    answer = service.client.post(
        "/getPresignedUploadUrl", json={"filename": name, "contentType": "text/plain"}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_upload_goes_to_the_bucket_and_becomes_a_file_on_request(shared, name):
    links = presign(shared, f"{name}/a.pdb")
    assert links["uploadUrl"].startswith(f"{shared.gate.url}/{shared.bucket}/lab/uploads/")
    assert httpx.head(links["headUrl"]).status_code == 404
    assert httpx.put(links["uploadUrl"], content=PDB.encode()).status_code == 200
    head = httpx.head(links["headUrl"])
    assert (head.status_code, head.headers["x-file-size"]) == (200, str(len(PDB)))
    assert shared.client.get(f"/files/{links['key']}").content == PDB.encode()


def test_a_job_takes_an_upload_that_was_not_requested_before(shared, name):
    values = []
    for number in "12":
        links = presign(shared, f"{name}{number}.pdb")
        httpx.put(links["uploadUrl"], content=f"REMARK {name}{number}\n{PDB}".encode())
        values.append(links["key"])
    shared.run(f"{name}.output-1", type="align-pdbs", settings={"pdbFiles": values})
    shared.assert_whole(f"{name}.output-1")


def test_an_upload_is_listed_and_replaces_a_file_of_its_name(shared, name):
    shared.client.put(f"/upload/{name}.txt", content=b"old")
    httpx.put(presign(shared, f"{name}.txt")["uploadUrl"], content=b"newer")
    rows = [
        each
        for each in shared.client.get("/files", params={"limit": 100}).json()["files"]
        if each["name"] == f"{name}.txt"
    ]
    assert [each["fileSize"] for each in rows] == [5]
    assert shared.client.get(f"/files/{name}.txt").content == b"newer"


def test_many_requests_that_find_an_upload_make_one_file_of_it(shared, name):
    httpx.put(presign(shared, f"{name}.txt")["uploadUrl"], content=name.encode())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shared.client.get(f"/files/{name}.txt"), range(8)))
    assert {(each.status_code, each.content) for each in found} == {(200, name.encode())}
    events = rows(shared, f"SELECT count(*) FROM events WHERE kind = 'uploaded' AND detail = '{name}.txt'")
    assert events == [(1,)]


def test_an_upload_that_is_too_large_is_refused_and_removed(tmp_path):
    small = BucketService(tmp_path, "--upload-mb", "1").start()
    links = presign(small, "a.txt")
    httpx.put(links["uploadUrl"], content=bytes((1 << 20) + 1))
    assert httpx.head(links["headUrl"]).status_code == 413
    assert httpx.head(links["headUrl"]).status_code == 404
    assert not small.contents("uploads")
    small.end()


def test_the_client_tells_that_its_upload_to_the_bucket_was_refused(tmp_path):
    small = BucketService(tmp_path, "--upload-mb", "1").start()
    file = tmp_path / "large.pdb"
    file.write_bytes(bytes((1 << 20) + 1))
    with Client(base_url=small.url, api_key=small.key) as client, pytest.raises(TooLargeError):
        client.files.upload(file)
    assert any("PUT" in line and "/lab/uploads/" in line for line in small.gate.requests)
    small.end()


def test_an_upload_beyond_the_storage_of_the_account_is_refused(tmp_path):
    small = BucketService(tmp_path, "--storage-mb", "1").start()
    links = presign(small, "a.txt")
    httpx.put(links["uploadUrl"], content=bytes((1 << 20) + 1))
    answer = small.client.get("/files/a.txt")
    assert (answer.status_code, answer.json()["code"]) == (413, "storage_quota_exceeded")
    small.end()


def test_an_empty_upload_is_refused(shared, name):
    links = presign(shared, f"{name}.txt")
    httpx.put(links["uploadUrl"], content=b"")
    assert shared.client.get(f"/files/{name}.txt").json()["code"] == "invalid_file"


def test_many_links_for_uploads_that_never_come_are_not_given(tmp_path):
    service = BucketService(tmp_path).start()
    links = [presign(service, f"{number}.txt")["uploadUrl"] for number in range(101)]
    assert links[99].startswith(service.gate.url)
    assert links[100].startswith(service.url)
    assert httpx.put(links[100], content=b"one").status_code == 200
    service.end()


# administration


def run_admin(service: BucketService, *arguments: object, data: str = "data") -> subprocess.CompletedProcess:
    environment = os.environ | service.environment | {"FOLDNOTE_HOME": str(service.folder / "home")}
    command = ("--data-dir", service.folder / data, *arguments)
    return run_forked(ADMIN, *map(str, command), environment=environment)


@pytest.mark.cluster
def test_a_backup_has_the_contents_of_the_bucket_and_is_restored_to_another(own, tmp_path):
    own.run("kept.output-1")
    own.client.put("/upload/a.txt", content=b"one")
    own.drop_copies()
    done = run_admin(own, "backup", tmp_path / "backup")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "backup" / "objects").glob("??/*")} == {
        key.rpartition("/")[2] for key in own.contents()
    }
    own.end()
    config = own.folder / "home" / "config" / "config.toml"
    config.write_text(config.read_text().replace('/lab"', '/restored"'))
    shutil.rmtree(own.folder / "data")
    done = run_admin(own, "restore", tmp_path / "backup")
    assert done.returncode == 0, done.stderr
    assert not (own.folder / "data" / "objects").exists()
    own.start()
    own.assert_whole("kept.output-1")
    assert own.client.get("/files/a.txt").content == b"one"


def test_a_backup_without_the_bucket_is_refused(own, tmp_path):
    own.end()
    (own.folder / "home" / "config" / "config.toml").write_text("")
    done = run_admin(own, "backup", tmp_path / "backup")
    assert (done.returncode, "Name it in the section [objects]" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "backup").exists()


@pytest.mark.cluster
def test_contents_of_a_folder_are_moved_to_a_bucket(tmp_path):
    service = BucketService(tmp_path)
    config = tmp_path / "home" / "config" / "config.toml"
    section = config.read_text()
    config.write_text("")
    service.start()
    service.run("old.output-1")
    service.end()
    config.write_text(section)
    service.gate.bytes_left = 1000
    assert run_admin(service, "move-to-bucket").returncode == 2
    service.gate.bytes_left = None
    done = run_admin(service, "move-to-bucket")
    assert (done.returncode, done.stderr) == (0, "")
    service.start()
    service.assert_whole("old.output-1")
    assert service.contents()
    service.end()


@pytest.mark.cluster
def test_the_doctor_says_whether_the_bucket_can_be_used(own):
    environment = os.environ | own.environment | {"FOLDNOTE_HOME": str(own.folder / "home")}
    for answer, told in ((None, "can be written and read"), (AWAY, "cannot be reached")):
        own.gate.answer = answer
        command = [sys.executable, "-m", "foldnote", "doctor"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert told in done.stdout
