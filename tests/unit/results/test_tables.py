"""Tables and figures say what the file says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_archives import write_zip

from foldnote.errors import UnreadableFileError
from foldnote.results import METRICS, find_metric, open_result
from foldnote.results.naming.file_kinds import PATTERNS, FileKind, find_kind, structure_order
from foldnote.results.provenance.manifest import read_manifest
from foldnote.results.sequences.antibody_numbering import read_numbering
from foldnote.results.tables.tabular import find_figures, find_table, read_delimited, read_json


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


def test_every_file_kind_except_other_has_a_pattern():
    assert {kind for _, kind in PATTERNS} | {FileKind.OTHER} == set(FileKind)


def test_the_structure_to_look_at_first_comes_first():
    names = ["u_unrelaxed_rank_1.pdb", "x_rank_10.pdb", "x_rank_2.pdb", "deep/er/x_rank_1.pdb", "input.pdb"]

    assert sorted(names, key=structure_order) == [names[2], names[1], names[3], names[0], names[4]]


@pytest.mark.parametrize("content", [[], [1, 2], [{"a": [1]}], {"a": 1}, "text", None, [{}]])
def test_only_a_list_of_flat_records_is_a_table(content):
    assert find_table(content) is None


def test_figures_are_the_scalars_of_an_object():
    assert find_figures({"a": 1.5, "b": [1], "c": float("inf"), "d": "x"}) == {"a": 1.5, "c": None, "d": "x"}


@pytest.mark.parametrize(
    ("name", "text"), [("x.csv", "a;b\n1;2,5\n"), ("x.csv", "a\tb\n1\t2,5\n"), ("x.tsv", "a\tb\n1\t2,5\n")]
)
def test_the_first_line_tells_the_separator(name, text):
    frame = read_delimited(text.encode(), name)

    assert frame.to_dict("records") == [{"a": 1, "b": "2,5"}]


def test_json_nested_absurdly_deep_is_reported():
    with pytest.raises(UnreadableFileError, match="JSON"):
        read_json(b"[" * 200_000, "deep.json")


@given(st.binary(max_size=200))
def test_no_reader_crashes_on_any_bytes(data):
    for reader in (read_delimited, read_json, read_numbering, read_manifest):
        try:
            reader(data, "file.csv")
        except UnreadableFileError as exc:
            assert "file.csv" in exc.message


def test_every_metric_has_a_definition_and_its_own_names():
    names = [name for metric in METRICS for name in metric.names]

    assert len(names) == len(set(names))
    assert all(metric.definition.endswith(".") and metric.unit and metric.label for metric in METRICS)
    assert find_metric("ipTM").higher_is_better is True


@pytest.mark.parametrize(
    ("name", "columns"),
    [("hits.m8", 12), ("hits.csv", 0), ("hits.tsv", 0), ("score.sc", 0), ("blank.csv", 0)],
)
def test_an_empty_table_is_one_without_rows_and_holds_up_no_other(tmp_path, name, columns):
    content = " \n\n" if name == "blank.csv" else ""
    result = open_result(write_zip(tmp_path / "r.zip", {name: content, "z.csv": "a,b\n1,2\n"}))
    tables = dict(result.tables.items())

    assert tables[name].shape == (0, columns)
    assert tables["z.csv"].shape == (1, 2)
    assert result.check() == ()


def test_records_with_objects_and_lists_inside_are_a_table(tmp_path):
    records = [
        {"id": "a", "scores": {"ptm": 0.5, "at": {"x": 1}}, "tags": ["p", "q"]},
        {"id": "b", "scores": {}},
    ]
    result = open_result(write_zip(tmp_path / "r.zip", {"designs.json": json.dumps(records)}))
    table = result.tables["designs.json"]

    assert list(table.columns) == ["id", "tags", "scores.ptm", "scores.at.x"]
    assert table["scores.ptm"].tolist()[0] == 0.5
    assert table["tags"].tolist()[0] == ["p", "q"]
    assert table.isna().sum().tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    "records",
    [
        [{"pae": [[0.1, 0.2], [0.3, 0.4]]}, {"pae": [[0.1, 0.2], [0.3, 0.4]]}],
        [{"predicted_aligned_error": [[0.1]], "max_predicted_aligned_error": 31.75}],
        [{"name": "job", "sequences": [{"protein": {"id": "A"}}]}, {"name": "job2", "sequences": []}],
        [{"a": 1}, {}],
        [{"x": list(range(2000))}] * 2,
    ],
)
def test_lists_of_matrices_or_objects_are_not_tables(tmp_path, records):
    assert dict(open_result(write_zip(tmp_path / "r.zip", {"x.json": json.dumps(records)})).tables) == {}


def test_an_unpaired_surrogate_of_an_engine_is_a_question_mark_in_everything_made_of_it(tmp_path):
    members = {
        "score.json": '{"a": "\\ud800", "b\\uDFFF": 1, "pair": "\\ud83d\\ude00", "nan": NaN}',
        "manifest.json": '{"job": {"jobName": "x", "type": "anarci"}, "notes": ["\\ud800!"], "engine": {"method": "m"}}',
        "rows.jsonl": '{"a": "\\udc00"}\n',
    }
    result = open_result(write_zip(tmp_path / "odd.zip", members))
    assert dict(result.scores) == {"a": "?", "b?": 1, "pair": "😀", "nan": None}
    assert result.manifest.notes == ("?!",)
    assert list(result.tables["rows.jsonl"]["a"]) == ["?"]
    json.dumps(result.provenance(), ensure_ascii=False).encode()
