"""Every text inside a JSON value, for what looks for names in settings; what they mean is not known here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def texts_in(value: Any) -> Iterator[str]:
    """The texts in ``value``, also those in its lists and in the values of its objects; no keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)
