"""Job records are read from every spelling that deployed services use."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.errors import ProtocolError
from foldnote.models import JobStatus, read_job, read_job_answer, read_job_page, read_status

OURS = {
    "jobName": "fv-1", "type": "abodybuilder", "status": "Running", "settings": {"heavy": "EVQ"},
    "projectTag": None, "created": "2026-11-21T10:00:00.000Z", "started": "2026-11-21T10:00:01.000Z",
    "completed": None, "email": "you@example.org", "batch": None, "score": None, "weightedHours": None, "cpuSeconds": None, "peakMemoryMb": None, "peakGpuMemoryMb": None, "retries": None, "reusedFrom": None, "engineVersion": None, "webhook": None,
    "error": None, "progress": 0.5, "message": "Predicting",
}  # fmt: skip
FOREIGN = {
    "JobName": "fv-1", "Type": "abodybuilder", "JobStatus": "running", "Created": 1795255200000,
    "Settings": json.dumps({"heavy": "EVQ"}), "Score": json.dumps({"plddt": 88.0}), "WeightedHours": 0.5,
    "User": "you@example.org",
}  # fmt: skip


def test_our_record_survives_a_round_trip():
    assert read_job(OURS).to_wire() == OURS


def test_a_capitalised_record_with_hidden_json_reads_the_same():
    job = read_job(FOREIGN)
    assert (job.job_name, job.status, job.settings, job.email) == (
        "fv-1", JobStatus.RUNNING, {"heavy": "EVQ"}, "you@example.org")  # fmt: skip
    assert job.score == {"plddt": 88.0}
    assert job.created == datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "answer", [OURS, {"jobs": [OURS]}, {"0": OURS, "statuses": {"Running": 1}}], ids=["record", "list", "map"]
)
def test_three_shapes_of_one_answer(answer):
    job = read_job_answer(answer)
    assert job is not None
    assert job.job_name == "fv-1"


def test_an_empty_list_answer_holds_no_job():
    assert read_job_answer({"jobs": []}) is None


@pytest.mark.parametrize("word", ["Failed", "ERROR"])
def test_a_foreign_failure_is_stopped_with_a_reason(word):
    job = read_job({**FOREIGN, "JobStatus": word})
    assert job.status is JobStatus.STOPPED
    assert job.is_failed


def test_a_stray_statuses_field_does_not_make_a_batch():
    assert not read_job({**OURS, "statuses": {"Complete": 1}}).is_batch


def test_a_batch_ends_with_its_aggregation():
    parent = read_job({**OURS, "type": "batch", "status": "Complete", "batchStatus": "Aggregating"})
    assert not parent.is_final
    assert read_job({**OURS, "type": "batch", "batchStatus": "AggregationError"}).is_final


def test_a_page_counts_by_status_whatever_the_spelling():
    page = read_job_page({"jobs": [FOREIGN], "statuses": {"complete": 2, "Failed": 1}, "startKey": "k"})
    assert (page.statuses.complete, page.statuses.stopped, page.start_key) == (2, 1, "k")


def test_an_unknown_status_is_named():
    with pytest.raises(ProtocolError, match="'Napping'"):
        read_status("Napping")


def test_a_job_with_an_unknown_status_is_listed():
    page = read_job_page(
        {
            "jobs": [OURS, {**OURS, "status": "Napping", "message": "zzz"}],
            "statuses": {"Napping": 1, "Done": 2},
        }
    )
    assert [job.status for job in page.jobs] == [JobStatus.RUNNING, JobStatus.RUNNING]
    assert page.jobs[1].message == "The service calls this job 'Napping'. zzz"
    assert not page.jobs[1].is_final
    assert (page.statuses.running, page.statuses.complete) == (1, 2)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1), json_values, max_size=6))
def test_unknown_fields_are_kept(extra):
    unknown = {f"x{key}": value for key, value in extra.items()}
    assert read_job({**OURS, **unknown}).to_wire() == {**OURS, **unknown}


@given(st.dictionaries(st.sampled_from([*OURS, *FOREIGN]), json_values))
def test_hostile_records_are_read_or_refused_by_name(fields):
    try:
        read_job(fields)
    except ProtocolError as refusal:
        assert refusal.message


def test_a_page_shows_its_jobs_as_a_table_and_nothing_of_them_as_html():
    page = read_job_page([OURS, {**OURS, "jobName": "<b>x</b>", "status": "Failed", "error": "no memory"}])
    assert repr(page).splitlines()[0] == "2 jobs"
    assert repr(page).splitlines()[2].startswith("fv-1")
    assert "Running" in repr(page)
    assert "Failed" in page._repr_html_()
    assert "<b>x</b>" not in page._repr_html_()
    assert repr(page.jobs[1]) == "Job('<b>x</b>', abodybuilder, Failed)"


def test_a_long_page_shows_its_beginning_and_says_so():
    rows = [{"jobName": f"job-{number}.", "type": "anarci", "status": "Complete"} for number in range(150)]
    page = read_job_page({"jobs": rows})
    for shown in (repr(page), page._repr_html_()):
        assert "job-99." in shown
        assert "job-100." not in shown
        assert "150 jobs; the first 100 are shown" in shown
    assert repr(read_job_page([])) == "No jobs here."
