"""Policies of a batch after a failure, set by the client with both APIs at the real service."""

import warnings

import pytest

from foldnote import catalog
from foldnote.errors import NotFoundError, NotSentWarning, SettingsError

POLICY = {"onFailure": "stop", "retries": 2}


@pytest.fixture
def rows(settings) -> list[dict]:
    return [settings | {"scheme": scheme} for scheme in ("imgt", "kabat")]


async def test_the_results_say_how_often_each_row_ran_and_why_it_has_no_result(api, settle, rows, name):
    names = [f"{name}.a.flaky-1", f"{name}.b.crash-1"]
    batch = await settle(api.batches.submit("anarci", rows, name, names, retries=1))
    await settle(batch.finish(60))
    frame = await settle(batch.results())
    assert list(frame["status"]) == ["Complete", "Failed"]
    assert list(frame["retries"]) == [1, 1]
    assert "failed with exit code 1" in frame["error"][1]


async def test_the_service_keeps_the_policy_also_for_a_retry_of_the_batch(api, settle, rows, name):
    names = [f"{name}.a.fail", f"{name}.b.fail"]
    batch = await settle(api.batches.submit("anarci", rows, name, names, on_failure="stop", retries=2))
    await settle(batch.finish(60))
    again = await settle(batch.retry())
    for each in (name, again.job_name):
        assert (await settle(api.batches.get(each))).record.extensions == POLICY
    assert (await settle(api.jobs.get(names[0]))).record.extensions == {"retries": 2}


async def test_a_preview_says_what_happens_after_a_failure(api, settle, rows):
    preview = await settle(api.batches.preview("anarci", rows, on_failure="stop", retries=2))
    text = repr(preview)
    assert "up to 2 times, so that the batch costs at most 3 times as much" in text
    assert "After the first failure no more of its jobs start" in text


async def test_the_default_is_not_reported_and_not_sent(api, settle, rows, name):
    plain = catalog.tool("anarci")  # a service that knows no policies
    batch = await settle(api.batches.submit(plain, rows, name, on_failure="continue", retries=0))
    assert (await settle(api.batches.get(batch.job_name))).record.extensions is None


@pytest.mark.parametrize(
    ("policy", "field", "words"),
    [
        ({"on_failure": "stop"}, "foldnote.onFailure", "does not stop a batch.*batch.stop()"),
        ({"retries": 1}, "foldnote.retries", "does not repeat failed runs.*batch.retry()"),
    ],
)
async def test_a_service_that_offers_no_policy_is_sent_nothing(api, settle, rows, name, policy, field, words):
    plain = catalog.tool("anarci")
    with pytest.raises(SettingsError, match=words) as refused:
        await settle(api.batches.submit(plain, rows, name, **policy))
    assert [problem.field for problem in refused.value.problems] == [field]
    with pytest.raises(NotFoundError):
        await settle(api.batches.get(name))


@pytest.mark.parametrize("policy", [{"on_failure": "ask"}, {"retries": 11}, {"retries": True}])
async def test_a_wrong_policy_is_refused_before_anything_is_sent(api, settle, rows, policy):
    with pytest.raises(SettingsError, match=r"continue|from 0 to 10"):
        await settle(api.batches.submit("anarci", rows, **policy))


async def test_another_policy_for_the_same_rows_is_answered_with_a_warning(api, settle, rows, name):
    first = await settle(api.batches.submit("anarci", rows, name))
    with pytest.warns(NotSentWarning, match="keeps retries=0, on_failure='continue'"):
        second = await settle(api.batches.submit("anarci", rows, name, retries=1))
    assert first.job_name == second.job_name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await settle(api.batches.submit("anarci", rows, name))
