"""Shorten a library's error message to one line without control characters.

What a damaged file holds may stand in the complaint, and goes no further than here.
"""

from __future__ import annotations

_LONGEST = 160


def explain(exc: BaseException) -> str:
    """What ``exc`` says, on one line of at most 160 letters and without a full stop, or else its kind."""
    said = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    text = " ".join("".join(c if c.isprintable() else " " for c in said[:2000]).split()).rstrip(".")
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
    return short or type(exc).__name__
