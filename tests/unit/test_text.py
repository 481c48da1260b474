"""Figures are formatted identically in Python and in the panel."""

import html
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.text import (
    count,
    cut_name,
    describe_path,
    escape_html,
    format_duration,
    format_figure,
    format_size,
    join_words,
)

FIGURES = json.loads((Path(__file__).parents[1] / "data/figures.json").read_text())


@pytest.mark.parametrize(("size_bytes", "text"), FIGURES["sizes"])
def test_a_size_has_three_digits_and_a_decimal_unit(size_bytes, text):
    assert format_size(size_bytes) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0.0, "0"), (-9.12345, "-9.123"), (1234.56, "1235"), (9999.96, "10000"), (13164.53, "13164.5")],
        *[(-27000.0, "-27000"), (9_999_999.0, "9999999"), (1.5e7, "1.5e+07"), (0.00004, "4e-05")],
    ],
)
def test_a_figure_has_four_digits_and_large_ones_their_whole_part(value, text):
    assert format_figure(value) == text


@pytest.mark.parametrize(("seconds", "text"), FIGURES["durations"])
def test_a_duration_has_at_most_two_units(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(("number", "text"), FIGURES["counts"])
def test_a_count_has_a_comma_between_thousands(number, text):
    assert count(number, "job", "job") == f"{text} job"


@given(st.integers(min_value=0, max_value=10**15))
def test_a_size_is_right_to_three_digits(size_bytes):
    number, unit = format_size(size_bytes).split()
    factor = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}[unit]
    assert float(number) * factor == pytest.approx(size_bytes, rel=0.0051)


@pytest.mark.parametrize(
    ("number", "noun", "plural", "text"),
    [
        (0, "job", None, "0 jobs"),
        (1, "job", None, "1 job"),
        (2000, "residue", None, "2,000 residues"),
        (2, "matrix", "matrices", "2 matrices"),
    ],
)
def test_a_count_agrees_with_its_noun(number, noun, plural, text):
    assert count(number, noun, plural) == text


def test_words_are_joined_as_a_list():
    assert [join_words([]), join_words(["a"]), join_words(["a", "b", "c"])] == ["", "a", "a, b or c"]


@pytest.mark.parametrize(
    ("path", "settings", "text"),
    [
        ("heavy", None, "heavy"),
        ("smilesStrings.2", None, "smilesStrings, item 3"),
        ("chains.0.letter", {"chains": [{"letter": 5}]}, "chains, item 1, letter"),
        ("designedResidues.H", {"designedResidues": {"H": ""}}, "designedResidues.H"),
        ("designedResidues.1", {"designedResidues": {"1": "x"}}, "designedResidues.1"),
        ("7", None, "7"),
        ("", None, ""),
    ],
)
def test_a_place_in_a_list_is_counted_from_one_and_the_name_of_a_map_kept(path, settings, text):
    assert describe_path(path, settings) == text


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("0.start", [{"start": 5}], "item 1, start"),
        ("2", None, "item 3"),
        ("12", {"12": "x"}, "12"),
        ("12.0", {"12": ["x"]}, "12, item 1"),
    ],
)
def test_a_path_inside_a_setting_may_begin_with_a_position_or_the_name_of_a_map(path, value, text):
    assert describe_path(path, value, is_inside=True) == text


@given(st.text(alphabet=st.one_of(st.sampled_from("&<>\"'"), st.characters())))
def test_html_is_escaped_as_the_standard_library_escapes_it(text):
    assert escape_html(text) == html.escape(text)


@pytest.mark.parametrize(
    ("name", "limit", "text"), [("variant-1", 9, "variant-1"), ("variant-12", 9, "vari…t-12"), ("ab", 1, "…")]
)
def test_a_name_is_cut_in_its_middle(name, limit, text):
    assert cut_name(name, limit) == text
