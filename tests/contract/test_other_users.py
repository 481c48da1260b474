"""A second user of the same machine can read nothing of a service and its client, and cannot mislead them.

As root, another user makes the attempts; otherwise the permissions of all folders and files are checked.
"""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from probe_engine import write_probe_engine
from served import SETTINGS, Served

from foldnote import settings
from foldnote.client import Client
from foldnote.errors import ConfigurationError
from foldnote.service.config import ServiceConfig
from foldnote.service.http.app import create_app

STRANGER = 65534
IS_ROOT = os.geteuid() == 0


def run_as_stranger(*command):
    return subprocess.run(
        command, user=STRANGER, group=STRANGER, extra_groups=[], capture_output=True, cwd="/", timeout=60
    )


def can_stranger_read(path):
    if IS_ROOT:
        tool = "ls" if path.is_dir() else "cat"
        return run_as_stranger(f"/bin/{tool}", str(path)).returncode == 0
    needed = [(path, stat.S_IROTH), *((folder, stat.S_IXOTH) for folder in path.parents)]
    return all(place.stat().st_mode & bit for place, bit in needed)


def find_open(folder):
    """Return the files and folders in a folder with permissions for the group or others."""
    return [path for path in folder.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o077]


@pytest.fixture(scope="module")
def place():
    """Create a folder that everybody may enter, unlike pytest's own, for processes that restrict nothing themselves."""
    before = os.umask(0)
    with tempfile.TemporaryDirectory(prefix="shared-machine-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
    os.umask(before)


@pytest.fixture(scope="module")
def service(place):
    running = Served(place, "--no-rate-limit")
    yield running
    running.close()


@pytest.fixture
def job(service, place, monkeypatch):
    """Return a job with its result, fetched by a client whose home is readable by others."""
    monkeypatch.setenv("FOLDNOTE_HOME", str(place / "home"))
    with Client(base_url=service.url, api_key=service.key) as client:
        client.files.upload(b"ATOM\n", "mine.pdb")
        job = client.jobs.submit("anarci", SETTINGS).wait(60)
        job.result()
        yield job


def test_nothing_that_a_service_writes_is_open_to_others(job, service, place):
    assert find_open(place / "data") == []
    assert (place / "data").stat().st_mode & 0o077 == 0


def test_the_folders_of_a_client_are_closed(job, place):
    kinds = {folder.name: stat.S_IMODE(folder.stat().st_mode) for folder in (place / "home").iterdir()}
    assert kinds
    assert set(kinds.values()) == {0o700}


def test_another_user_reads_no_file(job, service, place):
    for folder in (place / "data", place / "home"):
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert files
        assert not any(map(can_stranger_read, files))


def test_another_user_sees_no_key_among_the_processes(job, service):
    found = Path(f"/proc/{service.process.pid}")
    assert service.key.encode() not in (found / "cmdline").read_bytes()
    assert stat.S_IMODE((found / "environ").stat().st_mode) == 0o400
    if IS_ROOT:
        assert run_as_stranger("/bin/cat", str(found / "environ")).returncode != 0


def test_another_user_gets_nothing_from_the_port(job, service):
    for route in ("/tools", "/files", "/jobs", f"/jobs?jobName={job.job_name}"):
        assert service.open.get(route).status_code in (401, 403)
    assert service.open.post("/result", json={"jobName": job.job_name}).status_code in (401, 403)


@pytest.mark.parametrize("kind", ["data", "run", "cache", "config"])
def test_a_folder_that_stood_open_is_closed(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path))
    (tmp_path / kind).mkdir()
    (tmp_path / kind).chmod(0o777)
    folder = {"data": settings.data_dir, "run": settings.runtime_dir, "cache": settings.cache_dir}
    made = folder.get(kind, settings.config_dir)()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """Return a function that gives a folder to another user: with root by chown, otherwise by changing this process's
    apparent user.
    """

    def give(path):
        path.mkdir(exist_ok=True)
        path.chmod(0o777)
        if IS_ROOT:
            os.chown(path, STRANGER, STRANGER)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: STRANGER)

    monkeypatch.setenv("FOLDNOTE_HOME", str(tmp_path / "home"))
    return give


def test_a_home_of_another_user_is_refused(foreign, tmp_path):
    foreign(tmp_path / "home")
    for folder in (settings.data_dir, settings.runtime_dir, settings.cache_dir, settings.config_dir):
        with pytest.raises(ConfigurationError, match=r"belongs to another user .* FOLDNOTE_HOME to a folder"):
            folder()


def test_an_address_that_another_user_laid_out_is_not_asked(foreign, tmp_path):
    (tmp_path / "home").mkdir()
    foreign(tmp_path / "home" / "run")
    (tmp_path / "home" / "run" / "service.json").write_text(
        f'{{"url": "http://127.0.0.1:9", "key": "theirs", "pid": {os.getpid()}, "version": "0", "started": "2026-01-01T00:00:00Z"}}'
    )
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        Client("embedded").jobs.list()


RUN_AS = """
import os, sys
from pathlib import Path
from foldnote import settings
from foldnote.client.local.embedded import find_service
from foldnote.errors import ConfigurationError
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
os.chdir("/")
for folder in (settings.runtime_dir, settings.data_dir, settings.engines_dir, find_service):
    try:
        print(folder.__name__, folder())
    except ConfigurationError as exc:
        print("refused:", exc)
"""
VICTIM = 64_321


@pytest.fixture
def crowded():
    """Create a folder where everybody can write, as /tmp is."""
    with tempfile.TemporaryDirectory(prefix="crowded-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


def plant(*command):
    done = run_as_stranger(*command)
    assert done.returncode == 0, done.stderr


CLOSED = ("FOLDNOTE_", "XDG_", "SSL_")
"""Beginnings of variables that name files and folders of the tests, which other users cannot read."""


def look_as_victim(**options):
    """Return what a user whose folders are below a planted path is told, one line per folder."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_AS, str(VICTIM)],
        env={name: value for name, value in os.environ.items() if not name.startswith(CLOSED)}
        | {name: str(value) for name, value in options.items()},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


RUN_JOB = """
import json, os
from foldnote.client import Client
from foldnote.client.local.embedded import ensure_service
info = ensure_service()
with Client("embedded") as client:
    job = client.jobs.submit("anarci", {"sequence": "EVQLV"}).wait(100)
    print(json.dumps([info.pid, info.url, info.key.get_secret_value(), job.status, len(client.jobs.list())]))
"""


def start_as(user, code, **options):
    """Run Python as another user, who may read all files if root's Python or checkout is closed to others."""
    programs = (*Path(settings.__file__).parents, *Path(sys.executable).resolve().parents)
    is_closed = any(not folder.stat().st_mode & stat.S_IXOTH for folder in programs)
    caps = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"] if is_closed else []
    return subprocess.Popen(
        [
            "setpriv",
            f"--reuid={user}",
            f"--regid={user}",
            "--clear-groups",
            *caps,
            sys.executable,
            "-c",
            code,
        ],
        env={name: value for name, value in os.environ.items() if not name.startswith(CLOSED)}
        | {name: str(value) for name, value in options.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )


needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can act as two users")


@needs_root
@pytest.mark.parametrize("planted", [".local", ".local/share", ".local/share/foldnote"])
def test_folders_below_one_that_another_user_made_in_tmp_are_refused(crowded, planted):
    plant("/bin/sh", "-c", f"umask 0; mkdir -p {crowded / planted}")
    lines = look_as_victim(HOME=crowded)
    assert len(lines) == 4
    assert all("refused:" in line and "belongs to another user" in line for line in lines)


@needs_root
def test_a_link_of_another_user_does_not_lead_to_their_service(crowded):
    """A link to a folder of root where everybody can write would lead to an address that others planted."""
    plant("/bin/mkdir", "-pm", "777", str(crowded / ".local/share/foldnote"))
    plant("/bin/ln", "-s", str(crowded), str(crowded / ".local/share/foldnote/run"))
    assert all(line.startswith("refused:") for line in look_as_victim(HOME=crowded))


@needs_root
def test_a_home_that_is_a_link_of_another_user_is_refused(crowded):
    own = crowded / "own"
    own.mkdir()
    own.chmod(0o755)
    os.chown(own, VICTIM, VICTIM)
    plant("/bin/ln", "-s", str(own), str(crowded / "link"))
    assert all(line.startswith("refused:") for line in look_as_victim(FOLDNOTE_HOME=crowded / "link"))
    assert (stat.S_IMODE(own.stat().st_mode), list(own.iterdir())) == (0o755, [])


@needs_root
def test_engines_of_another_user_in_tmp_are_not_run(crowded):
    plant("/bin/mkdir", str(crowded / "engines"))
    home = {"FOLDNOTE_HOME": crowded / "home", "FOLDNOTE_ENGINES_DIR": crowded / "engines"}
    lines = look_as_victim(**home)
    assert [line.startswith("refused:") for line in lines] == [False, False, True, False]
    assert "FOLDNOTE_ENGINES_DIR" in lines[2]


@needs_root
def test_own_folders_and_links_in_tmp_are_used(crowded):
    lines = look_as_victim(FOLDNOTE_HOME=crowded / "home")
    assert lines[:2] == [f"runtime_dir {crowded / 'home/run'}", f"data_dir {crowded / 'home/data'}"]
    link = crowded / "link"
    link.symlink_to("home/../home")
    os.chown(link, VICTIM, VICTIM, follow_symlinks=False)
    assert look_as_victim(FOLDNOTE_HOME=link)[0] == f"runtime_dir {link / 'run'}"


@needs_root
def test_a_folder_of_root_where_everybody_can_write_is_refused(crowded):
    (crowded / "run").mkdir()
    (crowded / "run").chmod(0o777)
    lines = look_as_victim(FOLDNOTE_HOME=crowded)
    assert lines[0].startswith("refused: All users can write")


@needs_root
def test_two_users_of_one_machine_have_a_service_each(crowded):
    write_probe_engine(crowded / "engines", tools=("anarci",), memory_mb=16)
    homes = {user: crowded / f"home-{user}" for user in (VICTIM, VICTIM + 1)}
    programs = []
    for user, home in homes.items():
        home.mkdir(mode=0o700)
        os.chown(home, user, user)
        options = {"HOME": home, "TMPDIR": crowded, "FOLDNOTE_ENGINE_PATH": crowded / "engines"}
        programs.append(start_as(user, RUN_JOB, **options))
    told = [program.communicate(timeout=120) for program in programs]
    assert [program.returncode for program in programs] == [0, 0], told
    first, second = (json.loads(out) for out, _ in told)
    for pid, *_ in (first, second):
        os.kill(pid, signal.SIGTERM)
    assert [row[3:] for row in (first, second)] == [["Complete", 1], ["Complete", 1]]
    assert not set(first[:3]) & set(second[:3])
    wait_until_gone([first[0], second[0]])
    assert {path.name for path in crowded.iterdir()} == {"engines", *(home.name for home in homes.values())}


def wait_until_gone(pids):
    until = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.1)


def test_a_service_takes_no_data_folder_of_another_user(foreign, tmp_path):
    foreign(tmp_path / "theirs")
    with (
        pytest.raises(ConfigurationError, match="belongs to another user .* Give another --data-dir"),
        TestClient(create_app(ServiceConfig(data_dir=tmp_path / "theirs"))),
    ):
        pass
    assert list((tmp_path / "theirs").iterdir()) == []


def test_root_uses_a_mounted_folder_that_only_its_owner_can_write(foreign, tmp_path, monkeypatch):
    foreign(tmp_path / "home")
    (tmp_path / "home").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert settings.data_dir().is_dir()
