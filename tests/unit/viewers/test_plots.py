"""Plots: drawn from real results, told in words, with their data, and harmless whatever names say."""

import xml.etree.ElementTree as ET
from html import escape

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from result_archives import SHARED, needs_shared

from foldnote.errors import ArgumentError
from foldnote.results import Pae, open_result
from foldnote.results.sequences.alignment import read_alignment
from foldnote.viewers import (
    plot_coverage,
    plot_distribution,
    plot_pae,
    plot_plddt,
    plot_scatter,
    result_bundles,
)
from foldnote.viewers.plots.plot import find_ticks

HOSTILE = "</svg><script>alert(1)</script>\"'&"


def read_svg(plot):
    """The drawing, which must be well-formed."""
    return ET.fromstring(plot.svg)


@needs_shared
def test_a_dimer_has_its_confidence_error_and_coverage():
    result = open_result(SHARED / "colabfold-dimer.zip")
    confidence, error = plot_plddt(result.models), plot_pae(result.models[0].pae)
    assert "rank 1 68.3" in confidence.words
    assert len(confidence.data) == 84 * len(result.models)
    assert len(read_svg(confidence).findall(".//{*}polyline")) == 5
    assert set(error.data["aligned"]) == {"A", "B"}
    assert "Between chains the lowest mean is" in error.words
    plots = next(
        part for part in result_bundles(result) if part["text/html"].startswith('<div class="fnv-plots">')
    )
    assert plots["text/html"].count("<svg") == 3


def test_without_a_plddt_there_is_no_plot():
    assert plot_plddt([]) is None


def test_a_matrix_without_chains_is_drawn():
    plot = plot_pae(Pae(np.full((3, 3), np.nan, dtype=np.float32), None, "x.json"))
    assert read_svg(plot).find(".//{*}image") is not None


def test_coverage_says_how_deep_it_is():
    plot = plot_coverage(read_alignment(b">q\nACDE\n>a\nAC--\n>b\nAC-E\n", "x.a3m"))
    assert plot.data["sequences"].tolist() == [3, 3, 1, 2]
    assert "3 sequences over 4 columns; 1 to 3 of them cover a column" in plot.words


def test_a_distribution_counts_every_row():
    plot = plot_distribution(pd.DataFrame({"iptm": [0.1, 0.9, None]}), "iptm")
    assert plot.data["rows"].sum() == 2
    assert "1 row without a value" in plot.words
    assert "higher is better" in plot.words


def test_names_in_plots_are_only_words():
    frame = pd.DataFrame({HOSTILE: [1.0, 2.0], "y": [3.0, 5.0], "name": [HOSTILE, "b"]})
    for plot in (plot_scatter(frame, HOSTILE, "y", "name"), plot_distribution(frame, HOSTILE)):
        assert "<script" not in plot.to_html()
        assert read_svg(plot).tag.endswith("svg")


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ArgumentError, match="no column z; it has a"):
        plot_scatter(pd.DataFrame({"a": [1]}), "a", "z")


def test_a_plot_is_saved_as_svg(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 4.0, 9.0]})
    place = plot_scatter(frame, "x", "y").save(tmp_path / "plot.svg")
    assert len(ET.parse(place).getroot().findall(".//{*}circle")) == 3


def test_an_axis_that_runs_down_has_the_marks_of_one_that_runs_up():
    assert find_ticks(60, 0) == find_ticks(0, 60) == [0, 20, 40, 60]


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@example(0.0, 5e-324)
def test_ticks_are_few_and_inside(a, b):
    low, high = sorted((a, b))
    ticks = find_ticks(low, high)
    assert 1 <= len(ticks) <= 12 or not np.isfinite(high - low)


@pytest.mark.parametrize("name", ["plot.png", "plot.pdf", "plot"])
def test_a_plot_is_not_written_under_a_name_that_says_otherwise(tmp_path, name):
    plot = plot_scatter(pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}), "x", "y")
    with pytest.raises(ArgumentError, match=r"written as \.svg or \.html") as caught:
        plot.save(tmp_path / name)
    assert "plot.svg" in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_plot_is_a_page_with_its_words(tmp_path):
    plot = plot_scatter(pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}), "x", "y")
    text = plot.save(tmp_path / "plot.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "<svg " in text
    assert escape(plot.words) in text
