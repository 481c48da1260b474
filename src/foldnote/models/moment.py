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


Moment = Annotated[datetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is taken to be in UTC."""

ZonedMoment = Annotated[AwareDatetime | None, AfterValidator(to_utc)]
"""A time in UTC, or None; one without a zone is refused."""
