"""Storage quota of an account, including deleted and replaced contents until they are removed."""

import contextlib
import os
import sqlite3
import time

import pytest
from service_process import PDB, QUICK, SETTINGS, ServiceProcess

MB = 1 << 20


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    service = ServiceProcess(tmp_path_factory.mktemp("quota"), "--no-rate-limit", "--storage-mb", "10")
    service.code = QUICK.replace("grace_s=2.0", "grace_s=2.0, sweep_s=0.5")
    yield service.start()
    service.kill()


def put(service, name, size):
    return service.client.put(f"/upload/{name}", content=os.urandom(size))


def contents(service):
    return [path for path in (service.folder / "data" / "objects").glob("??/*") if path.is_file()]


def counts_as_stored(service):
    """Return whether contents and deleted jobs still count: their rows are removed shortly after their files."""
    with contextlib.closing(
        sqlite3.connect(service.folder / "data" / "service.sqlite3", timeout=30)
    ) as database:
        rows = "SELECT count(*) FROM leavings UNION ALL SELECT count(*) FROM jobs WHERE NOT is_purged"
        return any(count for (count,) in database.execute(rows))


def wait_until_empty(service):
    until = time.monotonic() + 40
    while contents(service) or counts_as_stored(service):
        assert time.monotonic() < until
        for path in contents(service):
            with contextlib.suppress(OSError):
                os.utime(path, (time.time() - 100,) * 2)
        time.sleep(0.2)


def test_one_name_that_is_replaced_again_and_again_is_limited_and_its_space_comes_back(house):
    answers = [put(house, "same.pdb", 3 * MB) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 413, 413]
    refusal = answers[-1].json()
    assert refusal["code"] == "storage_quota_exceeded"
    assert (refusal["storageBytes"], refusal["storageBytesAllowed"]) == (9 * MB, 10 * MB)
    assert refusal["error"] == (
        "The account's storage is full: it uses 9.44 MB of the 10.5 MB for files, settings and results, and this"
        " upload of 3.15 MB needs 2.1 MB more than is left. Delete files or jobs that you no longer need; the"
        " space is free about a minute later."
    )
    assert len(contents(house)) == 3
    assert house.client.delete("/delete-file", params={"filePath": "same.pdb"}).status_code == 200
    assert put(house, "other.pdb", 3 * MB).status_code == 413
    wait_until_empty(house)
    assert put(house, "other.pdb", 9 * MB).status_code == 200
    chunks = (os.urandom(MB) for _ in range(3))
    answer = house.client.put("/upload/chunks.pdb", content=chunks)
    assert answer.status_code == 413
    assert "and this upload needs more than the 1.05 MB that are left. Delete" in answer.json()["error"]
    house.client.delete("/delete-file", params={"filePath": "other.pdb"})
    wait_until_empty(house)


def test_an_upload_that_never_fits_is_not_answered_with_the_advice_to_delete(house):
    answer = put(house, "huge.pdb", 11 * MB)
    assert (answer.status_code, answer.json()["code"]) == (413, "storage_quota_exceeded")
    assert answer.json()["error"] == (
        "This upload of 11.5 MB is larger than the account's storage, the 10.5 MB for files, settings and results."
        " Reduce the file, or ask the service's administrator for more storage."
    )


def test_settings_and_inline_files_count_and_a_full_account_submits_nothing(house):
    body = {"jobName": "big", "type": "af2bind", "settings": {"pdbFile": PDB * 9000, "chain": "A"}}
    assert house.client.post("/submit-job", json=body).status_code == 200
    small = {"jobName": "small", "type": "anarci", "settings": SETTINGS}
    answer = house.client.post("/submit-job", json=small)
    assert (answer.status_code, answer.json()["code"]) == (403, "storage_quota_exceeded")
    assert house.client.post("/validate-job", json=small).json()["valid"] is True
    wrong = small | {"settings": {"sequence": "1"}}
    assert house.client.post("/submit-job", json=wrong).status_code == 400
    house.wait("big")
    house.client.request("DELETE", "/delete-job", json={"jobName": "big"})
    wait_until_empty(house)
    assert house.run("small")["status"] == "Complete"
    house.client.request("DELETE", "/delete-job", json={"jobName": "small"})
    wait_until_empty(house)


def test_a_presigned_upload_also_counts(house):
    links = house.client.post("/getPresignedUploadUrl", json={"filename": "p.pdb"}).json()
    assert house.client.put(links["uploadUrl"], content=b"x" * 11 * MB).status_code == 413
    assert house.client.put(links["uploadUrl"], content=b"x" * MB).status_code == 200
