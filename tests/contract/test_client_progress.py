"""Waiting and logs show a job's progress, with both APIs and the real service."""

import inspect

import pytest

from foldnote.client.watching.cancellation import find_new_lines
from foldnote.errors import NotFoundError, WaitTimeoutError


async def collect(stream) -> list:
    if inspect.isasyncgen(stream):
        return [item async for item in stream]
    return list(stream)


async def test_a_bar_goes_to_standard_error_and_ends_with_the_last_state(api, settle, settings, name, capsys):
    names = [f"{name}-{number}.sleep-1" for number in (1, 2)]
    for job_name in names:
        await settle(api.jobs.submit("anarci", settings, job_name=job_name))
    capsys.readouterr()
    done = await settle(api.jobs.wait(names, 60, progress=True))
    said = capsys.readouterr()
    assert (set(done), said.out) == (set(names), "")
    assert said.err.splitlines()[-1].startswith("100%  2 jobs · 2 complete · ")


async def test_a_bar_beside_jobs_that_end_one_by_one(api, settle, settings, name, capsys):
    await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-1.fail"))
    ended = await collect(api.jobs.as_completed([f"{name}.sleep-1.fail"], 60, progress=True))
    assert ended[0].is_failed
    assert "Stopped" in capsys.readouterr().err


async def test_a_wait_that_takes_too_long_leaves_its_bar(api, settle, settings, name, capsys):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-60"))
    with pytest.raises(WaitTimeoutError):
        await settle(job.finish(1.5, progress=True))
    assert f"{name}.sleep-60" in capsys.readouterr().err
    await settle(job.stop())


async def test_a_log_is_followed_to_its_end(api, settle, settings, name):
    await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.chatter-4.sleep-1.chatter-40"))
    parts = await collect(api.jobs.follow_log(f"{name}.chatter-4.sleep-1.chatter-40"))
    lines = [line for line in "".join(parts).splitlines() if line.startswith("line ")]
    assert sorted(lines) == sorted([f"line {n}" for n in range(4)] + [f"line {n}" for n in range(40)])


async def test_the_log_of_an_unknown_job_is_not_followed(api):
    with pytest.raises(NotFoundError):
        await collect(api.jobs.follow_log("nobody"))


@pytest.mark.parametrize(
    ("seen", "lines", "fresh"),
    [
        ([], ["a"], ["a"]),
        (["a"], ["a"], []),
        (["a"], ["a", "a"], ["a"]),
        (["a", "b", "c"], ["b", "c", "d"], ["d"]),
        (["x"] * 60, ["x"] * 60 + ["y"], ["y"]),
        (["a", "b"], ["y", "z"], ["y", "z"]),
    ],
)
def test_what_is_new_in_a_log_whose_window_moves(seen, lines, fresh):
    assert find_new_lines(seen, lines) == fresh
