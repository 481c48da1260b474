"""Plots of real results: drawings, descriptions, their data, and safety from any name."""

import base64
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path

import gemmi
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from result_archives import SHARED, needs_shared, write_zip

from foldnote.errors import ArgumentError, ConfigurationError
from foldnote.results import Pae, Structure, open_result
from foldnote.results.sequences.alignment import read_alignment
from foldnote.viewers import (
    plot_coverage,
    plot_distribution,
    plot_pae,
    plot_plddt,
    plot_scatter,
    result_bundles,
)
from foldnote.viewers.plots.curves import plot_curves
from foldnote.viewers.plots.drawing import Axis, find_ticks
from foldnote.viewers.plots.matrix_plot import plot_matrix
from foldnote.viewers.plots.prediction_plots import plot_groups


@pytest.fixture(autouse=True)
def close_figures():
    """Close pyplot's figures, which otherwise stay alive."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


DATA = Path(__file__).parents[1] / "results" / "data"
HOSTILE = "</svg><script>alert(1)</script>\"'&"


SVG_TEXT = "{http://www.w3.org/2000/svg}text"


def matplotlib_pixels(path):
    """Return the colours of a PNG, shape (height, width, 4), 0 to 1."""
    from matplotlib.image import imread

    return imread(path)


def read_svg(plot):
    """Return the drawing, which must be well-formed."""
    return ET.fromstring(plot.svg)


def find_image(plot):
    """Return the image of a cell: HTML without SVG elements, which sanitizers remove."""
    html = plot.to_html()
    assert "<svg" not in html
    return ET.fromstring(base64.b64decode(re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)[1]))


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
    assert plots["text/html"].count('src="data:image/svg+xml') == 3


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
        assert plot.to_html().count("<script") == 1, "that of the buttons that save it"
        assert "alert(1)<" not in plot.to_html()
        assert read_svg(plot).tag.endswith("svg")


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ArgumentError, match="no column z; it has a"):
        plot_scatter(pd.DataFrame({"a": [1]}), "a", "z")


@pytest.fixture
def scatter():
    return plot_scatter(pd.DataFrame({"ptm": [0.1, 0.2, 0.3], "iptm": [0.1, 0.4, 0.9]}), "ptm", "iptm")


def make_pae(size):
    return Pae(np.full((size, size), 12.0, dtype=np.float32), None, "x.json")


@pytest.mark.parametrize(
    ("name", "begins"), [("plot.svg", b"<?xml"), ("plot.png", b"\x89PNG\r\n"), ("plot.PDF", b"%PDF-")]
)
def test_a_file_holds_what_its_suffix_says(scatter, tmp_path, name, begins):
    assert scatter.save(tmp_path / name).read_bytes().startswith(begins)


def test_text_of_a_saved_svg_can_be_edited(scatter, tmp_path):
    root = ET.parse(scatter.save(tmp_path / "plot.svg")).getroot()
    assert {"pTM (0 to 1)", "ipTM (0 to 1)"} <= {text.text for text in root.findall(".//{*}text")}


def test_text_of_a_saved_pdf_can_be_edited(scatter, tmp_path):
    content = scatter.save(tmp_path / "plot.pdf").read_bytes()
    assert b"/TrueType" in content or b"/CIDFontType2" in content
    assert b"/Type3" not in content


def test_the_axes_of_matplotlib_have_the_data_and_its_units(scatter):
    axes = scatter.to_matplotlib()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("pTM (0 to 1)", "ipTM (0 to 1)")
    assert axes.collections[0].get_offsets().tolist() == scatter.data.to_numpy().tolist()


def test_a_plot_is_drawn_on_given_axes(scatter):
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2)
    assert scatter.to_matplotlib(ax=right) is right
    assert not left.has_data()
    assert right.has_data()
    pyplot.close(figure)


def test_aligned_errors_are_one_image_in_full_resolution(tmp_path):
    plot = plot_pae(make_pae(500))
    axes = plot.to_matplotlib()
    assert axes.images[0].get_array().shape == (500, 500)
    assert [each.get_ylabel() for each in axes.figure.axes] == [
        "Aligned residue",
        "Predicted aligned error (Å)",
    ]
    assert len(ET.parse(plot.save(tmp_path / "pae.svg")).getroot().findall(".//{*}image")) <= 2
    assert len(read_svg(plot).findall(".//{*}image")) == 2
    assert len(plot.to_html()) < 200_000


@pytest.mark.parametrize("name", ["fold_2024_07_01_12_14_prot_dna_zn_model_0.cif", "design_" * 20 + "1.cif"])
def test_a_long_title_stays_within_the_figure(name):
    plot = plot_pae(make_pae(50), f"Predicted aligned error of {name}")
    axes = plot.to_matplotlib()
    axes.figure.canvas.draw()

    title, whole = axes.title.get_window_extent(), axes.figure.bbox
    assert whole.x0 <= title.x0
    assert title.x1 <= whole.x1
    assert title.y1 <= whole.y1


LONG = "predicted_change_of_binding_free_energy_of_the_double_mutant_in_kcal_per_mol"


@pytest.mark.parametrize("width_mm", [None, 89, 183])
@pytest.mark.parametrize(
    "plot",
    [
        plot_coverage(read_alignment(b">q\nACDE\n>a\nAC--\n", "x.a3m")),
        plot_scatter(pd.DataFrame({LONG: [1e-4, 2e-4], "y": [1.0, 2.0]}), "y", LONG),
        plot_scatter(pd.DataFrame({LONG: [1e-4, 2e-4], "y": [1.0, 2.0]}), LONG, "y"),
    ],
    ids=["coverage", "long name up", "long name across"],
)
def test_no_label_reaches_the_edge_of_a_figure(plot, width_mm, tmp_path):
    pixels = matplotlib_pixels(plot.save(tmp_path / "plot.png", width_mm=width_mm))
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert (edge == 1).all()


def test_the_label_of_a_colour_bar_is_no_longer_than_the_bar_in_print(tmp_path):
    """The plane of a coverage plot need not be square, so it keeps its height where its width shrinks."""
    plot = plot_coverage(read_alignment(b">q\nACDE\n>a\nAC--\n", "x.a3m"))
    width, height = ET.parse(plot.save(tmp_path / "c.svg", width_mm=89)).getroot().get("viewBox").split()[2:]
    assert float(width) == pytest.approx(89 / 25.4 * 72, abs=0.01)
    assert float(height) > 140


def read_fv(offset=0, icode=" "):
    """Return the models of a prediction whose residue numbers start at 1 + ``offset``."""
    structure = Structure.open(DATA / "trastuzumab_fv_ca.pdb").to_gemmi()
    del structure[0][1]
    for place, residue in enumerate(structure[0][0]):
        residue.seqid = gemmi.SeqId(f"{place + 1 + offset}{icode.strip()}")
        residue[0].b_iso = 80 + place % 10
    return structure.make_pdb_string(gemmi.PdbWriteOptions(minimal=True))


def open_numbered(folder, **numbers):
    """Return the model of an AlphaFold Database archive with residue numbers as of ``read_fv``, and its PAE."""
    text = read_fv(**numbers)
    size = text.count(" CA ")
    error = [{"predicted_aligned_error": (np.arange(size * size) % 30).reshape(size, size).tolist()}]
    files = {
        "AF-P00001-F2-model_v4.pdb": text,
        "AF-P00001-F2-predicted_aligned_error_v4.json": json.dumps(error),
    }
    (model,) = open_result(write_zip(folder / "fragment.zip", files)).models
    return model


def test_the_axes_of_a_fragment_have_its_residue_numbers(tmp_path):
    model = open_numbered(tmp_path, offset=200)
    confidence, error = plot_plddt([model]).drawing, plot_pae(model.pae).drawing
    assert confidence.x.label == "Residue"
    assert confidence.x.marks[0] == (50, "250")
    assert error.x.marks == error.y.marks
    assert error.x.marks[0] == (49.5, "250")
    axes = plot_pae(model.pae).to_matplotlib()
    place = dict(zip([t.get_text() for t in axes.get_yticklabels()], axes.get_yticks(), strict=True))["250"]
    row = int(place - axes.images[0].get_extent()[3])
    assert model.pae.tokens["number"][row] == "250"


def test_numbers_with_insertion_codes_are_not_put_on_an_axis(tmp_path):
    model = open_numbered(tmp_path, icode="A")
    assert plot_plddt([model]).drawing.x.label == "Position in the chain"
    assert plot_plddt([model]).drawing.x.ticks == ()


def test_the_words_on_one_model_do_not_repeat_its_name(tmp_path):
    model = open_numbered(tmp_path)
    mean = model.confidence.mean
    assert plot_plddt([model]).words == f"Mean pLDDT {mean:.1f}; 0% of the residues are below 70."


def test_dollar_signs_are_not_a_formula(tmp_path):
    plot = plot_scatter(
        pd.DataFrame({"cost $ per \\frac $": [1.0, 2.0], "y": [1.0, 2.0]}), "cost $ per \\frac $", "y"
    )

    assert "cost $ per \\frac $" in plot.save(tmp_path / "plot.svg").read_text()


def test_a_histogram_has_a_bar_for_each_bin():
    plot = plot_distribution(pd.DataFrame({"iptm": np.linspace(0, 1, 50)}), "iptm")
    bars = plot.to_matplotlib().patches
    assert [bar.get_height() for bar in bars] == plot.data["rows"].tolist()


def test_coverage_is_drawn_over_the_sequences():
    plot = plot_coverage(read_alignment(b">q\nACDE\n>a\nAC--\n>b\nAC-E\n", "x.a3m"))
    axes = plot.to_matplotlib()
    assert axes.lines[0].get_ydata().tolist() == [3, 3, 1, 2]
    assert len(axes.images) == 1


@needs_shared
def test_the_lines_of_a_confidence_plot_are_named():
    plot = plot_plddt(open_result(SHARED / "colabfold-dimer.zip").models)
    legend = plot.to_matplotlib().get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"rank {number}" for number in range(1, 6)]


def test_without_matplotlib_a_cell_shows_the_plot_and_the_rest_says_what_to_install(
    scatter, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert find_image(scatter).tag.endswith("svg")
    assert len(ET.parse(scatter.save(tmp_path / "plot.svg")).getroot().findall(".//{*}circle")) == 3
    for act in (scatter.to_matplotlib, lambda: scatter.save(tmp_path / "plot.png")):
        with pytest.raises(ConfigurationError, match=r"pip install 'foldnote\[plots\]'"):
            act()


def test_a_cell_holds_an_image_for_light_and_dark_pages(scatter):
    style = find_image(scatter).find("{*}style").text
    assert "prefers-color-scheme:dark" in style
    assert len(find_image(scatter).findall(".//{*}circle")) == 3


def test_the_name_of_a_row_appears_under_the_pointer():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 5.0], "name": ["first", "second"]})
    assert 'title="first: 1, 3"' in plot_scatter(frame, "x", "y", "name").to_html()
    assert 'title="1 to 1.5: 1 row"' in plot_distribution(frame, "x").to_html()


def test_making_and_showing_a_plot_does_not_import_matplotlib():
    code = (
        "import sys, pandas as pd; from foldnote.viewers import plot_scatter;"
        "plot_scatter(pd.DataFrame({'x': [1, 2], 'y': [1, 2]}), 'x', 'y').to_html();"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_an_axis_that_runs_down_has_the_marks_of_one_that_runs_up():
    assert find_ticks(60, 0) == find_ticks(0, 60) == [0, 20, 40, 60]


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
@example(0.0, 5e-324)
def test_ticks_are_few_and_inside(a, b):
    low, high = sorted((a, b))
    ticks = find_ticks(low, high)
    assert 1 <= len(ticks) <= 12 or not np.isfinite(high - low)


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [
        (1e-12, 5e-12, ["1e-12", "2e-12", "3e-12", "4e-12", "5e-12"]),
        (1_000_001, 1_000_005, ["1000001", "1000002", "1000003", "1000004", "1000005"]),
        (0.5, 0.50004, ["0.5", "0.50001", "0.50002", "0.50003", "0.50004"]),
        (1.0, 1.0 + 4e-16, ["1"]),
        (0, 100, ["0", "20", "40", "60", "80", "100"]),
    ],
)
def test_the_labels_of_ticks_differ(low, high, names):
    assert [name for _, name in Axis("x", low, high).marks] == names


def test_a_histogram_describes_the_numbers_that_it_counts():
    plot = plot_distribution(pd.DataFrame({"x": [5.0, np.nan, np.inf, 3.0, 4.0, 4.4]}), "x")
    assert plot.words == "x: 4 values from 3 to 5, median 4.2. 2 rows without a value."


def test_counts_have_whole_ticks():
    frame = pd.DataFrame({"x": [0.0, 1.0]})
    assert [name for _, name in plot_distribution(frame, "x").drawing.y.marks] == ["0", "1"]


def test_a_scatter_plot_counts_the_rows_that_it_leaves_out():
    plot = plot_scatter(pd.DataFrame({"x": [1, 2, np.nan, np.inf], "y": [1, 2, 3, 4]}), "x", "y")
    assert plot.words.startswith("2 rows: y against x; ")
    assert plot.words.endswith(" 2 rows without a number in both.")


def test_a_column_can_be_an_axis_and_the_tooltip():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 5.0]})
    assert 'title="1.0: 1, 3"' in plot_scatter(frame, "x", "y", "x").to_html()
    assert plot_scatter(frame, "x", "x").drawing.x == plot_scatter(frame, "x", "x").drawing.y


def test_infinite_values_of_a_matrix_do_not_set_its_colours():
    plot = plot_matrix(pd.DataFrame([[0.5, np.inf], [2.0, np.nan]]), "m", "x")
    (raster,) = plot.drawing.marks
    assert (raster.low, raster.high, raster.has_more) == (0, 2, True)
    assert plot.words.endswith("the highest, 2, is at row 1 and column 0.")


def draw_raster(values):
    """Return the pixels of the picture of a matrix in a cell, whose colours are those of 0 to 1."""
    (raster,) = plot_matrix(pd.DataFrame(values), "m", "x", high=1.0).drawing.marks
    return matplotlib_pixels(io.BytesIO(raster.to_png()))


def test_a_pixel_of_a_large_matrix_is_the_mean_of_its_cells():
    values = np.random.default_rng(1).random((800, 1200))
    assert np.array_equal(draw_raster(values), draw_raster(values.reshape(400, 2, 400, 3).mean(axis=(1, 3))))
    assert draw_raster(values[:, :401]).shape == (400, 400, 4)
    assert draw_raster(values[:30]).shape == (30, 400, 4)


def test_the_words_say_when_a_pixel_is_a_mean():
    large, small = (plot_matrix(pd.DataFrame(np.eye(size)), "m", "x").words for size in (401, 400))
    assert (large.count("mean of neighbouring values"), small.count("mean")) == (1, 0)


@pytest.mark.parametrize("column", [0, 7, 1001, 1999])
def test_no_cell_of_a_large_matrix_vanishes(column):
    values = np.zeros((2, 2000))
    values[1, column] = 1.0
    assert (draw_raster(values) != draw_raster(np.zeros((2, 2000)))).any(axis=2).sum() == 1


def test_unknown_cells_of_a_large_matrix_count_nowhere():
    values = np.full((2, 2000), 0.5)
    values[0, 1::2] = np.nan
    values[1, :5] = np.nan
    drawn = draw_raster(values)
    assert (drawn[0] == draw_raster(np.full((1, 1), 0.5))[0, 0]).all()
    assert (drawn[1, :, 3] == 0).nonzero()[0].tolist() == [0]


def test_long_names_of_rows_are_shortened_inside_the_drawing():
    name = "a mutation in the third framework region of the heavy chain"
    svg = plot_matrix(pd.DataFrame([[1.0, 2.0]], index=[name]), "m", "x").svg
    (shown,) = (text for text in re.findall("<text[^>]*>([^<]*)", svg) if text.startswith("a mut"))
    assert shown.endswith("…")
    assert 15 < len(shown) < 30


def test_wide_numbers_have_room_beside_the_label_of_the_axis():
    narrow, wide = (
        plot_scatter(pd.DataFrame({"x": [1, 2], "y": [0, top]}), "x", "y").svg for top in (1, 2.5e9)
    )
    left, further = (float(re.search(r'<rect x="([\d.]+)"', each)[1]) for each in (narrow, wide))
    assert further - left > 5


@pytest.mark.parametrize("name", ["plot.jpg", "plot"])
def test_a_suffix_that_cannot_be_written_is_refused(scatter, tmp_path, name):
    with pytest.raises(ArgumentError, match=r"saved as \.svg, \.pdf, \.png or \.html"):
        scatter.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_plot_is_a_page_with_its_words(tmp_path):
    plot = plot_scatter(pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}), "x", "y")
    text = plot.save(tmp_path / "plot.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "<svg " in text
    assert escape(plot.words) in text


def test_a_matrix_is_named_at_its_rows_and_columns():
    matrix = pd.DataFrame([[0.1, 0.9], [0.5, np.nan]], index=["A", "C"], columns=["S1", "R2"])
    matrix.index.name, matrix.columns.name = "Amino acid", "Residue"
    plot = plot_matrix(matrix, "Probabilities", "Probability (0 to 1)", 0.0, 1.0)
    assert "the highest, 0.9, is at amino acid A and residue R2" in plot.words
    assert all(f">{name}<" in plot.svg for name in ("A", "C", "S1", "R2", "Residue", "Amino acid"))
    assert plot.data is matrix


def test_a_signed_matrix_has_zero_in_the_middle_of_its_colours():
    matrix = pd.DataFrame([[-9.25523, 0.0, 3.0]])
    svg = plot_matrix(matrix, "Parts", "Part", is_signed=True).svg
    assert [f">{text}<" in svg for text in ("9.26", "0", "-9.26")] == [True] * 3


def test_names_of_columns_that_would_touch_are_left_out():
    matrix = pd.DataFrame(np.eye(20), columns=[f"W{number}" for number in range(100, 120)])
    svg = plot_matrix(matrix, "Long names", "x").svg
    assert [f">W{number}<" in svg for number in (100, 101, 102, 118, 119)] == [True, False, True, True, False]


def test_a_large_matrix_names_some_of_its_columns():
    matrix = pd.DataFrame(np.eye(300))
    svg = plot_matrix(matrix, "Large", "x").svg
    assert 4 <= svg.count("<text") <= 20


@pytest.mark.parametrize("values", [[["a"]], [[np.nan]]], ids=["text", "nothing"])
def test_a_matrix_without_numbers_is_refused(values):
    with pytest.raises(ArgumentError, match="numbers"):
        plot_matrix(pd.DataFrame(values), "None", "x")


def test_groups_have_colours_and_names_and_the_smallest_share_one():
    names = [f"{number}" for number in range(9) for _ in range(12 - number)]
    frame = pd.DataFrame({"x": range(len(names) + 2), "y": 1.5, "group": [*names, None, ""], "name": HOSTILE})
    plot = plot_groups(frame, "x", "y", "group", "name")
    svg = read_svg(plot)
    shown = ["".join(each.itertext()) for each in svg.findall(".//{*}text")]
    assert len(svg.findall(".//{*}g[@opacity]/*")) == len(frame)
    assert {"group 0", "group 6", "2 other groups", "in none"} <= set(shown)
    assert "group 7" not in shown
    assert f"{len(frame)} rows in 9 groups, 2 in none" in plot.words
    legend = plot.to_matplotlib().get_legend_handles_labels()[1]
    assert legend[0] == "in none"
    assert legend[-1] == "group 0"
    assert HOSTILE not in plot.to_html()


def test_groups_that_are_numbers_are_named_without_decimals():
    frame = pd.DataFrame({"x": [1.0, 2], "y": [3.0, 4], "cluster": [np.nan, 12.0], "name": ["a", "b"]})
    assert "b, cluster 12" in plot_groups(frame, "x", "y", "cluster", "name").to_html()


def test_groups_without_numbers_say_so():
    frame = pd.DataFrame({"x": ["a"], "y": [3.0], "cluster": [1], "name": ["a"]})
    with pytest.raises(ArgumentError, match="No row has a number in both"):
        plot_groups(frame, "x", "y", "cluster", "name")
    with pytest.raises(ArgumentError, match="no column z"):
        plot_groups(frame, "x", "z", "cluster", "name")


def test_the_names_of_a_legend_stay_within_the_picture():
    frame = pd.DataFrame({"x": [0, 1], "a": [1.0, 2], "b": [2.0, 1]})
    named = {"a": "from the beginning of the run", "b": "a name of more than thirty letters, shortened"}
    svg = read_svg(plot_curves(frame, "x", named, "Curves", labels=("x", "y")))
    names = [each for each in svg.findall(".//{*}text") if each.get("text-anchor") == "start"]
    assert ["".join(each.itertext()) for each in names] == [
        named["a"],
        "a name of more than thirty le…",
    ]
    for each in names:
        wide_px = 6.5 * len("".join(each.itertext()))
        assert float(each.get("x")) + wide_px <= float(svg.get("width"))


def make_curves():
    frame = pd.DataFrame({"x": range(200), "a": np.linspace(0, 90, 200), "b": np.linspace(80, 10, 200)})
    return plot_curves(frame, "x", {"a": "heavy chain", "b": "light chain"}, "Curves", labels=("x", "pLDDT"))


@pytest.mark.parametrize("width_mm", [85, 180])
@pytest.mark.parametrize("kind", ["curves", "matrix", "scatter"])
def test_a_figure_of_a_given_width_is_legible_and_nothing_is_cut_off(scatter, tmp_path, kind, width_mm):
    plot = {"curves": make_curves(), "matrix": plot_pae(make_pae(50)), "scatter": scatter}[kind]
    root = ET.parse(plot.save(tmp_path / "plot.svg", width_mm=width_mm)).getroot()
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(width_mm / 25.4 * 72, abs=0.01)
    points = [float(re.search(r"([\d.]+)px", each.get("style"))[1]) for each in root.iter(SVG_TEXT)]
    assert 6 <= min(points) <= max(points) <= 8
    pixels = matplotlib_pixels(plot.save(tmp_path / "plot.png", width_mm=width_mm))
    assert pixels.shape[1] == pytest.approx(width_mm / 25.4 * 300, abs=1)
    assert all((edge == 1).all() for edge in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]))


def test_a_figure_without_a_width_keeps_the_size_of_its_text(scatter, tmp_path):
    root = ET.parse(scatter.save(tmp_path / "plot.svg")).getroot()
    assert float(root.get("width").removesuffix("pt")) == scatter.drawing.width / 80 * 72
    assert {re.search(r"([\d.]+)px", each.get("style"))[1] for each in root.iter(SVG_TEXT)} == {"10", "12"}


@pytest.mark.parametrize(
    ("name", "width_mm"), [("a.pdf", 8.5), ("a.pdf", 8500), ("a.pdf", np.nan), ("a.html", 85)]
)
def test_a_width_that_cannot_be_used_is_refused(scatter, tmp_path, name, width_mm):
    with pytest.raises(ArgumentError, match="width_mm is"):
        scatter.save(tmp_path / name, width_mm=width_mm)


def test_series_of_one_plot_differ_without_colour_in_cells_and_in_figures(tmp_path):
    numbers = [1.0, 2.0, 3.0]
    names = [f"c{index}" for index in range(4)]
    frame = pd.DataFrame({"x": numbers, **dict.fromkeys(names, numbers)})
    curves = plot_curves(frame, "x", {name: name for name in names}, "Curves", labels=("x", "y"))
    drawn = [line.get("stroke-dasharray") for line in read_svg(curves).findall(".//{*}polyline")]
    listed = [line.get("stroke-dasharray") for line in read_svg(curves).findall(".//{*}path[@stroke-width]")]
    assert len(set(drawn)) == len(names)
    assert sorted(map(str, listed)) == sorted(map(str, drawn))
    legend = curves.to_matplotlib().get_legend()
    assert [text.get_text() for text in legend.get_texts()] == names
    saved = curves.save(tmp_path / "curves.svg").read_text()
    assert len(set(re.findall(r"stroke-dasharray: ([^;]+)", saved))) == len(names) - 1

    groups = [f"g{index}" for index in range(9)]
    rows = pd.DataFrame({"x": range(10), "y": range(10), "group": [*groups, ""], "label": "row"})
    dots = plot_groups(rows, "x", "y", "group", "label")
    figure = dots.to_matplotlib()
    shapes = {tuple(map(tuple, series.get_paths()[0].vertices.round(3))) for series in figure.collections}
    assert len(figure.collections) == len(shapes) == 9


def list_greys(plot):
    """Return the luma (ITU-R BT.601) of the colours of the plot's matrix, from its lowest to its highest value."""
    raster = next(mark for mark in plot.drawing.marks if hasattr(mark, "colors"))
    parts = np.array([[int(color[start : start + 2], 16) for start in (1, 3, 5)] for color in raster.colors])
    return parts @ [0.299, 0.587, 0.114]


@pytest.mark.parametrize(
    "plot",
    [
        plot_coverage(read_alignment(b">q\nACDE\n>a\nAC--\n", "x.a3m")),
        plot_pae(make_pae(5)),
        plot_matrix(pd.DataFrame([[0, 1], [2, 3]]), "Matrix", "score"),
    ],
    ids=["coverage", "errors", "matrix"],
)
def test_the_values_of_a_matrix_are_in_order_in_greyscale(plot):
    steps = np.diff(list_greys(plot))
    assert (np.abs(steps) > 20).all()
    assert len(set(np.sign(steps))) == 1
