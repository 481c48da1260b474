"""Times in records: always in UTC, whatever zone a service writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime


def to_utc(value: datetime | None) -> datetime | None:
    """Convert a time to UTC; one without a zone is taken as UTC.

    None for the year 1, which some services write for future events, and for times that overflow.
    """
    if value is None or value.year <= 1:
        return None
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None


def format_local_time(value: datetime | None) -> str:
    """A time in the zone of this computer with its offset from UTC, ``2026-11-01 01:30:00-02:30``.

    The offset distinguishes the hour that occurs twice when clocks are set back. Empty for None.
    """
    if value is None:
        return ""
    try:
        local = value.astimezone()
    except (OverflowError, OSError, ValueError):  # outside the calendar in this zone
        local = value
    return local.isoformat(sep=" ", timespec="seconds")


Moment = Annotated[datetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is taken to be in UTC."""

ZonedMoment = Annotated[AwareDatetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is refused."""
