"""Checks and examples of JSON Schema's ``format`` values. Unknown formats are not checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from typing import Final, NamedTuple
from uuid import UUID


class Format(NamedTuple):
    """One format: its name in a sentence, an example, and a parser."""

    noun: str
    example: str
    read: Callable[[str], object]
    """Parser, which raises ValueError or re.error for a text that does not have the format."""


def _read_pattern(pattern: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        if not re.fullmatch(pattern, text):
            raise ValueError(text)
        return text

    return read


def _read_moment(text: str) -> object:
    if "T" not in text.upper():
        raise ValueError(text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


def _read_date(text: str) -> object:
    if len(text) != 10:
        raise ValueError(text)
    return date.fromisoformat(text)


FORMATS: Final = {
    "date": Format("a date", "2026-11-21", _read_date),
    "date-time": Format("a date with time and zone", "2026-11-21T09:30:00Z", _read_moment),
    "time": Format("a time", "09:30:00Z", time.fromisoformat),
    "email": Format("an e-mail address", "name@example.org", _read_pattern(r"[^@\s]+@[^@\s]+")),
    "hostname": Format(
        "a host name", "example.org", _read_pattern(r"[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*")
    ),
    "uri": Format("an address", "https://example.org", _read_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")),
    "uuid": Format("a UUID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", UUID),
    "ipv4": Format("an IPv4 address", "127.0.0.1", IPv4Address),
    "ipv6": Format("an IPv6 address", "::1", IPv6Address),
    "regex": Format("a regular expression", "^A.*", re.compile),
}


def find_format_fault(text: str, name: object) -> str | None:
    """Explain why the text lacks the format, as a sentence; None if it has it or the format is unknown."""
    expected = FORMATS.get(name) if isinstance(name, str) else None
    if expected is None:
        return None
    try:
        expected.read(text)
    except (ValueError, re.error):
        return f"This is not {expected.noun}. Write it like {expected.example}."
    return None


def show_example(name: object) -> str:
    """Return an example of the format; empty for an unknown one."""
    expected = FORMATS.get(name) if isinstance(name, str) else None
    return expected.example if expected is not None else ""
