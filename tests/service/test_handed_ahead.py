"""Short jobs are handed over ahead and start where another ends; each remains a separate attempt."""

import os
import signal
import sys
import time
import uuid
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from sqlite3 import connect

import pytest
from local_attempts import open_runners, outcome_of, wait_until
from service_process import SETTINGS

from foldnote.service.engines.launch import build_attempt
from foldnote.service.engines.registry import load_engines
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import Outcome, prepare_attempt
from foldnote.service.runner.locking import is_locked
from foldnote.service.runner.starter import MAX_WAIT_S

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers need a system that adopts orphans")
MANIFEST = """
name = "waits"
method = "Waits until it is told to end"
kind = "genuine"
version = "1"
tools = ["anarci"]
[environment]
kind = "host"
"""
RUN = """
import os, time
from pathlib import Path

def main():
    with open("outputs/begun", "a") as begun:
        begun.write(f"{os.getpid()}\\n")
    while not Path("end").exists():
        time.sleep(0.005)

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def told() -> list[Path]:
    """Return the folders of attempts whose end was reported."""
    return []


@pytest.fixture
def runners(told):
    with open_runners(told.append) as made:
        yield made


@pytest.fixture
def start(tmp_path, runners):
    """Hand over an attempt that runs until its file ``work/end`` exists; return its folder."""
    engine = tmp_path / "engines" / "waits"
    engine.mkdir(parents=True)
    (engine / "engine.toml").write_text(MANIFEST)
    (engine / "run.py").write_text(RUN)
    (engine / "serve.py").write_text("RUNS_MANY = True\n\n\ndef load(): ...\n")
    made: list[Path] = []

    def hand_over(at_once: int = 0) -> Path:
        nonce = uuid.uuid4().hex
        spec = build_attempt(
            load_engines([engine.parent])["waits"],
            attempt_dir=tmp_path / nonce,
            nonce=nonce,
            job_name="job",
            tool="anarci",
            settings={},
        )
        prepare_attempt(replace(spec, owner="1"))
        made.append(spec.folder)
        runners.submit(replace(spec, owner="1"), at_once=at_once)
        return spec.folder

    yield hand_over
    for folder in made:
        end(folder)
    for folder in made:
        wait_until(lambda folder=folder: not runners.poll(folder).alive, "the end of every attempt")


def end(folder: Path) -> None:
    (folder / files.WORK / "end").touch()


def has_begun(folder: Path) -> bool:
    return (folder / files.WORK / "outputs/begun").exists()


def runner_of(folder: Path) -> int:
    return wait_until(lambda: files.read_json(folder / files.RUNNER), "the runner")["pid"]


def test_an_attempt_waits_for_its_turn_and_runs_where_the_first_ended(start, runners):
    first, second, third = start(), start(at_once=1), start(at_once=1)
    wait_until(lambda: has_begun(first), "the first")
    assert [runners.poll(each).alive for each in (second, third)] == [True, True]
    assert not (second / files.RUNNER).exists()
    end(first)
    wait_until(lambda: has_begun(second), "the second")
    assert outcome_of(first).state == "succeeded"
    assert not has_begun(third)
    end(second)
    end(third)
    assert outcome_of(third).state == "succeeded"
    assert len({runner_of(each) for each in (first, second, third)}) == 1


def test_as_many_run_at_once_as_the_order_says(start):
    first, second = start(), start(at_once=2)
    wait_until(lambda: has_begun(first) and has_begun(second), "both")
    third = start(at_once=2)
    assert not (third / files.RUNNER).exists()
    end(second)
    assert runner_of(third) == runner_of(second) != runner_of(first)


def test_one_that_waits_too_long_is_given_back_unbegun(start, runners, told):
    first, second = start(), start(at_once=1)
    wait_until(lambda: has_begun(first), "the first")
    handed_s = time.monotonic()
    wait_until(lambda: second in told, "the hint")
    assert time.monotonic() - handed_s < MAX_WAIT_S + 20
    assert (runners.poll(second).alive, runners.poll(second).outcome) == (False, None)
    assert not (second / files.RUNNER).exists()
    assert runners.revoke(second)
    end(first)
    assert outcome_of(first).state == "succeeded"
    assert not (second / files.RUNNER).exists()


def test_one_does_not_wait_for_the_loading_of_another(start, runners, told, tmp_path):
    (tmp_path / "engines/waits/serve.py").write_text("import time\n\n\ndef load():\n    time.sleep(300)\n")
    first, second = start(), start(at_once=1)
    wait_until(lambda: second in told, "the hint")
    assert not (second / files.RUNNER).exists()
    runners.cancel(first, 0.5)
    assert outcome_of(first).state == "stopped"


def test_one_whose_runner_is_killed_before_its_turn_runs_elsewhere(start, runners):
    first, second = start(), start(at_once=1)
    wait_until(lambda: has_begun(first), "the first")
    os.kill(runner_of(first), signal.SIGKILL)
    end(second)
    assert outcome_of(second).state == "succeeded"
    assert runner_of(second) != runner_of(first)
    wait_until(lambda: runners.revoke(first), "the end of the first")
    assert Outcome.read(first) is None


def test_one_that_is_stopped_before_its_turn_never_begins(start, runners):
    first, second = start(), start(at_once=1)
    runners.cancel(second, 1.0)
    end(first)
    outcome = outcome_of(second)
    assert (outcome.state, outcome.error) == ("stopped", "The job was stopped before its engine started.")
    assert outcome_of(first).state == "succeeded"
    assert not has_begun(second)


def test_an_attempt_in_line_continues_when_its_service_is_gone(start, runners):
    first, second = start(), start(at_once=1)
    wait_until(lambda: has_begun(first), "the first")
    runners.close()
    end(first)
    end(second)
    assert outcome_of(second).state == "succeeded"


# sent to the process that runs another job


def pids_of(folder: Path) -> list[int]:
    """Return the processes that have run the attempt's engine."""
    path = folder / files.WORK / "outputs/begun"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def has_received(folder: Path) -> bool:
    """Return whether a runner has prepared the attempt, which it does when it receives the order."""
    return files.scratch_folder(folder.name).exists()


@pytest.fixture
def send_ahead(start, told):
    """Start attempts until one runs and the next has been sent to its process; return both.

    A busy machine may be so slow that those in line are given back unbegun.
    """

    def send() -> tuple[Path, Path]:
        for _ in range(20):
            first, second, third = start(), start(at_once=1), start(at_once=1)
            wait_until(lambda: has_begun(first), "the first")  # noqa: B023
            end(first)
            wait_until(lambda: has_begun(second) or second in told, "the second")  # noqa: B023
            deadline = time.monotonic() + 0.2
            while time.monotonic() < deadline:
                if has_received(third) and pids_of(first) == pids_of(second):
                    return second, third
                time.sleep(0.001)
            for each in (second, third):
                end(each)
                wait_until(lambda: each in told, "the end of those in line")  # noqa: B023
        raise AssertionError("The machine is too busy for this test.")

    return send


def test_the_next_one_begins_without_waiting_for_the_runner(send_ahead):
    for _ in range(60):  # on a busy machine the runner often takes the second one back before it is stopped
        before, after = send_ahead()
        runner = runner_of(before)
        os.kill(runner, signal.SIGSTOP)
        try:
            end(before)
            deadline = time.monotonic() + 0.5
            while not has_begun(after) and time.monotonic() < deadline:
                time.sleep(0.01)
            has_overtaken, is_marked = has_begun(after), (after / files.RUNNER).exists()
        finally:
            os.kill(runner, signal.SIGCONT)
        end(after)
        outcomes = outcome_of(before), outcome_of(after)
        assert [each.state for each in outcomes] == ["succeeded"] * 2
        assert len(pids_of(after)) == 1
        if has_overtaken:
            break
    assert (has_overtaken, is_marked) == (True, True)
    assert pids_of(before) == pids_of(after)
    assert outcomes[0].ended <= outcomes[1].ended
    assert not has_received(before)
    assert not has_received(after)


@pytest.mark.parametrize("way", ["stopped", "killed"])
def test_the_next_one_runs_once_in_a_new_process_if_the_first_does_not_succeed(send_ahead, runners, way):
    before, after = send_ahead()
    if way == "stopped":
        runners.cancel(before, 1.0)
    else:
        os.kill(*pids_of(before), signal.SIGKILL)
    end(after)
    assert outcome_of(before).state == ("stopped" if way == "stopped" else "failed")
    assert outcome_of(after).state == "succeeded"
    assert len(pids_of(after)) == 1
    assert pids_of(after) != pids_of(before)


def test_the_next_one_is_taken_back_from_a_process_whose_job_takes_long(send_ahead, told):
    before, after = send_ahead()
    runner = runner_of(before)
    wait_until(lambda: not has_received(after), "the return of the order")
    end(before)
    end(after)
    assert outcome_of(before).state == "succeeded"
    assert (after in told and not has_begun(after)) or outcome_of(after).state == "succeeded"
    assert len(pids_of(after)) <= 1
    assert runner_of(before) == runner


def test_the_next_one_can_be_stopped_before_and_after_it_begins(send_ahead, runners):
    before, after = send_ahead()
    runners.cancel(after, 1.0)
    end(before)
    assert outcome_of(before).state == "succeeded"
    assert outcome_of(after).state == "stopped"
    for pid in pids_of(after):
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "the end of its process")


def test_the_next_one_is_lost_and_never_runs_if_its_start_cannot_be_recorded(send_ahead, runners):
    before, after = send_ahead()
    (after / f".{files.RUNNER}.part").unlink()
    end(before)
    end(after)
    assert outcome_of(before).state == "succeeded"
    outcome = wait_until(lambda: Outcome.read(after) or runners.revoke(after), "the end of the next one")
    assert outcome is True or outcome.state == "lost"
    assert pids_of(after) == []


def test_both_end_with_their_runner_and_neither_is_repeated_by_itself(send_ahead, runners):
    before, after = send_ahead()
    runner = runner_of(before)
    os.kill(runner, signal.SIGKILL)
    end(after)
    wait_until(lambda: runners.revoke(before), "the end of the first")
    assert Outcome.read(before) is None
    outcome = wait_until(lambda: Outcome.read(after) or runners.revoke(after), "the end of the next one")
    assert outcome is True or outcome.state == "succeeded"
    assert len(pids_of(after)) <= 1


# short jobs

SHORT_RUN = """
import os, time
from pathlib import Path

def main():
    Path("outputs/began").write_text(str(time.time()))
    scratch = Path(os.environ["TMPDIR"])
    mode, found = scratch.stat().st_mode & 0o777, [each.name for each in scratch.iterdir()]
    Path("outputs/scratch").write_text(f"{scratch.name} {mode:o} {found}")
    Path("outputs/bytes").write_bytes(os.urandom(SIZE))
    LEAVE
    time.sleep(0.02)

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def run_short(start, tmp_path):
    """Run twelve short attempts in sequence in one worker; return their folders."""

    def run(size: int, leave: str = "pass") -> list[Path]:
        text = SHORT_RUN.replace("SIZE", str(size)).replace("LEAVE", leave)
        (tmp_path / "engines" / "waits" / "run.py").write_text(text)
        folders: list[Path] = []
        for _ in range(12):  # one runs and one or two wait, none for as long as `MAX_WAIT_S`
            wait_until(lambda: sum(Outcome.read(each) is None for each in folders) < 3, "its turn")
            folders.append(start(int(bool(folders))))
        assert [outcome_of(folder).state for folder in folders] == ["succeeded"] * 12
        assert len({runner_of(folder) for folder in folders}) == 1
        return folders

    return run


def count_overlaps(folders: list[Path]) -> int:
    """Count those that started before their predecessor was published."""
    began = [float((folder / files.WORK / "outputs/began").read_text()) for folder in folders]
    ended = [datetime.fromisoformat(outcome_of(folder).ended).timestamp() for folder in folders]
    order = sorted(range(len(folders)), key=began.__getitem__)
    return sum(began[after] < ended[before] - 0.002 for before, after in pairwise(order))


def test_the_next_one_begins_before_the_last_is_published_if_that_takes_no_time(run_short):
    # on a busy machine one start may be slower than the publication
    assert any(count_overlaps(run_short(900_000)) for _ in range(5))


def test_while_much_is_published_no_other_one_runs(run_short):
    assert count_overlaps(run_short(2_000_000)) == 0


@pytest.mark.parametrize("leave", ["pass", "(scratch / 'left').touch()", "scratch.chmod(0o777)"])
def test_every_run_has_its_own_empty_folder_for_temporary_files(run_short, leave):
    folders = run_short(1000, leave)
    for folder in folders:
        told = (folder / files.WORK / "outputs/scratch").read_text()
        assert told == f"{files.scratch_folder(folder.name).name} 700 []"
    left = [folder for folder in folders if files.scratch_folder(folder.name).exists()]
    wait_until(lambda: not any(files.scratch_folder(each.name).exists() for each in left), "their removal")


# the service


def warm_up(service) -> None:
    """Let workers run the probe."""
    engine = service.engines / "probe"
    (engine / "serve.py").write_text("RUNS_MANY = True\n\n\ndef load(): ...\n")
    manifest = engine / "engine.toml"
    manifest.write_text(manifest.read_text().replace("memory_mb = 16", "memory_mb = 64"))


def ask(service, query: str) -> list[tuple]:
    with closing(connect(service.folder / "data" / "service.sqlite3", timeout=30)) as connection:
        return connection.execute(query).fetchall()


def submit_batch(service, rows: int, **more) -> list[str]:
    names = [f"row{row}.output-1" for row in range(rows)]
    body = {"batchName": "many", "type": "anarci", "settings": [SETTINGS] * rows, "jobNames": names, **more}
    service.client.post("/submit-batch", json=body).raise_for_status()
    return names


def wait_for_all(service, names: list[str]) -> None:
    for name in names:
        assert service.wait(name)["status"] == "Complete"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_every_row_of_a_batch_runs_once_and_has_its_own_files(make_service, workers):
    service = make_service("--no-rate-limit", "--workers", workers)
    warm_up(service)
    names = submit_batch(service, 60)
    wait_for_all(service, names)
    assert ask(service, "SELECT count(*), max(number) FROM attempts") == [(60, 1)]
    attempts = [place for (place,) in ask(service, "SELECT folder FROM attempts")]
    folders = [service.folder / "data" / "jobs" / place for place in attempts]
    assert len({files.read_json(folder / files.OUTCOME)["nonce"] for folder in folders}) == 60
    pids = {files.read_json(folder / files.RUNNER)["pid"] for folder in folders}
    assert len(pids) <= int(workers) + 1


def wait_for_line(service) -> None:
    """Wait until more rows are claimed than run."""
    running = "SELECT count(*) FROM jobs WHERE state = 'Running' AND type <> 'batch'"
    wait_until(lambda: ask(service, running)[0][0] > 2, "a line")


@pytest.mark.parametrize(
    "victim",
    ["service", *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("starter", "runner"))],
)
def test_whatever_dies_every_row_is_done_once(make_service, victim):
    service = make_service("--no-rate-limit", "--workers", "1")
    warm_up(service)
    names = submit_batch(service, 120)
    wait_for_line(service)
    if victim == "service":
        service.kill()
        service.start()
    else:
        kill_one(service, victim)
    wait_for_all(service, names)
    told = "SELECT job_id, count(*) FROM events WHERE kind = 'attempt complete' GROUP BY job_id"
    assert sorted(ask(service, told)) == [(job, 1) for (job,) in sorted(ask(service, ALL_ROWS))]
    assert ask(service, "SELECT max(losses) FROM jobs")[0][0] <= 1


@pytest.mark.exhaustive
def test_one_that_is_given_back_after_a_restart_of_the_service_was_not_lost(make_service):
    """The starter is paused, and when it resumes it returns what has waited too long."""
    service = make_service("--no-rate-limit", "--workers", "1")
    warm_up(service)
    names = submit_batch(service, 120)
    starter = wait_until(lambda: find_starter(service), "the starter")
    wait_until(lambda: stop_with_line(service, starter), "a line")
    stopped_s = time.monotonic()
    service.kill()
    service.start()
    wait_until(lambda: time.monotonic() - stopped_s > MAX_WAIT_S, "the time that they may wait")
    os.kill(starter, signal.SIGCONT)
    wait_for_all(service, names)
    assert ask(service, "SELECT max(losses) FROM jobs") == [(0,)]
    assert ask(service, "SELECT max(number) FROM attempts") == [(2,)]


def stop_with_line(service, starter: int) -> bool:
    """Pause the starter if it holds some attempts; return whether it does."""
    os.kill(starter, signal.SIGSTOP)
    query = "SELECT folder FROM attempts WHERE ended IS NULL"
    folders = [service.folder / "data" / "jobs" / place for (place,) in ask(service, query)]
    held = [each for each in folders if not (each / files.RUNNER).exists() and is_locked(each)]
    if len(held) < 3:
        os.kill(starter, signal.SIGCONT)
    return len(held) >= 3


ALL_ROWS = "SELECT id FROM jobs WHERE type <> 'batch'"


def kill_one(service, victim: str) -> None:
    """Kill the starter of the service, or the runner of a row."""
    os.kill(find_runner(service) if victim == "runner" else find_starter(service), signal.SIGKILL)


def find_runner(service) -> int:
    """Return the runner of an ended row; 0 before that."""
    (place,) = ask(service, "SELECT max(folder) FROM attempts WHERE ended IS NOT NULL")[0]
    return files.read_json(service.folder / "data" / "jobs" / place / files.RUNNER)["pid"] if place else 0


def find_starter(service) -> int:
    runner = find_runner(service)
    stat = Path(f"/proc/{runner}/stat").read_text().rpartition(")")[2].split() if runner else [0, 0]
    return int(stat[1])


def test_rows_of_a_batch_that_ends_at_its_first_failure_are_not_handed_ahead(make_service):
    service = make_service("--no-rate-limit", "--workers", "1")
    warm_up(service)
    wait_for_all(service, submit_batch(service, 20))
    rows = [f"late{row}.output-1" if row != 3 else "late3.fail-1" for row in range(12)]
    body = {"batchName": "stops", "type": "anarci", "settings": [SETTINGS] * 12, "jobNames": rows}
    answer = service.client.post("/submit-batch", json=body | {"foldnote": {"onFailure": "stop"}})
    answer.raise_for_status()
    states = [service.wait(name)["status"] for name in rows]
    assert states == ["Complete"] * 3 + ["Stopped"] * 9
    late = "SELECT count(*) FROM attempts JOIN jobs ON jobs.id = job_id WHERE name LIKE 'late%'"
    assert ask(service, late) == [(4,)]
