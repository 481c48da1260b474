"""FASTA as a batch: each record is a row, named after the record, against the real service."""

import pytest
from job_settings import SETTINGS

import foldnote as fn
from foldnote import catalog
from foldnote.client.inputs.fasta import make_names, read_fasta
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
        ("x.csv", "sequence\nEVQ\n", "pandas.read_csv"),
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


def test_names_of_records_become_valid_and_unique_job_names():
    assert make_names(["mAb 1", "mAb-1", "sp|P01857|IGHG1", "Ω"]) == [
        "mAb-1",
        "mAb-1-2",
        "sp-P01857-IGHG1",
        "job",
    ]


def test_a_record_without_a_name_has_one_of_its_number():
    rows = read_fasta(f">\n{VH}\n", catalog.tool("anarci"))
    assert rows == [{"name": "record-1", "sequence": VH}]


def test_a_fault_of_a_row_is_told_with_its_number_from_one(here):
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
