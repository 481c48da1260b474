"""Cost estimates of a job, and limits that are compared with them before anything is submitted."""

import itertools
import warnings

import pytest
from job_settings import SETTINGS
from scripted_service import answers

import foldnote as fn
from foldnote.client import JobHandle
from foldnote.errors import EstimateExceededError, NoEstimateWarning, NotSentWarning, SettingsError

_numbers = itertools.count(1)


def record(seconds, **more):
    """Return a complete job with this run time."""
    return {
        "jobName": f"earlier-{next(_numbers)}",
        "type": "anarci",
        "settings": {},
        "status": "Complete",
        "started": "2026-11-21T10:00:00.000Z",
        "completed": f"2026-11-21T10:{seconds // 60:02}:{seconds % 60:02}.000Z",
        **more,
    }


@pytest.fixture
def theirs(scripted, connect):
    """Return a client of a service whose three earlier jobs took 1, 2 and 9 minutes and 0.5 weighted hours."""
    jobs = [record(seconds, weightedHours=0.5) for seconds in (60, 120, 540)]
    scripted.on("GET", "/tools", answers([{"name": "anarci"}]))
    scripted.on("GET", "/jobs", answers({"error": "none"}, 404), answers({"jobs": jobs}))
    scripted.on("POST", "/submit-job", answers("x submitted to queue."))
    return connect()


def test_a_quote_has_the_medians_and_what_they_are_made_from(theirs, scripted):
    quote = theirs.jobs.quote("anarci", SETTINGS)
    assert (quote.duration_s, quote.weighted_hours, quote.has_estimate) == (120.0, 0.5, True)
    assert "run time: about 2 min" in repr(quote)
    assert "estimated from: median of 3 earlier jobs of the tool, whatever their settings" in repr(quote)
    assert "0.5 weighted hours" in quote._repr_html_()
    assert scripted.count("POST", "/submit-job") == 0


@pytest.mark.parametrize(
    ("limits", "said", "figures"),
    [
        ({"max_runtime_s": 100}, r"about 2 min \(median of 3 .*above max_runtime_s, 1", (120.0, 100)),
        ({"weighted_hours_budget": 0.1}, "about 0.5 weighted hours .*budget, 0.1 weighted", (0.5, 0.1)),
    ],
    ids=["run time", "weighted hours"],
)
def test_a_job_whose_estimate_is_above_a_limit_is_not_submitted(theirs, scripted, limits, said, figures):
    with pytest.raises(EstimateExceededError, match=said) as refused:
        theirs.jobs.submit("anarci", SETTINGS, **limits)
    assert (refused.value.estimate, refused.value.limit) == figures
    assert scripted.count("POST", "/submit-job") == 0


def test_a_job_below_its_limits_is_submitted_and_unenforced_limits_are_reported(theirs, scripted):
    with pytest.warns(NotSentWarning, match="takes no time limit for single jobs"):
        theirs.jobs.submit("anarci", SETTINGS, max_runtime_s=121, weighted_hours_budget=0.5)
    (sent,) = [asked.body for asked in scripted.asked if asked.path == "/submit-job"]
    assert b"max" not in sent
    assert b"udget" not in sent


def test_without_an_estimate_the_job_is_submitted_with_a_warning(client, name):
    settings = client.tools.get("align-pdbs").example_job["settings"]
    lack = "to compare max_runtime_s and weighted_hours_budget with: no job of align-pdbs"
    assert not client.jobs.quote("align-pdbs", settings).has_estimate
    with pytest.warns(NoEstimateWarning, match=lack) as caught:
        job = client.jobs.submit(
            "align-pdbs", settings, job_name=name, max_runtime_s=50, weighted_hours_budget=1
        )
    assert isinstance(job, JobHandle)
    assert {each.filename for each in caught} == {__file__}, "the line of the call, not one of the package"


def test_a_run_ends_at_its_limit(client, settings, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEstimateWarning)
        job = client.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30", max_runtime_s=0.5)
    ended = client.jobs.wait([job], 30)[job.job_name]
    assert "time limit of under 1 s. Allow more time" in ended.record.error


def test_a_job_that_was_submitted_before_costs_nothing_and_meets_no_limit(client, settings, monkeypatch):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda profile: client)
    job = client.jobs.submit("anarci", settings)
    job.wait(60)
    quote = fn.quote("anarci", **settings)
    assert (quote.existing.job_name, quote.duration_s, quote.weighted_hours) == (job.job_name, 0.0, 0.0)
    assert "submitting again costs nothing" in repr(quote)
    assert fn.submit("anarci", **settings, max_runtime_s=1e-9).job_name == job.job_name
    with pytest.raises(EstimateExceededError):
        fn.tools.anarci(**settings, max_runtime_s=1e-9, again=True)


@pytest.mark.parametrize(
    "limit", [0, -1, "60", True, float("nan")], ids=["zero", "negative", "text", "boolean", "NaN"]
)
def test_a_limit_that_is_not_a_positive_number_is_refused(client, limit):
    with pytest.raises(SettingsError, match="is not a number above 0"):
        client.jobs.submit("anarci", SETTINGS, max_runtime_s=limit)
