"""Replicas of the service that die, alone or with their machine, and a PostgreSQL server that fails under load."""

import os
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psycopg
import pytest
from chaos import kill_at_random, rows
from chosen_store import cluster
from postgres_cluster import PostgresCluster
from service_process import QUICK, SETTINGS, ServiceProcess
from test_full_disk import mount
from waiting import wait_until

pytestmark = pytest.mark.exhaustive
KILLS = int(os.environ.get("FOLDNOTE_TEST_KILLS", "12"))
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "45"))
LEASE_S = 3
ROUNDS = 10


class Load:
    """One client per replica, which submits continuously, and the responses that it got."""

    def __init__(self, replicas: list[ServiceProcess]) -> None:
        self._is_over = threading.Event()
        self.answers: list[tuple[str, httpx.Response]] = []
        self._threads = [
            threading.Thread(target=self._submit, args=(each, sort))
            for each, sort in zip(replicas, "ab", strict=False)
        ]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _submit(self, replica: ServiceProcess, sort: str) -> None:
        number = 0
        headers = {"x-api-key": replica.key}
        with httpx.Client(base_url=replica.url, headers=headers, timeout=120) as client:
            while not self._is_over.is_set():
                number += 1
                body = {"jobName": f"{sort}{number}.output-1", "type": "anarci", "settings": SETTINGS}
                self.answers.append((body["jobName"], client.post("/submit-job", json=body)))
                time.sleep(0.05)

    @property
    def accepted(self) -> list[str]:
        return [name for name, answer in self.answers if answer.status_code == 200]

    @property
    def refused(self) -> list[httpx.Response]:
        return [answer for _, answer in self.answers if answer.status_code != 200]


def cut_connections(replica: ServiceProcess) -> None:
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'foldnote'"
    with psycopg.connect(replica.store_url(), autocommit=True) as connection:
        connection.execute(query)


def assert_all_complete(replica: ServiceProcess, names: list[str]) -> None:
    assert names
    assert {replica.wait(name)["status"] for name in names} == {"Complete"}


def assert_told_to_try_again(answers: list[httpx.Response]) -> None:
    assert answers
    assert {(answer.status_code, answer.headers["retry-after"]) for answer in answers} == {(503, "1")}


def test_what_a_dead_machine_ran_is_repeated_after_its_lease(make_replicas):
    """One replica has its own process tree, which dies with it, as on a machine that loses power."""
    first, second = make_replicas(2, lease_s=LEASE_S, is_started=False)
    first.prefix = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    first.start()
    first.submit("again.hold.output-1")
    first.wait("again.hold.output-1", ("Running",))
    second.code = QUICK.replace("grace_s=2.0", "grace_s=2.0, sweep_s=1.0")
    first.kill()
    second.start()
    second.release("again.hold.output-1")
    assert second.wait("again.hold.output-1")["status"] == "Complete"
    ends = rows(second, "SELECT number, outcome FROM attempts ORDER BY number")
    assert ends == [(1, "lost"), (2, "Complete")]


def test_what_was_acknowledged_in_any_request_before_a_kill_is_at_the_other_replica(make_replicas):
    first, second = make_replicas(2)
    names = [f"k{turn}.{number}" for turn in range(ROUNDS) for number in range(30)]
    accepted: list[str] = []

    def submit(name: str) -> None:
        try:
            if first.submit(name).status_code == 200:
                accepted.append(name)
        except httpx.TransportError:
            return  # not acknowledged

    for turn in range(ROUNDS):
        enough = len(accepted) + turn  # however busy the machine is
        with ThreadPoolExecutor(8) as pool:
            for name in names[turn * 30 : turn * 30 + 30]:
                pool.submit(submit, name)
            wait_until(lambda enough=enough: len(accepted) >= enough, "answers")
            first.process.kill()
        first.kill()
        first.start()
    assert 0 < len(accepted) < len(names)
    assert_all_complete(second, accepted)


def test_a_server_that_is_restarted_under_load_loses_nothing_acknowledged(make_replicas):
    replicas = make_replicas(2)
    with Load(replicas) as load:
        time.sleep(1)
        cluster().restart()
        time.sleep(1)
    assert_told_to_try_again(load.refused)
    assert_all_complete(replicas[0], load.accepted)


def test_connections_that_are_cut_under_load_lose_nothing_acknowledged(make_replicas):
    replicas = make_replicas(2)
    with Load(replicas) as load:
        for _ in range(5):
            time.sleep(0.4)
            cut_connections(replicas[0])
        time.sleep(0.5)
    assert all((answer.status_code, answer.headers["retry-after"]) == (503, "1") for answer in load.refused)
    assert_all_complete(replicas[1], load.accepted)


@pytest.fixture
def small():
    """Start a separate server on a file system of 200 MB."""
    folder = Path(tempfile.mkdtemp(prefix="foldnote-small-", dir="/tmp"))
    folder.chmod(0o755)
    mount(folder, 200)
    made = PostgresCluster(folder / "cluster")
    yield made
    made.close()
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()


def test_a_server_with_a_full_disk_refuses_and_continues_when_there_is_space(make_replicas, small):
    replicas = make_replicas(2, url=small.make_database())
    other = small.folder.parent / "other"
    with Load(replicas) as load:
        time.sleep(1)
        fill(other, replicas[0])
        time.sleep(1.5)
        refused = len(load.refused)
        other.unlink()
        small.start_again_if_ended()
        time.sleep(2)
    assert refused
    assert 507 in {answer.status_code for answer in load.refused} <= {503, 507}
    assert_all_complete(replicas[0], load.accepted)


def fill(other: Path, replica: ServiceProcess) -> None:
    """Fill the disk, and the free space inside the server's files."""
    with psycopg.connect(replica.store_url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE other (text text)")
        with other.open("wb", buffering=0) as stream, suppress(OSError):
            while True:
                stream.write(bytes(1 << 16))
        with suppress(psycopg.OperationalError):
            while True:
                connection.execute("INSERT INTO other SELECT repeat('x', 1000) FROM generate_series(1, 1000)")


@pytest.mark.timeout(300 + KILLS * 10)
def test_random_kills_of_two_replicas_lose_nothing(make_replicas, capsys):
    kill_at_random(make_replicas(2), KILLS, SEED, capsys)
