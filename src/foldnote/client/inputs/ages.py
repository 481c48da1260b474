"""Read ages such as ``30d``, for purging old jobs."""

from __future__ import annotations

import re
from datetime import timedelta

from foldnote.errors import ArgumentError

_AGE = re.compile(r"\s*(\d{1,6})\s*(h|hours?|d|days?|w|weeks?)\s*", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


def read_age(text: str) -> timedelta:
    """Read a number of hours, days or weeks: ``12h``, ``30d``, ``4 weeks``.

    Raises:
        ArgumentError: the text is not an age.
    """
    found = _AGE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ArgumentError(f"{text!r} is not an age; write hours, days or weeks, such as 12h, 30d or 4w.")
    return timedelta(hours=int(found[1]) * _HOURS[found[2][0].lower()])
