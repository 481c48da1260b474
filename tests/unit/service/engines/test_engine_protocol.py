"""Tables written by engines: identical bytes on every system, and no cell is lost."""

import sys
from pathlib import Path

import pytest

import foldnote.service.engines as engines

PROTOCOL = Path(engines.__file__).parent / "protocol"


@pytest.fixture
def write(monkeypatch, tmp_path):
    """Write a table as an engine does, and return the file's bytes."""
    monkeypatch.syspath_prepend(str(PROTOCOL))
    monkeypatch.chdir(tmp_path)
    Path("outputs").mkdir()

    def write_and_read(rows, columns=None):
        from engine_protocol import write_table

        write_table("t.csv", rows, columns)
        return Path("outputs/t.csv").read_bytes()

    yield write_and_read
    sys.modules.pop("engine_protocol", None)


def test_rows_are_mappings_or_cells_and_lines_end_with_a_line_feed(write):
    expected = b'a,b\n1,"x, y"\n2,\n'
    assert write([{"b": "x, y", "a": 1}, {"a": 2}], ("a", "b")) == expected
    assert write(iter([(1, "x, y"), [2, None]]), ("a", "b")) == expected
    assert write([{"a": 1, "b": "x, y"}, {"a": 2}]) == expected


def test_a_table_without_rows_has_its_columns(write):
    assert write([], ("a", "b")) == b"a,b\n"
    assert write([]) == b"\n"


def test_a_row_that_does_not_fit_the_columns_is_refused(write):
    for row in ({"a": 1, "c": 2}, (1, 2, 3), [1]):
        with pytest.raises(ValueError, match="does not fit the columns a, b"):
            write([row], ("a", "b"))
