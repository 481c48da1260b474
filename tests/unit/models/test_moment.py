"""Times are the same in every time zone, through clock changes and at the ends of the calendar."""

import os
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldnote.client.tables.frames import tabulate_jobs
from foldnote.models import read_file_page, read_job
from foldnote.models.wire import to_utc
from foldnote.text import format_local_time
from foldnote.viewers.card.card_html import write_card

ZONES = (
    *("America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "Europe/Dublin"),
    *("Africa/Cairo", "UTC"),
)
CHANGES = (
    *("2026-03-08T05:30:00+00:00", "2026-11-01T04:30:00+00:00"),  # St. John's
    *("2026-04-04T15:00:00+00:00", "2026-10-03T15:30:00+00:00"),  # Lord Howe, by half an hour
    *("2026-03-29T01:00:00+00:00", "2026-10-25T01:00:00+00:00"),  # Dublin, whose winter is the exception
    "2011-12-30T10:00:00+00:00",  # Apia left out a day
    *(
        "1900-01-01T00:00:00+00:00",
        "1969-12-31T23:59:59+00:00",
        "2038-01-19T03:14:08+00:00",
        "2100-02-28T00:00:00+00:00",
    ),
)
near_changes = st.builds(
    lambda text, seconds: datetime.fromisoformat(text) + timedelta(seconds=seconds),
    st.sampled_from(CHANGES),
    st.integers(-7200, 7200),
)
moments = near_changes | st.datetimes(datetime(1850, 1, 1), datetime(2150, 1, 1), timezones=st.just(UTC))
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.fixture(scope="module", params=ZONES)
def zone(request):
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def make_job(name, created, started=None, completed=None):
    times = {"created": created, "started": started, "completed": completed}
    return read_job({"jobName": name, "type": "anarci", "status": "Complete", **times})


@settings(max_examples=30)
@given(moment=moments)
def test_the_local_time_of_a_moment_is_that_moment(zone, moment):
    told = format_local_time(moment)
    assert datetime.fromisoformat(told) == moment.replace(microsecond=0)
    if zone == "UTC":
        assert told.endswith("+00:00")


@settings(max_examples=30)
@given(first=moments, other=moments)
def test_different_seconds_look_different_also_when_clocks_are_put_back(zone, first, other):
    same = first.replace(microsecond=0) == other.replace(microsecond=0)
    assert (format_local_time(first) == format_local_time(other)) == same


@settings(max_examples=30)
@given(start=moments, seconds=st.integers(0, 200_000), offset=offsets, other=offsets)
def test_how_long_a_job_took_knows_no_zones(zone, start, seconds, offset, other):
    end = start + timedelta(seconds=seconds)
    job = make_job("a", None, start.astimezone(offset).isoformat(), end.astimezone(other).isoformat())
    assert job.duration_s == seconds


@settings(max_examples=30)
@given(times=st.lists(st.tuples(moments, offsets), min_size=2, max_size=6))
def test_rows_of_any_offsets_sort_by_their_moments(zone, times):
    jobs = [
        make_job(str(row), moment.astimezone(offset).isoformat())
        for row, (moment, offset) in enumerate(times)
    ]
    created = tabulate_jobs(jobs)["created"]
    assert str(created.dtype) == "datetime64[us, UTC]"
    assert created.sort_values(kind="stable").index.tolist() == sorted(
        created.index, key=lambda row: times[int(row)][0]
    )


@settings(max_examples=30)
@given(moment=moments, offset=offsets)
def test_the_time_of_a_file_is_reported_in_utc_whatever_zone_it_came_in(zone, moment, offset):
    told = f"{moment:%Y-%m-%d %H:%M} UTC"
    for text in (moment.astimezone(offset).isoformat(), moment.replace(tzinfo=None).isoformat()):
        page = read_file_page({"files": [{"fileName": "x.pdb", "uploadTime": text}]})
        assert told in repr(page)
        assert page.to_frame()["uploaded"].iloc[0] == moment


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+05:00", "0001-01-01T00:00:00"])
def test_the_year_one_is_not_a_time(zone, text):
    job = make_job("a", text, text, text)
    assert (job.created, job.started, job.completed, job.duration_s) == (None, None, None, None)
    assert "UTC" not in write_card(job, is_live=False)


def test_the_last_second_of_the_calendar_is_reported_in_every_zone(zone):
    job = make_job("a", "9999-12-31T23:59:59Z")
    assert format_local_time(job.created).startswith("9999-12-31")
    assert str(tabulate_jobs([job])["created"].iloc[0]).startswith("9999-12-31")
    assert job.to_wire()["created"] == "9999-12-31T23:59:59.000Z"


def test_times_outside_of_utc_are_none(zone):
    assert to_utc(datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5)))) is None
    assert format_local_time(None) == ""
