"""Times as stored in rows and sent on the wire."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> str:
    """Return the time in RFC 3339 UTC with milliseconds, e.g. `2026-11-21T09:30:00.125Z`; sorts as text."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """Format a time as stored in the database."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read(text: str) -> datetime:
    """Parse a time stored in the database.

    Raises:
        ValueError: the text is not a time.
    """
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def is_past(text: str | None) -> bool:
    """Return whether a time (text) has passed; False for None."""
    return text is not None and text <= now()


def is_before_boot(text: str) -> bool:
    """Return whether a time (text) is before the machine's boot: then no process of that time is alive."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return False
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return read(text).timestamp() < booted
