"""Cleanup: removal of finished work, retried if it failed at first, including that of earlier processes."""

import os
import threading
import time
from pathlib import Path

import pytest

from foldnote.models.status import JobStatus
from foldnote.service.disk import Disk
from foldnote.service.files.object_folder import ObjectFolder
from foldnote.service.queue import cleanup as cleanup_module
from foldnote.service.queue.cleanup import Cleanup, remove_folder
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.insertion import NewJob
from foldnote.service.store.jobs.queue import JobEnd
from foldnote.service.store.store import Store

NOBODY = 65534


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "db")
    yield opened
    opened.close()


@pytest.fixture
def root(tmp_path):
    return tmp_path / "jobs"


@pytest.fixture
def cleanup(store, root, tmp_path):
    made = Cleanup(root, store, ObjectFolder(tmp_path / "objects"))
    yield made
    made.stop()


def end_one(store, root, name="one"):
    """Run a job to its end; return its row and the folder of its attempt, which contains a work folder."""
    account = store.accounts.ensure_account("a@lab.example")
    job_id = store.jobs.add(account, NewJob(name, "anarci", {}, {}))
    waiting = next(each for each in store.queue.waiting() if each.job_id == job_id)
    claim = store.queue.claim(waiting, f"nonce of {name}")
    folder = root / claim.folder
    (folder / "work" / "outputs").mkdir(parents=True)
    (folder / "job.log").write_text("done\n")
    assert store.queue.finish(claim, JobEnd(JobStatus.COMPLETE))
    return account, job_id, folder


def test_work_that_an_earlier_process_left_is_dropped_and_its_log_stays(store, root, cleanup):
    _, _, folder = end_one(store, root)
    cleanup.schedule_earlier_leftovers()
    cleanup.remove_leftovers()
    assert sorted(path.name for path in folder.iterdir()) == ["job.log"]


def test_what_may_wait_is_removed_when_no_run_has_ended_for_a_while(store, root, cleanup):
    cleanup.start()  # before there can be anything from an earlier process
    folders = [end_one(store, root, name)[2] for name in ("one", "two", "three")]
    for folder in folders:
        cleanup.schedule_removal(folder, may_wait=True)
        cleanup.wake()
        cleanup.remove_leftovers()
    assert all((folder / "work").exists() for folder in folders)
    began = time.monotonic()
    while any((folder / "work").exists() for folder in folders):
        assert time.monotonic() - began < 60
        time.sleep(0.01)


def test_what_may_wait_is_removed_at_once_when_the_disk_is_full(store, root, tmp_path):
    _, _, folder = end_one(store, root)
    disk = Disk(tmp_path, floor_bytes=1 << 62, ballast_bytes=0)
    cleanup = Cleanup(root, store, ObjectFolder(tmp_path / "objects"), disk)
    cleanup.schedule_removal(folder, may_wait=True)
    cleanup.remove_leftovers()
    assert not (folder / "work").exists()


def test_the_files_of_a_continuing_run_are_left_alone(store, root, cleanup):
    account = store.accounts.ensure_account("a@lab.example")
    store.jobs.add(account, NewJob("goes-on", "anarci", {}, {}))
    claim = store.queue.claim(store.queue.waiting()[0], "a nonce")
    work = root / claim.folder / "work"
    work.mkdir(parents=True)
    cleanup.schedule_earlier_leftovers()
    cleanup.remove_leftovers()
    assert work.is_dir()


def test_a_deleted_job_whose_folder_stays_is_purged_at_a_later_sweep(store, root, cleanup, monkeypatch):
    account, job_id, folder = end_one(store, root)
    store.jobs.delete(account, "one")
    with monkeypatch.context() as failing:
        failing.setattr(cleanup_module.shutil, "rmtree", lambda *_, **__: None)
        cleanup.purge()
    assert store.queue.unpurged() == [job_id]
    cleanup.purge()
    assert store.queue.unpurged() == []
    assert not folder.parent.exists()


def exit_status_of_nobody(folder, act):
    """Return 0 if `act` returns True in a process without root's rights, which works in `folder`."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            os.chdir(folder)
            if os.geteuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            status = 0 if act() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_a_tool_made_read_only_is_removed_by_its_owner(tmp_path):
    job = tmp_path / "job"
    inner = job / "work" / "locked"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    for folder in (tmp_path, job, job / "work", inner):
        if os.geteuid() == 0:  # for whom nothing is read-only
            os.chown(folder, NOBODY, NOBODY)
    inner.chmod(0o500)
    inner.parent.chmod(0o500)
    assert exit_status_of_nobody(tmp_path, lambda: remove_folder(Path("job"))) == 0
    assert not job.exists()


def test_a_link_in_a_removed_folder_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "kept").write_text("x")
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "link").symlink_to(outside)
    assert remove_folder(tmp_path / "job")
    assert (outside / "kept").read_text() == "x"
    assert outside.stat().st_mode & 0o777 == 0o750


def test_removing_many_files_blocks_nothing(store, root, cleanup):
    _, _, folder = end_one(store, root)
    for number in range(20_000):
        (folder / "work" / "outputs" / str(number)).touch()
    cleanup.start()
    began = time.monotonic()
    cleanup.schedule_removal(folder)
    cleanup.wake(is_purge_due=True)
    assert time.monotonic() - began < 0.1
    while (folder / "work").exists():
        assert time.monotonic() - began < 60
        time.sleep(0.01)
    cleanup.stop()


def test_a_tidier_ends_soon_in_the_midst_of_a_large_folder(store, root, cleanup, monkeypatch):
    removing, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(cleanup_module, "remove_folder", lambda _: removing.set() or go_on.wait(60))
    account, _, _ = end_one(store, root)
    store.jobs.delete(account, "one")
    cleanup.start()
    assert removing.wait(120)
    began = time.monotonic()
    cleanup.stop()
    assert time.monotonic() - began < 10
    go_on.set()


def test_a_database_that_cannot_be_opened_now_is_a_fault_of_storage(store, tmp_path):
    """The thread that reclaims space retries after this one; any other exception would end it."""
    (tmp_path / "db").rename(tmp_path / "moved")
    (tmp_path / "db").mkdir()
    for work in (lambda: store.database.reclaim(threading.Event()), store.database.checkpoint):
        with pytest.raises(StorageFaultError):
            work()
