"""Tables and sweeps become rows of settings."""

import numpy as np
import pandas as pd
import pytest

from foldnote.client.inputs.batch_table import expand_rows
from foldnote.client.submission.validation import split_rows
from foldnote.errors import FoldnoteError


def test_columns_are_mapped_and_names_taken():
    table = pd.DataFrame({"id": ["a", "b"], "VH": ["EVQ", "QVQ"], "note": [1, 2]})
    rows = expand_rows(table, {"heavy": "VH"}, names="id", shared={"scheme": "imgt"})
    assert rows.settings == [{"scheme": "imgt", "heavy": "EVQ"}, {"scheme": "imgt", "heavy": "QVQ"}]
    assert rows.names == ["a", "b"]


def test_every_column_but_the_names_is_a_setting():
    rows = expand_rows([{"id": "a", "x": 1}, {"id": "b", "y": 2}], names="id")
    assert rows.settings == [{"x": 1}, {"y": 2}]


def test_a_sweep_is_every_combination():
    rows = expand_rows([{"x": 1}, {"x": 2}], sweep={"a": [1, 2], "b": ["uv", "w"]})
    assert len(rows.settings) == 8
    assert rows.settings[0] == {"x": 1, "a": 1, "b": "uv"}
    named = expand_rows([{"n": "k", "x": 1}], sweep={"a": [1, 2]}, names="n")
    assert named.names == ["k-1", "k-2"]


def test_missing_cells_are_left_out_and_numbers_are_plain():
    table = pd.DataFrame({"x": [1, 2], "y": [np.nan, 0.5], "z": [None, "t"]})
    rows = expand_rows(table).settings
    assert rows == [{"x": 1}, {"x": 2, "y": 0.5, "z": "t"}]
    assert type(rows[0]["x"]) is int


def test_a_row_without_a_name_is_reported():
    table = pd.DataFrame({"id": ["a", None], "x": [1, 2]})
    with pytest.raises(FoldnoteError, match="Row 2 has no name"):
        expand_rows(table, names="id")


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"columns": {"a": "no"}}, "no column 'no'. It has: x"),
        ({"names": "no"}, "no column"),
        ({"sweep": {"x": [1]}}, "given twice"),
        ({"shared": {"x": 1}}, "given twice"),
        ({"sweep": {"a": "imgt"}}, "list of values"),
        ({"sweep": {"a": []}}, "no rows"),
        ({"sweep": {"a": ["u", "v", "u"]}}, 'the value "u" twice. Give each value once'),
        ({"sweep": {"a": [[1], [2], [1], [1]]}}, "3 times"),
    ],
)
def test_what_cannot_be_meant_is_refused(more, sentence):
    with pytest.raises(FoldnoteError, match=sentence):
        expand_rows([{"x": 1}], **more)


def test_an_empty_table_is_refused():
    with pytest.raises(FoldnoteError, match="no rows"):
        expand_rows([])


def test_chunks_keep_both_limits():
    rows = [{"x": "y" * 10}] * 25
    assert [len(chunk) for chunk in split_rows(rows, max_rows=10)] == [10, 10, 5]
    assert [len(chunk) for chunk in split_rows(rows, max_bytes=60)] == [2] * 12 + [1]
    assert [len(chunk) for chunk in split_rows([rows[0], {"x": "y" * 99}, rows[0]], max_bytes=60)] == [
        1,
        1,
        1,
    ]
    assert [row for chunk in split_rows(rows, max_rows=7) for row in chunk] == rows
