"""Backup and restore of a real service: complete or not at all, whatever happens meanwhile."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
import time
import zipfile
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from chaos import assert_consistent, fault_of_result, rows
from forked_python import run_forked
from service_process import PDB, ServiceProcess

from foldnote.io import hash_file
from foldnote.service.admin import main
from foldnote.service.backups.making import make_backup

ADMIN = "import sys; from foldnote.service.admin import main; sys.exit(main())"
KILLED_AT = """
import os, sys
from pathlib import Path
left = int(sys.argv.pop(1))
real = Path.rename
def rename(self, target):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    return real(self, target)
Path.rename = rename
from foldnote.service.admin import main
sys.exit(main())
"""
"""`foldnote admin`, killed just before one of its renames."""


def data(service) -> Path:
    return service.folder / "data"


def admin(service, *arguments: object, code: str | None = None) -> subprocess.CompletedProcess:
    first, rest = ([str(arguments[0])], arguments[1:]) if code else ([], arguments)
    options = ("--data-dir", str(data(service)), "--json", *map(str, rest))
    return run_forked(code or ADMIN, *first, *options, environment=dict(os.environ))


def back_up(service, target: Path) -> dict:
    done = admin(service, "backup", target)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def restore(service, source: Path, *options: str) -> dict:
    done = admin(service, "restore", source, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(service) -> set[str]:
    return {job["jobName"] for job in service.client.get("/jobs").json()["jobs"]}


FIRST = "first.output-1.chatter-2.score"


@pytest.fixture(scope="module")
def past(tmp_path_factory) -> Path:
    """Return the data folder of an ended service with a job, its log and a file."""
    service = ServiceProcess(tmp_path_factory.mktemp("past"), "--no-rate-limit").start()
    service.run(FIRST)
    assert service.client.put("/upload/a.pdb", content=PDB.encode()).status_code == 200
    assert service.end() == 0
    return data(service)


@pytest.fixture
def stopped(make_service, past) -> ServiceProcess:
    """Create a service on a copy of that folder, not running."""
    return make_service("--no-rate-limit", data=past, is_started=False)


@pytest.fixture
def lab(stopped) -> ServiceProcess:
    """Start a service on a copy of that folder."""
    return stopped.start()


def assert_first_is_whole(service) -> None:
    assert fault_of_result(service.client, FIRST, is_batch=False) is None
    log = service.client.get("/jobs/first.output-1.chatter-2.score/log").json()["log"]
    assert log == "line 0\nline 1\n"
    assert service.job(FIRST)["score"] == {"probe": 0.5}
    assert [file["name"] for file in service.client.get("/files").json()["files"]] == ["a.pdb"]
    assert_consistent(service)


@pytest.mark.parametrize("is_running", [True, False], ids=["while it runs", "while it is stopped"])
def test_a_backup_restored_elsewhere_has_everything(stopped, make_service, tmp_path, is_running):
    if is_running:
        stopped.start()
    made = back_up(stopped, tmp_path / "backup")
    assert (made["jobs"], made["files"], made["missing"]) == (1, 1, [])
    other = make_service("--no-rate-limit", is_started=False)
    restored = restore(other, tmp_path / "backup")
    assert restored["kept"] is None
    assert restored["message"].startswith(f"{data(other)} now holds a backup of ")
    other.start()
    if not is_running:
        stopped.start()
    assert other.key == stopped.key
    assert_first_is_whole(other)


def test_a_backup_is_private_and_its_list_is_one_that_others_can_check(stopped, tmp_path):
    back_up(stopped, tmp_path / "backup")
    modes = {stat.S_IMODE(path.lstat().st_mode) for path in (tmp_path / "backup").rglob("*")}
    assert modes == {0o700, 0o600}
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tmp_path / "backup", check=False
    )
    assert done.returncode == 0


def test_a_restore_needs_a_stopped_service_and_a_yes(lab, tmp_path):
    back_up(lab, tmp_path / "backup")
    refused = admin(lab, "restore", tmp_path / "backup", "--replace")
    assert (refused.returncode, "Another service is running" in refused.stderr) == (2, True)
    lab.run("second.output-1")
    lab.end()
    refused = admin(lab, "restore", tmp_path / "backup")
    assert refused.returncode == 2
    assert "has 2 jobs" in refused.stderr
    assert "--replace" in refused.stderr
    lab.start()
    assert len(names(lab)) == 2


def test_what_was_replaced_is_kept_and_can_be_put_back(lab, tmp_path):
    back_up(lab, tmp_path / "backup")
    lab.run("second.output-1")
    lab.end()
    kept = Path(restore(lab, tmp_path / "backup", "--replace")["kept"])
    lab.start()
    assert names(lab) == {FIRST}
    assert_first_is_whole(lab)
    lab.run("third.output-1")
    lab.end()
    for old in kept.iterdir():
        path = data(lab) / old.name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        old.rename(path)
    lab.start()
    assert names(lab) == {FIRST, "second.output-1"}
    assert fault_of_result(lab.client, "second.output-1", is_batch=False) is None


def test_jobs_after_a_restore_have_folders_that_no_run_had_before(lab, tmp_path):
    back_up(lab, tmp_path / "backup")
    before = set(rows(lab, "SELECT name FROM identity"))
    lab.end()
    restore(lab, tmp_path / "backup", "--replace")
    lab.start()
    assert before.isdisjoint(rows(lab, "SELECT name FROM identity"))


def test_jobs_running_at_the_time_of_the_backup_run_again_once(lab, tmp_path):
    lab.submit("long.alone.sleep-4.output-1")
    lab.wait("long.alone.sleep-4.output-1", ("Running",))
    back_up(lab, tmp_path / "backup")
    lab.end()
    assert restore(lab, tmp_path / "backup", "--replace")["requeued"] == 1
    lab.start()
    assert lab.wait("long.alone.sleep-4.output-1")["status"] == "Complete"
    assert fault_of_result(lab.client, "long.alone.sleep-4.output-1", is_batch=False) is None
    assert rows(lab, "SELECT losses FROM jobs WHERE name LIKE 'long%'") == [(0,)]
    assert not (lab.engines / "probe" / "alive" / "double").exists()


@pytest.fixture(scope="module")
def backup(past, tmp_path_factory) -> Path:
    """Make a backup of that folder."""
    folder = tmp_path_factory.mktemp("backups") / "backup"
    make_backup(past, folder)
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return everything in a folder: files with their bytes, and folders."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("kind", ["link", "file", "nothing"])
def test_a_run_whose_engine_replaced_its_folder_does_not_prevent_a_backup(lab, tmp_path, kind):
    mark = next(lab.folder.glob("data/jobs/**/outcome.json"))
    folder = mark.parent
    folder.rename(tmp_path / "away")
    if kind == "link":
        folder.symlink_to(tmp_path / "away")
    elif kind == "file":
        folder.write_text("none")
    back_up(lab, tmp_path / "backup")
    assert not list((tmp_path / "backup").glob(f"jobs/**/{folder.name}/outcome.json"))


@pytest.mark.parametrize("kind", ["cut", "flipped", "gone", "more", "link", "list"])
def test_a_damaged_backup_changes_nothing(past, backup, tmp_path, capsys, kind):
    copy = shutil.copytree(backup, tmp_path / "backup")
    victim = next((copy / "objects").rglob("??/*"))
    if kind == "cut":
        os.truncate(victim, victim.stat().st_size - 1)
    elif kind == "flipped":
        content = bytearray(victim.read_bytes())
        content[len(content) // 2] ^= 1
        victim.write_bytes(content)
    elif kind == "gone":
        victim.unlink()
    elif kind == "more":
        victim.with_name("more").write_text("more")
    elif kind == "link":
        victim.rename(tmp_path / "aside")
        victim.symlink_to(tmp_path / "aside")
    else:
        sums = copy / "SHA256SUMS"
        sums.write_text("".join(sums.read_text().splitlines(keepends=True)[:-1]))
    folder = shutil.copytree(past, tmp_path / "data")
    for command in (("restore", str(copy), "--replace"), ("check-backup", str(copy))):
        assert main(["--data-dir", str(folder), "--json", *command]) == 2
        assert "is damaged" in capsys.readouterr().err
    assert contents(folder) == contents(past)


@pytest.mark.parametrize("place", ["data", "data/new"])
def test_root_restores_nothing_into_the_folder_of_another_user(backup, tmp_path, monkeypatch, capsys, place):
    folder = tmp_path / "data"
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, 65534, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert main(["--data-dir", str(tmp_path / place), "restore", str(backup)]) == 2
    assert "whose service could not read what this command writes" in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_a_service_keeps_running_after_refusing_a_damaged_backup(stopped, backup, tmp_path):
    copy = shutil.copytree(backup, tmp_path / "backup")
    next((copy / "objects").rglob("??/*")).unlink()
    refused = admin(stopped, "restore", copy, "--replace")
    assert (refused.returncode, "is damaged" in refused.stderr) == (2, True), refused.stderr
    assert "Traceback" not in refused.stderr
    stopped.start()
    assert_first_is_whole(stopped)


def test_a_backup_of_a_later_version_is_refused(stopped, tmp_path):
    back_up(stopped, tmp_path / "backup")
    database, sums = tmp_path / "backup" / "service.sqlite3", tmp_path / "backup" / "SHA256SUMS"
    before = hash_file(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES ('m9999_later', '2999')")
    sums.write_text(sums.read_text().replace(before, hash_file(database)))
    done = admin(stopped, "restore", tmp_path / "backup", "--replace")
    assert done.returncode == 2
    assert "later version of foldnote" in done.stderr


def test_folders_that_are_not_backups_are_reported(stopped, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "other").touch()
    for arguments, sentence in (
        (("backup", tmp_path / "full"), "already exists"),
        (("restore", tmp_path / "full", "--replace"), "is not a backup of foldnote"),
        (("check-backup", tmp_path / "none"), "is not a backup of foldnote"),
    ):
        done = admin(stopped, *arguments)
        assert (done.returncode, sentence in done.stderr) == (2, True), done.stderr


def test_a_content_that_the_folder_had_lost_is_named_and_the_rest_is_kept(lab, tmp_path):
    lab.run("second.output-1")
    (lost,) = rows(lab, "SELECT result_sha256 FROM jobs WHERE name = 'second.output-1'")[0]
    (data(lab) / "objects" / lost[:2] / lost).write_bytes(b"damaged")
    made = back_up(lab, tmp_path / "backup")
    assert made["missing"] == [lost]
    described = {tmp_path / "backup" / name for name in ("backup.json", "SHA256SUMS")}
    files = {path for path in (tmp_path / "backup").rglob("*") if path.is_file()} - described
    assert made["sizeBytes"] == sum(path.stat().st_size for path in files)
    lab.end()
    restore(lab, tmp_path / "backup", "--replace")
    lab.start()
    assert lab.result("second.output-1").status_code == 404
    assert_first_is_whole(lab)


def test_what_is_deleted_while_a_backup_is_made_is_whole_in_it(make_service, tmp_path):
    """Deletions and backups run in parallel; every backup restores to a state that existed."""
    service = make_service("--no-rate-limit")
    stop = threading.Event()
    faults: list[str] = []

    def work() -> None:
        number = 0
        with httpx.Client(base_url=service.url, headers={"x-api-key": service.key}, timeout=120) as client:
            while not stop.is_set():
                name = f"n{number}.output-1"
                service_body = {"jobName": name, "type": "anarci", "settings": {"sequence": "EVQLVESGG"}}
                if client.post("/submit-job", json=service_body).status_code != 200:
                    faults.append(name)
                if number > 5:
                    old = f"n{number - 5}.output-1"
                    client.request("DELETE", "/delete-job", json={"jobName": old})
                number += 1
                time.sleep(0.05)

    worker = threading.Thread(target=work)
    worker.start()
    made = [back_up(service, tmp_path / f"backup{number}") for number in range(3)]
    stop.set()
    worker.join()
    assert (faults, [each["missing"] for each in made]) == ([], [[], [], []])
    service.end()
    restore(service, tmp_path / "backup2", "--replace")
    service.start()
    for name in names(service):
        assert service.wait(name)["status"] == "Complete"
        assert fault_of_result(service.client, name, is_batch=False) is None
    assert_consistent(service)


@pytest.fixture(scope="module")
def grown(past, tmp_path_factory) -> Path:
    """Return that folder after a second job has run since the backup."""
    service = ServiceProcess(tmp_path_factory.mktemp("grown"), "--no-rate-limit")
    shutil.copytree(past, data(service))
    service.start().run("second.output-1")
    assert service.end() == 0
    return data(service)


@pytest.mark.parametrize("renames", range(0, 9, 2))
def test_a_restore_that_is_killed_leaves_the_old_or_the_new(make_service, grown, backup, renames):
    service = make_service("--no-rate-limit", data=grown, is_started=False)
    killed = admin(service, renames, "restore", backup, "--replace", code=KILLED_AT)
    assert killed.returncode == 9, killed.stderr
    service.start()
    both = {FIRST, "second.output-1"}
    assert names(service) == (both if renames == 0 else {FIRST})
    assert_first_is_whole(service)
    assert not any(path.name.startswith("restore-") for path in data(service).iterdir())


def test_a_backup_that_is_killed_is_none(stopped, tmp_path):
    killed = admin(stopped, 0, "backup", tmp_path / "backup", code=KILLED_AT)
    assert killed.returncode == 9
    assert not (tmp_path / "backup").exists()
    back_up(stopped, tmp_path / "backup")


def test_a_data_folder_of_an_earlier_version_is_backed_up_and_restored(make_service, tmp_path):
    service = make_service("--no-rate-limit", is_started=False)
    old = Path(__file__).parent / "data" / "data-folder-m0013.zip"
    zipfile.ZipFile(old).extractall(data(service))
    back_up(service, tmp_path / "backup")
    restore(service, tmp_path / "backup", "--replace")
    service.start()
    assert fault_of_result(service.client, "done.output-1.score.chatter-2", is_batch=False) is None
    log = service.client.get("/jobs/done.output-1.score.chatter-2/log").json()["log"]
    assert log == "line 0\nline 1\n"
