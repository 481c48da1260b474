"""Clients that keep sending requests while processes are killed, and checks of the final state.

The clients record what was acknowledged and what they saw; `Ledger.check` compares that with the service, its database
and the traces that the engines left.
"""

import io
import json
import os
import random
import signal
import sqlite3
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from service_process import FINAL, SETTINGS, ServiceProcess

MARK = b"FOLDNOTE_ATTEMPT="


def rows(service: ServiceProcess, query: str) -> list[tuple]:
    if address := service.store_url():
        with psycopg.connect(address) as connection:
            return connection.execute(query).fetchall()
    with closing(sqlite3.connect(service.folder / "data" / "service.sqlite3", timeout=30)) as connection:
        return connection.execute(query).fetchall()


@dataclass
class Ledger:
    """What the clients were told; every set holds job names."""

    acknowledged: set[str] = field(default_factory=set)
    batches: dict[str, list[str]] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)
    """A stop was sent, whether or not it was acknowledged."""
    deleting: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    """A deletion was acknowledged."""
    uploads: set[str] = field(default_factory=set)
    finals: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    listing: threading.Lock = field(default_factory=threading.Lock)
    """Held while the jobs are listed and checked."""

    def fault(self, sentence: str) -> None:
        self.faults.append(sentence)

    def see(self, page: list[dict], known: set[str]) -> None:
        """Check a listing requested when the jobs `known` were acknowledged and not yet marked for deletion."""
        seen = {job["jobName"]: job["status"] for job in page}
        for name in known - seen.keys() - self.deleting:
            self.fault(f"{name} was acknowledged and is not listed")
        for name, status in seen.items():
            before = self.finals.get(name)
            if before is not None and before != status:
                self.fault(f"{name} was {before} and is {status}")
            if status in FINAL:
                self.finals[name] = status

    @property
    def kept(self) -> set[str]:
        return self.acknowledged - self.deleting


class Clients:
    """Threads that submit, stop, delete, list and download until they are told to stop.

    Clients of different replicas have different values of `sort`, which is part of their jobs' names.
    """

    def __init__(self, service: ServiceProcess, ledger: Ledger, seed: int, sort: str = "c") -> None:
        self._sort = sort
        self._url, self._key = service.url, service.key
        self.ledger = ledger
        self._seed = seed
        self._is_ending = threading.Event()
        works: list[Callable[[httpx.Client, random.Random, int], None]] = [
            self._submit, self._submit, self._end, self._download, self._list,
        ]  # fmt: skip
        self._threads = [
            threading.Thread(target=self._loop, args=(work, number), daemon=True)
            for number, work in enumerate(works)
        ]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_ending.set()
        for thread in self._threads:
            thread.join(60)

    def _loop(self, work: Callable[[httpx.Client, random.Random, int], None], number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        turn = 0
        with httpx.Client(base_url=self._url, headers={"x-api-key": self._key}, timeout=120) as client:
            while not self._is_ending.is_set():
                turn += 1
                try:
                    work(client, chance, turn * 10 + number)
                except httpx.TransportError:
                    self.ledger.counts["requests cut off"] += 1
                    time.sleep(0.15)
                time.sleep(chance.random() * 0.12)

    def _ask_until_answered(self, client: httpx.Client, method: str, path: str, body: dict) -> httpx.Response:
        """Repeat a request whose effect is unknown because the service died."""
        while True:
            try:
                answer = client.request(method, path, json=body)
            except httpx.TransportError:
                self.ledger.counts["requests repeated"] += 1
                time.sleep(0.15)
                continue
            if answer.status_code >= 500:
                self.ledger.fault(f"{method} {path}: {answer.status_code} {answer.text}")
            return answer

    def _submit(self, client: httpx.Client, chance: random.Random, number: int) -> None:
        if len(self.ledger.acknowledged) - len(self.ledger.finals) > 60:
            return
        name = f"{self._sort}{number}.alone.sleep-0_{chance.randint(0, 4)}.output-1"
        if chance.random() < 0.1:
            self._submit_batch(client, f"b{self._sort}{number}", [f"{name}.r{row}" for row in range(3)])
            return
        body = {"jobName": name, "type": "anarci", "settings": SETTINGS}
        self._require_taken(self._ask_until_answered(client, "POST", "/submit-job", body), name)
        self.ledger.acknowledged.add(name)

    def _submit_batch(self, client: httpx.Client, name: str, names: list[str]) -> None:
        body = {"batchName": name, "type": "anarci", "settings": [SETTINGS] * len(names), "jobNames": names}
        self._require_taken(self._ask_until_answered(client, "POST", "/submit-batch", body), name)
        self.ledger.batches[name] = names
        self.ledger.acknowledged.update([name, *names])

    def _require_taken(self, answer: httpx.Response, name: str) -> None:
        """Accept that a repeated submission is refused because the first one succeeded; this acknowledges it, too."""
        if answer.status_code != 200 and answer.json().get("code") != "job_name_taken":
            self.ledger.fault(f"{name} was refused: {answer.text}")

    def _end(self, client: httpx.Client, chance: random.Random, _: int) -> None:
        names = sorted(self.ledger.kept)
        if not names:
            return
        name = chance.choice(names[-30:])
        if chance.random() < 0.5:
            self.ledger.stopping.update([name, *self.ledger.batches.get(name, [])])
            self._ask_until_answered(client, "POST", "/stop-job", {"jobName": name})
            self.ledger.counts["stops"] += 1
            return
        family = {name, *self.ledger.batches.get(name, [])}
        self.ledger.deleting |= family
        self._ask_until_answered(client, "DELETE", "/delete-job", {"jobName": name})
        self.ledger.deleted |= family
        self.ledger.counts["deletions"] += 1

    def _download(self, client: httpx.Client, chance: random.Random, _: int) -> None:
        names = sorted(name for name, status in self.ledger.finals.items() if status == "Complete")
        if not names:
            return
        name = chance.choice(names)
        if fault := fault_of_result(client, name, name in self.ledger.batches):
            if name not in self.ledger.deleting:
                self.ledger.fault(fault)
        else:
            self.ledger.counts["downloads"] += 1

    def _list(self, client: httpx.Client, _: random.Random, __: int) -> None:
        with self.ledger.listing:  # clients of another replica may already have seen a later state
            known = set(self.ledger.kept)
            page = client.get("/jobs", params={"includeSubjobs": "true"}).json()
            if "startKey" not in page:
                self.ledger.see(page["jobs"], known)


def fault_of_result(client: httpx.Client, name: str, is_batch: bool) -> str | None:
    """Return what is wrong with a complete job's result; None if it is complete and the job's own."""
    answer = client.post("/result", json={"jobName": name, "noAsync": True})
    if answer.status_code != 200:
        return f"{name} is complete and its result is answered {answer.status_code} {answer.text}"
    content = client.get(answer.json(), follow_redirects=True)
    if content.status_code != 200:
        return f"the link to {name} is answered {content.status_code}"
    with zipfile.ZipFile(io.BytesIO(content.content)) as archive:
        if archive.testzip() is not None:
            return f"the archive of {name} is broken"
        if is_batch:
            return None if "results.csv" in archive.namelist() else f"the batch {name} has no table"
        owner = json.loads(archive.read("manifest.json"))["job"]["jobName"]
    return None if owner == name else f"the result of {name} is that of {owner}"


class Killer:
    """Kill the service and its runners, and start the service again."""

    def __init__(self, service: ServiceProcess, seed: int) -> None:
        self._service = service
        self._chance = random.Random(seed)
        self.counts: Counter = Counter()

    def kill(self, number: int) -> None:
        """Kill this many processes in sequence."""
        while (left := number - self.counts.total()) > 0:
            time.sleep(self._chance.random() * 0.25)
            which = self._chance.random()
            if which < 0.4:
                self._kill(runners(self._service), "runners")
            elif which < 0.5:
                self._kill(starters(self._service), "starters")
            elif which < 0.8 or left < 2:
                self._kill_service()
            else:
                self._kill_starting_service()

    def _kill(self, found: list[int], what: str) -> None:
        if found:
            try:
                os.kill(self._chance.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                return
            self.counts[what] += 1

    def _kill_service(self) -> None:
        self._service.kill()
        self._service.start()
        self.counts["services"] += 1

    def _kill_starting_service(self) -> None:
        self._service.kill()
        self.counts["services"] += 1
        process = self._service.spawn()
        time.sleep(self._chance.random() * 0.4)  # a start takes about that long
        process.kill()
        process.wait()
        process.stdout.close()
        self._service.start()
        self.counts["starting services"] += 1


def runners(service: ServiceProcess) -> list[int]:
    """Return the process ids of a service's runners."""
    return [pid for pid in map(running_runner, attempt_folders(service)) if pid is not None]


def attempt_folders(service: ServiceProcess) -> list[Path]:
    return sorted((service.folder / "data" / "jobs").glob("*/*/*/*"))


def running_runner(folder: Path) -> int | None:
    """Return the process of an attempt's runner, if it is alive."""
    try:
        pid = json.loads((folder / "runner.json").read_text())["pid"]
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(pid) if name == "foldnote-runner" else None


def starters(service: ServiceProcess) -> list[int]:
    """Return the process ids of the starters, which fork the service's runners."""
    children = Path(f"/proc/{service.process.pid}/task").glob("*/children")
    mine = {int(pid) for path in children for pid in path.read_text().split()}
    return [pid for pid, command in processes("cmdline") if pid in mine and b"queue.starter" in command]


def processes(what: str) -> Iterator[tuple[int, bytes]]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            yield int(path.name), (path / what).read_bytes()
        except OSError:
            continue


def await_quiet(service: ServiceProcess, ledger: Ledger, patience_s: float = 120) -> dict[str, dict]:
    """Wait until every job that was acknowledged and not deleted has ended; return all jobs by name."""
    until = time.monotonic() + patience_s
    while True:
        page = service.client.get("/jobs", params={"includeSubjobs": "true"}).json()
        jobs = {job["jobName"]: job for job in page["jobs"]}
        while "startKey" in page:
            more = {"includeSubjobs": "true", "startKey": page["startKey"]}
            page = service.client.get("/jobs", params=more).json()
            jobs |= {job["jobName"]: job for job in page["jobs"]}
        open_ = [name for name, job in jobs.items() if job["status"] not in FINAL]
        if not open_:
            return jobs
        assert time.monotonic() < until, (open_, jobs[open_[0]])
        time.sleep(0.2)


def check(service: ServiceProcess, ledger: Ledger) -> dict[str, int]:
    """Check every invariant; return the figures, all of which are zero in a correct service."""
    jobs = await_quiet(service, ledger)
    ledger.see(list(jobs.values()), ledger.kept)
    complete = [name for name, job in jobs.items() if job["status"] == "Complete" and name in ledger.kept]
    missing = [fault_of_result(service.client, name, name in ledger.batches) for name in complete]
    stopped = {name for name, job in jobs.items() if job["status"] == "Stopped" and name in ledger.kept}
    unexplained = {name for name in stopped - ledger.stopping if not is_explained(jobs[name]["error"] or "")}
    evidence = service.engines / "probe" / "alive" / "double"
    ends = rows(service, "SELECT count(*) FROM events WHERE kind = 'attempt complete' GROUP BY job_id")
    assert_consistent(service)
    return {
        "lost": len(ledger.kept - jobs.keys()) + len(unexplained),
        "come back": len(ledger.deleted & jobs.keys()),
        "alive at once": len(evidence.read_text().splitlines()) if evidence.exists() else 0,
        "committed twice": sum(count > 1 for (count,) in ends),
        "results missing": len([fault for fault in missing if fault]),
        "processes left": len(marked(service)),
        "faults seen": len(ledger.faults),
    }


def await_ended_attempts(service: ServiceProcess, patience_s: float = 30) -> None:
    """Wait for the end of runs whose jobs were deleted and so are in no listing."""
    until = time.monotonic() + patience_s
    while open_ := rows(service, "SELECT job_id, number FROM attempts WHERE ended IS NULL"):
        assert time.monotonic() < until, open_
        time.sleep(0.1)


def is_explained(error: str) -> bool:
    """Return whether this error ends a job without any request: it was lost three times, or its batch has only such
    jobs.
    """
    return "It was tried 3 times" in error or error.startswith("No job of the batch produced a result")


def marked(service: ServiceProcess) -> list[int]:
    """Return the processes of all attempts of the service."""
    nonces = {nonce.encode() for (nonce,) in rows(service, "SELECT nonce FROM attempts")}
    return [
        pid
        for pid, environment in processes("environ")
        if any(
            part.removeprefix(MARK) in nonces for part in environment.split(b"\0") if part.startswith(MARK)
        )
    ]


def assert_consistent(service: ServiceProcess) -> None:
    """Assert that the file is intact, no attempt is open, and counters match the rows."""
    if not service.store_url():
        assert rows(service, "PRAGMA integrity_check") == [("ok",)]
        assert rows(service, "PRAGMA foreign_key_check") == []
    await_ended_attempts(service)
    for scope, condition in ((0, "parent_id IS NULL"), (-1, "1 = 1")):
        counted = rows(service, f"SELECT state, count FROM counters WHERE parent_id = {scope} AND count != 0")
        really = f"SELECT state, count(*) FROM jobs WHERE deleted IS NULL AND {condition} GROUP BY state"
        assert dict(counted) == dict(rows(service, really))


def kill_at_random(
    services: Sequence[ServiceProcess], kills: int, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kill replicas and their runners at random while clients use them; assert that nothing is lost or done twice."""
    ledger, killers = Ledger(), [Killer(each, seed + number) for number, each in enumerate(services)]
    with ExitStack() as stack:
        for sort, each in zip("cd", services, strict=False):
            stack.enter_context(Clients(each, ledger, seed, sort))
        works = [threading.Thread(target=each.kill, args=(kills // len(killers),)) for each in killers]
        for work in works:
            work.start()
        for work in works:
            work.join()
    figures = check(services[0], ledger)
    with capsys.disabled():
        print(f"\n{[dict(each.counts) for each in killers]} killed;")
        print(f"{len(ledger.acknowledged)} jobs acknowledged, {dict(ledger.counts)}; {figures}")
    assert figures == dict.fromkeys(figures, 0), ledger.faults[:10]
