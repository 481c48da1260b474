"""The starter hands attempts to runners; after any process dies, an attempt runs once and is found again."""

import os
import signal
import subprocess
import sys
import uuid
import zipfile
from pathlib import Path

import pytest
from local_attempts import open_runners, outcome_of, wait_until

from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptSpec, prepare_attempt

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes through /proc")


@pytest.fixture
def ended() -> list[Path]:
    """Return the folders of attempts that the executor reported as ended."""
    return []


@pytest.fixture
def executor(ended):
    with open_runners(ended.append) as made:
        yield made


@pytest.fixture
def make_attempt(tmp_path):
    def make(script: str) -> AttemptSpec:
        nonce = uuid.uuid4().hex
        spec = AttemptSpec(
            attempt_dir=str(tmp_path / nonce),
            nonce=nonce,
            job_name="job",
            tool="anarci",
            settings={},
            command=("/bin/sh", "-c", script),
            environment={files.NONCE_VARIABLE: nonce, "PATH": os.environ["PATH"]},
        )
        prepare_attempt(spec)
        return spec

    return make


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def start_and_find_runner(executor, spec) -> int:
    executor.submit(spec)
    return wait_until(lambda: files.read_json(spec.folder / files.RUNNER), "the runner")["pid"]


def lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_every_runner_has_its_own_session(executor, make_attempt):
    runners = [start_and_find_runner(executor, make_attempt("sleep 60")) for _ in range(2)]
    assert [os.getsid(pid) for pid in runners] == runners
    assert len({parent_of(pid) for pid in runners}) == 1
    for pid in runners:
        os.kill(pid, signal.SIGKILL)


def test_an_end_is_reported_after_the_outcome_is_there_and_the_lock_is_free(executor, make_attempt, ended):
    spec = make_attempt("echo x > outputs/x")
    executor.submit(spec)
    wait_until(lambda: ended, "the hint")
    assert ended == [spec.folder]
    state = executor.poll(spec.folder)
    assert (state.outcome.state, state.alive) == ("succeeded", False)


def test_a_killed_runner_is_reported_at_once(executor, make_attempt, ended):
    spec = make_attempt("sleep 60")
    os.kill(start_and_find_runner(executor, spec), signal.SIGKILL)
    wait_until(lambda: ended, "the hint")
    wait_until(lambda: executor.revoke(spec.folder), "the end of a copy that was about to become the engine")
    state = executor.poll(spec.folder)
    assert (state.alive, state.outcome) == (False, None)


def test_a_killed_starter_leaves_its_runners_alone_and_is_replaced(executor, make_attempt):
    first, second = make_attempt("sleep 1; echo x > outputs/x"), make_attempt("echo x > outputs/x")
    runner = start_and_find_runner(executor, first)
    os.kill(parent_of(runner), signal.SIGKILL)
    executor.submit(second)
    assert outcome_of(second.folder).state == "succeeded"
    assert outcome_of(first.folder).state == "succeeded"


def test_a_stopped_starter_is_given_up(executor, make_attempt, monkeypatch):
    first, second = make_attempt("sleep 60"), make_attempt("echo x > outputs/x")
    runner = start_and_find_runner(executor, first)
    starter = parent_of(runner)
    os.kill(starter, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr("foldnote.service.runner.starting._ANSWER_S", 2.0)
        executor.submit(second)
    assert outcome_of(second.folder).state == "succeeded"
    wait_until(lambda: not lives(starter), "the end of the starter that hung")
    os.kill(runner, signal.SIGKILL)


def test_the_starter_ends_with_the_service_and_its_runners_do_not(make_attempt, tmp_path):
    spec = make_attempt("sleep 1; echo x > outputs/x")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from foldnote.service.runner.attempt import read_spec\n"
        "from foldnote.service.runner.local_runners import LocalRunners\n"
        "from foldnote.settings import process_environment\n"
        "executor = LocalRunners(process_environment())\n"
        "executor.submit(read_spec(Path(sys.argv[1])))\n"
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", code, str(spec.folder)) == -9
    starter = find_starter(spec)
    assert outcome_of(spec.folder).state == "succeeded"
    wait_until(lambda: starter is None or not lives(starter), "the end of the starter")


def find_starter(spec) -> int | None:
    """Return the parent of the attempt's runner, while both live."""
    runner = wait_until(lambda: files.read_json(spec.folder / files.RUNNER), "the runner")["pid"]
    parent = parent_of(runner)
    is_starter = b"queue.starter" in Path(f"/proc/{parent}/cmdline").read_bytes()
    return parent if is_starter else None


def test_a_closed_executor_starts_again_when_it_is_needed(executor, make_attempt):
    executor.close()
    spec = make_attempt("echo x > outputs/x")
    executor.submit(spec)
    assert outcome_of(spec.folder).state == "succeeded"


def run(executor, spec) -> int:
    """Run the attempt to its end; return the process id of its runner."""
    executor.submit(spec)
    assert outcome_of(spec.folder).state == "succeeded"
    wait_until(lambda: not executor.poll(spec.folder).alive, "the lock")
    return files.read_json(spec.folder / files.RUNNER)["pid"]


def test_a_runner_that_is_free_takes_the_next_attempt(executor, make_attempt, ended):
    specs = [make_attempt("ps -o sid= $$ > outputs/session") for _ in range(3)]
    runners = set()
    for number, spec in enumerate(specs):
        runners.add(run(executor, spec))
        wait_until(lambda least=number: len(ended) > least, "the hint")
    assert len(runners) == 1
    sessions = {session_of(spec) for spec in specs}
    assert len(sessions | runners) == 4, "each engine has its own session"


def session_of(spec) -> int:
    with zipfile.ZipFile(spec.folder / files.RESULT) as archive:
        return int(archive.read("session"))


def test_attempts_that_come_together_have_runners_of_their_own(executor, make_attempt, ended):
    long, short = make_attempt("sleep 60"), make_attempt("echo x > outputs/x")
    busy = start_and_find_runner(executor, long)
    assert run(executor, short) != busy
    assert executor.poll(long.folder).alive
    assert lives(files.read_json(short.folder / files.RUNNER)["pid"]), "the lock is free while it lives on"
    os.kill(busy, signal.SIGKILL)


def test_a_free_runner_that_was_killed_is_replaced(executor, make_attempt, ended):
    first, second = make_attempt("echo x > outputs/x"), make_attempt("echo x > outputs/x")
    runner = run(executor, first)
    wait_until(lambda: ended, "the hint")
    os.kill(runner, signal.SIGKILL)
    wait_until(lambda: not lives(runner), "the end of the runner")
    assert run(executor, second) != runner


def test_a_runner_that_lost_an_attempt_takes_no_other(executor, make_attempt, ended):
    first, second = make_attempt("sleep 60"), make_attempt("echo x > outputs/x")
    runner = start_and_find_runner(executor, first)
    wait_until(lambda: engines_of(first), "the engine")
    os.kill(runner, signal.SIGTERM)
    assert outcome_of(first.folder).state == "lost"
    wait_until(lambda: not lives(runner), "the end of the runner")
    assert run(executor, second) != runner


def engines_of(spec) -> set[int]:
    return processes.find_marked(spec.nonce)


def test_free_runners_end_with_the_executor(executor, make_attempt, ended):
    runner = run(executor, make_attempt("echo x > outputs/x"))
    wait_until(lambda: ended, "the hint")
    executor.close()
    wait_until(lambda: not lives(runner), "the end of the runner")
    assert not lives(runner)


def test_an_engine_and_its_children_end_with_an_unwatched_runner(executor, make_attempt):
    spec = make_attempt("echo begun; sleep 60 & sleep 60")
    runner = start_and_find_runner(executor, spec)
    wait_until(lambda: len(engines_of(spec)) == 3, "the engine and its children")
    # a runner that reads the engine's output has already bound the engine's life to its own
    log = spec.folder / files.LOG
    wait_until(lambda: log.exists() and "begun" in log.read_text(), "the runner's first look")
    for pid in (parent_of(runner), runner):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not engines_of(spec), "the end of them all")
    assert not engines_of(spec)


def test_a_killed_runners_daemon_is_ended_by_the_starter(executor, make_attempt, ended):
    spec = make_attempt("setsid sleep 60 & sleep 60")
    runner = start_and_find_runner(executor, spec)
    wait_until(lambda: len(engines_of(spec)) == 3, "the engine and its daemon")
    os.kill(runner, signal.SIGKILL)
    wait_until(lambda: ended, "the hint")
    assert not engines_of(spec)


HIDING = "env -i setsid sleep 60 & echo $! > outputs/hidden; cp outputs/hidden ../hidden; "


def hidden_of(spec) -> int:
    """Return the engine's process without environment, in its own session."""
    path = spec.folder / "hidden"
    return int(wait_until(lambda: path.exists() and path.read_text().strip(), "the hidden process"))


def terminal_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[4]


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_what_an_engine_hides_ends_although_it_kills_its_runner(executor, make_attempt, ended):
    spec = make_attempt(HIDING + "sleep 0.3; kill -9 $PPID; sleep 60")
    executor.submit(spec)
    hidden = hidden_of(spec)
    wait_until(lambda: ended, "the hint")
    assert has_ended(hidden)


def test_what_an_engine_hides_ends_although_it_kills_the_starter_and_its_runner(executor, make_attempt):
    spec = make_attempt(HIDING + "sleep 60")
    runner = start_and_find_runner(executor, spec)
    hidden = hidden_of(spec)
    for pid in (parent_of(runner), runner):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: executor.revoke(spec.folder), "the end of the attempt")
    assert has_ended(hidden)


def test_a_person_who_looks_at_a_work_folder_in_a_terminal_is_left_alone(executor, make_attempt):
    spec = make_attempt("sleep 60")
    runner = start_and_find_runner(executor, spec)
    master, slave = os.openpty()
    command = ["setsid", "--ctty", "sleep", "60"]
    shell = subprocess.Popen(command, cwd=spec.folder / "work", stdin=slave)
    wait_until(lambda: terminal_of(shell.pid) != "0", "the terminal")
    os.kill(runner, signal.SIGKILL)
    wait_until(lambda: executor.revoke(spec.folder), "the end of the attempt")
    assert not has_ended(shell.pid)
    shell.kill()
    shell.wait()
    os.close(master)
    os.close(slave)


def test_a_killed_runners_temporary_folder_goes(executor, make_attempt, ended):
    spec = make_attempt("echo x > $TMPDIR/x; touch ../ready; sleep 60")
    runner = start_and_find_runner(executor, spec)
    wait_until((spec.folder / "ready").exists, "the engine")
    assert files.scratch_folder(spec.nonce).exists()
    os.kill(runner, signal.SIGKILL)
    wait_until(lambda: ended, "the hint")
    assert not files.scratch_folder(spec.nonce).exists()


def test_the_temporary_folder_goes_although_the_starter_was_killed_too(executor, make_attempt):
    spec = make_attempt("echo x > $TMPDIR/x; touch ../ready; sleep 60")
    runner = start_and_find_runner(executor, spec)
    wait_until((spec.folder / "ready").exists, "the engine")
    for pid in (parent_of(runner), runner):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: executor.revoke(spec.folder), "the end of the attempt")
    assert not files.scratch_folder(spec.nonce).exists()
