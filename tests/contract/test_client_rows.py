"""Lists of jobs: rows that can be waited for, stopped and opened, with both APIs and the real service."""

import pytest

import foldnote as fn
from foldnote.client import Client


@pytest.fixture
async def three(api, settle, settings, name) -> list[str]:
    for row in range(3):
        await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.{row}.output-1"))
    return [f"{name}.{row}.output-1" for row in (2, 1, 0)]


async def test_a_row_of_a_list_has_the_methods_of_a_job(api, settle, three):
    row = (await settle(api.jobs.list(limit=3)))[0]
    ended = await settle(row.wait(60))
    assert ended.is_final
    assert (await settle(ended.result())).files
    assert (await settle(row.stop())).status == ended.status
    await settle(ended.delete())
    assert three[0] not in {left.job_name for left in await settle(api.jobs.list(limit=3))}


async def test_a_row_is_immutable_and_refreshing_returns_another_one(api, settle, settings, name):
    await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    row = (await settle(api.jobs.list(limit=1)))[0]
    stopped = await settle(row.stop())
    assert (row.is_final, stopped.is_final) == (False, True)
    assert row != stopped
    assert stopped == await settle(row.refresh())
    with pytest.raises(AttributeError):
        row.record = stopped.record


async def test_the_record_alone_is_given_by_name(api, settle, three):
    record = await settle(api.jobs.record(three[0]))
    assert (record.job_name, record.type) == (three[0], "anarci")
    assert (await settle(api.jobs.record(three[0], job_email=record.email))).job_name == three[0]


async def test_a_list_is_walked_counted_indexed_and_sliced(api, settle, three):
    rows = await settle(api.jobs.list(limit=3))
    assert [row.job_name for row in rows] == three
    assert (len(rows), rows[-1].job_name) == (3, three[2])
    assert [row.job_name for row in rows[1:]] == three[1:]
    assert rows[1:][0] == rows[1]
    assert rows[0] in rows
    with pytest.raises(IndexError):
        rows[3]


async def test_rows_are_waited_for_together_and_so_is_one_name(api, settle, three):
    rows = await settle(api.jobs.list(limit=3))
    assert set(await settle(api.jobs.wait(rows, 60))) == set(three)
    assert set(await settle(api.jobs.wait(three[0], 60))) == {three[0]}
    ended = api.jobs.as_completed(rows[:2])
    names = (
        [job.job_name async for job in ended]
        if hasattr(ended, "__aiter__")
        else [job.job_name for job in ended]
    )
    assert set(names) == set(three[:2])


async def test_a_list_is_a_frame_and_a_table(api, settle, three):
    rows = await settle(api.jobs.list(limit=3))
    frame = rows[:2].to_frame()
    assert list(frame.index) == three[:2]
    assert {name for name in frame.columns if not hasattr(rows[0], name)} == set()
    assert all(name in rows._repr_html_() and name in repr(rows) for name in three)
    assert repr(rows[:1]).startswith("1 job\n")
    assert repr(rows[:0]) == "No jobs here."


async def test_a_list_longer_than_a_page_is_read_from_several(api, settle, name, settings):
    rows = [settings | {"sequence": settings["sequence"] + "S" * number} for number in range(1, 4)]
    batch = await settle(api.batches.submit("anarci", rows * 334, f"{name}.many"))
    found = await settle(api.jobs.list(limit=1001, batch=batch.job_name))
    assert len({row.job_name for row in found}) == 1001
    assert len(await settle(api.jobs.list(limit=2, batch=batch.job_name, start_key=found.start_key))) == 1
    await settle(batch.stop())


async def test_a_batch_s_jobs_are_rows_in_the_order_of_its_rows(api, settle, name, settings):
    batch = await settle(
        api.batches.submit("anarci", [settings, settings], name, [f"{name}.b.output-1", f"{name}.a.output-1"])
    )
    await settle(batch.wait(60))
    rows = await settle(batch.subjobs())
    assert [row.job_name for row in rows] == [f"{name}.b.output-1", f"{name}.a.output-1"]
    assert (await settle(rows[0].result())).files
    listed = await settle(api.batches.list(limit=1))
    assert listed[0].job_name == batch.job_name
    assert list(listed.to_frame()["jobs"]) == [2]
    assert repr(listed).startswith("1 batch")


def test_a_notebook_s_jobs_are_rows_that_follow_what_is_seen_of_them(
    client: Client, monkeypatch, name, settings
):
    monkeypatch.setattr("foldnote.notebook.connection.find_client", lambda _: client)
    client.jobs.submit("anarci", settings, job_name=name)
    job = fn.jobs(limit=1)[0]
    assert job.wait(60, progress=False) is job
    assert job.is_final
    assert list(fn.jobs(limit=1).to_frame().index) == [name]
