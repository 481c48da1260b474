"""Hashing, atomic writing and locking of files."""

import hashlib
import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from foldnote import io
from foldnote.errors import ResultError

HOLD = """
import sys, time
from pathlib import Path
from foldnote import io
with io.hold_lock(Path(sys.argv[1])) as is_held:
    print(is_held, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("content", [b"", b"x", b"\x00" * 3_000_000])
def test_a_file_and_its_bytes_have_the_same_hash(tmp_path, content):
    path = tmp_path / "a"
    path.write_bytes(content)
    assert io.hash_file(path) == io.hash_bytes(content) == hashlib.sha256(content).hexdigest()


def test_text_is_written_as_it_is(tmp_path):
    path = io.write_atomically(tmp_path / "a.txt", "Å\r\nx\n")
    assert path.read_bytes() == "Å\r\nx\n".encode()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_a_private_file_is_closed_to_others_even_where_an_open_one_was(tmp_path):
    path = tmp_path / "key"
    path.write_text("old")
    path.chmod(0o644)
    io.write_atomically(path, "new", is_private=True, is_durable=True)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        io.write_atomically(path, "half \ud800")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a.txt", "old")]


def test_writing_again_leaves_no_draft(tmp_path):
    for content in (b"1", b"2"):
        io.write_atomically(tmp_path / "a", content, is_durable=True)
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a", b"2")]


def test_a_folder_that_is_not_there_is_not_synced_silently(tmp_path):
    with pytest.raises(FileNotFoundError):
        io.sync(tmp_path / "absent")


def test_readers_never_see_a_part(tmp_path):
    path = io.write_atomically(tmp_path / "a", b"0" * 1_000_000)
    is_over = threading.Event()
    seen = set()

    def read():
        while not is_over.is_set():
            content = path.read_bytes()
            seen.add((len(content), len(set(content))))

    reader = threading.Thread(target=read)
    reader.start()
    for digit in b"123456789":
        io.write_atomically(path, bytes([digit]) * 1_000_000)
    is_over.set()
    reader.join()
    assert seen <= {(1_000_000, 1)}


def test_a_lock_has_one_holder_and_is_free_when_that_is_killed(tmp_path):
    path = tmp_path / "a.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "True\n"
    with io.hold_lock(path, 0.2) as is_held:
        assert not is_held
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with io.hold_lock(path) as is_held:
        assert is_held


def test_a_lock_is_shared_by_no_two_threads(tmp_path):
    with io.hold_lock(tmp_path / "a.lock"), io.hold_lock(tmp_path / "a.lock") as is_held_again:
        assert not is_held_again


def test_a_temporary_lock_leaves_no_file(tmp_path):
    path = tmp_path / "a.lock"
    with (
        io.hold_lock(path, is_temporary=True) as is_held,
        io.hold_lock(path, is_temporary=True) as is_held_again,
    ):
        assert (is_held, is_held_again) == (True, False)
    assert list(tmp_path.iterdir()) == []


def test_a_holder_of_a_temporary_lock_that_was_waited_for_is_followed_by_one(tmp_path):
    """The file is removed while others wait for it; the next holder must not share it with a third."""
    path, holders, most = tmp_path / "a.lock", [], []

    def hold():
        with io.hold_lock(path, 30, is_temporary=True) as is_held:
            assert is_held
            holders.append(1)
            most.append(len(holders))
            time.sleep(0.01)
            holders.pop()

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(hold) for _ in range(24)]:
            done.result()
    assert most == [1] * 24


def test_a_file_in_the_place_of_a_folder_is_reported_without_a_word_about_space(tmp_path):
    (tmp_path / "plate").write_text("")
    with pytest.raises(ResultError) as refused:
        io.save_file(tmp_path / "plate" / "report.html", "text")
    assert str(refused.value).endswith("Choose another folder or name.")
    assert "space" not in str(refused.value)
