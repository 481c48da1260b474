"""A disk that is really full and keeps being filled: jobs can be stopped and deleted, which frees space."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from chaos import fault_of_result, rows
from service_process import SETTINGS, ServiceProcess
from waiting import wait_until

from foldnote.service.runner.output_lines import LineSorter

MB = 1 << 20
SIZE = 160
FLOOD = """
import os, time
block = bytes(1 << 16)
with open("outputs/flood", "wb", buffering=0) as stream:
    while True:
        try:
            stream.write(block)
        except OSError:
            time.sleep(0.001)
"""
"""An engine that fills the disk and immediately takes all space that is freed."""


def mount(folder, size_mb: int) -> None:
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sys.platform != "linux" or (sudo and shutil.which("sudo") is None):
        pytest.skip("a small file system is mounted, which needs Linux and root")
    command = [
        *sudo,
        "mount",
        "-t",
        "tmpfs",
        "-o",
        f"size={size_mb}m,mode=0777",
        "foldnote-test",
        str(folder),
    ]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system is mounted, which this user may not do")


@pytest.fixture
def small(tmp_path):
    """Start a service whose data folder is a file system of 160 MB, with a tool that fills it."""
    service = ServiceProcess(tmp_path, "--no-rate-limit", "--allow-deploy-model", "--workers", "2")
    folder = tmp_path / "data"
    folder.mkdir()
    mount(folder, SIZE)
    try:
        service.start()
        tool = {
            "type": "flood",
            "schema": {"type": "object", "properties": {}},
            "command": [sys.executable, "-c", FLOOD],
        }
        assert service.client.post("/deploy-model", json=tool).status_code == 200
        yield service
    finally:
        if service.process.poll() is None:
            service.kill()
        command = ["umount", "-l", str(folder)]
        subprocess.run(command if os.geteuid() == 0 else ["sudo", "-n", *command], check=True)


def free_mb(service) -> float:
    return shutil.disk_usage(service.folder / "data").free / MB


def delete(service, name: str):
    return service.client.request("DELETE", "/delete-job", json={"jobName": name})


def start_flood(service, name: str) -> None:
    body = {"jobName": name, "type": "flood", "settings": {}}
    assert service.client.post("/submit-job", json=body).status_code == 200
    wait_until(lambda: free_mb(service) < 0.5, "the full disk")
    time.sleep(1)


@contextmanager
def taken(service):
    """Run another program that takes all space that is freed."""
    is_over = threading.Event()

    def take() -> None:
        with (service.folder / "data" / "other").open("wb", buffering=0) as stream:
            while not is_over.is_set():
                try:
                    stream.write(bytes(1 << 16))
                except OSError:
                    time.sleep(0.001)

    thread = threading.Thread(target=take)
    thread.start()
    try:
        wait_until(lambda: free_mb(service) < 0.1, "the full disk")
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_job_that_fills_the_disk_is_stopped_and_its_room_comes_back(small):
    start_flood(small, "flood1")
    answer = small.client.post("/stop-job", json={"jobName": "flood1"})
    assert answer.status_code == 200, answer.text
    assert small.wait("flood1")["status"] == "Stopped"
    wait_until(lambda: free_mb(small) > 64, "the room of the job that was stopped")
    assert small.run("after.output-1")["status"] == "Complete"


def test_a_job_that_fills_the_disk_is_deleted_and_its_room_comes_back(small):
    start_flood(small, "flood2")
    assert delete(small, "flood2").status_code == 200
    wait_until(lambda: free_mb(small) > 64, "the room of the job that was deleted")
    assert small.run("after.output-1")["status"] == "Complete"


def test_a_run_continues_without_disk_space_for_its_progress(small):
    name = "through.sleep-10.output-1"
    assert small.submit(name).status_code == 200
    wait_until(
        lambda: "Sleeping" in (small.job(name)["message"] or ""), "the engine, which wrote its files before"
    )
    with taken(small):
        time.sleep(3)
    (small.folder / "data" / "other").unlink()
    assert small.wait(name)["status"] == "Complete"
    assert rows(small, "SELECT attempt, losses FROM jobs") == [(1, 0)]


SLOW = """
import os, pathlib, time
pathlib.Path("outputs/random").write_bytes(os.urandom(4 << 20))
time.sleep(4)
"""


def test_a_result_waits_for_room_where_the_disk_is_full_at_the_end_of_its_run(small):
    tool = {
        "type": "slow",
        "schema": {"type": "object", "properties": {}},
        "command": [sys.executable, "-c", SLOW],
    }
    assert small.client.post("/deploy-model", json=tool).status_code == 200
    body = {"jobName": "waits", "type": "slow", "settings": {}}
    assert small.client.post("/submit-job", json=body).status_code == 200
    wait_until(lambda: list(small.folder.glob("data/jobs/**/outputs/random")), "the outputs")
    time.sleep(1)
    with taken(small):
        time.sleep(6)
    assert small.job("waits")["status"] == "Running"
    (small.folder / "data" / "other").unlink()
    assert small.wait("waits")["status"] == "Complete"
    assert rows(small, "SELECT attempt, losses FROM jobs") == [(1, 0)]


def test_a_log_says_where_lines_are_missing_since_the_disk_was_full(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mount(folder, 1)
    try:
        sorter = LineSorter(folder)
        sorter.feed(1, b"before\n")
        with suppress(OSError), (folder / "other").open("wb", buffering=0) as stream:
            while stream.write(bytes(1 << 12)):
                continue
        sorter.feed(1, (b"x" * 99 + b"\n") * 100)
        (folder / "other").unlink()
        sorter.feed(1, b"after\n")
        sorter.close()
        lines = (folder / "log.txt").read_text().splitlines()
        assert (lines[0], lines[-1]) == ("before", "after")
        assert lines[-2] == "[Lines are missing here, since the disk was full.]"
    finally:
        command = ["umount", "-l", str(folder)]
        subprocess.run(command if os.geteuid() == 0 else ["sudo", "-n", *command], check=True)


def test_queued_running_and_finished_jobs_end_while_something_else_holds_the_disk_full(small):
    """Also after the ballast is used up: the database cannot use the space that is freed."""
    done = [f"done{number}.output-1" for number in range(3)]
    for name in done:
        small.run(name)
    waiting = [f"wait{number}.sleep-100" for number in range(20)]
    for name in waiting:
        assert small.submit(name).status_code == 200
    small.wait("wait0.sleep-100", ("Running",))
    with taken(small):
        time.sleep(2)
        answers = [
            small.client.post("/stop-job", json={"jobName": name}).status_code for name in waiting[::2]
        ]
        answers += [delete(small, name).status_code for name in (*waiting[1::2], *done[:2])]
        assert answers == [200] * 22
        wait_until(lambda: not rows(small, "SELECT 1 FROM jobs WHERE state = 'Running'"), "the ends", 30)
        assert small.submit("more").status_code == 507
    (small.folder / "data" / "other").unlink()
    assert {small.job(name)["status"] for name in waiting[::2]} == {"Stopped"}
    assert fault_of_result(small.client, done[2], is_batch=False) is None
    assert small.run("after.output-1")["status"] == "Complete"


def test_the_room_of_a_deleted_result_comes_back_on_a_disk_without_room(small):
    tool = {
        "type": "large",
        "schema": {"type": "object", "properties": {}},
        "command": [
            sys.executable,
            "-c",
            "import os; open('outputs/x', 'wb').write(os.urandom(30 << 20))",
        ],
    }
    assert small.client.post("/deploy-model", json=tool).status_code == 200
    assert small.client.post(
        "/submit-job", json={"jobName": "big", "type": "large", "settings": {}}
    ).is_success
    assert small.wait("big")["status"] == "Complete"
    (content,) = (
        path for path in (small.folder / "data" / "objects").glob("??/*") if path.stat().st_size > MB
    )
    os.utime(content, (time.time() - 100, time.time() - 100))
    with taken(small):
        assert delete(small, "big").status_code == 200
        wait_until(lambda: not content.exists(), "the end of the content")


@pytest.fixture
def full_home(tmp_path, monkeypatch):
    """Return a home on a file system of 160 MB, and a function that fills it."""
    home = tmp_path / "home"
    home.mkdir()
    mount(home, SIZE)
    monkeypatch.setenv("FOLDNOTE_HOME", str(home))
    monkeypatch.setenv("FOLDNOTE_ENGINE_PATH", str(Path(__file__).parents[1] / "engines"))

    def fill():
        with (home / "other").open("wb", buffering=0) as stream, suppress(OSError):
            while stream.write(bytes(4096)):
                pass

    try:
        yield fill, home / "other"
    finally:
        with suppress(OSError, ValueError):
            os.kill(json.loads((home / "run" / "service.json").read_text())["pid"], signal.SIGTERM)
        command = ["umount", "-l", str(home)]
        subprocess.run(command if os.geteuid() == 0 else ["sudo", "-n", *command], check=True)


def run_foldnote(*arguments):
    """Run a command; return its exit code and output."""
    command = [sys.executable, "-m", "foldnote", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_home_on_a_full_disk_refuses_jobs_in_a_sentence_and_loses_none(full_home, tmp_path):
    fill, filler = full_home
    given = ("submit", "anarci", "--set", f"sequence={SETTINGS['sequence']}", "--wait")
    assert run_foldnote(*given, "--name", "before")[0] == 0
    fill()
    code, said = run_foldnote(*given, "--name", "while-full")
    assert code == 5
    assert re.fullmatch(  # MB if the service has released its reserve by then
        r"foldnote: The service takes nothing new while less than 67\.1 MB of its disk are free; [0-9.]+ [kM]?B are\."
        r" Nothing was changed; free some space and try again\.",
        said.strip(),
    )
    assert run_foldnote("results", "before", "--to", str(tmp_path))[0] == 0
    filler.unlink()
    assert run_foldnote(*given, "--name", "while-full")[0] == 0
    listed = run_foldnote("jobs")[1]
    assert re.search(r"while-full .* Complete", listed)
    assert re.search(r"before .* Complete", listed)
