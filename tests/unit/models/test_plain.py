"""The fast parser of records gives the same result as pydantic, or leaves the record to it."""

import gc
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote.errors import ProtocolError
from foldnote.models import read_job, read_job_page
from foldnote.models.job_parsing import read_plain_job, read_plain_page

OURS = {
    "jobName": "fv-1", "type": "abodybuilder", "status": "Running", "settings": {"heavy": "EVQ"},
    "projectTag": None, "created": "2026-11-21T10:00:00.000Z", "started": "2026-11-21T10:00:01.000Z",
    "completed": None, "email": "you@example.org", "batch": None, "score": None, "weightedHours": None, "cpuSeconds": None, "peakMemoryMb": None, "peakGpuMemoryMb": None, "retries": None, "reusedFrom": None, "engineVersion": None, "webhook": None,
    "error": None, "progress": 0.5, "message": "Predicting",
}  # fmt: skip
COUNTS = {"In Queue": 1, "Running": 0, "Complete": 2, "Stopped": 0}
PARENT = {**OURS, "type": "batch", "tool": "abodybuilder", "batchStatus": "Running", "statuses": COUNTS}
FOREIGN = [
    {"status": "running"}, {"JobName": "other"}, {"user": "me"}, {"settings": "{}"}, {"score": ""},
    {"created": ""}, {"created": "2026-11-21T10:00:00"}, {"created": "2026-11-21"}, {"statuses": {"complete": 3}},
    {"batchStatus": "error"}, {"0": {}},
]  # fmt: skip
words = st.sampled_from(["", "{}", "Complete", "failed", "Aggregating", "2026-11-21T10:00:00", "1763719200"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from([*PARENT, "user", "jobStatus", "jobType", "Status", "0", "resultUrl"]) | st.text(
    max_size=6
)


@pytest.mark.parametrize(
    "record", [OURS, PARENT, {**OURS, "somethingNew": {"a": 1}}], ids=["job", "batch", "new"]
)
def test_a_plain_record_is_read_at_once_and_keeps_what_is_unknown(record):
    job = read_plain_job(json.dumps(record).encode())
    assert job == read_job(record)
    assert job.model_extra == {key: value for key, value in record.items() if key == "somethingNew"}


@pytest.mark.parametrize("change", FOREIGN, ids=lambda change: next(iter(change)))
def test_other_spellings_are_left_to_the_lenient_parser(change):
    record = {**OURS, **change}
    assert read_plain_job(json.dumps(record).encode()) is None
    assert read_plain_page(json.dumps({"jobs": [OURS, record], "statuses": COUNTS}).encode()) is None


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"{", b"\xff", b"null", b"[" * 100_000])
def test_invalid_records_are_left_to_the_lenient_parser(body):
    assert (read_plain_job(body), read_plain_page(body)) == (None, None)


@pytest.mark.parametrize("number", [1763719200, "1763719200", 1763719200000, "1763719200000", 1763719200.0])
def test_a_time_may_be_seconds_or_milliseconds_since_1970(number):
    record = {**OURS, "created": number}
    assert read_job(record).created == datetime(2025, 11, 21, 10, tzinfo=UTC)
    assert read_job({**record, "Status": "Done"}).created == datetime(2025, 11, 21, 10, tzinfo=UTC)
    assert read_plain_job(json.dumps(record).encode()) == read_job(record)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers().map(str))
def test_a_number_is_the_same_time_however_it_is_read(number):
    record = {**OURS, "created": number}
    job = read_plain_job(json.dumps(record).encode())
    if job is None:
        with pytest.raises(ProtocolError, match="created"):
            read_job(record)
    else:
        assert job == read_job(record)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, 10**400, "soon", [1]], ids=str)
def test_an_invalid_time_is_reported(value):
    with pytest.raises(ProtocolError, match="created"):
        read_job({**OURS, "created": value})


@given(st.dictionaries(keys, values, max_size=4))
def test_a_record_never_means_two_things(change):
    record = json.loads(json.dumps({**PARENT, **change}))
    job = read_plain_job(json.dumps(record).encode())
    if job is not None:
        assert job == read_job(record)


@given(
    st.lists(st.dictionaries(keys, values, max_size=2), max_size=3), st.dictionaries(keys, values, max_size=2)
)
def test_a_page_never_means_two_things(changes, more):
    page = {"jobs": [{**OURS, **change} for change in changes], "statuses": COUNTS, **more}
    found = read_plain_page(json.dumps(page).encode())
    if found is None:
        return
    patient = read_job_page(json.loads(json.dumps(page)))
    assert (found.jobs, found.start_key, found.statuses) == (
        patient.jobs,
        patient.start_key,
        patient.statuses,
    )


def test_garbage_is_collected_again_after_a_large_page():
    body = json.dumps({"jobs": [OURS] * 500, "statuses": COUNTS}).encode()
    assert len(read_plain_page(body).jobs) == 500
    assert gc.isenabled()
    with pytest.raises(ProtocolError):
        read_job_page([{**OURS, "status": 5}])
