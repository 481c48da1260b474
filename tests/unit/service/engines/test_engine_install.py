"""The installer creates, resumes, checks and removes real environments; packages come from a local folder."""

import getpass
import os
import re
import subprocess
import sys
import threading
import venv
from concurrent.futures import ThreadPoolExecutor

import pytest
from fault_layer import FaultLayer
from local_wheels import write_wheel

from foldnote.errors import EngineInstallError
from foldnote.io import hold_lock
from foldnote.service.engines import Engine, read_engine
from foldnote.service.engines.engine import read_ready
from foldnote.service.engines.install import install, remove
from foldnote.service.engines.pip import explain_failure, tells_full_disk
from foldnote.service.engines.waiting_locks import describe_holder, try_lock

PATIENCE_S = 30.0


@pytest.fixture(autouse=True)
def _own_engines(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDNOTE_ENGINES_DIR", str(tmp_path / "environments"))


@pytest.fixture
def make_engine(tmp_path):
    def make(
        *requirements: str, probe: str = "import firstpart", more: str = "", name: str = "tiny"
    ) -> Engine:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        wheels = tmp_path / "wheels"
        write_wheel(wheels, "firstpart")
        steps = [["--no-index", "--find-links", str(wheels), each] for each in requirements]
        (folder / "engine.toml").write_text(
            f'name = "{name}"\nmethod = "Tiny"\nkind = "genuine"\nversion = "1"\ntools = ["anarci"]\n'
            f"[environment]\nsteps = {steps!r}\nprobe = {probe!r}\n{more}"
        )
        return read_engine(folder)

    return make


def install_and_listen(engine):
    events = []
    try:
        install(engine, events.append)
    except EngineInstallError as exc:
        return events, exc
    return events, None


def test_an_engine_is_installed_proved_and_removed(make_engine):
    engine = make_engine("firstpart==1.0")
    events, error = install_and_listen(engine)
    assert error is None
    assert engine.state().installed
    assert read_ready(engine)["packages"]["firstpart"] == "1.0"
    assert (events[-1].message, events[-1].fraction) == ("is installed", 1.0)
    assert any("step 1 of 1: pip install" in event.message for event in events)
    again, _ = install_and_listen(engine)
    assert [event.message for event in again] == ["is already installed"]
    assert remove(engine) is True
    assert not engine.state().installed
    assert remove(engine) is False


@pytest.mark.parametrize(("has_pip", "kept"), [(True, []), (False, ["pip"])], ids=["with pip", "without pip"])
def test_an_environment_has_its_own_pip_only_if_the_running_python_has_none(
    make_engine, monkeypatch, has_pip, kept
):
    if not has_pip:
        monkeypatch.setattr("foldnote.service.engines.install.can_serve_others", lambda: False)
    engine = make_engine("firstpart==1.0")
    assert install_and_listen(engine)[1] is None
    assert [each.name for each in (engine.home / "env/lib").glob("python*/site-packages/pip")] == kept
    assert read_ready(engine)["packages"]["firstpart"] == "1.0"


@pytest.mark.exhaustive
def test_engines_keep_one_copy_of_equal_large_files(make_engine, begin, tmp_path):
    engines = [make_engine("firstpart==1.0", "heavypart==1.0", name=name) for name in ("tiny", "other")]
    write_wheel(tmp_path / "wheels", "heavypart", data=bytes(100_000))
    for engine in engines:
        begin(engine)
    assert install_and_listen(engines[0])[0][-1].message == "is installed"
    last = install_and_listen(engines[1])[0][-1].message
    found = re.fullmatch(r"is installed, and shares ([\d.]+) MB of files with other engines", last)
    assert float(found[1]) >= 0.1
    first, second = (
        next((each.home / "env/lib").glob("python*/site-packages/heavypart.bin")) for each in engines
    )
    assert first.samefile(second)
    assert remove(engines[0]) is True
    assert (engines[1].state().installed, second.read_bytes()) == (True, bytes(100_000))
    assert remove(engines[1]) is True
    assert [path for path in (tmp_path / "environments").rglob("*") if path.stat().st_size > 50_000] == []


def test_a_failed_step_is_explained_and_gone_on_with(make_engine, begin, tmp_path):
    engine = make_engine("firstpart==1.0", "secondpart==1.0")
    begin(engine)
    _, error = install_and_listen(engine)
    assert "step 2 of 2" in error.message
    assert "does not have this version" in error.message
    assert "continue from here" in error.message
    assert not engine.state().installed
    write_wheel(tmp_path / "wheels", "secondpart")
    events, error = install_and_listen(engine)
    assert error is None
    assert not any("step 1 of 2" in event.message for event in events)
    assert engine.state().installed


def test_a_probe_that_fails_makes_no_engine(make_engine, begin):
    engine = make_engine(
        "firstpart==1.0", probe="import firstpart; assert firstpart.ANSWER == 41, 'wrong answer'"
    )
    begin(engine)
    _, error = install_and_listen(engine)
    assert "wrong answer" in error.message
    assert not engine.state().installed


def test_a_changed_recipe_makes_an_installation_stale(make_engine, begin, tmp_path):
    begin(make_engine("firstpart==1.0"))
    install_and_listen(make_engine("firstpart==1.0"))
    write_wheel(tmp_path / "wheels", "firstpart", "2.0")
    changed = make_engine("firstpart==2.0")
    assert "another version" in changed.state().reason
    _, error = install_and_listen(changed)
    assert error is None
    assert read_ready(changed)["packages"]["firstpart"] == "2.0"


def test_the_environment_of_the_user_does_not_reach_pip(make_engine, monkeypatch, tmp_path):
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    engine = make_engine("firstpart==1.0")
    assert install_and_listen(engine)[1] is None
    assert engine.state().installed


def test_an_installer_waits_for_another_one_and_says_for_whom(make_engine):
    engine = make_engine("firstpart==1.0")
    engine.home.mkdir(parents=True)
    messages = []

    def report(event):
        messages.append((event.message, event.is_milestone))
        if len(messages) == 2:
            release.set()

    release, is_held = threading.Event(), threading.Event()

    def hold():
        with try_lock(engine.home.with_name(".tiny.lock"), "installing tiny") as is_mine:
            assert is_mine
            is_held.set()
            release.wait(PATIENCE_S)

    with ThreadPoolExecutor(1) as other:
        held = other.submit(hold)
        assert is_held.wait(PATIENCE_S)
        install(engine, report)
        held.result()
    waited = (
        f"waiting for process {os.getpid()} of {getpass.getuser()}, which has been installing tiny since "
    )
    assert messages[0][0].startswith(waited)
    assert [is_milestone for _, is_milestone in messages[:2]] == [True, False]
    assert engine.state().installed


def test_a_wait_can_be_interrupted_and_leaves_nothing(make_engine):
    engine = make_engine("firstpart==1.0")
    engine.home.mkdir(parents=True)

    def interrupt(_event):
        raise KeyboardInterrupt

    with hold_lock(engine.home.with_name(".tiny.lock")), pytest.raises(KeyboardInterrupt):
        install(engine, interrupt)
    assert list(engine.home.iterdir()) == []


def test_an_engine_that_is_being_installed_is_not_removed(make_engine):
    engine = make_engine("firstpart==1.0")
    engine.home.mkdir(parents=True)
    with (
        try_lock(engine.home.with_name(".tiny.lock"), "installing tiny"),
        pytest.raises(EngineInstallError, match=r"used by process \d+ of .+, which has been installing tiny"),
    ):
        remove(engine)


def test_the_lock_of_an_installer_that_died_is_taken_over(make_engine):
    """It is killed while it holds the lock, and leaves the file that names it."""
    engine = make_engine("firstpart==1.0")
    engine.home.mkdir(parents=True)
    lock = engine.home.with_name(".tiny.lock")
    program = (
        "import sys, time; from pathlib import Path; from foldnote.service.engines.waiting_locks import try_lock\n"
        "with try_lock(Path(sys.argv[1]), 'installing tiny'):\n    print('held', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, lock], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        assert f"process {other.pid} of" in describe_holder(lock)
        other.kill()
    events, error = install_and_listen(engine)
    assert error is None
    assert not any("waiting for" in event.message for event in events)
    assert describe_holder(lock) == "another process"


def test_a_missing_system_program_is_reported_before_anything_is_made(make_engine):
    engine = make_engine("firstpart==1.0", more='system = [{command = "no-such-prog", debian = "nsp"}]')
    _, error = install_and_listen(engine)
    assert "apt-get install nsp" in error.message
    assert not engine.python.exists()


@pytest.fixture
def too_new(monkeypatch, tmp_path):
    """Pretend to run on a Python for which no engine has packages; return the only folder on PATH, and the older Python."""
    monkeypatch.setattr("foldnote.service.engines.engine._OURS", (3, 99))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin", f"3.{sys.version_info.minor}"


@pytest.mark.exhaustive
def test_an_engine_without_packages_for_this_python_uses_an_older_python(make_engine, too_new):
    folder, version = too_new
    older = folder / f"python{version}"
    older.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    older.chmod(0o755)
    engine = make_engine("firstpart==1.0", more=f'newest_python = "{version}"')
    assert "is not installed: run" in engine.state().reason
    assert install_and_listen(engine)[1] is None
    assert engine.state().installed


def test_without_an_older_python_it_says_which_one_is_needed(make_engine, too_new):
    _, version = too_new
    engine = make_engine("firstpart==1.0", more=f'newest_python = "{version}"')
    _, error = install_and_listen(engine)
    assert error.message == engine.state().reason
    assert f"needs Python {version} or older" in error.message
    assert "this is Python 3.99" in error.message
    assert not engine.python.exists()


def test_too_little_room_is_reported_before_anything_is_made(make_engine):
    _, error = install_and_listen(make_engine("firstpart==1.0", more="disk_mb = 1000000000"))
    assert re.search(r"needs 1000 TB more in .*; [0-9.]+ [GMT]B are free", error.message)


@pytest.mark.parametrize("program", ["venv", "foldnote"])
def test_a_disk_that_gets_full_is_reported_and_given_back(make_engine, tmp_path, program):
    engine = make_engine("firstpart==1.0")
    layer = FaultLayer(tmp_path, engine.home.parent)
    layer.set("ENOSPC", "w", 1, program)
    given = {"FOLDNOTE_ENGINE_PATH": str(tmp_path), "FOLDNOTE_ENGINES_DIR": str(engine.home.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "foldnote", "engines", "install", "tiny"],
        env=os.environ | layer.environment | given,
        capture_output=True,
        text=True,
    )
    assert "The disk has too little space: the engine tiny is not installed" in done.stdout
    assert f"Free space in {engine.home.parent} and in " in done.stdout
    assert (done.returncode, done.stderr) == (6, "")
    assert not engine.python.exists()
    assert not engine.state().installed


def test_an_incomplete_environment_is_recreated(make_engine):
    engine = make_engine("firstpart==1.0")
    venv.create(engine.home / "env", with_pip=False)  # the state when the Python is there, and pip is not
    events, error = install_and_listen(engine)
    assert error is None
    assert any("an earlier attempt" in event.message for event in events)
    assert engine.state().installed


def test_a_long_known_error_of_pip_is_only_explained():
    told = explain_failure([f"ERROR: {'HTTPSConnectionPool ' * 9} Temporary failure in name resolution"])
    assert told.endswith("cannot be reached: check the network and try again.")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ["error: connection-failed", "× Failed to connect to a.org"],
            "check the network and try again. pip says: F",
        ),
        (["error: connection-timeout", "× a.org did not respond within 15 seconds"], "cannot be reached"),
        (["error: incomplete-download", "× Download failed after 5 attempts"], "cannot be reached"),
        (["error: ssl-verification-failed", "× Failed to establish a secure connection"], "not trusted"),
        (
            ["error: failed-wheel-build-for-install", "× Failed to build installable wheels"],
            "no prebuilt wheel",
        ),
    ],
)
def test_faults_that_newer_pips_name_are_explained(lines, words):
    assert words in explain_failure(lines)


def test_both_messages_of_pip_on_a_full_disk_are_recognized():
    assert tells_full_disk(["ERROR: [Errno 28] No space left on device: '/tmp/pip-unpack'"])
    assert tells_full_disk(["OSError: [Errno 122] Disk quota exceeded"])
    assert not tells_full_disk(["ERROR: No matching distribution found for torch==2.13.0"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Failed to establish a new connection: Temporary failure in name resolution", "cannot be reached"),
        ("ERROR: No matching distribution found for torch==2.13.0", "does not have this version"),
        ("SSLError(CERTIFICATE_VERIFY_FAILED)", "not trusted"),
        ("something else", "pip says: something else."),
        (f"ERROR: {'word ' * 99}", f"pip says: {'word ' * 60}."),
    ],
)
def test_pips_failures_are_explained(line, words):
    assert words in explain_failure([line])


def test_an_engine_of_another_python_names_it_and_how_to_get_it(make_engine, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    _, error = install_and_listen(make_engine("firstpart==1.0", more='requires_python = "3.9"'))
    assert "needs Python 3.9, for which its packages are built" in error.message
    assert "there is no python3.9 on PATH. With python3.9, or with uv" in error.message


def test_a_python_that_does_not_run_is_none(make_engine, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    shim = tmp_path / "python3.9"
    shim.write_text("#!/bin/sh\necho 'python3.9: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    _, error = install_and_listen(make_engine("firstpart==1.0", more='requires_python = "3.9"'))
    assert "needs Python 3.9" in error.message


@pytest.mark.parametrize("need", ["requires_python", "newest_python"])
def test_uv_provides_a_python_that_is_not_installed(make_engine, monkeypatch, tmp_path, need):
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = tmp_path / "asked"
    python = tmp_path / "fetched"
    python.write_text("#!/bin/sh\necho 3.9\n")
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\necho "$@" >> {asked}\necho {python}\n')
    for program in (python, uv):
        program.chmod(0o755)
    _, error = install_and_listen(make_engine("firstpart==1.0", more=f'{need} = "3.9"'))
    assert asked.read_text().splitlines() == ["python install 3.9", "python find 3.9"]
    # the downloaded Python was chosen; it creates no environment here
    assert "python3.9" not in error.message
