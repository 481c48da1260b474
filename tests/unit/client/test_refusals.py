"""Any response of a service becomes a value or one exception of the tree."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldnote import errors
from foldnote.catalog.foreign import read_catalog, read_foreign_tool
from foldnote.client.core.error_mapping import make_error, parse_response, read_json
from foldnote.client.core.operations import ServiceResponse
from foldnote.models import (
    Problem,
    read_file_page,
    read_job,
    read_job_answer,
    read_job_page,
    read_verdict,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = [
    *("jobName", "JobName", "type", "Type", "status", "JobStatus", "created", "Created", "score", "settings"),
    *("Settings", "jobs", "statuses", "batchStatus", "startKey", "files", "name", "fileName", "uploadTime"),
    *("results", "valid", "index", "progress", "modalities", "0"),
]
ANSWERS = VALUES | st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8)
READERS = (
    read_file_page,
    read_job,
    read_job_answer,
    read_job_page,
    read_catalog,
    read_foreign_tool,
    read_verdict,
)


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@given(answer=ANSWERS)
def test_any_answer_is_read_or_is_a_protocol_error(read, answer):
    try:
        parse_response(read, answer)
    except errors.FoldnoteError as exc:
        assert isinstance(exc, errors.ProtocolError)


@given(extra=st.dictionaries(st.from_regex(r"x[a-z]{3,9}", fullmatch=True), VALUES, max_size=4))
def test_what_is_not_known_is_kept(extra):
    job = parse_response(read_job, {"jobName": "a", "type": "t", "status": "Running"} | extra)
    assert json.dumps(job.model_extra, sort_keys=True) == json.dumps(extra, sort_keys=True)


@given(
    status=st.integers(400, 599), body=st.binary(max_size=60) | ANSWERS.map(lambda v: json.dumps(v).encode())
)
def test_any_refusal_has_a_sentence_and_its_status(status, body):
    fault = make_error(ServiceResponse(status, {}, body))
    assert fault.status == status
    assert fault.message


@given(st.binary(max_size=60))
def test_any_good_body_is_a_value(body):
    value = read_json(ServiceResponse(200, {}, body))
    assert value is None or isinstance(value, str | int | float | bool | list | dict)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"code": "job_name_taken"}, errors.JobNameTakenError),
        (403, {"code": "budget_exceeded"}, errors.BudgetExceededError),
        (403, {"code": "restricted_route"}, errors.RestrictedRouteError),
        (403, {"code": "router_disabled"}, errors.RouterDisabledError),
        (403, {"error": "x", "estimatedWeightedHours": 1}, errors.AllowanceExceededError),
        (403, {"message": "Forbidden"}, errors.GatewayForbiddenError),
        (403, {"error": "no"}, errors.ForbiddenError),
        (404, {}, errors.NotFoundError),
        (413, None, errors.TooLargeError),
        (418, {}, errors.ServiceError),
        (507, {}, errors.ServiceFaultError),
    ],
)
def test_each_refusal_is_its_own_class(status, body, kind):
    assert type(make_error(ServiceResponse(status, {}, json.dumps(body).encode()))) is kind


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/submit-job", {"error": "Your organization's budget is exceeded."}, errors.BudgetExceededError),
        ("/submit-job", {"message": "Team budget exceeded"}, errors.BudgetExceededError),
        ("/submit-job", "Budget exceeded", errors.BudgetExceededError),
        ("/submit-job", {"error": "x", "code": "job_limit_reached", "jobsAllowed": 10}, errors.JobLimitError),
        ("/submit-job", {"error": "You have no jobs left this month."}, errors.JobLimitError),
        ("/submit-job", {"error": "rbfe needs 9 weighted hours"}, errors.AllowanceExceededError),
        ("/submit-job", {"error": "no"}, errors.ForbiddenError),
        ("/model-router", {"error": "Not enabled for your account."}, errors.RouterDisabledError),
        ("/model-router", {"message": "Forbidden"}, errors.GatewayForbiddenError),
        ("/run-pipeline", {"error": "Not open to this key."}, errors.RestrictedRouteError),
        ("/virtual-screening", {"title": "Not allowed"}, errors.RestrictedRouteError),
        ("/files", {"error": "Unclaimed keys may not do this."}, errors.RestrictedRouteError),
        ("/jobs", {"message": "Missing Authentication Token"}, errors.GatewayForbiddenError),
        ("/deploy-model", {"error": "x", "code": "admin_required"}, errors.ForbiddenError),
    ],
)
def test_each_403_is_distinguished_by_code_words_or_route(path, body, kind):
    assert type(make_error(ServiceResponse(403, {}, json.dumps(body).encode()), path)) is kind


def test_a_gateway_s_refusal_says_what_to_do():
    fault = make_error(ServiceResponse(403, {}, b'{"message": "Forbidden"}'), "/jobs")
    assert "Forbidden" in fault.message
    assert "foldnote profile key" in fault.message


@pytest.mark.parametrize(
    ("body", "names", "figures"),
    [
        ({"code": "budget_exceeded", "spentWeightedHours": 5.5, "budgetWeightedHours": 5},
         ("spent_weighted_hours", "budget_weighted_hours"), (5.5, 5.0)),
        ({"code": "job_limit_reached", "jobsAllowed": 10, "jobsUsed": 10}, ("jobs_allowed", "jobs_used"), (10, 10)),
        ({"code": "job_limit_reached", "jobsAllowed": "ten"}, ("jobs_allowed", "jobs_used"), (None, None)),
        ({"code": "allowance_exceeded", "estimatedWeightedHours": 9, "allowanceWeightedHours": 4},
         ("estimated_weighted_hours", "allowance_weighted_hours"), (9.0, 4.0)),
    ],
)  # fmt: skip
def test_a_refusal_has_its_figures(body, names, figures):
    fault = make_error(ServiceResponse(403, {}, json.dumps(body).encode()))
    assert tuple(getattr(fault, name) for name in names) == figures


def test_the_parts_of_a_refusal_are_kept():
    body = {"error": "Too long.", "code": "max_length", "field": "heavy", "row": 3, "hint": "x"}
    fault = make_error(ServiceResponse(400, {}, json.dumps(body).encode()))
    assert (fault.message, fault.code, fault.field, fault.row) == ("Too long.", "max_length", "heavy", 3)
    assert fault.body["hint"] == "x"


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, {}, 7.0),
        ({"retry-after": "7"}, {"retryAfterSeconds": 3}, 3.0),
        ({"retry-after": "-5"}, {}, 0.0),
        ({"retry-after": "soon"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_pause_that_a_service_asks_for(headers, body, seconds):
    assert make_error(ServiceResponse(429, headers, json.dumps(body).encode())).retry_after_s == seconds


def test_a_question_ends_with_its_own_mark():
    hint = Problem(field="schem", message="There is no setting 'schem'. Did you mean scheme?", code="unknown")
    assert str(errors.SettingsError([hint], "anarci")).endswith("Did you mean scheme?")
    rule = Problem(field="scheme", message="It is one of imgt, kabat.", code="enum")
    assert str(errors.SettingsError([hint, rule])).endswith("imgt, kabat.")
