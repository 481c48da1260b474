"""Job handles with both APIs: waited for, inspected, opened, stopped, deleted; a failed job explains itself."""

import asyncio

import pytest

from foldnote.errors import (
    ArgumentError,
    IncompleteResultWarning,
    JobFailedError,
    NotFoundError,
    UnfinishedJobError,
    WaitTimeoutError,
)


async def test_a_job_is_waited_for_and_its_result_opened(api, settle, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.output-2"))
    job = await settle(job.wait(60))
    result = await settle(job.result())
    assert {"file-0.txt", "file-1.txt"} <= {file.name.split("/")[-1] for file in result.files}
    assert (await settle(job.refresh())).is_final
    assert "result() opens its result" in job._repr_html_()


async def test_a_job_on_its_way_has_no_result_and_can_be_stopped_and_deleted(api, settle, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    with pytest.raises(UnfinishedJobError):
        await settle(job.result())
    assert (await settle(job.stop())).is_final
    await settle(job.delete())
    with pytest.raises(NotFoundError):
        await settle(job.refresh())


async def test_a_failed_job_whose_log_only_repeats_the_reason_has_no_end_of_it(api, settle, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.fail"))
    with pytest.raises(JobFailedError, match="asked to fail") as waited:
        await settle(job.wait(60))
    assert waited.value.log_tail.strip() == waited.value.job.error
    assert not hasattr(waited.value, "__notes__")


async def test_the_errors_about_a_failed_job_have_the_end_of_its_log(api, settle, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.chatter-30.fail"))
    with pytest.raises(JobFailedError, match="asked to fail") as waited:
        await settle(job.wait(60))
    with pytest.raises(JobFailedError, match="asked to fail") as opened:
        await settle(job.result())
    assert waited.value.log_tail == opened.value.log_tail != ""
    assert waited.value.job.is_failed
    assert "line 29" in waited.value.__notes__[0]
    assert waited.value.job.error not in waited.value.__notes__[0]  # the message contains it
    assert waited.value.log_tail.strip().splitlines()[-1] in await settle(job.logs())
    assert "logs() returns the output of the tool" in (await settle(job.refresh()))._repr_html_()


async def test_waiting_for_a_result_ends_at_the_given_timeout(api, settle, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.output-2"))
    result = await settle(job.result(timeout_s=60))
    assert len(result.files) >= 2
    slow = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    with pytest.raises(WaitTimeoutError, match="job continues"):
        await settle(slow.result(timeout_s=0.2))
    await settle(slow.stop())


async def test_the_rows_of_a_batch_are_waited_for_with_its_result(api, settle, name, settings):
    batch = await settle(api.batches.submit("anarci", [settings], name))
    assert len((await settle(batch.result(timeout_s=60))).jobs) == 1


@pytest.mark.parametrize("method", ["result", "wait"])
async def test_an_unknown_argument_is_answered_with_the_closest(api, settle, name, settings, method):
    job = await settle(api.jobs.submit("anarci", settings, job_name=name))
    with pytest.raises(ArgumentError, match=r"has no argument 'timeout'\. Did you mean timeout_s\?"):
        getattr(job, method)(timeout=60)


async def test_files_of_a_stopped_job_come_with_a_warning(api, settle, name, settings):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.output-1.sleep-60"))
    while not (await settle(job.refresh())).record.progress:
        await asyncio.sleep(0.05)
    job = await settle(job.stop())
    for take in (job.result, job.download):
        with pytest.warns(IncompleteResultWarning, match="is Stopped, so its result may be incomplete"):
            assert await settle(take())
