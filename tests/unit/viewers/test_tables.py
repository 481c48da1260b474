"""Tables contain all their rows, or say how many; no cell becomes markup, and no number is rounded."""

import base64
import gzip
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.viewers.tables import table
from foldnote.viewers.tables.table import write_plain_table, write_table

HOSTILE = "</script><img src=x onerror=alert(1)>"


def unpack(html):
    """Return the data that the page gets."""
    packed = html.rpartition('("')[2].partition('");</script>')[0]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_every_row_travels_as_it_is():
    frame = pd.DataFrame(
        {"x": np.random.default_rng(0).normal(size=500), "name": [f"r{i}" for i in range(500)]}
    )
    data = unpack(write_table(frame, "t"))
    assert data["values"][0] == frame["x"].tolist()
    assert data["values"][1] == frame["name"].tolist()
    assert data["note"] == ""


def test_missing_and_infinite_numbers_are_kept_apart():
    frame = pd.DataFrame(
        {"x": [1.0, np.nan, np.inf, -np.inf], "s": ["a", None, "c", "d"], "b": [True, False, True, True]}
    )
    data = unpack(write_table(frame))
    assert data["values"][0][:2] == [1, None]
    assert data["values"][0][2] > 1.7e308 > -1.7e308 > data["values"][0][3]
    assert data["values"][1] == ["a", None, "c", "d"]
    assert data["values"][2] == ["True", "False", "True", "True"]
    assert [column["isNumber"] for column in data["columns"]] == [True, False, False]


def test_whole_numbers_that_javascript_would_round_are_texts():
    """Such as identifiers and seeds: all of them from 9007199254740992 on were shown as even ones."""
    seeds = [2**53 + 1, 2**53 + 3]
    data = unpack(write_table(pd.DataFrame({"seed": seeds, "n": [2**53, -3]})))
    assert data["values"] == [[str(seed) for seed in seeds], [2**53, -3]]
    assert [column["isNumber"] for column in data["columns"]] == [False, True]


@pytest.mark.parametrize(
    ("figures", "decimals"),
    [
        ([1.2, 3, 4], 1),
        ([-9.123, -8.5, np.nan], 3),
        ([120.5, 0.02, 0], 2),
        ([0.85, 0.9123456], 4),
        ([np.inf, 1.5], 1),
        ([1, 2, np.nan], None),
        ([1e-14], None),
        ([0.001, 98765.4], None),
        ([], None),
    ],
)
def test_figures_of_a_column_have_equal_decimals(figures, decimals):
    frame = pd.DataFrame({"x": np.array(figures, float)})
    assert unpack(write_table(frame))["columns"][0]["decimals"] == decimals


def test_figures_without_scripts_have_the_same_decimals():
    assert "<td>3.0</td>" in write_table(pd.DataFrame({"x": [1.2, 3]}))
    assert write_table(pd.DataFrame([[1.2, 3.0]], columns=["x", "x"])).count("<td>") == 2


def test_a_table_that_is_too_heavy_says_what_is_listed(monkeypatch):
    monkeypatch.setattr(table, "MAX_BYTES", 20_000)
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=9000)})
    data = unpack(write_table(frame))
    kept = len(data["values"][0])
    assert 10 < kept < 9000
    assert f"the first {kept:,} of 9,000 rows" in data["note"]
    assert data["shape"] == f"the first {kept:,} of 9,000 rows × 1 column", "best of these is not best of all"


def test_a_known_metric_is_explained_and_sorted_best_first():
    data = unpack(write_table(pd.DataFrame({"iptm": [0.1], "rmsd": [2.0], "own": [1]})))
    assert [column["better"] for column in data["columns"]] == ["higher", "lower", ""]
    assert "Higher is better." in data["columns"][0]["about"]


@pytest.mark.parametrize("index", [["a", "b"], pd.Index([3, 4], name="rank")])
def test_an_index_that_says_something_is_a_column(index):
    data = unpack(write_table(pd.DataFrame({"x": [1, 2]}, index=index)))
    assert len(data["columns"]) == 2


def test_the_levels_of_column_names_are_joined():
    frame = pd.DataFrame({"gene": ["V1", "V1"], "KD": [1.0, 2.0]}).groupby("gene").agg(["mean", "max"])
    assert [column["name"] for column in unpack(write_table(frame))["columns"]] == [
        "gene",
        "KD mean",
        "KD max",
    ]


def test_names_and_values_never_become_markup():
    html = write_table(pd.DataFrame({HOSTILE: [HOSTILE]}), HOSTILE)
    assert "<img" not in html
    assert html.count("</script>") == 1


@pytest.mark.parametrize(
    ("values", "shown"), [([0.0, 0.0], "0.00"), ([0.00004, 0.0], "0.00"), ([0.0, 1.5], "0.00"), ([0, 0], "0")]
)
def test_distances_have_decimals_even_if_all_are_zero(values, shown):
    assert f"<td>{shown}</td>" in write_table(pd.DataFrame({"rmsd": values}))


@pytest.mark.parametrize(
    ("values", "shown"), [([0.4129, 0.0075, 1.1824], "1.182"), ([0.0312, 0.00062, 15.3], "0.001")]
)
def test_distances_have_no_more_decimals_than_coordinates(values, shown):
    assert f"<td>{shown}</td>" in write_table(pd.DataFrame({"rmsd_fitted": values}))


@pytest.mark.parametrize(
    ("values", "shown"), [([1.0, 1.0], "1.00"), ([1.0, 0.5], "1.00"), ([1.0, 1e-5], "1"), ([1, 0], "1")]
)
def test_figures_from_0_to_1_have_decimals_even_if_all_are_whole(values, shown):
    assert f"<td>{shown}</td>" in write_table(pd.DataFrame({"tm_score": values}))


def test_a_reader_without_scripts_has_the_first_rows():
    frame = pd.DataFrame({"x": range(100)})
    assert "100 rows × 1 column; the first 10 are shown" in write_table(frame).split("<script>")[0]
    assert "the first 10 are shown" in write_plain_table(frame)


@given(
    st.lists(
        st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=8), st.booleans()), max_size=20
    )
)
def test_any_column_can_be_shown(values):
    data = unpack(write_table(pd.DataFrame({"any": pd.Series(values, dtype="object")})))
    assert len(data["values"][0]) == len(values)
