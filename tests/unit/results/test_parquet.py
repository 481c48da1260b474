"""Parquet tables are read if pyarrow is installed, explained if not, and harmless when damaged."""

import io
import random
import sys

import numpy as np
import pandas as pd
import pytest
from result_archives import FV, write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import open_result
from foldnote.results.tables.tabular import read_table


@pytest.fixture(scope="module")
def stored():
    pytest.importorskip("pyarrow", reason="Parquet is read by pyarrow")
    frame = pd.DataFrame(
        {
            "name": ["a", "b", None],
            "iptm": [0.5, 0.25, np.nan],
            "rank": [1, 2, 3],
            "kept": [True, False, True],
        }
    )
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return frame, stream.getvalue()


def test_a_parquet_table_is_read_with_its_types(tmp_path, stored):
    frame, data = stored
    result = open_result(write_zip(tmp_path / "r.zip", {"designs.parquet": data}))
    table = result.tables["designs.parquet"]

    assert result.check() == ()
    assert table["iptm"].tolist()[:2] == [0.5, 0.25]
    assert [str(kind) for kind in table.dtypes[["iptm", "rank", "kept"]]] == ["float64", "int64", "bool"]
    pd.testing.assert_frame_equal(table, frame, check_dtype=False)


def test_a_parquet_table_gives_models_their_scores(tmp_path):
    pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    pd.DataFrame({"file": ["b.pdb", "a.pdb"], "iptm": [0.9, 0.1]}).to_parquet(stream)
    members = {"a.pdb": FV, "b.pdb": FV, "scores.parquet": stream.getvalue()}

    assert open_result(write_zip(tmp_path / "r.zip", members)).model_table["iptm"].tolist() == [0.1, 0.9]


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(UnreadableFileError, match=r"pip install 'foldnote\[parquet\]'"):
        read_table(b"PAR1", "x.parquet")


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_parquet_file_is_read_or_refused(stored, seed):
    chance, data = random.Random(seed), bytearray(stored[1])
    if seed % 3 == 0:
        data = data[: chance.randrange(len(data))]
    for _ in range(seed % 4):
        data[chance.randrange(max(1, len(data)))] = chance.randrange(256)
    try:
        assert isinstance(read_table(bytes(data), "x.parquet"), pd.DataFrame)
    except UnreadableFileError as exc:
        assert "x.parquet" in exc.message


def test_a_table_of_more_cells_than_fit_is_refused():
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.table({"x": arrow.nulls(100_000_001, arrow.int8())}), stream)

    with pytest.raises(UnreadableFileError, match="100,000,001 rows"):
        read_table(stream.getvalue(), "x.parquet")
