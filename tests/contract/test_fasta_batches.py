"""FASTA as a batch: each record is a row, named after the record, at the real service."""

import pandas as pd
import pytest
from job_settings import SETTINGS

import foldnote as fn
from foldnote import catalog
from foldnote.client.inputs.fasta import make_names, split_records
from foldnote.errors import FoldnoteError
from foldnote.notebook import NotebookBatch

VH = SETTINGS["sequence"]


@pytest.fixture
def here(client, monkeypatch):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


def test_a_fasta_file_is_a_batch_with_the_names_of_its_records(here, name, tmp_path):
    path = tmp_path / "set.fasta"
    path.write_text(f">{name}-a first\n{VH[:60]}\n{VH[60:]}\n\n>{name} b|two\n{VH.lower()}SS\n")
    batch = fn.submit_batch("anarci", path, scheme="imgt")
    jobs = batch.subjobs()
    assert [job.job_name for job in jobs] == [f"{name}-a", name]
    assert jobs[0].settings["sequence"] == VH


def test_a_tool_of_two_sequences_says_which_columns_it_needs(here, tmp_path):
    path = tmp_path / "set.fa"
    path.write_text(f">a\n{VH}\n")
    with pytest.raises(FoldnoteError, match="needs the settings heavy, light") as caught:
        fn.submit_batch(catalog.tool("abodybuilder"), path)
    assert "DataFrame" in caught.value.message


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("x.parquet", "sequence\nEVQ\n", "is not the path of a table"),
        ("x.fasta", "EVQLVES\n", "is not FASTA"),
        ("x.fasta", ">a\n>b\nEVQ\n", r"record 1 \(a\) has no sequence"),
        ("none.fasta", None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_is_not_fasta_is_reported(here, tmp_path, file, text, sentence):
    if text is not None:
        (tmp_path / file).write_text(text)
    with pytest.raises(FoldnoteError, match=sentence):
        fn.submit_batch("anarci", str(tmp_path / file))


LIGHT = catalog.tool("abodybuilder").example_job["settings"]["light"]


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".xlsx", ".fasta", "DataFrame"])
@pytest.mark.parametrize(
    "columns",
    [None, {"chain": "sequence"}, {"sequence": "chain"}],
    ids=["guessed", "by column", "by setting"],
)
def test_every_kind_of_table_is_the_same_batch(here, name, tmp_path, kind, columns):
    frame = pd.DataFrame({"clone": [f"{name} 1", f"{name} 2"], "chain": [VH, LIGHT], "KD_nM": [0.5, 12.0]})
    path = tmp_path / f"x{kind}"
    if kind == ".xlsx":
        pytest.importorskip("openpyxl", reason="pandas writes workbooks by openpyxl")
        frame.to_excel(path, index=False)
    elif kind == ".fasta":
        path.write_text(f">{name}-1\n{VH}\n>{name}-2\n{LIGHT}\n")
        columns = columns and {"sequence": "sequence"}
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")
    preview = fn.submit_batch(
        "anarci", frame if kind == "DataFrame" else path, columns=columns, scheme="imgt", preview=True
    )
    assert preview.attempt.rows == [{"scheme": "imgt", "sequence": chain} for chain in (VH, LIGHT)]
    assert preview.attempt.names == [f"{name}-1", f"{name}-2"]
    if kind != ".fasta":
        assert [row["KD_nM"] for row in preview.rows.inputs] == [0.5, 12.0]


def test_what_a_table_says_beyond_settings_is_never_sent_and_comes_back(here, name, tmp_path):
    (tmp_path / "x.csv").write_text(f"id;Seq1;Seq2;KD_nM\n{name}/1;{LIGHT};{VH};0.5\n")
    batch = fn.submit_batch("abodybuilder", tmp_path / "x.csv").wait()
    reloaded = fn.batch(batch.job_name)
    for results in (batch.results(), reloaded.results()):
        assert list(results["id"]) == [f"{name}/1"]
        assert list(results["KD_nM"]) == [0.5]
    assert list(reloaded.to_frame()["input.KD_nM"]) == [0.5]
    record = reloaded.subjobs()[0].record
    assert record.settings == {"heavy": VH, "light": LIGHT}
    assert "KD_nM" not in record.model_dump_json()


def test_names_of_records_become_valid_and_unique_job_names():
    assert make_names(["mAb 1", "mAb-1", "sp|P01857|IGHG1", "α-Ω", "抗体"]) == [
        "mAb-1",
        "mAb-1-2",
        "sp-P01857-IGHG1",
        "alpha-omega",
        "job",
    ]


def test_a_record_without_a_name_has_one_of_its_number():
    assert split_records(f">\n{VH}\n") == [("record-1", VH, "")]


def test_a_fault_of_a_row_is_reported_with_its_number_from_one(here):
    with pytest.raises(FoldnoteError, match=r"row 2, sequence: "):
        fn.submit_batch("anarci", [SETTINGS, {**SETTINGS, "sequence": "EVQ1"}])
    assert "row 2, sequence" in repr(
        fn.submit_batch("anarci", [SETTINGS, {**SETTINGS, "sequence": "EVQ1"}], preview=True)
    )


@pytest.mark.parametrize("function", ["docking", "Docking", "small molecule docking"])
def test_the_docking_tools_are_found_by_their_function(here, function):
    assert "vina" in [tool.type for tool in fn.tools(function=function)]
    assert "anarci" not in [tool.type for tool in fn.tools(function=function)]


def test_the_job_of_a_batchs_name_is_the_batch(here, name):
    batch = fn.submit_batch("anarci", [SETTINGS], batch_name=name)
    assert isinstance(fn.job(batch.job_name), NotebookBatch)
    assert len(fn.job(batch.job_name).subjobs()) == 1
