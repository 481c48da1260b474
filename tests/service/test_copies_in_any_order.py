"""Databases and folders are backed up, restored, copied, moved away, put back and recreated, in any order.

In every history, a job has no other job's result or log, and what was acknowledged is listed until an earlier state is
put back. `FOLDNOTE_TEST_MOVES` is the number of random histories, in addition to the fixed ones.
"""

import copy
import io
import itertools
import json
import os
import random
import shutil
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from chaos import rows
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from service_process import FINAL, ServiceProcess

from foldnote.service.backups.making import make_backup
from foldnote.service.backups.restoring import restore_backup
from foldnote.service.domain.access.keys import hash_key
from foldnote.service.store.store import Store

HISTORIES = int(os.environ.get("FOLDNOTE_TEST_MOVES", "0"))
STEPS = 14
ACCOUNTS = ("ada@lab.org", "bob@lab.org")
NAMES = ("a.tell.output-1", "b.tell.sleep-0_5.output-1", "c.tell.sleep-3.output-1")
LETTERS = "ACDEFGHIKLMNPQRSTVWY"
DATABASE = "service.sqlite3"
Jobs = dict[tuple[str, str], str]
"""The sequence of each acknowledged job, by account and name; no two submissions have the same one."""


done: Counter[str] = Counter()
"""Number of times that each operation was done, in all histories together."""


@dataclass
class State:
    """The jobs that a service on these files must list, and with which contents: `None` after some were removed."""

    jobs: Jobs
    contents: int | None
    folder: Path


class History:
    """One data folder, and all copies that were made of it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.root = Path(tempfile.mkdtemp(prefix="history-"))
        self.data = self.root / "data"
        self.service = ServiceProcess(self.root, "--no-rate-limit")
        self.counter = itertools.count()
        self.jobs: Jobs = {}
        self.contents: int | None = 0
        self.backups: list[State] = []
        self.copies: list[State] = []
        self.away: list[State] = []
        self.is_up = False

    def tell(self, acts: Iterable[Callable[["History"], None]]) -> None:
        try:
            self.start()
            for act in acts:
                print(act.__name__)
                act(self)
            self.require_down()
            self.start()
        finally:
            if self.is_up:
                self.service.kill()
            shutil.rmtree(self.root, ignore_errors=True)

    def new_folder(self, word: str) -> Path:
        return self.root / f"{word}{next(self.counter)}"

    # the service

    def start(self) -> None:
        self.service.start()
        self.is_up = True
        store = Store(self.data / DATABASE)
        for email in ACCOUNTS:
            store.accounts.add_key(store.accounts.ensure_account(email), hash_key(email))
        store.close()
        self.check()

    def require_down(self, *, is_killed: bool | None = None) -> None:
        if self.is_up:
            is_killed = self.chance.random() < 0.5 if is_killed is None else is_killed
            self.service.kill() if is_killed else self.service.end()
            self.is_up = False

    def ask(self, account: str) -> httpx.Client:
        return httpx.Client(base_url=self.service.url, headers={"x-api-key": account}, timeout=120)

    def submit(self) -> None:
        """Submit a job, including after operations that let job numbers be reused."""
        if not self.is_up:
            self.start()
        for _ in range(3):
            self.submit_one(self.chance.choice(ACCOUNTS), self.chance.choice(NAMES))

    def submit_one(self, account: str, name: str) -> None:
        number = next(self.counter)
        sequence = "EVQLVESGG" + "".join(LETTERS[number // 20**place % 20] for place in range(4))
        body = {"jobName": name, "type": "anarci", "settings": {"sequence": sequence, "scheme": "imgt"}}
        with self.ask(account) as client:
            answer = client.post("/submit-job", json=body)
        if (account, name) in self.jobs:
            assert answer.json()["code"] == "job_name_taken"
        else:
            assert answer.status_code == 200, answer.text
            self.jobs[account, name] = sequence
            done["submitted"] += 1

    def delete(self) -> None:
        if self.is_up and self.jobs:
            account, name = self.chance.choice(sorted(self.jobs))
            with self.ask(account) as client:
                assert client.request("DELETE", "/delete-job", json={"jobName": name}).status_code == 200
            del self.jobs[account, name]
            done["deleted"] += 1

    def check(self) -> None:
        """Wait for every job, and check what is listed, fetched and logged."""
        if not self.is_up:
            self.start()  # calls check
            return
        for account in ACCOUNTS:
            with self.ask(account) as client:
                self.check_account(client, account)
        assert_consistent(self.service)

    def check_account(self, client: httpx.Client, account: str) -> None:
        mine = {name: sequence for (owner, name), sequence in self.jobs.items() if owner == account}
        listed = {job["jobName"] for job in client.get("/jobs").json()["jobs"]}
        assert listed == mine.keys(), account
        for name, sequence in mine.items():
            job = wait(client, name)
            if job["status"] == "Complete":
                self.check_result(client, name, sequence)
            else:
                assert "It was tried 3 times" in job["error"], job

    def check_result(self, client: httpx.Client, name: str, sequence: str) -> None:
        answer = client.post("/result", json={"jobName": name})
        if answer.status_code == 404 and self.contents is None:
            assert answer.json()["code"] == "no_result"
        else:
            with zipfile.ZipFile(io.BytesIO(client.get(answer.json()).content)) as archive:
                manifest = json.loads(archive.read("manifest.json"))
                assert json.loads(archive.read("settings.json"))["sequence"] == sequence
            assert (manifest["job"]["jobName"], manifest["settings"]["sequence"]) == (name, sequence)
            done["results compared"] += 1
        log = client.get(f"/jobs/{name}/log").json()["log"]
        assert sequence in log or (log == "" and self.contents is None), (name, sequence, log)

    # backup and restore

    def back_up(self) -> None:
        folder = self.new_folder("backup")
        make_backup(self.data, folder)
        self.backups.append(State(copy.copy(self.jobs), self.contents, folder))
        done["backed up"] += 1

    def restore(self) -> None:
        if self.backups:
            self.require_down()
            state = self.chance.choice(self.backups)
            restore_backup(state.folder, self.data, is_replacing=True)
            self.jobs = copy.copy(state.jobs)
            self.contents = None if state.contents is None else next(self.counter)
            self.start()
            done["restored"] += 1
            self.submit()

    # what users do with files

    def copy_the_database(self) -> None:
        """Copy the database after a clean end, when it is one file."""
        if not self.is_up:
            self.start()
        self.require_down(is_killed=False)
        folder = self.new_folder("copy")
        folder.mkdir()
        shutil.copy(self.data / DATABASE, folder)
        self.copies.append(State(copy.copy(self.jobs), self.contents, folder))
        done["database copied"] += 1

    def copy_a_database_back(self) -> None:
        """Copy a database over the current one; other files, such as a log, stay."""
        if self.copies:
            self.require_down()
            state = self.chance.choice(self.copies)
            shutil.copy(state.folder / DATABASE, self.data)
            self.jobs = copy.copy(state.jobs)
            self.contents = None  # what was deleted since may be missing
            self.start()
            done["database copied back"] += 1
            self.submit()

    def move_the_database_away(self) -> None:
        """Move away only the main database file; the service creates a new one."""
        self.require_down()
        self.take_away()
        self.jobs = {}
        self.start()
        done["database moved away"] += 1
        self.submit()

    def take_away(self) -> None:
        folder = self.new_folder("away")
        folder.mkdir()
        shutil.move(self.data / DATABASE, folder / DATABASE)
        self.away.append(State(self.jobs, self.contents, folder))

    def put_a_database_back(self) -> None:
        """Exchange the current database for another; each finds its log again."""
        if self.away:
            self.require_down()
            state = self.away.pop(self.chance.randrange(len(self.away)))
            self.take_away()
            shutil.move(state.folder / DATABASE, self.data / DATABASE)
            self.jobs = state.jobs
            self.contents = state.contents if state.contents == self.contents else None
            self.start()
            done["database put back"] += 1
            self.submit()

    def move_a_folder_away(self) -> None:
        self.require_down()
        name = self.chance.choice(["jobs", "objects"])
        self.take_folder_away(name)
        self.start()
        done[f"{name} moved away"] += 1

    def put_an_old_folder_there(self) -> None:
        name = self.chance.choice(["jobs", "objects"])
        if old := sorted(self.root.glob(f"{name}*")):
            self.require_down()
            self.take_folder_away(name)
            shutil.copytree(self.chance.choice(old), self.data / name)
            self.start()
            done[f"old {name} put there"] += 1

    def take_folder_away(self, name: str) -> None:
        if (self.data / name).exists():
            shutil.move(self.data / name, self.new_folder(name))
            self.contents = None


ACTS = (
    *(History.submit,) * 3,
    *(History.check,) * 3,
    History.delete,
    *(History.back_up,) * 2,
    *(History.restore,) * 2,
    History.copy_the_database,
    *(History.copy_a_database_back,) * 2,
    *(History.move_the_database_away,) * 2,
    *(History.put_a_database_back,) * 2,
    History.move_a_folder_away,
    History.put_an_old_folder_there,
)


def assert_consistent(service: ServiceProcess) -> None:
    """Assert that the file is intact, and counters match the rows."""
    assert rows(service, "PRAGMA integrity_check") == [("ok",)]
    assert rows(service, "PRAGMA foreign_key_check") == []
    counted = (
        "SELECT account_id, state, count FROM counters WHERE parent_id = -1 AND count != 0 ORDER BY 1, 2"
    )
    really = "SELECT account_id, state, count(*) FROM jobs WHERE deleted IS NULL GROUP BY 1, 2 ORDER BY 1, 2"
    assert rows(service, counted) == rows(service, really)


def wait(client: httpx.Client, name: str) -> dict:
    until = time.monotonic() + 90
    while True:
        answer = client.get("/jobs", params={"jobName": name})
        assert answer.status_code == 200, answer.text
        if answer.json()["status"] in FINAL:
            return answer.json()
        assert time.monotonic() < until, answer.json()
        time.sleep(0.1)


IN_TURN = (
    History.submit,
    History.check,
    History.copy_the_database,
    History.back_up,
    History.move_the_database_away,
    History.check,
    History.put_a_database_back,
    History.check,
    History.copy_a_database_back,
    History.check,
    History.restore,
    History.check,
    History.delete,
    History.move_a_folder_away,
    History.put_an_old_folder_there,
    History.restore,
)
"""Every operation once, so that job numbers are reused after each and the jobs that get them are checked."""


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_no_job_has_what_is_not_its_own_after_anything():
    before = done["results compared"]
    History(random.Random(1)).tell(IN_TURN)
    assert done["results compared"] > before


@pytest.mark.exhaustive
@pytest.mark.timeout(600 + HISTORIES * 600)
@settings(
    max_examples=max(1, HISTORIES),
    deadline=None,
    phases=(Phase.explicit, Phase.generate) if HISTORIES else (Phase.explicit,),
    database=None,
)
@example(seed=2)
@given(seed=st.integers(0, 1 << 32))
def test_no_job_has_what_is_not_its_own_in_any_order(seed):
    chance, before = random.Random(seed), done.total()
    try:
        History(chance).tell(chance.choice(ACTS) for _ in range(STEPS))
    finally:
        print(f"seed {seed}: {dict(done)}")
    assert done.total() > before
