"""Values of numpy, pandas and Biopython are accepted as the plain values that they represent."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from job_settings import PDB, SETTINGS

import foldnote as fn
from foldnote.errors import SettingsError

SEQUENCE = SETTINGS["sequence"]
DESIGN = {"numSequences": 4, "designedChains": ["A", "B"], "biasAAs": {"A": 0.5}}
ALIKE = {
    "numSequences": np.int64(4),
    "designedChains": np.array(["A", "B"]),
    "biasAAs": {np.str_("A"): np.float32(0.5)},
}


class Seq:
    """Stands in for Biopython's class of this name, which tests do not install."""

    def __init__(self, letters):
        self.letters = letters

    def __str__(self):
        return self.letters


class SeqRecord:
    def __init__(self, seq):
        self.seq = seq


class DataFrame:
    """Stands in for Polars's class of this name."""

    def __init__(self, columns):
        self.held = columns

    @property
    def columns(self):
        return list(self.held)

    def to_dict(self, *, as_series):
        assert not as_series
        return self.held


class LazyFrame:
    def __init__(self, columns):
        self.held = columns

    def collect(self):
        return DataFrame(self.held)


DataFrame.__module__, LazyFrame.__module__ = "polars.dataframe.frame", "polars.lazyframe.frame"
Seq.__module__, SeqRecord.__module__ = "Bio.Seq", "Bio.SeqRecord"


@pytest.fixture
def here(client, monkeypatch):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    return client


@pytest.mark.parametrize("sequence", [np.str_(SEQUENCE), Seq(SEQUENCE), SeqRecord(Seq(SEQUENCE))])
def test_a_sequence_is_submitted_whatever_library_it_is_of(here, sequence):
    plain = fn.submit("anarci", sequence=SEQUENCE)
    assert fn.submit("anarci", sequence=sequence).job_name == plain.job_name
    assert fn.form("anarci", sequence=sequence).value["sequence"] == SEQUENCE
    assert fn.validate("anarci", sequence=sequence).valid


RECORD = f"\ufeff>sp|P1 heavy chain\r\n{SEQUENCE[:60]}\r\n{SEQUENCE[60:]}\r\n"


def test_a_fasta_record_is_submitted_as_its_letters(here, name):
    plain = fn.submit("anarci", sequence=SEQUENCE)
    assert fn.submit("anarci", sequence=RECORD).job_name == plain.job_name
    assert ">" not in fn.submit("anarci", sequence=RECORD, job_name=name).settings["sequence"]
    assert fn.validate("anarci", sequence=RECORD).valid


def test_fasta_records_in_the_rows_of_a_batch_are_submitted_as_their_letters(here, name):
    batch = fn.submit_batch("anarci", [{"sequence": RECORD}, {"sequence": SEQUENCE}], batch_name=name)
    assert batch.subjobs()[1].settings["sequence"] == SEQUENCE
    assert all(">" not in job.settings["sequence"] for job in batch.subjobs())


def test_a_fasta_record_is_a_setting_of_a_stage_and_an_input_of_a_run(here, name):
    stages = [fn.stage("a", "anarci", sequence=RECORD)]
    run = fn.pipeline(name, stages, inputs={"a": {"sequence": RECORD}})
    assert [">" in job.settings["sequence"] for job in run.stages()] == [False]


def test_several_fasta_records_for_one_sequence_are_refused_by_name(here):
    with pytest.raises(SettingsError, match=r"2 records: 'VH', 'VL'\. Give one record\."):
        fn.submit("anarci", sequence=f">VH\n{SEQUENCE}\n>VL\n{SEQUENCE}")
    with pytest.raises(
        SettingsError, match=r"2 records: 'VH', 'VL'\. Join the letters of the chains with ':'"
    ):
        fn.submit("alphafold", sequence=f">VH\n{SEQUENCE}\n>VL\n{SEQUENCE}")


def test_a_fasta_record_without_letters_is_refused(here):
    with pytest.raises(SettingsError, match="FASTA header"):
        fn.submit("anarci", sequence=">VH\n\n")


def test_numbers_and_lists_of_numpy_are_settings_of_a_form_and_of_its_code():
    form = fn.form("proteinmpnn", **ALIKE)
    assert form.value == fn.form("proteinmpnn", **DESIGN).value
    assert form.code() == fn.form("proteinmpnn", **DESIGN).code()
    assert not [problem for problem in form.problems if problem.field in DESIGN]
    assert "np." not in fn.form("proteinmpnn", temperature=np.float64(0.5)).code()


def test_numbers_and_lists_of_numpy_are_validated(here):
    judged = fn.validate("proteinmpnn", pdbFile=fn.inline(PDB), **ALIKE)
    assert judged == fn.validate("proteinmpnn", pdbFile=fn.inline(PDB), **DESIGN)


def test_numbers_and_lists_of_numpy_are_settings_of_a_stage_and_of_a_run(here, name):
    assert fn.stage("a", "proteinmpnn", **ALIKE) == fn.stage("a", "proteinmpnn", **DESIGN)
    stages = (fn.stage("a", "anarci", **each) for each in [SETTINGS])  # any iterable
    run = fn.pipeline(name, stages, inputs={"a": {"scheme": np.array("kabat")}})
    assert fn.pipeline(
        name, [fn.stage("a", "anarci", **SETTINGS)], inputs={"a": {"scheme": "kabat"}}
    ).job_name == (run.job_name)


def test_numbers_of_numpy_are_options_and_the_values_of_a_sweep(here, name):
    table = pd.DataFrame({"sequence": [SEQUENCE + "SASA"]})
    schemes = np.array(["imgt", "kabat"])
    batch = fn.submit_batch(
        "anarci",
        table,
        sweep={"scheme": schemes},
        batch_name=name,
        retries=np.int64(1),
        max_runtime_s=np.int64(300),
        weighted_hours_budget=np.float32(2),
    )
    assert [job.settings["scheme"] for job in batch.subjobs()] == ["imgt", "kabat"]
    assert len(fn.jobs(np.int64(1))) == 1
    fn.form("anarci").add_table(table, sweep={"scheme": pd.Series(schemes)}, retries=np.int64(1))


def test_tuples_and_ranges_are_lists(here):
    for value in ((1, 2, 3), range(1, 4)):
        assert fn.form("vina", boxCenter=value).value["boxCenter"] == [1, 2, 3]
        with pytest.raises(SettingsError) as caught:
            fn.submit("vina", boxCenter=value, receptorFile=Path("a.pdb"))
        assert "boxCenter" not in str(caught.value)
        assert "not a Python PosixPath. Upload the file, and give what the upload returns" in str(
            caught.value
        )


@pytest.mark.parametrize("kind", [DataFrame, LazyFrame])
def test_a_table_of_polars_is_a_batch(here, name, kind):
    table = kind({"id": [f"{name}-1", f"{name}-2"], "VH": [SEQUENCE, SEQUENCE[:-1]], "plate": [3, None]})
    batch = fn.submit_batch("anarci", table, scheme="imgt").wait(60, progress=False)
    assert [job.settings["sequence"] for job in batch.subjobs()] == [SEQUENCE, SEQUENCE[:-1]]
    assert batch.results()["plate"].tolist() == [3, None]
    fn.form("anarci").add_table(table, columns={"VH": "sequence"})


def test_a_pattern_may_stand_alone(here, name):
    job = fn.submit("anarci", **SETTINGS, job_name=name).wait(60)
    found = job.result("*.json")
    assert found.match() == job.result(["*.json"]).match() == job.result().match("*.json")
    assert {file.rpartition(".")[2] for file in found.match()} == {"json"}
