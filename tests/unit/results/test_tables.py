"""Tables and figures say what the file says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.errors import UnreadableFileError
from foldnote.results import METRICS, find_metric
from foldnote.results.arrays import read_array_figures
from foldnote.results.kinds import PATTERNS, FileKind, find_kind, structure_order
from foldnote.results.manifest import read_manifest
from foldnote.results.numbering import read_numbering
from foldnote.results.tables import find_figures, find_table, read_delimited, read_json


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/b/Rank_1.PDB", FileKind.STRUCTURE),
        ("model_0.cif.gz", FileKind.STRUCTURE),
        ("numbering.csv", FileKind.NUMBERING),
        ("x/scores.tsv", FileKind.TABLE),
        ("manifest.json", FileKind.MANIFEST),
        ("log.txt", FileKind.LOG),
        ("catalog.txt", FileKind.OTHER),
        ("poses.sdf", FileKind.MOLECULE),
    ],
)
def test_a_name_says_what_a_file_is(name, kind):
    assert find_kind(name) is kind


def test_every_pattern_is_reached_by_a_kind_of_its_own():
    assert {kind for _, kind in PATTERNS} | {FileKind.OTHER} == set(FileKind)


def test_the_structure_to_look_at_first_comes_first():
    names = ["u_unrelaxed_rank_1.pdb", "x_rank_10.pdb", "x_rank_2.pdb", "deep/er/x_rank_1.pdb", "input.pdb"]

    assert sorted(names, key=structure_order) == [names[2], names[1], names[3], names[0], names[4]]


@pytest.mark.parametrize("content", [[], [1, 2], [{"a": [1]}], {"a": 1}, "text", None, [{}]])
def test_what_is_no_list_of_flat_records_is_no_table(content):
    assert find_table(content) is None


def test_figures_are_the_scalars_of_an_object():
    assert find_figures({"a": 1.5, "b": [1], "c": float("inf"), "d": "x"}) == {"a": 1.5, "c": None, "d": "x"}


@pytest.mark.parametrize(
    ("name", "text"), [("x.csv", "a;b\n1;2,5\n"), ("x.csv", "a\tb\n1\t2,5\n"), ("x.tsv", "a\tb\n1\t2,5\n")]
)
def test_the_first_line_tells_the_separator(name, text):
    frame = read_delimited(text.encode(), name)

    assert frame.to_dict("records") == [{"a": 1, "b": "2,5"}]


def test_json_nested_absurdly_deep_is_told():
    with pytest.raises(UnreadableFileError, match="JSON"):
        read_json(b"[" * 200_000, "deep.json")


@given(st.binary(max_size=200))
def test_no_reader_crashes_on_any_bytes(data):
    for reader in (read_delimited, read_json, read_numbering, read_manifest, read_array_figures):
        try:
            reader(data, "file.csv")
        except UnreadableFileError as exc:
            assert "file.csv" in exc.message


def test_every_metric_has_a_definition_and_its_own_names():
    names = [name for metric in METRICS for name in metric.names]

    assert len(names) == len(set(names))
    assert all(metric.definition.endswith(".") and metric.unit and metric.label for metric in METRICS)
    assert find_metric("ipTM").higher_is_better is True
