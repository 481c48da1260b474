"""A worker loads an engine once and runs each job in a copy of itself; no job sees anything of another."""

import json
import os
import signal
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from gpu_machine import make_gpu_machine
from local_attempts import open_runners, outcome_of, wait_until

from foldnote.service.engines.launch import build_attempt
from foldnote.service.engines.protocol.job_server import has_opened_gpu
from foldnote.service.engines.registry import load_engines
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import prepare_attempt
from foldnote.service.runner.gpus import Gpu, show_gpus

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers need a system that adopts orphans")
MANIFEST = """
name = "counter"
method = "Counter of the tests"
kind = "genuine"
version = "1"
tools = ["anarci"]
[environment]
kind = "host"
"""
SERVE = """
import os, time
from pathlib import Path
import run

def load():
    with open({loads!r}, "a") as file:
        file.write(f"{{os.getpid()}}\\n")
    {more}
    run.LOADED.append("model")
"""
RUN = """
import json, os, subprocess, sys, tempfile, time
from pathlib import Path

LOADED = []

def main():
    settings = json.loads(Path("job.json").read_text())["settings"]
    state = {"pid": os.getpid(), "session": os.getsid(0), "loaded": list(LOADED), "argv": sys.argv}
    state |= {"folder": os.getcwd(), "nonce": os.environ["FOLDNOTE_ATTEMPT"], "temporary": tempfile.gettempdir()}
    state["environ"] = Path("/proc/self/environ").read_text()
    state["stdin"] = sys.stdin.read()
    Path("outputs/state.json").write_text(json.dumps(state))
    LOADED.append("what this job left behind")
    print('FOLDNOTE_PROGRESS {"fraction": 0.5, "message": "half"}', flush=True)
    exec(settings.get("code", ""))

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def engine_dir(tmp_path):
    """Return the folder of an engine that counts how often it was loaded; ``loads`` beside it has the process ids."""
    folder = tmp_path / "engines" / "counter"
    folder.mkdir(parents=True)
    (folder / "engine.toml").write_text(MANIFEST)
    (folder / "run.py").write_text(RUN)
    write_serve(folder)
    return folder


def write_serve(folder: Path, more: str = "pass") -> None:
    (folder / "serve.py").write_text(SERVE.format(loads=str(folder.parent.parent / "loads"), more=more))


@pytest.fixture
def executor():
    with open_runners(lambda _: None) as made:
        yield made


@pytest.fixture
def run_job(tmp_path, engine_dir, executor):
    """Start a job and wait for it, unless ``is_waited_for`` is False; return its folder."""

    def run(code: str = "", *, is_waited_for: bool = True, owner: str = "", gpu: str = "", **limits) -> Path:
        nonce = uuid.uuid4().hex
        spec = build_attempt(
            load_engines([engine_dir.parent])["counter"],
            attempt_dir=tmp_path / nonce,
            nonce=nonce,
            job_name="job",
            tool="anarci",
            settings={"code": code},
            **limits,
        )
        spec = replace(spec, owner=owner)
        if gpu:
            spec = replace(spec, gpus=(gpu,), environment={**spec.environment, **show_gpus([Gpu(gpu)])})
        prepare_attempt(spec)
        executor.submit(spec)
        if is_waited_for:
            outcome_of(spec.folder)
        return spec.folder

    return run


@pytest.fixture
def run_owned(run_job, engine_dir):
    """Start a job of an owner whose engine runs one job after another in a process."""
    serve = engine_dir / "serve.py"
    serve.write_text(serve.read_text() + "\nRUNS_MANY = True\n")

    def run(code: str = "", *, owner: str = "1", **limits) -> Path:
        return run_job(code, owner=owner, **limits)

    return run


def state_of(folder: Path) -> dict:
    path = folder / files.WORK / "outputs/state.json"
    return json.loads(wait_until(lambda: path.exists() and path.read_text(), "the job's start"))


def loads(tmp_path: Path) -> list[int]:
    """Return the process ids of the workers that were started."""
    path = tmp_path / "loads"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_many_jobs_load_the_engine_once_and_see_nothing_of_each_other(run_job, tmp_path):
    folders = [run_job() for _ in range(4)]
    states = [state_of(folder) for folder in folders]
    assert [outcome_of(folder).state for folder in folders] == ["succeeded"] * 4
    assert len(loads(tmp_path)) == 1
    assert len({state["pid"] for state in states}) == 4
    for folder, state in zip(folders, states, strict=True):
        assert state["loaded"] == ["model"]
        assert state["folder"] == str(folder / files.WORK)
        assert state["nonce"] == folder.name
        assert folder.name in state["temporary"]
        assert (state["session"], state["stdin"]) == (state["pid"], "")


def test_a_job_is_found_by_its_nonce_in_the_environment_that_the_system_shows(run_job):
    first, second = run_job(), run_job()
    for folder in (first, second):
        assert f"FOLDNOTE_ATTEMPT={folder.name}" in state_of(folder)["environ"].split("\0")


def test_a_job_without_worker_gives_the_same(run_job, engine_dir):
    with_worker = state_of(run_job())
    (engine_dir / "serve.py").unlink()
    without = state_of(run_job())
    assert with_worker["argv"] == without["argv"]
    assert (with_worker["loaded"], without["loaded"]) == (["model"], [])


def test_failures_read_as_those_of_a_program(run_job, tmp_path):
    refused = run_job("sys.stderr.write('FOLDNOTE_ERROR The chain is empty.\\n'); sys.exit(2)")
    assert outcome_of(refused).error == "The chain is empty."
    crashed = run_job("raise ValueError('of no use')")
    assert outcome_of(crashed).state == "failed"
    assert "ValueError: of no use" in outcome_of(crashed).error
    killed = run_job("os.kill(os.getpid(), 11)")
    assert "SIGSEGV" in outcome_of(killed).error
    assert outcome_of(run_job()).state == "succeeded"
    assert len(loads(tmp_path)) == 1


def test_a_job_ends_as_a_program_ends(run_job):
    later = "time.sleep(0.3); Path('outputs/thread').touch()"
    folder = run_job(
        "import atexit, threading;"
        " atexit.register(lambda: Path('outputs/exit').touch());"
        f" threading.Thread(target=lambda: exec({later!r})).start();"
        " print('the last line')"
    )
    outputs = folder / files.WORK / "outputs"
    assert {path.name for path in outputs.iterdir()} == {"state.json", "thread", "exit"}
    assert "the last line" in (folder / files.LOG).read_text()
    assert "a word" in outcome_of(run_job("sys.exit('a word')")).error
    assert "code 3" in outcome_of(run_job("sys.exit(3)")).error
    assert outcome_of(run_job("sys.exit(0)")).state == "succeeded"


def test_a_stopped_job_leaves_its_worker_to_the_next(run_job, tmp_path, executor):
    folder = run_job("subprocess.Popen(['sleep', '60']); time.sleep(60)", is_waited_for=False)
    pid = state_of(folder)["pid"]
    executor.cancel(folder, 1.0)
    assert outcome_of(folder).state == "stopped"
    assert not lives(pid)
    run_job()
    assert len(loads(tmp_path)) == 1
    assert lives(loads(tmp_path)[0])


def test_the_time_limit_ends_the_job_and_its_daemons_only(run_job, tmp_path):
    daemon = "p = subprocess.Popen(['sleep', '60'], start_new_session=True); Path('outputs/p').write_text(str(p.pid)); "
    folder = run_job(daemon + "time.sleep(60)", time_limit_s=6.0)  # a busy machine starts Python for seconds
    assert outcome_of(folder).state == "timed_out"
    assert not lives(int((folder / files.WORK / "outputs/p").read_text()))
    assert outcome_of(run_job()).state == "succeeded"
    assert len(loads(tmp_path)) == 1


def test_daemons_of_a_job_that_ended_are_ended(run_job):
    folder = run_job(
        "p = subprocess.Popen(['sleep', '60'], start_new_session=True); Path('outputs/p').write_text(str(p.pid))"
    )
    assert outcome_of(folder).state == "succeeded"
    assert not lives(int((folder / files.WORK / "outputs/p").read_text()))


def test_where_loading_fails_the_program_runs_by_itself(run_job, engine_dir):
    write_serve(engine_dir, "raise RuntimeError('no weights')")
    folder = run_job()
    assert outcome_of(folder).state == "succeeded"
    assert state_of(folder)["loaded"] == []


def test_a_job_can_be_stopped_while_its_engine_is_loaded(run_job, engine_dir, executor, tmp_path):
    write_serve(engine_dir, "time.sleep(60)")
    folder = run_job("time.sleep(60)", is_waited_for=False)
    wait_until(lambda: loads(tmp_path), "the loading")
    assert files.read_progress(folder) == (None, "Loading Counter of the tests")
    executor.cancel(folder, 0.5)
    assert outcome_of(folder).state == "stopped"
    assert not lives(loads(tmp_path)[0])


def test_a_changed_engine_is_loaded_again(run_job, engine_dir, tmp_path):
    run_job()
    (engine_dir / "run.py").write_text(RUN.replace('"half"', '"midway"'))
    os.utime(engine_dir / "run.py", ns=(1, 1))
    folder = run_job()
    assert files.read_progress(folder)[1] == "midway"
    assert len(loads(tmp_path)) == 2


def test_a_worker_ends_with_its_runner_and_so_does_its_job(run_job, tmp_path):
    folder = run_job("time.sleep(60)", is_waited_for=False)
    job = state_of(folder)["pid"]
    runner = files.read_json(folder / files.RUNNER)["pid"]
    os.kill(runner, signal.SIGKILL)
    for pid in (runner, job, *loads(tmp_path)):
        wait_until(lambda pid=pid: not lives(pid), "the end of every process")


def test_a_worker_ends_with_the_service(run_job, tmp_path, executor):
    run_job()
    (pid,) = loads(tmp_path)
    assert lives(pid)
    executor.close()
    wait_until(lambda: not lives(pid), "the end of the worker")


def test_a_worker_larger_than_its_engine_declares_is_not_kept(run_job, engine_dir, tmp_path):
    manifest = engine_dir / "engine.toml"
    manifest.write_text(MANIFEST + "[resources]\nmemory_mb = 64\n")
    write_serve(engine_dir, "run.BALLAST = b'x' * (100 << 20)")
    assert outcome_of(run_job()).state == "succeeded"
    (pid,) = loads(tmp_path)
    wait_until(lambda: not lives(pid), "the end of the worker")


def test_jobs_side_by_side_have_workers_of_their_own(run_job, tmp_path):
    folders = [run_job("time.sleep(1)", is_waited_for=False) for _ in range(2)]
    assert {outcome_of(folder).state for folder in folders} == {"succeeded"}
    assert len(loads(tmp_path)) == 2


def pid_of(folder: Path) -> int:
    return state_of(folder)["pid"]


def test_jobs_of_one_owner_share_a_process_where_the_engine_allows_it(run_owned, tmp_path):
    folders = [run_owned(f"print('job {number}')") for number in range(3)]
    states = [state_of(folder) for folder in folders]
    assert len({state["pid"] for state in states}) == 1
    for number, (folder, state) in enumerate(zip(folders, states, strict=True)):
        assert state["folder"] == str(folder / files.WORK)
        assert f"FOLDNOTE_ATTEMPT={folder.name}" in state["environ"].split("\0")
        assert folder.name in state["temporary"]
        assert state["stdin"] == ""
        assert (folder / files.LOG).read_text() == f"job {number}\n"
        assert files.read_progress(folder) == (0.5, "half")
    assert len(loads(tmp_path)) == 1


def test_no_two_owners_share_a_process(run_owned):
    owners = ("1", "2", "", "", "1")
    pids = [pid_of(run_owned(owner=owner)) for owner in owners]
    assert len(set(pids)) == len(owners)
    assert not any(lives(pid) for pid in pids[:-1])


def test_jobs_of_one_owner_have_processes_of_their_own_unless_the_engine_allows_it(run_job):
    assert pid_of(run_job(owner="1")) != pid_of(run_job(owner="1"))


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("sys.stderr.write('FOLDNOTE_ERROR Empty.\\n'); sys.exit(2)", "failed"),
        ("raise ValueError", "failed"),
        ("os._exit(0)", "succeeded"),
        ("os.kill(os.getpid(), 9)", "failed"),
        ("import threading; threading.Thread(target=lambda: time.sleep(0.3)).start()", "succeeded"),
        ("subprocess.Popen(['sleep', '60'])", "succeeded"),
    ],
)
def test_after_a_fault_or_what_a_job_left_the_next_one_has_a_new_process(run_owned, tmp_path, code, state):
    folders = [run_owned(), run_owned(code), run_owned()]
    assert [outcome_of(folder).state for folder in folders] == ["succeeded", state, "succeeded"]
    first, second, third = map(pid_of, folders)
    assert first == second != third
    assert not lives(first)
    assert len(loads(tmp_path)) == 1


def test_daemons_of_a_job_are_ended_before_the_next_one(run_owned):
    daemon = "p = subprocess.Popen(['sleep', '60'], start_new_session=True); Path('outputs/p').write_text(str(p.pid))"
    adopted = f"if not os.fork(): os.setsid(); exec({daemon!r}); os._exit(0)\nos.wait()"
    for code in (daemon, adopted):
        folder = run_owned(code)
        assert outcome_of(folder).state == "succeeded"
        assert not lives(int((folder / files.WORK / "outputs/p").read_text()))
    assert outcome_of(run_owned()).state == "succeeded"


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_a_job_that_is_ended_takes_no_neighbour_with_it(run_owned, executor, tmp_path, is_cancelled):
    before = run_owned()
    folder = run_owned("time.sleep(60)", is_waited_for=False, time_limit_s=60.0 if is_cancelled else 0.5)
    assert pid_of(folder) == pid_of(before)
    if is_cancelled:
        executor.cancel(folder, 1.0)
    assert outcome_of(folder).state == ("stopped" if is_cancelled else "timed_out")
    assert not lives(pid_of(folder))
    after = run_owned()
    assert {outcome_of(each).state for each in (before, after)} == {"succeeded"}
    assert len(loads(tmp_path)) == 1


def test_a_shared_process_ends_with_its_runner(run_owned, tmp_path):
    run_owned()
    folder = run_owned("time.sleep(60)", is_waited_for=False)
    job = pid_of(folder)
    os.kill(files.read_json(folder / files.RUNNER)["pid"], signal.SIGKILL)
    for pid in (job, *loads(tmp_path)):
        wait_until(lambda pid=pid: not lives(pid), "the end of every process")


def test_a_process_that_died_between_two_jobs_is_replaced(run_owned):
    first = run_owned()
    os.kill(pid_of(first), signal.SIGKILL)
    second = run_owned()
    assert outcome_of(second).state == "succeeded"
    assert pid_of(second) != pid_of(first)


def test_each_job_of_a_shared_process_has_its_own_usage(run_owned):
    burn = "end = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
    large = run_owned(burn.format(1.0) + "ballast = b'x' * (300 << 20)")
    small = run_owned(burn.format(0.2))
    killed = run_owned("os.kill(os.getpid(), 9)")
    assert pid_of(large) == pid_of(small) == pid_of(killed)
    usages = [
        (outcome_of(each).cpu_seconds, outcome_of(each).peak_memory_mb) for each in (large, small, killed)
    ]
    (large_s, large_mb), (small_s, small_mb), (killed_s, _) = usages
    assert large_s >= 1.0
    assert 0.2 <= small_s < 0.8
    assert killed_s < 0.5
    assert small_mb + 250 < large_mb


def test_a_job_after_which_its_process_is_replaced_has_its_own_usage_too(run_owned, engine_dir):
    manifest = engine_dir / "engine.toml"
    manifest.write_text(MANIFEST + "[resources]\nmemory_mb = 64\n")
    burn = "end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n"
    first = run_owned(burn)
    last = run_owned(burn + "import run; run.BALLAST = b'x' * (100 << 20)")
    assert pid_of(first) == pid_of(last)
    for each in (first, last):
        assert 0.5 <= outcome_of(each).cpu_seconds < 0.9


def test_a_shared_process_larger_than_its_engine_declares_is_not_kept(run_owned, engine_dir):
    manifest = engine_dir / "engine.toml"
    manifest.write_text(MANIFEST + "[resources]\nmemory_mb = 64\n")
    folder = run_owned("import run; run.BALLAST = b'x' * (100 << 20)")
    assert outcome_of(folder).state == "succeeded"
    wait_until(lambda: not lives(pid_of(folder)), "the end of the process")


USE_GPU = """
import ctypes
RUNS_MANY = True
libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p

def seen():
    return libc.getenv(b"CUDA_VISIBLE_DEVICES").decode(), libc.getenv(b"PYTORCH_NVML_BASED_CUDA_CHECK").decode()

def begin():
    run.LOADED.append("begun")

def use_gpu():
    run.LOADED.append(["moved", *seen()])
"""


@pytest.fixture
def run_on_gpu(run_job, engine_dir):
    """Start a job of an engine that is loaded for many jobs and may use a GPU."""
    write_serve(engine_dir, 'run.LOADED.append(["loaded", *seen()])')
    serve = engine_dir / "serve.py"
    serve.write_text(serve.read_text() + USE_GPU)

    def run(code: str = "", *, gpu: str = "0", **more) -> Path:
        return run_job(code, gpu=gpu, owner="1", **more)

    return run


def test_an_engine_is_loaded_without_a_gpu_and_each_copy_moves_it_to_its_own(run_on_gpu, tmp_path):
    folders = [run_on_gpu(gpu=gpu) for gpu in ("0", "1", "GPU-3f2a")]
    for folder, gpu in zip(folders, ("0", "1", "GPU-3f2a"), strict=True):
        loaded = [["loaded", "", "1"], "model", "begun", ["moved", gpu, "0"]]
        assert state_of(folder)["loaded"] == loaded
    assert len(loads(tmp_path)) == 1


def test_a_copy_with_a_gpu_ends_with_its_job_whoever_owns_the_next(run_on_gpu):
    pids = [pid_of(run_on_gpu()) for _ in range(2)]
    assert pids[0] != pids[1]
    assert not any(map(lives, pids))


def test_a_run_without_a_gpu_is_loaded_apart(run_on_gpu, run_job, tmp_path, engine_dir):
    write_serve(engine_dir)
    run_on_gpu()
    assert state_of(run_job())["loaded"] == ["model"]
    assert len(loads(tmp_path)) == 2


def test_the_gpu_memory_at_the_end_of_a_short_run_is_seen(run_on_gpu, tmp_path, monkeypatch):
    machine = make_gpu_machine(tmp_path / "machine")
    monkeypatch.setenv("PATH", f"{machine}{os.pathsep}{os.environ['PATH']}")
    use = f"Path({str(machine / 'uses')!r}, str(os.getpid())).write_text"
    grown = run_on_gpu(f"{use}('30'); time.sleep(1); {use}('900')")
    assert outcome_of(grown).peak_gpu_memory_mb == 900
    (machine / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert outcome_of(run_on_gpu()).peak_gpu_memory_mb is None
    unused = run_on_gpu("sys.exit(0)")
    assert outcome_of(unused).state == "succeeded"


@pytest.mark.parametrize("reason", ["no function", "opened"])
def test_a_copy_that_cannot_use_its_gpu_becomes_a_new_process(
    run_on_gpu, engine_dir, executor, tmp_path, reason
):
    serve = engine_dir / "serve.py"
    if reason == "no function":
        serve.write_text(serve.read_text().replace("def use_gpu", "def use_no_gpu"))
    else:
        opens = "run.KEPT = open('/dev/null')\n    os.readlink = lambda path: '/dev/nvidiactl'"
        write_serve(engine_dir, opens)
        serve.write_text(serve.read_text() + USE_GPU)
    first, second = run_on_gpu(), run_on_gpu("print(os.environ['CUDA_VISIBLE_DEVICES'])", gpu="1")
    for folder in (first, second):
        state = state_of(folder)
        assert (state["loaded"], state["session"], state["stdin"]) == ([], state["pid"], "")
        assert state["nonce"] == folder.name
    assert (second / files.LOG).read_text() == "1\n"
    assert len(loads(tmp_path)) == 1
    stopped = run_on_gpu("time.sleep(60)", is_waited_for=False)
    pid = pid_of(stopped)
    executor.cancel(stopped, 1.0)
    assert outcome_of(stopped).state == "stopped"
    assert not lives(pid)
    orphaned = run_on_gpu("time.sleep(60)", is_waited_for=False)
    pid = pid_of(orphaned)
    os.kill(files.read_json(orphaned / files.RUNNER)["pid"], signal.SIGKILL)
    wait_until(lambda: not lives(pid), "the end of the process")


@pytest.mark.parametrize(
    ("path", "is_gpu"),
    [("/dev/nvidiactl", True), ("/dev/nvidia0", True), ("/dev/kfd", True), ("/dev/null", False)],
)
def test_an_open_gpu_is_recognised(tmp_path, path, is_gpu):
    (tmp_path / "3").symlink_to(path)
    assert has_opened_gpu(tmp_path) is is_gpu
