"""Names, verdicts, tools, files, receipts and the runtime file."""

import stat
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from foldnote.models import (
    BatchVerdict,
    RuntimeInfo,
    Submission,
    check_job_name,
    clean_job_name,
    propose_job_name,
    read_file_page,
    read_receipt,
    read_runtime,
    read_verdict,
    write_runtime,
)  # fmt: skip
from foldnote.models.status import ROWS, JobStatus


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ä", "x" * 101, None, 3, "a\n"])
def test_names_that_break_the_rule(name):
    assert check_job_name(name)


@pytest.mark.parametrize("name", ["a", "x" * 100, "A-Z_0.9", "..."])
def test_names_that_keep_the_rule(name):
    assert check_job_name(name) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_proposed_name_is_always_valid(tool, identity):
    assert check_job_name(propose_job_name(tool, identity)) is None


@given(st.text(max_size=200))
def test_a_cleaned_name_is_always_valid_and_cleaned_once(text):
    name = clean_job_name(text)
    assert check_job_name(name) is None
    assert clean_job_name(name) == name


def test_letters_beyond_ascii_are_spelled_as_usual():
    texts = {"α4β7 (v2)": "alpha4beta7-v2", "Größe": "Grosse", "Łódź": "Lodz", "anti-Σς": "anti-sigmasigma"}
    assert {text: clean_job_name(text) for text in texts} == texts


def test_every_status_has_a_row_and_final_ones_lead_nowhere():
    assert set(ROWS) == set(JobStatus)
    assert not any(before.is_final for row in ROWS.values() for before in row.follows)


def test_a_verdict_with_results_is_a_batch_and_is_counted():
    verdict = read_verdict({"results": [{"valid": True}, {"valid": False, "error": "no", "field": "heavy"}]})
    assert isinstance(verdict, BatchVerdict)
    assert (verdict.valid, verdict.count, verdict.valid_count, verdict.results[1].index) == (False, 2, 1, 1)


def test_a_receipt_may_be_a_bare_sentence():
    sent = Submission(job_name="a", type="anarci", settings={})
    assert read_receipt("a submitted to queue.", sent).job_name == "a"


def test_files_may_be_bare_names():
    page = read_file_page(["target.pdb", "set/lig.sdf"])
    assert [file.path for file in page.files] == ["target.pdb", "set/lig.sdf"]


def test_the_runtime_file_is_private_and_its_key_is_not_in_a_repr(tmp_path):
    info = RuntimeInfo(
        url="http://127.0.0.1:1", key=SecretStr("sentinel"), pid=1, version="0", started=datetime.now(UTC)
    )
    path = write_runtime(tmp_path, info)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = read_runtime(tmp_path)
    assert again == info
    assert "sentinel" not in repr(again)


def test_a_damaged_runtime_file_is_as_none(tmp_path):
    (tmp_path / "service.json").write_text("{")
    assert read_runtime(tmp_path) is None
