"""The panel in a browser in another time zone than the server: days and times are those of the browser."""

import re
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect
from service_records import jobs_body, make_job, tools_body

# 14 hours ahead of UTC, and 3.5 or 2.5 behind it
ZONES = (pytest.param("Pacific/Kiritimati", marks=pytest.mark.exhaustive), "America/St_Johns")
SECOND = timedelta(seconds=1)
SHARES_SERVER = True


def moment(when, zone):
    """Return a time as Chromium formats it in English."""
    local = when.astimezone(zone)
    hour = f"{(local.hour + 11) % 12 + 1}:{local:%M:%S} {'AM' if local.hour < 12 else 'PM'}"
    return f"{local.month}/{local.day}/{local.year}, {hour}"


def spaced(text):
    return text.replace("\u202f", " ")


@pytest.mark.parametrize("place", ZONES)
def test_days_begin_and_times_are_reported_where_the_reader_is(lab, place):
    zone = ZoneInfo(place)
    lab.page.context.new_cdp_session(lab.page).send("Emulation.setTimezoneOverride", {"timezoneId": place})
    today = datetime.combine(datetime.now(zone), time(), zone)
    yesterday = datetime.combine(today.date() - timedelta(days=1), time(), zone)
    created = {
        "now": datetime.now(UTC),
        "first-of-today": today,
        "last-of-yesterday": today - SECOND,
        "first-of-yesterday": yesterday,
        "day-before": yesterday - SECOND,
    }
    jobs = [make_job(name, created=when.astimezone(UTC)) for name, when in created.items()]
    lab.answer("jobs", jobs_body(*jobs))
    lab.answer("tools", tools_body())
    lab.open()
    assert lab.page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") == place
    sidebar = lab.show_sidebar("jobs", 500)
    for name, when in created.items():
        told = sidebar.locator(f"[data-job='{name}'] time").get_attribute("title")
        assert spaced(told) == f"Submitted {moment(when, zone)}"
    sidebar.get_by_label("Group").select_option("day")
    expect(sidebar.locator(".fn-OtherRow")).to_have_count(3)
    before = (yesterday - SECOND).strftime("%A, %B %-d, %Y")
    name_rows = "rows => rows.map(row => row.dataset.job ?? row.innerText)"
    rows = sidebar.locator("[data-key]").evaluate_all(name_rows)
    told = [re.split(r"\s*\n\s*|\s{2,}", row.strip())[0] for row in rows]
    names = list(created)
    assert [row.removesuffix(" 1").removesuffix(" 2") for row in told] == [
        "Today",
        *names[:2],
        "Yesterday",
        *names[2:4],
        before,
        names[4],
    ]
    lab.picture(f"time-zone-{place.split('/')[1]}", sidebar)
