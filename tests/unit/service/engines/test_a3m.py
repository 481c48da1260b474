"""An alignment is read row by row; one that does not fit the query ends the run with a message."""

import importlib
import sys
from pathlib import Path

import pytest

import foldnote.service.engines as engines

LETTERS = frozenset("ACDEFGHIKLMNPQRSTVWYX-")


@pytest.fixture(autouse=True)
def a3m(monkeypatch):
    """Import the module by its own name, as in an engine's environment."""
    for folder in ("complex", "protocol"):
        monkeypatch.syspath_prepend(str(Path(engines.__file__).parent / folder))
    yield importlib.import_module("a3m")
    for name in ("a3m", "engine_protocol"):
        sys.modules.pop(name, None)


@pytest.fixture
def read(a3m, tmp_path):
    def read_bytes(content, letters=LETTERS):
        path = tmp_path / "given.a3m"
        path.write_bytes(content)
        return a3m.read_alignment(path, "alignment 3", letters)

    return read_bytes


def test_rows_are_joined_and_other_content_is_skipped(read):
    content = b"\xef\xbb\xbf#comment\r\n>query one\r\nac\r\n DE\r\n\r\n>b\r\nA-kkD\r\n-\r\n\x00"
    assert read(content) == [(">query one", "ACDE"), (">b", "A-kkD-")]


def test_rows_are_written_with_a_line_a_sequence_below_their_head(a3m, tmp_path):
    a3m.write_rows([(">a", "ACDE"), (">b", "A-kDE")], tmp_path / "out.a3m", "#4\t1\n")
    assert (tmp_path / "out.a3m").read_text() == "#4\t1\n>a\nACDE\n>b\nA-kDE\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "Alignment 3 has no sequence. Give an A3M file."),
        (b">only a name\n", "Alignment 3 has no sequence."),
        (b"ACDE\n", "Alignment 3 is not A3M: text stands before the first name"),
        (b"<html><body>404 Not Found</body></html>", "Alignment 3 is not A3M"),
        (b">a\nAC-DE\n", "The first sequence of alignment 3 has gaps."),
        (
            b">a\nACDE\n>b\nACDEF\n",
            "Sequence 2 of alignment 3 has 5 columns (capitals and '-'), and the first one 4.",
        ),
        (b">a\nACDE\n>b\nACDE\n>c\n", "Sequence 3 of alignment 3 has 0 columns"),
        (
            b">a\nACDE\n>b\nAC1E\n",
            "Sequence 2 of alignment 3 has '1'; letters of amino acids and '-' are taken.",
        ),
        (">a\nACDE\n>b\nACDßE\n".encode(), "Sequence 2 of alignment 3 has 'ß'"),
        (b">a\nAC\xffE\n", "Sequence 1 of alignment 3 has '\ufffd'"),
    ],
)
def test_an_alignment_of_another_query_is_refused_with_the_reason(read, capsys, content, told):
    with pytest.raises(SystemExit) as ended:
        read(content)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(f"FOLDNOTE_ERROR {told}")
