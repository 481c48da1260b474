"""Display of job handles."""

import pytest
from scripted_world import ScriptedWorld

from foldnote.client.core.connection import Address, ServiceConnection
from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle
from foldnote.models import read_job
from foldnote.settings import Profile

LINK = ServiceConnection(Profile("lab", "http://p"), Address("http://p", None))


def handle(status: str = "Running", **more) -> JobHandle:
    record = read_job({"jobName": "a", "type": "anarci", "status": status} | more)
    return JobHandle(record, LINK, ScriptedWorld())


def test_a_running_job_shows_how_far_it_is():
    assert repr(handle(progress=0.42)) == "<job 'a', anarci, Running, 42%>"


def test_a_failed_job_shows_why():
    assert repr(handle("Failed", error="No CDR found.")) == "<job 'a', anarci, Failed, No CDR found.>"


def test_what_a_job_says_is_text_and_not_markup():
    shown = handle("Failed", error="<script>alert(1)</script>", type="<b>")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "<b>a</b>" in shown
    assert "&lt;b&gt;" in shown


@pytest.mark.parametrize(
    ("status", "more", "advice"),
    [
        ("In Queue", {}, "wait()"),
        ("Running", {}, "stop()"),
        ("Complete", {}, "download()"),
        ("Stopped", {}, "again=True"),
        ("Failed", {}, "logs()"),
    ],
)
def test_the_next_action_is_one_that_exists(status, more, advice):
    shown = handle(status, **more)
    assert advice in shown._repr_html_()
    assert hasattr(shown, advice.removesuffix("()")) or "=" in advice


def test_a_job_tells_its_profile_and_its_record():
    job = handle(settings={"x": 1}, score=None, created="2026-11-01T10:00:00Z")
    assert (job.profile_name, job.settings, job.is_final) == ("lab", {"x": 1}, False)
    assert job.created.year == 2026


def test_both_apis_have_the_same_operations():
    def public(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(JobHandle) == public(AsyncJobHandle)


def test_a_batch_calls_itself_one_and_says_how_far_it_is():
    counts = {"In Queue": 0, "Running": 4, "Complete": 2, "Stopped": 0}
    batch = handle(type="batch", tool="anarci", batchStatus="Running", batchSize=6, statuses=counts)
    assert repr(batch) == "<batch 'a', anarci, Running, 2 of 6 complete>"
