"""The server extension's copy of a service's jobs, and what it sends to pages."""

from datetime import UTC, datetime, timedelta

from foldnote.lab.known_jobs import SHORT, KnownJobs
from foldnote.models.job import Job, JobPage, StatusCounts
from foldnote.models.status import JobStatus

START = datetime(2026, 11, 21, tzinfo=UTC)


def make(number: int, **fields) -> Job:
    times = {"created": START + timedelta(seconds=number)}
    return Job(
        **({"job_name": f"j{number}", "type": "anarci", "status": JobStatus.COMPLETE} | times | fields)
    )


def page(jobs, *, total: int | None = None, has_more: bool = True) -> JobPage:
    counts = StatusCounts.model_validate({"Complete": len(jobs) if total is None else total})
    return JobPage(jobs=tuple(jobs), statuses=counts, start_key="k" if has_more else None)


def names(known: KnownJobs) -> list[str]:
    return [job.job_name for job in known.jobs]


def fill(count: int, *, total: int) -> KnownJobs:
    known = KnownJobs()
    known.replace_all(page([make(number) for number in range(count, 0, -1)], total=total))
    return known


def test_a_short_look_adds_new_jobs_and_keeps_the_rest():
    known = fill(300, total=5000)
    newest = [make(number) for number in range(302, 202, -1)]
    assert known.update_newest(page(newest, total=5002))
    assert names(known)[:3] == ["j302", "j301", "j300"]
    assert len(known.jobs) == 302


def test_a_job_that_was_deleted_among_the_newest_goes():
    known = fill(300, total=300)
    newest = [make(number) for number in range(300, 199, -1) if number != 250]
    assert known.update_newest(page(newest, total=299))
    assert "j250" not in names(known)
    assert len(known.jobs) == 299


def test_a_deletion_beyond_the_short_look_asks_for_everything():
    known = fill(300, total=5000)
    assert not known.update_newest(page([make(number) for number in range(300, 200, -1)], total=4999))


def test_newest_jobs_that_do_not_reach_what_is_known_ask_for_everything():
    known = fill(300, total=300)
    assert not known.update_newest(page([make(number) for number in range(900, 800, -1)], total=900))


def test_the_look_reaches_as_far_as_something_can_change():
    known = KnownJobs()
    assert known.poll_size == SHORT
    jobs = [make(number) for number in range(600, 0, -1)]
    jobs[400] = make(200, status=JobStatus.RUNNING)
    known.replace_all(page(jobs))
    assert 400 < known.poll_size < 600


def test_a_page_receives_only_what_changed():
    known = fill(3, total=3)
    mark = known.mark()
    known.replace_all(page([make(4), make(3, error="late"), make(1)], total=3))
    difference = known.since(mark)
    assert [job["jobName"] for job in difference.jobs] == ["j4", "j3"]
    assert difference.removed == ("j2",)
    assert not difference.is_whole


def test_the_same_jobs_have_the_same_mark():
    known = fill(3, total=3)
    mark = known.mark()
    known.replace_all(page([make(number) for number in (3, 2, 1)]))
    assert known.mark() == mark
    assert known.since(mark).jobs == ()
