"""Shorten a library's error message, which may quote contents of a damaged file, to one printable line."""

from __future__ import annotations

_MAX_LENGTH = 160


def explain(exc: BaseException) -> str:
    """Return the message of ``exc`` in up to 160 characters, without a full stop; its type if it is empty."""
    message = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    text = " ".join("".join(c if c.isprintable() else " " for c in message[:2000]).split()).rstrip(".")
    short = text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1].rstrip()}…"
    return short or type(exc).__name__
