"""Processes of an attempt are found by descent and by nonce, and killed."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from foldnote.service.runner import processes
from foldnote.service.runner.attempt import NONCE_VARIABLE

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes through /proc")


@pytest.fixture
def marked():
    """Start a process in its own session that carries a nonce and ignores TERM."""
    nonce = uuid.uuid4().hex
    code = "import signal,time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={NONCE_VARIABLE: nonce},
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        process.stdout.readline()
        yield nonce, process
        process.kill()


def test_it_is_found_by_its_nonce_and_only_by_it(marked):
    nonce, process = marked
    assert processes.find_marked(nonce) == {process.pid}
    assert processes.find_marked(nonce[:-1]) == set()


def test_it_is_found_as_a_descendant(marked):
    _, process = marked
    assert process.pid in processes.find_descendants(os.getpid())
    assert processes.measure_memory_bytes([process.pid]) > 1 << 20


def test_kill_all_ends_it(marked):
    nonce, process = marked
    assert processes.kill_all(lambda: processes.find_marked(nonce)) is True
    assert process.wait() == -9


def test_signals_to_dead_processes_are_not_errors():
    nobody = 2**22 - 1
    processes.send([nobody], processes.signal.SIGTERM)
    processes.send_to_group(nobody, processes.signal.SIGTERM)
    assert not Path(f"/proc/{nobody}").exists()
