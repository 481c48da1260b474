"""An engine's output becomes progress, an error message, or a line of the log."""

import pytest

from foldnote.service.runner import attempt as files
from foldnote.service.runner import output_lines
from foldnote.service.runner.output_lines import LineSorter, read_progress_line


@pytest.fixture
def sorter(tmp_path):
    sorter = LineSorter(tmp_path)
    yield sorter
    sorter.close()


def test_progress_may_come_in_pieces(sorter, tmp_path):
    sorter.feed(1, b'FOLDNOTE_PROGRESS {"fraction": 0.4, "mess')
    sorter.feed(1, b'age": "Refining"}\nhello\n')
    sorter.finish()
    assert files.read_progress(tmp_path) == (0.4, "Refining")
    assert (tmp_path / files.LOG).read_text() == "hello\n"


def test_two_streams_do_not_mix_their_lines(sorter, tmp_path):
    sorter.feed(1, b"one ")
    sorter.feed(2, b"two\n")
    sorter.feed(1, b"line\n")
    assert (tmp_path / files.LOG).read_text() == "two\none line\n"


def test_a_line_without_an_end_is_kept(sorter, tmp_path):
    sorter.feed(1, b"last words")
    sorter.finish()
    assert (tmp_path / files.LOG).read_text() == "last words\n"
    assert sorter.last_line == "last words"


def test_the_sentence_of_a_failure_is_found_and_logged(sorter, tmp_path):
    sorter.feed(2, b"FOLDNOTE_ERROR Too short.\n")
    assert sorter.error == "Too short."
    assert (tmp_path / files.LOG).read_text() == "Too short.\n"


def test_the_log_is_cut_at_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(output_lines, "LOG_LIMIT_BYTES", 10)
    sorter = LineSorter(tmp_path)
    for _ in range(5):
        sorter.feed(1, b"12345678\n")
    sorter.close()
    assert (tmp_path / files.LOG).read_text().startswith("12345678\n1\n[The log was truncated here")


@pytest.mark.parametrize(
    ("written", "logged"),
    [
        (b"  0%|   |\r 50%|## |\r100%|###|\nDone\n", "100%|###|\nDone\n"),
        (b"100%|###|\r         \rDone\n", "Done\n"),
        (b"of Windows\r\nlines\r\n", "of Windows\nlines\n"),
        (b"\r10%\r20%", "20%\n"),
        (b"\r\r\n", "\n"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_that_is_drawn_over_is_logged_as_a_terminal_shows_it(sorter, tmp_path, written, logged, size):
    for start in range(0, len(written), size):
        sorter.feed(2, written[start : start + size])
    sorter.finish()
    assert (tmp_path / files.LOG).read_bytes().decode() == logged


def test_a_sentence_after_a_progress_bar_is_found(sorter):
    sorter.feed(2, b"10%|#  |\rFOLDNOTE_ERROR Too short.\n20%|## |\r")
    sorter.feed(2, b'FOLDNOTE_PROGRESS {"fraction": 0.4}\n30%|## |\r40%|###|\n')
    assert (sorter.error, sorter.last_line) == ("Too short.", "40%|###|")


def test_a_progress_bar_that_is_drawn_for_long_leaves_a_trace_and_fills_no_log(sorter, tmp_path, monkeypatch):
    moment = 0.0
    monkeypatch.setattr("time.monotonic", lambda: moment)
    for step in range(10_000):
        moment = step / 100
        sorter.feed(2, f"\r{step / 100:5.1f}%|{'#' * 80}".encode())
    sorter.finish()
    lines = (tmp_path / files.LOG).read_text().splitlines()
    assert [line.partition("|")[0] for line in lines] == [" 30.0%", " 60.0%", " 90.0%", "100.0%"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'FOLDNOTE_PROGRESS {"fraction": 7, "message": "x"}', (1.0, "x")),
        (b'FOLDNOTE_PROGRESS {"fraction": -1}', (0.0, None)),
        (b'FOLDNOTE_PROGRESS {"fraction": NaN, "message": "x"}', (None, "x")),
        (b'FOLDNOTE_PROGRESS {"message": "x"}', (None, "x")),
        (b'FOLDNOTE_PROGRESS {"fraction": 1%s, "message": "x"}' % (b"0" * 400), (None, "x")),
        (b"FOLDNOTE_PROGRESS " + b"[" * 50_000, None),
        (b"FOLDNOTE_PROGRESS [1]", None),
        (b"FOLDNOTE_PROGRESS {", None),
        (b"something else", None),
    ],
)
def test_progress_lines(line, expected):
    assert read_progress_line(line) == expected
