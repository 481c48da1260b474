"""Every operation on jobs, with both APIs and the real service."""

import zipfile

import pytest

from foldnote.errors import (
    ArgumentError,
    BadRequestError,
    FoldnoteError,
    JobFailedError,
    JobNameTakenError,
    JobStoppedError,
    NotFoundError,
    SettingsError,
    ToolUnavailableError,
    UnfinishedJobError,
    UnknownToolError,
    WaitTimeoutError,
)
from foldnote.models import JobStatus


async def test_a_job_goes_from_its_submission_to_its_result(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=name))
    assert (job.job_name, job.type) == (name, "anarci")
    record = await settle(job.finish(60))
    assert record.status is JobStatus.COMPLETE
    path = await settle(job.download())
    with zipfile.ZipFile(path) as archive:
        assert "settings.json" in archive.namelist()


async def test_progress_is_reported_while_waiting(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-1"))
    seen = []
    await settle(job.finish(60, seen.append))
    assert seen[-1].status is JobStatus.COMPLETE
    assert any(record.progress is not None for record in seen)


async def test_the_same_submission_is_the_same_job(api, settle, settings, http):
    first = await settle(api.jobs.submit("anarci", settings))
    second = await settle(api.jobs.submit("anarci", settings | {"scheme": "imgt"}))
    assert first.job_name == second.job_name
    assert second.created is not None


async def test_without_the_ledger_the_name_finds_the_same_job(api, settle, settings, home):
    first = await settle(api.jobs.submit("anarci", settings))
    for file in (home / "data").glob("ledger.db*"):
        file.unlink()
    assert (await settle(api.jobs.submit("anarci", settings))).job_name == first.job_name


async def test_again_makes_a_new_job(api, settle, settings):
    first = await settle(api.jobs.submit("anarci", settings))
    second = await settle(api.jobs.submit("anarci", settings, again=True))
    assert second.job_name == f"{first.job_name}-2"


async def test_again_keeps_a_name_that_is_free(api, settle, settings, name):
    first = await settle(api.jobs.submit("anarci", settings))
    second = await settle(api.jobs.submit("anarci", settings, job_name=name, again=True))
    assert second.job_name == name != first.job_name


async def test_after_again_the_submission_is_the_new_job(api, settle, settings):
    await settle(api.jobs.submit("anarci", settings))
    second = await settle(api.jobs.submit("anarci", settings, again=True))
    assert (await settle(api.jobs.submit("anarci", settings))).job_name == second.job_name


async def test_a_failed_job_is_run_again_under_a_new_name(api, settle, settings, name):
    job = await settle(
        api.jobs.submit("anarci", settings, job_name=f"{name}.fail", extensions={"label": "x"})
    )
    again = await settle(job.run_again())
    assert again.job_name == f"{name}.fail-2"
    assert (again.record.settings, again.record.extensions) == (job.record.settings, job.record.extensions)
    batch = await settle(api.batches.submit("anarci", [settings], name))
    with pytest.raises(ArgumentError, match="run one of its jobs again"):
        await settle(batch.run_again())


async def test_a_taken_name_shows_the_difference(api, settle, settings, name):
    await settle(api.jobs.submit("anarci", settings, job_name=name))
    with pytest.raises(JobNameTakenError, match="scheme is 'imgt' there and 'kabat' here"):
        await settle(api.jobs.submit("anarci", settings | {"scheme": "kabat"}, job_name=name))


async def test_a_deleted_job_is_submitted_again(api, settle, settings):
    first = await settle(api.jobs.submit("anarci", settings))
    await settle(first.finish(60))
    await settle(first.delete())
    again = await settle(api.jobs.submit("anarci", settings))
    assert again.created is None
    assert (await settle(again.finish(60))).status is JobStatus.COMPLETE


async def test_wrong_settings_are_not_sent(api, settle, settings, http):
    before = http.get("/jobs", headers={"x-api-key": http.app.state.service.local_key}).json()["statuses"]
    with pytest.raises(SettingsError, match="scheme"):
        await settle(api.jobs.submit("anarci", settings | {"scheme": "roman"}))
    after = http.get("/jobs", headers={"x-api-key": http.app.state.service.local_key}).json()["statuses"]
    assert sum(before.values()) == sum(after.values())


async def test_a_wrong_name_is_not_sent(api, settle, settings):
    with pytest.raises(SettingsError, match="job_name: "):
        await settle(api.jobs.submit("anarci", settings, job_name="a b"))


async def test_an_unknown_tool_has_near_names(api, settle):
    with pytest.raises(UnknownToolError, match="anarci"):
        await settle(api.jobs.submit("anarcy", {}))


async def test_a_tool_without_an_engine_says_what_to_do(api, settle):
    tool = await settle(api.tools.get("af-traj"))
    with pytest.raises(ToolUnavailableError, match="cannot run"):
        await settle(api.jobs.submit(tool, tool.example_job["settings"]))


async def test_a_failed_job_is_not_a_failed_call(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.chatter-3.fail"))
    with pytest.raises(JobFailedError, match="The probe was asked to fail") as caught:
        await settle(job.finish(60))
    assert caught.value.job.job_name == job.job_name
    assert "line 2" in caught.value.log_tail
    assert caught.value.job.is_failed


async def test_a_stopped_job_is_final(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    stopped = await settle(job.stop())
    with pytest.raises(JobStoppedError):
        await settle(job.finish(60))
    assert stopped.status is JobStatus.STOPPED


async def test_a_timeout_ends_the_waiting_and_not_the_job(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    with pytest.raises(WaitTimeoutError, match="job continues"):
        await settle(job.finish(0.2))
    assert not (await settle(job.refresh())).is_final
    await settle(job.stop())


async def test_many_jobs_are_waited_for_together(api, settle, settings, name):
    names = [f"{name}.{row}" for row in range(4)]
    for row in names:
        await settle(api.jobs.submit("anarci", settings, job_name=row))
    done = await settle(api.jobs.wait(names, 60))
    assert set(done) == set(names)
    assert all(job.status is JobStatus.COMPLETE for job in done.values())


async def test_waiting_for_a_job_that_is_not_there_says_so(api, settle, name):
    with pytest.raises(NotFoundError):
        await settle(api.jobs.wait([name], 5))


async def test_one_job_by_name(api, settle, settings, name):
    await settle(api.jobs.submit("anarci", settings, job_name=name))
    assert (await settle(api.jobs.get(name))).settings == settings
    with pytest.raises(NotFoundError):
        await settle(api.jobs.get(f"{name}-not"))


async def test_pages_of_jobs_are_newest_first(api, settle, settings, name):
    for row in range(3):
        await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.{row}"))
    first = await settle(api.jobs.list(limit=2))
    second = await settle(api.jobs.list(limit=2, start_key=first.start_key))
    assert [job.job_name for job in first] == [f"{name}.2", f"{name}.1"]
    assert second[0].job_name == f"{name}.0"


async def test_the_log_is_read(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.chatter-5"))
    await settle(job.finish(60))
    assert "line 4" in await settle(job.logs())
    assert "line 4" in await settle(api.jobs.logs(job.job_name, 50))


async def test_a_result_is_fetched_once_and_then_kept(api, settle, settings, http):
    job = await settle(api.jobs.submit("anarci", settings))
    await settle(job.finish(60))
    first = await settle(job.download())
    written = first.stat().st_mtime_ns
    assert await settle(api.jobs.download(job.job_name)) == first
    assert first.stat().st_mtime_ns == written


async def test_one_file_of_a_result(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.output-2"))
    await settle(job.finish(60))
    path = await settle(job.download("file-1.txt"))
    assert path.read_text() == "output 1\n"
    with pytest.raises(NotFoundError):
        await settle(job.download("file-9.txt"))


async def test_an_unfinished_job_has_no_result_yet(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.sleep-30"))
    with pytest.raises(UnfinishedJobError, match="has no result yet"):
        await settle(job.download())
    await settle(api.jobs.stop(job.job_name))


async def test_settings_are_judged_for_nothing(api, settle, settings):
    good = await settle(api.jobs.validate("anarci", settings))
    bad = await settle(api.jobs.validate("anarci", settings | {"scheme": "roman"}))
    assert good.valid
    assert (bad.valid, bad.field) == (False, "scheme")


async def test_rows_are_judged_one_by_one(api, settle, settings):
    verdict = await settle(api.jobs.validate("anarci", [settings, {"scheme": "imgt"}]))
    assert (verdict.count, verdict.valid_count) == (2, 1)
    assert [row.valid for row in verdict.results] == [True, False]


async def test_what_is_not_there_cannot_be_stopped_or_deleted(api, settle, name):
    with pytest.raises(BadRequestError):
        await settle(api.jobs.stop(name))
    with pytest.raises(BadRequestError):
        await settle(api.jobs.delete(name))


async def test_a_part_of_a_result_is_fetched_and_opened(api, settle, settings, name):
    job = await settle(api.jobs.submit("anarci", settings, job_name=f"{name}.output-2.score"))
    await settle(job.finish(60))
    part = await settle(job.result(["file-*"]))
    assert [file.name for file in part.files] == ["file-0.txt", "file-1.txt"]
    assert part.name == job.job_name
    folder = await settle(api.jobs.download(job.job_name, patterns=["*.json"]))
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "score.json", "settings.json"}
    assert await settle(job.download(patterns=["*.json"])) == folder
    with pytest.raises(FoldnoteError, match=r"No file of .* matches \*\.cif\. It has: "):
        await settle(job.result(["*.cif"]))


def test_long_settings_are_shown_where_they_differ(client, settings, name):
    client.jobs.submit("anarci", settings, job_name=name)
    longer = dict(settings, sequence=settings["sequence"] + "K")
    with pytest.raises(JobNameTakenError, match=r"sequence is …S+' there and …S+K' here"):
        client.jobs.submit("anarci", longer, job_name=name)
