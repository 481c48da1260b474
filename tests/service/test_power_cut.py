"""Acknowledged changes survive the loss of everything that was not synced, and incomplete ones never pass for complete.

A service runs with a journal of all operations on its folder. Then, for many moments, the worst that a power cut at
that moment can leave is written in its place: first the database and the contents are compared with the responses until
then, and for some moments a service is started on it and has to keep every promise. `FOLDNOTE_TEST_FAULTS=all` tries
many more moments, and cuts that keep a part of what was not synced.
"""

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from chaos import assert_consistent, await_quiet, is_explained, processes
from fault_layer import build
from power_cut import Disk, read_journal
from service_process import PDB, SETTINGS, ServiceProcess

IS_LONG = os.environ.get("FOLDNOTE_TEST_FAULTS") == "all"
SEED = int(os.environ.get("FOLDNOTE_TEST_SEED", "1"))
STARTS = 40 if IS_LONG else 2
MOMENTS = 1000 if IS_LONG else 25
pytestmark = pytest.mark.timeout(3600 if IS_LONG else 300)
TOOL = {
    "type": "kept-tool",
    "schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "command": ["/bin/true"],
}


@dataclass(frozen=True)
class Entry:
    """A request or response, and the length of the journal at that time."""

    at: int
    kind: str
    name: str
    value: object = None


@dataclass
class Story:
    """A service that works on the folder `machine`, and its requests and responses."""

    service: ServiceProcess
    journal: Path
    entries: list[Entry] = field(default_factory=list)

    @property
    def data(self) -> Path:
        return self.service.folder / "data"

    def note(self, kind: str, name: str, value: object = None) -> None:
        self.entries.append(Entry(self.journal.stat().st_size, kind, name, value))

    def until(self, at: int, *kinds: str) -> dict[str, object]:
        return {each.name: each.value for each in self.entries if each.at <= at and each.kind in kinds}

    @contextmanager
    def ending(self, kind: str, name: str) -> Iterator[None]:
        """Record a change that may have happened from here on, and has happened at the end."""
        self.note(f"asked {kind}", name)
        yield
        self.note(kind, name)

    def submit(self, name: str) -> None:
        assert self.service.submit(name).status_code == 200
        self.note("submitted", name)

    def batch(self, name: str) -> None:
        rows = [f"{name}-r{number}.output-1.score" for number in range(3)]
        body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * 3, "jobNames": rows}
        assert self.service.client.post("/submit-batch", json=body).status_code == 200
        for each in (name, *rows):
            self.note("submitted", each)

    def see(self, name: str) -> None:
        """Wait for the end, and record the result."""
        job = self.service.wait(name)
        self.note("ended", name, job["status"])
        answer = self.service.result(name)
        if answer.status_code == 200:
            url = answer.json()
            self.note("link", url.partition("/download")[2], httpx.get(url).content)

    def upload(self, path: str, content: bytes) -> None:
        self.note("asked file", path)
        assert self.service.client.put(f"/upload/{path}", content=content).status_code == 200
        self.note("file", path, content)

    def remove(self, path: str) -> None:
        with self.ending("file", path):
            self.service.client.delete("/delete-file", params={"filePath": path}).raise_for_status()


def work(story: Story) -> None:
    """Make a few requests of every kind that is acknowledged, some in parallel."""
    client = story.service.client
    story.upload("a.pdb", PDB.encode())
    story.upload("twin.pdb", PDB.encode())
    names = [f"j{number}.output-2.score" for number in range(6)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(story.submit, names))
        seen = pool.map(story.see, names)
        story.batch("batch")
        uploads = pool.map(lambda number: story.upload(f"u{number}.pdb", f"{PDB}{number}".encode()), range(3))
        list(seen), list(uploads)
    story.remove("twin.pdb")
    story.submit("long.sleep-2")
    with story.ending("stopped", "long.sleep-2"):
        client.post("/stop-job", json={"jobName": "long.sleep-2"}).raise_for_status()
    with story.ending("deleted", names[0]):
        client.request("DELETE", "/delete-job", json={"jobName": names[0]}).raise_for_status()
    story.see("batch")
    provisioned = client.post("/agent/provision")
    story.note("key", provisioned.json()["apiKey"])
    assert client.post("/deploy-model", json=TOOL).status_code == 200
    story.note("tool", "kept-tool")
    stage = {"name": "number", "type": "anarci", "settings": SETTINGS}
    assert client.post("/submit-pipeline", json={"pipelineName": "p", "stages": [stage]}).status_code == 200
    story.note("pipeline", "p")


DYING = """
import os, sys
from pathlib import Path
from foldnote.service.files import object_folder
store = object_folder.ObjectFolder(Path(sys.argv[1]))
object_folder.sync = lambda folder: os._exit(9)
store.put_bytes(sys.argv[2].encode())
"""
"""A process that dies after a content has its name and before the name is on the disk."""


def leave_a_name(story: Story, content: str) -> None:
    command = [sys.executable, "-c", DYING, str(story.data / "objects"), content]
    assert subprocess.run(command, env=os.environ | story.service.environment).returncode == 9


@pytest.fixture(scope="module")
def story(tmp_path_factory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("power")
    (folder / "machine").mkdir()
    service = ServiceProcess(
        folder / "machine", "--no-rate-limit", "--allow-deploy-model", "--ballast-mb", "1"
    )
    story = Story(service, folder / "journal")
    story.journal.touch()
    service.environment |= {
        "LD_PRELOAD": str(build(folder, "journal.c")),
        "FOLDNOTE_JOURNAL": str(story.journal),
        "FOLDNOTE_JOURNAL_BELOW": str(service.folder),
    }
    service.start()
    story.note("key", service.key)
    work(story)
    service.end()
    leave_a_name(story, f"{PDB}left")
    service.start()
    story.note("started again", "")
    story.upload("left.pdb", f"{PDB}left".encode())
    story.submit("late.output-1")
    story.upload("a.pdb", PDB.encode()[:400])
    story.see("late.output-1")
    story.submit("open.sleep-0_3.output-1")
    service.kill()
    end_processes(story)
    for name in ("FOLDNOTE_JOURNAL", "FOLDNOTE_JOURNAL_BELOW"):
        del service.environment[name]
    yield story
    if service.process.poll() is None:
        service.kill()


def end_processes(story: Story) -> None:
    """End the runners, starters and engines, as a power cut does."""
    word = f"FOLDNOTE_HOME={story.service.folder / 'home'}".encode()
    deadline = time.monotonic() + 30
    while found := [pid for pid, environment in processes("environ") if word in environment.split(b"\0")]:
        assert time.monotonic() < deadline
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)


def cuts(story: Story, moments: list[int], chance: random.Random | None = None) -> Iterator[int]:
    """For each length of the journal, replace the data folder by what a cut leaves at that point."""
    disk, records = Disk(story.service.folder), read_journal(story.journal)
    left = next(records)
    for at in sorted(moments):
        while left is not None and left.end <= at:
            disk.play(left)
            left = next(records, None)
        shutil.rmtree(story.data, ignore_errors=True)
        disk.leave(story.data.name, chance)
        yield at


def names_and_contents(story: Story) -> tuple[set[str], dict[str, str], set[str]]:
    """Return jobs, uploads with their hashes, and every content that a row needs, directly from the database."""
    with closing(sqlite3.connect(story.data / "service.sqlite3")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        jobs = {name for (name,) in database.execute("SELECT name FROM jobs WHERE deleted IS NULL")}
        query = "SELECT name, sha256 FROM files WHERE deleted IS NULL"
        files: dict[str, str] = dict(database.execute(query).fetchall())
        results = "SELECT result_sha256 FROM jobs WHERE result_sha256 IS NOT NULL AND deleted IS NULL"
        needed = {*files.values(), *(sha256 for (sha256,) in database.execute(results))}
    return jobs, files, needed


def assert_rows_and_contents(story: Story, at: int) -> None:
    jobs, files, needed = names_and_contents(story)
    asked_deletions = story.until(at, "asked deleted").keys()
    assert story.until(at, "submitted").keys() - asked_deletions <= jobs
    assert not story.until(at, "deleted").keys() & jobs
    for path, content in kept_files(story, at).items():
        expected = None if content is None else hashlib.sha256(content).hexdigest()
        assert files.get(path) == expected, path
    contents = {path.name: path for path in (story.data / "objects").glob("??/*")}
    for sha256, path in contents.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    assert needed <= contents.keys()


def kept_files(story: Story, at: int) -> dict[str, bytes | None]:
    """Return the expected content of each upload, None where it was removed; without those that may be changing."""
    kept: dict[str, bytes | None] = {}
    for each in story.entries:
        if each.at <= at and each.kind == "asked file":
            kept.pop(each.name, None)
        elif each.at <= at and each.kind == "file":
            kept[each.name] = each.value
    return kept


def assert_promises(story: Story, at: int) -> None:
    """Start a service on what is left, as on a machine that has just booted, and check it."""
    story.service.environment["FOLDNOTE_BOOTED"] = str(int(time.time()))
    service = story.service.start()
    jobs = await_quiet(service, None)
    assert_consistent(service)
    stopping, deleting = (story.until(at, f"asked {kind}").keys() for kind in ("stopped", "deleted"))
    for name in story.until(at, "submitted").keys() - deleting:
        error = jobs[name]["error"] or ""
        assert jobs[name]["status"] == "Complete" or name in stopping or is_explained(error), jobs[name]
    assert not story.until(at, "deleted").keys() & jobs.keys()
    for name, status in story.until(at, "ended").items():
        assert name in deleting or jobs[name]["status"] == status
    assert all(jobs[name]["status"] == "Stopped" for name in story.until(at, "stopped"))
    for path, content in kept_files(story, at).items():
        answer = service.client.get(f"/files/{path}")
        assert (answer.content if answer.status_code == 200 else None) == content, path
    for link, content in story.until(at, "link").items():
        if not any(f"/{name}.zip" in link for name in deleting):
            assert httpx.get(f"{service.url}/download{link}").content == content
    for key in story.until(at, "key"):
        assert httpx.get(f"{service.url}/jobs", headers={"x-api-key": key}).status_code == 200
    types = {tool["type"] for tool in service.client.get("/tools").json()}
    assert story.until(at, "tool").keys() <= types
    for name in story.until(at, "pipeline"):
        body = {"pipelineName": name, "jobName": "again"}
        assert service.client.post("/run-pipeline", json=body).status_code == 200
        service.wait("again")
    service.kill()
    end_processes(story)


def moments(story: Story, number: int) -> list[int]:
    """Return the moments of responses, which are the worst, including the last one."""
    answered = [each.at for each in story.entries if not each.kind.startswith("asked")]
    return [*random.Random(SEED).sample(answered[:-1], min(number, len(answered)) - 1), answered[-1]]


def test_what_was_answered_is_on_the_disk(story):
    for at in cuts(story, moments(story, MOMENTS)):
        assert_rows_and_contents(story, at)


def test_writes_that_a_disk_keeps_in_part_are_not_taken_for_whole(story):
    chance = random.Random(SEED)
    length = story.journal.stat().st_size
    drawn = [chance.randrange(story.entries[0].at, length) for _ in range(300 if IS_LONG else 15)]
    for at in cuts(story, drawn, chance):
        assert_rows_and_contents(story, at)


@pytest.mark.parametrize("keeps_a_part", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_a_service_recovers_after_a_power_cut(story, keeps_a_part):
    chance = random.Random(SEED) if keeps_a_part else None
    for at in cuts(story, moments(story, STARTS - keeps_a_part), chance):
        assert_promises(story, at)
