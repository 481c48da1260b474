"""Times as records hold them: in UTC, whatever zone or none a service writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime


def to_utc(value: datetime | None) -> datetime | None:
    """A time in UTC, which one without a zone is taken to be in.

    None for the year 1, in which some services write times that have not come, and for what UTC cannot hold.
    """
    if value is None or value.year <= 1:
        return None
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return None


def tell_local(value: datetime | None) -> str:
    """A time in the zone of this computer with its distance from UTC, ``2026-11-01 01:30:00-02:30``.

    The distance tells the hour apart that comes twice when clocks are put back. Empty for None.
    """
    if value is None:
        return ""
    try:
        local = value.astimezone()
    except (OverflowError, OSError, ValueError):  # too near to the ends of the calendar for this zone
        local = value
    return local.isoformat(sep=" ", timespec="seconds")


Moment = Annotated[datetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is taken to be in UTC."""

ZonedMoment = Annotated[AwareDatetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is refused."""
