"""Which parts of a Python value JSON can represent, and where the others are.

Settings come from notebooks, where a value may be anything: a tuple, an array, NaN, a list that holds
itself. Everything that looks into values afterwards may rely on what is read here: plain lists, dicts with
text as keys, finite numbers, whole characters, and an end. Nothing is converted for sending.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]
"""Keys and positions that lead from a value to a part of it."""

NOT_FINITE: Final = "not_finite"
NOT_JSON: Final = "not_json"
TOO_DEEP: Final = "too_deep"
TOO_LARGE: Final = "too_large"
"""Reported in place of a broken keyword for a value that is too large to be validated."""
MOST_LEVELS: Final = 100
MOST_PARTS: Final = 200_000
MOST_LETTERS: Final = 100_000
"""Characters of a text whose schema says no other bound; the contents of files are no such text."""
_MOST_TOLD = 20
_LARGEST_BITS = 1023
"""A whole number with more bits is infinite to everyone who reads JSON numbers as doubles."""
_EXACT_BITS = 63
_HALVES = {half: half - 0xD800 + 0xF0000 for half in range(0xD800, 0xE000)}
"""Lone surrogates, which no encoding accepts, each mapped to one private-use character."""


class Odd(NamedTuple):
    """A part that JSON cannot carry."""

    path: Path
    reason: str
    """`NOT_FINITE`, `NOT_JSON` or `TOO_DEEP`."""
    part: Any
    """The part as it was given."""


class Plain(NamedTuple):
    """A value as it can be looked into."""

    value: Any
    """A copy of plain JSON, with an empty stand-in of the same kind for each odd part, or null."""
    odd: tuple[Odd, ...]
    """The first odd parts, in their order."""
    given: Any
    """The value itself."""
    parts: int = 0
    """Values in it, itself included; past `MOST_PARTS` they are not counted on."""
    letters: int = 0
    """Characters of all its texts, names of members excepted."""


def read_plain(value: Any) -> Plain:
    """Look through ``value``; lists and dicts are copied, and neither is changed."""
    reader = _JsonReader()
    plain = reader.read(value, ())
    if reader.count > MOST_PARTS:
        return Plain([] if isinstance(value, list) else {}, (Odd((), TOO_DEEP, value),), value)
    return Plain(plain, tuple(reader.odd), value, reader.count, reader.letters)


class _JsonReader:
    def __init__(self) -> None:
        self.odd: list[Odd] = []
        self.count = 0
        self.letters = 0
        self._holders: set[int] = set()
        """Identities of the containers that are being read: one that holds itself has no end."""

    def read(self, value: Any, path: Path) -> Any:
        self.count += 1
        if isinstance(value, str):
            self.letters += len(value)
            return _mend(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._read_number(value, path)
        if isinstance(value, dict | list):
            return self._read_parts(value, path)
        return self._set_aside(value, path, NOT_JSON, None)

    def _read_number(self, value: float, path: Path) -> Any:
        if isinstance(value, int):
            is_finite = value.bit_length() <= _LARGEST_BITS
            return int(value) if is_finite else self._set_aside(value, path, NOT_FINITE, 0)
        if not math.isfinite(value):
            return self._set_aside(value, path, NOT_FINITE, 0)
        is_large = value.is_integer() and int(value).bit_length() > _EXACT_BITS
        return int(value) if is_large else float(value)

    def _read_parts(self, value: dict[Any, Any] | list[Any], path: Path) -> Any:
        if len(path) >= MOST_LEVELS or id(value) in self._holders or self.count > MOST_PARTS:
            return self._set_aside(value, path, TOO_DEEP, [] if isinstance(value, list) else {})
        self._holders.add(id(value))
        plain = self._read_each(value, path)
        self._holders.discard(id(value))
        return plain

    def _read_each(self, value: dict[Any, Any] | list[Any], path: Path) -> Any:
        if isinstance(value, list):
            return [self.read(part, (*path, index)) for index, part in enumerate(value)]
        if not all(isinstance(key, str) for key in value):
            return self._set_aside(value, path, NOT_JSON, {})
        return {_mend(key): self.read(part, (*path, key)) for key, part in value.items()}

    def _set_aside(self, part: Any, path: Path, reason: str, stand_in: Any) -> Any:
        if len(self.odd) < _MOST_TOLD:
            self.odd.append(Odd(path, reason, part))
        return stand_in


def _mend(text: str) -> str:
    """The text in as many characters, each of them whole."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_HALVES)
    return str.__str__(text)
