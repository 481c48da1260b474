"""Replicas and services that are killed while their contents are in a bucket."""

import os
from pathlib import Path

import httpx
import pytest
from bucket_process import BucketService
from chaos import kill_at_random
from chosen_store import cluster
from free_ports import free_port
from service_process import PDB, ServiceProcess

KILLS = int(os.environ.get("FOLDNOTE_TEST_KILLS", "8"))
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "45"))


def start_pair(folder: Path) -> tuple[BucketService, ServiceProcess]:
    first = BucketService(folder, "--port", str(free_port()))
    first.environment["FOLDNOTE_STORE_URL"] = cluster().make_database()
    second = first.make_replica("--port", str(free_port()))
    return first.start(), second.start()


@pytest.fixture
def pair(tmp_path):
    made = start_pair(tmp_path)
    yield made
    for each in made:
        if each.process.poll() is None:
            each.kill()


@pytest.mark.cluster
def test_two_replicas_share_a_bucket(pair):
    """Each replica runs, reads, links and deletes what the other stored, including uploads that went directly to the
    bucket.
    """
    first, second = pair
    links = first.client.post("/getPresignedUploadUrl", json={"filename": "a.pdb"}).json()
    assert httpx.put(links["uploadUrl"], content=PDB.encode()).status_code == 200
    second.client.put("/upload/b.pdb", content=f"REMARK b\n{PDB}".encode())
    first.drop_copies()
    second.run("one.output-1", type="align-pdbs", settings={"pdbFiles": ["a.pdb", "b.pdb"]})
    first.assert_whole("one.output-1")
    link = second.result("one.output-1").json()
    assert httpx.get(link, follow_redirects=True).content[:2] == b"PK"
    first.client.request("DELETE", "/delete-job", json={"jobName": "one.output-1"})
    assert httpx.get(link).status_code == 404
    assert not list((first.folder / "data").glob("objects/??"))


@pytest.mark.exhaustive
@pytest.mark.timeout(300 + KILLS * 10)
def test_random_kills_of_a_service_with_a_bucket_lose_nothing(tmp_path, capsys):
    service = BucketService(tmp_path, "--port", str(free_port())).start()
    kill_at_random([service], KILLS, SEED, capsys)
    service.end()


@pytest.mark.exhaustive
@pytest.mark.timeout(300 + KILLS * 10)
def test_random_kills_of_two_replicas_with_a_bucket_lose_nothing(pair, capsys):
    kill_at_random(pair, KILLS, SEED, capsys)
