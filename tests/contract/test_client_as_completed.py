"""Jobs in the order of completion, with both APIs and the real service."""

import pytest

from foldnote.errors import NotFoundError, WaitTimeoutError
from foldnote.models import JobStatus


@pytest.fixture
def take():
    """Return the values of a stream of either API, until it ends or yielded `most` of them."""

    async def values(stream, most=None, into=None):
        taken = [] if into is None else into
        if hasattr(stream, "__aiter__"):
            async for value in stream:
                taken.append(value)
                if len(taken) == most:
                    await stream.aclose()
                    break
        else:
            for value in stream:
                taken.append(value)
                if len(taken) == most:
                    break
        return taken

    return values


async def test_the_quick_job_comes_first(api, settle, take, settings, name):
    names = [f"{name}.sleep-3", f"{name}.fail"]
    for each in names:
        await settle(api.jobs.submit("anarci", settings, job_name=each))
    ended = await take(api.jobs.as_completed(names, 60))
    assert [job.job_name for job in ended] == names[::-1]
    assert [job.status for job in ended] == [JobStatus.STOPPED, JobStatus.COMPLETE]
    assert "line" not in await settle(ended[1].logs(1))


async def test_those_that_ended_in_time_are_given(api, settle, take, settings, name):
    names = [f"{name}.fail", f"{name}.sleep-30"]
    for each in names:
        await settle(api.jobs.submit("anarci", settings, job_name=each))
    await settle(api.jobs.wait(names[:1], 60))
    ended = []
    with pytest.raises(WaitTimeoutError, match="job continues"):
        await take(api.jobs.as_completed(names, 0.3), into=ended)
    assert [job.job_name for job in ended] == names[:1]
    await settle(api.jobs.stop(names[1]))


async def test_as_completed_can_be_left_early(api, settle, take, settings, name):
    names = [f"{name}.fail", f"{name}.sleep-30"]
    for each in names:
        await settle(api.jobs.submit("anarci", settings, job_name=each))
    assert len(await take(api.jobs.as_completed(names), most=1)) == 1
    await settle(api.jobs.stop(names[1]))


async def test_a_job_that_is_not_there_ends_the_iteration(api, take, name):
    with pytest.raises(NotFoundError):
        await take(api.jobs.as_completed([name], 5))


async def test_as_completed_of_no_jobs_is_empty(api, take):
    assert await take(api.jobs.as_completed([])) == []
