"""The end of a log, read backwards in blocks."""

import os
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.service.runner.log_tail import read_tail


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("tails") / "log.txt"


@given(text=st.text("aé\n\r ", max_size=50), repeats=st.integers(1, 4000), lines=st.integers(1, 9))
def test_the_last_lines_are_those_of_the_whole_text(log, text, repeats, lines):
    log.write_bytes((text * repeats).encode())
    wanted = (text * repeats).splitlines(keepends=True)[-lines:]
    assert read_tail(log, lines, max_bytes=1 << 30) == "".join(wanted)


def test_more_than_is_read_at_once_begins_with_a_whole_line(log):
    log.write_bytes("".join(f"line {number} é\n" for number in range(1000)).encode())
    told = read_tail(log, 10**9, max_bytes=1000)
    assert (told[:6], told[-11:]) == ("line 9", "line 999 é\n"[-11:])
    assert len(told.encode()) <= 1000


def test_invalid_utf_8_is_replaced(log):
    log.write_bytes(b"a\nb\n\xffc\n")
    assert read_tail(log, 2) == "b\n\ufffdc\n"


def test_one_endless_line_is_cut(log):
    log.write_bytes(b"x" * 5000)
    assert read_tail(log, 3, max_bytes=1000) == "x" * 1000


def test_reading_a_log_depends_on_the_requested_lines_only(log):
    log.write_bytes(b"a line of the log that is not short\n" * 1_400_000)
    tracemalloc.start()
    told = read_tail(log, 1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told.count("\n") == 1000
    assert peak < 1 << 20


def test_anything_but_a_regular_file_is_empty(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    assert [read_tail(tmp_path / name, 5) for name in ("fifo", "link", "nothing")] == ["", "", ""]
