"""A service with its contents in a bucket: what users, administrators and a failing object store see of it."""

import io
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import httpx
import obstore
import pytest
from forked_python import run_forked
from object_server import AWAY, CREDENTIALS, object_server, refusal
from obstore.store import S3Store
from service_process import PDB, QUICK, SETTINGS, ServiceProcess

from foldnote.client import Client

ADMIN = "import sys; from foldnote.service.admin import main; sys.exit(main())"


class BucketService(ServiceProcess):
    """A service whose contents are in a bucket of its own, behind a gate that can fail."""

    def __init__(self, folder: Path, *arguments: str, **options: object) -> None:
        super().__init__(folder, "--no-rate-limit", *arguments)
        self.environment = dict(CREDENTIALS)
        self.code = QUICK.replace("grace_s=2.0", "grace_s=2.0, sweep_s=1.0")
        self.gate = object_server().make_gate()
        self.bucket = object_server().make_bucket()
        rows = {"url": f"s3://{self.bucket}/lab", "endpoint": self.gate.url, **options}
        config = folder / "home" / "config" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            "[objects]\n" + "".join(f"{key} = {json.dumps(row)}\n" for key, row in rows.items())
        )

    def contents(self) -> list[str]:
        """Keys of the contents in the bucket."""
        listing = httpx.get(f"{object_server().url}/{self.bucket}").text
        found = [part.partition("</Key>")[0] for part in listing.split("<Key>")[1:]]
        return [each for each in found if each.startswith("lab/objects/")]

    def delete(self, key: str) -> None:
        """Delete an object without the service's knowledge."""
        names = {"access_key_id": "AWS_ACCESS_KEY_ID", "secret_access_key": "AWS_SECRET_ACCESS_KEY"}
        known = {name: CREDENTIALS[variable] for name, variable in names.items()}
        url, options = object_server().url, {"allow_http": True}
        store = S3Store(
            self.bucket, prefix="lab", endpoint=url, region="us-east-1", client_options=options, **known
        )
        obstore.delete(store, key)

    def drop_copies(self) -> None:
        for path in (self.folder / "data" / "copies").glob("??/*"):
            path.unlink()

    def assert_whole(self, name: str) -> None:
        """The job is complete, and its result that of one run of the probe."""
        assert self.wait(name)["status"] == "Complete"
        content = httpx.get(self.result(name).json(), follow_redirects=True).content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.read("file-0.txt") == b"output 0\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A service for tests that do not disturb each other."""
    running = BucketService(tmp_path_factory.mktemp("bucket")).start()
    yield running
    running.end()


@pytest.fixture
def own(tmp_path):
    """A service for a test that disturbs it."""
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
    for _ in range(2):  # with a local copy, and without
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
    while own.contents():
        assert time.monotonic() < until
        time.sleep(0.2)
    assert not list((own.folder / "data" / "copies").glob("??/*"))


@pytest.mark.parametrize(
    "answer",
    [AWAY, pytest.param(refusal("403 Forbidden", "InvalidAccessKeyId"), marks=pytest.mark.exhaustive)],
)
def test_a_result_waits_for_a_store_that_is_away(own, answer):
    own.submit("late.sleep-1.output-1")
    own.wait("late.sleep-1.output-1", ("Running",))
    own.gate.answer = answer
    until = time.monotonic() + 60
    while own.job("late.sleep-1.output-1").get("message") != "The result waits for the object store.":
        assert time.monotonic() < until, own.job("late.sleep-1.output-1")
        time.sleep(0.1)
    refused = own.client.put("/upload/a.txt", content=b"one")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    reasons = own.client.get("/readyz").json()["reasons"]
    assert [each["code"] for each in reasons] == ["object_store_unusable"]
    own.gate.answer = None
    own.assert_whole("late.sleep-1.output-1")


def test_a_service_that_is_killed_while_it_stores_a_result_stores_it_when_it_starts_again(own):
    own.submit("late.sleep-1.output-1")
    own.wait("late.sleep-1.output-1", ("Running",))
    own.gate.answer = AWAY
    until = time.monotonic() + 60
    while own.job("late.sleep-1.output-1").get("message") != "The result waits for the object store.":
        assert time.monotonic() < until
        time.sleep(0.1)
    own.kill()
    own.gate.answer = None
    own.start()
    own.assert_whole("late.sleep-1.output-1")
    assert own.client.get("/jobs").json()["statuses"]["Complete"] == 1


def test_a_full_store_is_said_to_be_full(own):
    own.gate.answer = refusal("507 Insufficient Storage", "XMinioStorageFull")
    assert own.client.put("/upload/a.txt", content=b"one").status_code == 507
    own.gate.answer = None
    assert own.client.put("/upload/a.txt", content=b"one").status_code == 200


def test_a_service_does_not_start_without_its_bucket(own):
    own.end()
    own.gate.answer = refusal("403 Forbidden", "SignatureDoesNotMatch")
    process = own.spawn()
    with process.stdout:
        assert (process.stdout.readline(), process.wait(60)) == (b"", 1)
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


def test_a_result_that_is_gone_from_the_bucket_is_said_to_be(shared, name):
    job = f"{name}.output-1"
    shared.run(job)
    link = shared.result(job).json()
    shared.delete(httpx.get(link).headers["location"].partition("?")[0].partition("/lab/")[2])
    assert zipfile.is_zipfile(io.BytesIO(httpx.get(link).content))  # the copy
    shared.drop_copies()
    assert (httpx.get(link).status_code, shared.result(job).status_code) == (404, 404)
    assert shared.job(job)["status"] == "Complete"


# administration


def run_admin(service: BucketService, *arguments: object, data: str = "data") -> subprocess.CompletedProcess:
    environment = os.environ | service.environment | {"FOLDNOTE_HOME": str(service.folder / "home")}
    command = ("--data-dir", service.folder / data, *arguments)
    return run_forked(ADMIN, *map(str, command), environment=environment)


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
    assert (done.returncode, "Name it in the section [objects]" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "backup").exists()


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
    assert run_admin(service, "move-to-bucket").returncode == 1
    service.gate.bytes_left = None
    done = run_admin(service, "move-to-bucket")
    assert (done.returncode, done.stderr) == (0, "")
    service.start()
    service.assert_whole("old.output-1")
    assert service.contents()
    service.end()


def test_the_doctor_says_whether_the_bucket_can_be_used(own):
    environment = os.environ | own.environment | {"FOLDNOTE_HOME": str(own.folder / "home")}
    for answer, told in ((None, "can be written and read"), (AWAY, "cannot be reached")):
        own.gate.answer = answer
        command = [sys.executable, "-m", "foldnote", "doctor"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert told in done.stdout
