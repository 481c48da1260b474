"""A job in one file: opens like the original, contains nothing private, and is refused if damaged or hostile."""

import json
import re
import zipfile
from datetime import UTC
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_archives import write_fv_result, write_zip
from test_batch import make_batch

from foldnote.errors import ArchiveError, ArgumentError, ConfigurationError, UnreadableFileError
from foldnote.results import JobParts, open_export, open_result, save_export, save_exports
from foldnote.results.tables.frame_json import read_frame, write_frame
from foldnote.viewers import export_bundles

RECORD = {
    "jobName": "fv-1",
    "type": "abodybuilder",
    "status": "Complete",
    "settings": {"heavy": "EVQL"},
    "email": "ada@example.org",
    "projectTag": "secret-project",
    "resultUrl": "https://example.org/signed",
}
ABOUT = "foldnote-export.json"


@pytest.fixture
def exported(tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    words = {"label": "VH <1>", "tags": ["lead"], "note": "Ask Ada.\nTwice."}
    return save_export(tmp_path / "new" / "fv.foldnote.zip", JobParts([result], RECORD, **words))


def rewrite(path, change):
    """Rewrite the file with other members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return write_zip(path.with_name("changed.foldnote.zip"), change(members) or members)


def change_about(**fields):
    return lambda members: members | {ABOUT: json.dumps(json.loads(members[ABOUT]) | fields)}


def test_a_job_opens_as_the_original(exported, tmp_path):
    job, original = open_export(exported), open_result(tmp_path / "fv.zip")
    assert (job.job_name, job.tool, job.settings) == ("fv-1", "abodybuilder", {"heavy": "EVQL"})
    assert (job.label, job.tags, job.note) == ("VH <1>", ("lead",), "Ask Ada.\nTwice.")
    assert [file.name for file in job.result.files] == [
        file.name for file in original.files if file.name != "job.log"
    ]
    assert job.result.structure.to_frame().equals(original.structure.to_frame())
    assert job.result.numbering.equals(original.numbering)
    assert job.result.manifest == original.manifest
    assert job.result.provenance()["seed"] == 7
    html, plain = (export_bundles(job)[0][f"text/{kind}"] for kind in ("html", "plain"))
    assert "VH &lt;1&gt;" in html
    assert plain.startswith(
        "Label: VH <1>\nJob: fv-1\nTool: abodybuilder\nTags: lead\nNote: Ask Ada.\nTwice."
    )
    assert re.fullmatch(r"Exported: \d{4}-\d\d-\d\d \d\d:\d\d UTC with foldnote \S+", plain.splitlines()[-1])


def test_a_plain_reader_of_results_opens_it_too(exported):
    result = open_result(exported)
    assert result.structure is not None
    assert result.scores["residues"] == 227
    assert ABOUT not in [*result.tables, *result.score_table.index]


def test_account_address_and_paths_stay_here(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "receptor.pdb").write_text("")
    settings = {"file": str(tmp_path / "receptor.pdb"), "smiles": "/C=C/F", "deep": [f"see {tmp_path}/x"]}
    table = pd.DataFrame({"model": ["~/models/a.pdb"], "lost": [str(tmp_path / "gone.pdb")]})
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    place = save_export(tmp_path / "x.zip", JobParts([result], RECORD | {"settings": settings}, table=table))
    with zipfile.ZipFile(place) as archive:
        text = archive.read(ABOUT).decode()
        assert "job.log" not in archive.namelist()
    for private in (str(tmp_path), "ada@example.org", "secret-project", "signed"):
        assert private not in text
    job = open_export(place)
    assert job.settings == {"file": "receptor.pdb", "smiles": "/C=C/F", "deep": ["see ~/x"]}
    assert job.table.to_dict("list") == {"model": ["a.pdb"], "lost": ["gone.pdb"]}


def test_a_batch_with_a_retry_has_the_last_job_of_each_row(tmp_path):
    first = make_batch(["fv-1"])
    first["results.csv"] += "fv-2,Stopped,no domain,\n"
    again = make_batch(["fv-2-retry1"])
    results = [
        open_result(write_zip(tmp_path / f"{number}.zip", each)) for number, each in enumerate([first, again])
    ]
    table = pd.DataFrame({"KD_nM": [1.5, np.nan], "job_name": ["fv-1", "fv-2-retry1"]}, index=["a", "b"])
    names = ["fv-1", "fv-2-retry1"]
    job = open_export(
        save_export(tmp_path / "b.zip", JobParts(results, {"jobName": "b"}, names, table=table))
    )
    assert list(job.result.jobs) == names
    assert job.result.tables["results.csv"]["status"].tolist() == ["Complete", "Complete"]
    assert job.result.numbering["job"].unique().tolist() == names
    pd.testing.assert_frame_equal(job.table, table)


def test_a_batch_with_a_retry_keeps_jobs_with_names_of_numbers_and_missing_values(tmp_path):
    batches = [make_batch(["001", "NA"]), make_batch(["007"])]
    results = [
        open_result(write_zip(tmp_path / f"{number}.zip", each)) for number, each in enumerate(batches)
    ]
    names = ["001", "NA", "007"]
    job = open_export(save_export(tmp_path / "b.zip", JobParts(results, {"jobName": "b"}, names)))
    assert list(job.result.jobs) == names
    assert job.result.tables["results.csv"]["jobName"].tolist() == names


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda members: members.pop("antibody.pdb") and None, "antibody.pdb in it is missing"),
        (lambda members: members | {"antibody.pdb": "END"}, "antibody.pdb in it has changed"),
        (change_about(version=2), "has format 2 of exports"),
        (change_about(format="else"), "was not exported by foldnote"),
        (change_about(job=None), "its description is incomplete"),
        (change_about(table={"rows": 1, "columns": [{"name": "a", "dtype": "int64"}]}), "The table in"),
        (lambda members: members | {ABOUT: "{"}, "is not readable JSON"),
        (lambda members: members | {"../../evil": "x"}, "leaves its folder"),
    ],
    ids=["missing", "changed", "newer", "other", "incomplete", "table", "json", "outside"],
)
def test_what_is_damaged_newer_or_hostile_is_refused(exported, change, fault):
    with pytest.raises(ArchiveError, match=fault):
        open_export(rewrite(exported, change))


def test_a_file_that_was_cut_and_a_plain_result_are_refused(exported, tmp_path):
    cut = tmp_path / "cut.foldnote.zip"
    cut.write_bytes(exported.read_bytes()[:-300])
    with pytest.raises(ArchiveError, match="is damaged"):
        open_export(cut)
    with pytest.raises(ArgumentError, match="open_result opens plain results"):
        open_export(tmp_path / "fv.zip")
    with pytest.raises(ArchiveError, match="There is no result at"):
        open_export(tmp_path / "nowhere.zip")


def test_what_was_added_later_is_not_part_of_the_result(exported):
    job = open_export(rewrite(exported, lambda members: members | {"added.pdb": "END"}))
    assert "added.pdb" not in [file.name for file in job.result.files]


def test_an_export_can_be_exported_again_and_another_suffix_is_refused(exported, tmp_path):
    job = open_export(exported)
    again = save_export(tmp_path / "again.zip", JobParts([job.result], job.record, label="other"))
    assert open_export(again).label == "other"
    with pytest.raises(ConfigurationError, match="ends in .foldnote.zip"):
        save_export(tmp_path / "x.tar", JobParts([job.result], job.record))
    assert not list(Path(tmp_path).glob(".*"))


CELLS = {
    "float64": st.floats(),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "Int64": st.none() | st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
    "str": st.none() | st.text(),
    "datetime64[us, UTC]": st.none() | st.datetimes(timezones=st.just(UTC)),
    "object": st.none() | st.text() | st.lists(st.integers(0, 9)),
}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_table_is_read_as_it_was_written(data):
    size = data.draw(st.integers(0, 4))
    columns = {
        name: pd.Series(data.draw(st.lists(cells, min_size=size, max_size=size)), dtype=name)
        for name, cells in CELLS.items()
    }
    columns["kind"] = pd.Series(["u"] * size, dtype=pd.CategoricalDtype(["v", "u"], ordered=True))
    frame = pd.DataFrame(columns)
    if data.draw(st.booleans()):
        frame.index = pd.Index([f"row {number}" for number in range(size)], name="clone", dtype="str")
    written = json.loads(json.dumps(write_frame(frame)))
    pd.testing.assert_frame_equal(read_frame(written, "t"), frame)


@pytest.mark.parametrize("dtype", ["S999999999", "V9999999999", "complex128", "os.system"])
def test_a_dtype_that_a_file_chose_is_not_made(dtype):
    content = {"rows": 1, "index": None, "columns": [{"name": "a", "dtype": dtype, "values": ["x"]}]}
    assert read_frame(content, "t")["a"].dtype == object
    with pytest.raises(UnreadableFileError, match="does not have 2 values"):
        read_frame(content | {"rows": 2}, "t")


def test_several_jobs_are_in_one_file_each_in_its_own_folder(tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    names = ["fv-1", "FV-1", "../../etc/passwd", "con", "α 4"]
    parts = [JobParts([result], RECORD | {"jobName": name}, label=name) for name in names]
    place = save_exports(tmp_path / "all.foldnote.zip", parts)
    folders = ["fv-1", "FV-1-2", "etc-passwd", "con-job", "alpha-4"]
    with zipfile.ZipFile(place) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == set(folders)
    for name, folder in zip(names, folders, strict=True):
        job = open_export(place, folder)
        assert (job.job_name, job.label) == (name, name)
        assert job.result.structure.to_frame().equals(result.structure.to_frame())
    with pytest.raises(ArgumentError, match=rf"5 jobs: .*FV-1-2.*open_export\('{place}', job='FV-1-2'\)"):
        open_export(place)
    with pytest.raises(ArgumentError, match="None of them is 'x'"):
        open_export(place, "x")


def test_a_changed_file_of_one_job_is_found_when_that_job_is_opened(tmp_path):
    result = open_result(write_fv_result(tmp_path / "fv.zip"))
    parts = [JobParts([result], RECORD | {"jobName": name}) for name in ("a", "b")]
    place = save_exports(tmp_path / "two.zip", parts)
    changed = rewrite(place, lambda members: members | {"b/score.json": members["b/score.json"] + b" "})
    assert open_export(changed, "a").job_name == "a"
    with pytest.raises(ArchiveError, match="score.json in it has changed"):
        open_export(changed, "b")


def test_one_job_in_a_list_needs_no_name_and_an_empty_list_is_refused(exported, tmp_path):
    job = open_export(exported)
    place = save_exports(tmp_path / "one.zip", [JobParts([job.result], job.record)])
    assert open_export(place).job_name == "fv-1"
    assert open_export(exported, "fv-1").job_name == "fv-1"
    with pytest.raises(ArgumentError, match="has one job, 'fv-1', and not 'x'"):
        open_export(exported, "x")
    with pytest.raises(ArgumentError, match="list is empty"):
        save_exports(tmp_path / "none.zip", [])
