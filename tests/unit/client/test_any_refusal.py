"""Any response of a service becomes one exception of the tree or a value; the parser never crashes."""

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote import errors
from foldnote.client.core.error_mapping import make_error, parse_response, read_json
from foldnote.client.core.operations import ServiceResponse
from foldnote.models import (
    Credential,
    FileRecord,
    Recommendation,
    Tool,
    read_credential,
    read_file_page,
    read_job_answer,
    read_job_page,
    read_recommendation,
    read_verdict,
)
from foldnote.models.deployed import (
    FinetunedModel,
    read_deployed_tool,
    read_finetuned_models,
)
from foldnote.models.submission import PipelineReceipt, read_pipeline_receipt, read_run_receipt

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
known_keys = st.sampled_from(
    ["error", "message", "detail", "title", "code", "field", "row", "retryAfterSeconds", "errors", "jobs",
     "jobName", "status", "Settings", "Score", "created", "statuses", "results", "valid", "files", "name", "0",
     "apiKey", "limits", "claimUrl", "expiresAt", "tools", "detected", "abstain", "models", "stages", "type"]
)  # fmt: skip
bodies = st.dictionaries(known_keys, json_values, max_size=6) | json_values
statuses = st.integers(400, 599)
headers = st.dictionaries(
    st.sampled_from(["retry-after", "date"]), st.text("0123456789.-einfa GMT:", max_size=30)
)


def answer(status, body, given_headers=None):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ServiceResponse(status, httpx.Headers(given_headers or {}), content)


@given(statuses, bodies | st.binary(max_size=60), headers)
def test_any_refusal_is_one_exception_with_a_sentence(status, body, given_headers):
    fault = make_error(answer(status, body, given_headers))
    assert isinstance(fault, errors.ServiceError)
    assert fault.status == status
    assert fault.message
    assert isinstance(fault.message, str)
    assert fault.retry_after_s is None or fault.retry_after_s >= 0


@given(st.dictionaries(st.text(min_size=1, max_size=10), json_values, max_size=5))
def test_every_key_of_a_refusal_is_kept(body):
    assert set(make_error(answer(400, body)).body) == set(body)


@given(st.binary(max_size=80))
def test_any_good_answer_is_read_as_json_or_text(content):
    value = read_json(answer(200, content))
    assert value is None or isinstance(value, str | int | float | bool | list | dict)


def read_tool_receipt(body):
    return read_deployed_tool(body, "t")


def read_saved(body):
    return read_pipeline_receipt(body, "p", ("a",))


def read_run(body):
    return read_run_receipt(body, "r", "p")


@pytest.mark.parametrize(
    "read",
    [read_job_answer, read_job_page, read_file_page, read_verdict, read_credential, read_recommendation,
     read_finetuned_models, read_tool_receipt, read_saved, read_run],
    ids=lambda read: read.__name__,
)  # fmt: skip
@given(body=bodies)
def test_any_value_is_a_record_or_a_protocol_error(read, body):
    try:
        parse_response(read, body)
    except errors.ProtocolError as exc:
        assert exc.message


SMALLEST = {
    FileRecord: {"fileId": "a", "fileName": "a", "name": "a"},
    Tool: {"type": "a"},
    Credential: {"apiKey": "a"},
    Recommendation: {},
    FinetunedModel: {"modelName": "a"},
    PipelineReceipt: {"pipelineName": "a", "stages": []},
}


@pytest.mark.parametrize("record", SMALLEST, ids=lambda record: record.__name__)
@given(extra=st.dictionaries(st.from_regex(r"x[a-z]{3,9}", fullmatch=True), json_values, max_size=4))
def test_what_a_record_does_not_know_it_keeps(record, extra):
    kept = record.model_validate(SMALLEST[record] | extra)
    assert json.dumps(kept.model_extra, sort_keys=True) == json.dumps(extra, sort_keys=True)
    assert repr(kept)


def test_brackets_without_end_are_text():
    deep = b"[" * 200_000
    assert read_json(answer(200, deep)).startswith("[[[")
    assert make_error(answer(500, deep)).status == 500


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3.0),
        ("-3", 0.0),
        ("nan", 0.0),
        ("soon", None),
        ("", None),
        ("Fri, 20 Nov 2026 12:00:30 GMT", 30.0),
    ],
)
def test_a_pause_in_each_spelling(text, seconds):
    said = {"retry-after": text, "date": "Fri, 20 Nov 2026 12:00:00 GMT"}
    assert make_error(answer(429, {}, said)).retry_after_s == seconds
