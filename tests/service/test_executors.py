"""Every executor keeps the same promises. An executor joins the suite by a row in EXECUTORS."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from probe_engine import write_probe_engine

from foldnote.service.engines import build_attempt, load_engines
from foldnote.service.queue.executors import Executor, LocalExecutor
from foldnote.service.runner import attempt as files
from foldnote.service.runner import processes
from foldnote.service.runner.attempt import AttemptSpec, AttemptState, Outcome, prepare_attempt
from foldnote.settings import process_environment

EXECUTORS = {"local": lambda: LocalExecutor(process_environment())}
PATIENCE_S = 60

# Runners outlive the executor that started them, on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes through /proc")


@pytest.fixture(params=EXECUTORS)
def executor(request) -> Executor:
    return EXECUTORS[request.param]()


@pytest.fixture
def make_attempt(tmp_path):
    engines = tmp_path / "engines"

    def make(job_name: str, **engine_options) -> AttemptSpec:
        name = f"probe{len(list(tmp_path.iterdir()))}"
        write_probe_engine(engines, name=name, **engine_options)
        spec = build_attempt(
            load_engines([engines])[name],
            attempt_dir=tmp_path / f"attempt-{name}",
            nonce=uuid.uuid4().hex,
            job_name=job_name,
            tool="anarci",
            settings={"sequence": "EVQLV"},
        )
        prepare_attempt(spec)
        return spec

    return make


def wait_until(condition, what: str):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def is_alive(executor: Executor, spec: AttemptSpec) -> bool:
    return executor.poll(spec.folder).alive


def is_gone(executor: Executor, spec: AttemptSpec) -> bool:
    """Whether no runner holds the attempt and there is no outcome."""
    state = executor.poll(spec.folder)
    return not state.alive and state.outcome is None


def wait_for_outcome(executor: Executor, spec: AttemptSpec) -> Outcome:
    return wait_until(lambda: executor.poll(spec.folder).outcome, "the outcome")


def wait_for_progress(executor: Executor, spec: AttemptSpec) -> AttemptState:
    state = lambda: executor.poll(spec.folder)  # noqa: E731
    return wait_until(lambda: (seen := state()).message and "Sleeping" in seen.message and seen, "progress")


def runner_of(spec: AttemptSpec) -> int:
    return files.read_json(spec.folder / files.RUNNER)["pid"]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def left_by(spec: AttemptSpec, name: str) -> int:
    path = spec.folder / "work" / "outputs" / f"{name}.pid"
    return int(wait_until(lambda: path.exists() and path.read_text(), path.name))


def test_a_run_succeeds_with_progress_score_and_archive(executor, make_attempt):
    spec = make_attempt("sleep-1.output-2.score")
    executor.submit(spec)
    assert 0 <= wait_for_progress(executor, spec).progress <= 1
    outcome = wait_for_outcome(executor, spec)
    assert (outcome.state, outcome.error, outcome.score) == ("succeeded", None, {"probe": 0.5})
    assert outcome.result_size_bytes == (spec.folder / files.RESULT).stat().st_size
    assert executor.poll(spec.folder).progress == 1.0


def test_find_tells_gone_alive_and_finished_apart(executor, make_attempt):
    spec = make_attempt("sleep-2")
    assert is_gone(executor, spec)
    executor.submit(spec)
    assert is_alive(executor, spec)
    wait_for_outcome(executor, spec)
    assert executor.poll(spec.folder).outcome is not None


def test_another_executor_finds_the_attempt_again(executor, make_attempt):
    spec = make_attempt("sleep-2")
    executor.submit(spec)
    reborn = type(executor)(process_environment())
    assert is_alive(reborn, spec)
    assert wait_for_outcome(reborn, spec).state == "succeeded"


def test_a_double_submit_runs_once(executor, make_attempt):
    spec = make_attempt("sleep-1")
    for _ in range(5):
        executor.submit(spec)
    first = runner_of_started(spec)
    assert wait_for_outcome(executor, spec).state == "succeeded"
    executor.submit(spec)
    wait_until(lambda: not executor.poll(spec.folder).alive, "the end of the runner")
    assert runner_of(spec) == first


def runner_of_started(spec: AttemptSpec) -> int:
    wait_until(lambda: (spec.folder / files.RUNNER).exists(), "the runner")
    return runner_of(spec)


def test_a_failure_for_the_user_is_told_in_the_engines_words(executor, make_attempt):
    spec = make_attempt("fail")
    executor.submit(spec)
    outcome = wait_for_outcome(executor, spec)
    assert (outcome.state, outcome.error) == ("failed", "The probe was asked to fail.")


def test_a_crash_tells_exit_code_and_last_words(executor, make_attempt):
    spec = make_attempt("crash-3")
    executor.submit(spec)
    outcome = wait_for_outcome(executor, spec)
    assert outcome.state == "failed"
    assert "exit code 3" in outcome.error
    assert "about to crash" in outcome.error


def test_cancel_ends_an_engine_that_obeys(executor, make_attempt):
    spec = make_attempt("sleep-60")
    executor.submit(spec)
    wait_for_progress(executor, spec)
    executor.cancel(spec.folder)
    assert wait_for_outcome(executor, spec).state == "stopped"


@needs_proc
def test_cancel_ends_an_engine_that_ignores_term_and_its_daemons(executor, make_attempt):
    spec = make_attempt("deaf.daemon.child.sleep-60")
    executor.submit(spec)
    wait_for_progress(executor, spec)
    left = [left_by(spec, "daemon"), left_by(spec, "child")]
    executor.cancel(spec.folder, grace_s=0.5)
    assert wait_for_outcome(executor, spec).state == "stopped"
    assert not processes.find_marked(spec.nonce)
    assert not any(is_running(pid) for pid in left)


def test_cancel_before_the_start_runs_nothing(executor, make_attempt):
    spec = make_attempt("output-1")
    executor.cancel(spec.folder)
    executor.submit(spec)
    assert wait_for_outcome(executor, spec).state == "stopped"
    assert not (spec.folder / "work" / "outputs" / "file-0.txt").exists()


@needs_proc
def test_a_daemon_does_not_outlive_a_successful_run(executor, make_attempt):
    spec = make_attempt("daemon.child")
    executor.submit(spec)
    assert wait_for_outcome(executor, spec).state == "succeeded"
    assert not is_running(left_by(spec, "daemon"))
    assert not is_running(left_by(spec, "child"))


def test_the_time_limit_ends_the_run(executor, make_attempt):
    spec = make_attempt("sleep-60", time_limit_s=1)
    executor.submit(spec)
    outcome = wait_for_outcome(executor, spec)
    assert outcome.state == "timed_out"
    assert "1 s" in outcome.error


@needs_proc
def test_too_much_memory_ends_the_run(executor, make_attempt):
    spec = make_attempt("memory-400.sleep-60", memory_limit_mb=200)
    executor.submit(spec)
    outcome = wait_for_outcome(executor, spec)
    assert outcome.state == "failed"
    assert "200 MB" in outcome.error


@needs_proc
def test_a_killed_runner_leaves_nothing_and_is_gone(executor, make_attempt):
    spec = make_attempt("child.sleep-60")
    executor.submit(spec)
    wait_for_progress(executor, spec)
    child = left_by(spec, "child")
    os.kill(runner_of(spec), signal.SIGKILL)
    wait_until(lambda: is_gone(executor, spec), "the lock")
    assert executor.revoke(spec.folder) is True
    assert not processes.find_marked(spec.nonce)
    assert not is_running(child)


@needs_proc
def test_a_killed_runner_takes_its_engine_along_without_help(executor, make_attempt):
    spec = make_attempt("sleep-60")
    executor.submit(spec)
    wait_for_progress(executor, spec)
    os.kill(runner_of(spec), signal.SIGKILL)
    wait_until(lambda: not processes.find_marked(spec.nonce), "the end of the engine")
    wait_until(lambda: not executor.poll(spec.folder).alive, "the lock")
    assert not processes.find_marked(spec.nonce)


def test_an_attempt_whose_runner_died_is_not_begun_again(executor, make_attempt):
    spec = make_attempt("sleep-60")
    executor.submit(spec)
    wait_for_progress(executor, spec)
    os.kill(runner_of(spec), signal.SIGKILL)
    wait_until(lambda: not executor.poll(spec.folder).alive, "the end of the runner")
    executor.submit(spec)
    wait_until(lambda: is_gone(executor, spec), "the refusal of the second runner")
    assert not executor.poll(spec.folder).alive


def test_a_revoked_attempt_never_runs(executor, make_attempt):
    spec = make_attempt("output-1")
    assert executor.revoke(spec.folder) is True
    executor.submit(spec)
    late = subprocess.run(
        [sys.executable, "-m", "foldnote.service.runner.runner", str(spec.folder)], check=False
    )
    assert late.returncode == 0
    assert is_gone(executor, spec)
    assert not (spec.folder / files.RUNNER).exists()


def test_a_living_attempt_cannot_be_revoked(executor, make_attempt):
    spec = make_attempt("sleep-2")
    executor.submit(spec)
    assert executor.revoke(spec.folder) is False
    assert wait_for_outcome(executor, spec).state == "succeeded"


def test_a_finished_attempt_cannot_be_revoked(executor, make_attempt):
    spec = make_attempt("output-1")
    executor.submit(spec)
    wait_for_outcome(executor, spec)
    wait_until(lambda: not executor.poll(spec.folder).alive, "the end of the runner")
    assert executor.revoke(spec.folder) is False


def test_a_terminated_runner_publishes_a_loss(executor, make_attempt):
    spec = make_attempt("sleep-60")
    executor.submit(spec)
    wait_for_progress(executor, spec)
    os.kill(runner_of(spec), signal.SIGTERM)
    assert wait_for_outcome(executor, spec).state == "lost"


def test_a_missing_program_is_a_failure_that_says_what_to_do(executor, tmp_path):
    spec = AttemptSpec(
        attempt_dir=str(tmp_path / "attempt"),
        nonce=uuid.uuid4().hex,
        job_name="none",
        tool="anarci",
        settings={},
        command=("/nowhere/python", "run.py"),
        environment={},
        engine={"name": "lost-engine"},
    )
    prepare_attempt(spec)
    executor.submit(spec)
    outcome = wait_for_outcome(executor, spec)
    assert outcome.state == "failed"
    assert "foldnote engines install lost-engine" in outcome.error


def test_capacity_is_that_of_the_machine(executor):
    capacity = executor.capacity()
    assert capacity.cores >= 1
    assert capacity.memory_mb > 0
