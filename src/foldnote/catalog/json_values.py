"""Reduce Python values to JSON for validation, and report the parts that JSON cannot represent.

Settings come from notebooks, where a value may be anything: a tuple, an array, NaN or a list that contains
itself. Code that works with parsed values can rely on lists, dicts with text keys, finite numbers, text
without lone surrogates, and a limited depth and size. The parsed value is for validation only; what is
submitted is the original.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

Path = tuple[str | int, ...]
"""Keys and list positions that lead from a value to a part of it."""

NOT_FINITE: Final = "not_finite"
NOT_JSON: Final = "not_json"
TOO_DEEP: Final = "too_deep"
TOO_LARGE: Final = "too_large"
"""Reported instead of a keyword if a value is too large to be validated."""
MAX_LEVELS: Final = 100
MAX_PARTS: Final = 200_000
MAX_TEXT_LENGTH: Final = 100_000
"""Maximum length of a text without another limit in its schema; does not apply to file contents."""
_MAX_REPORTED = 20
_MAX_BITS = 1023
"""Larger integers overflow to infinity in programs that read JSON numbers as doubles."""
_EXACT_BITS = 63
_REPLACEMENTS = {half: half - 0xD800 + 0xF0000 for half in range(0xD800, 0xE000)}
"""Maps each lone surrogate, which cannot be encoded, to a private-use character."""


class InvalidPart(NamedTuple):
    """A part of a value that JSON cannot represent."""

    path: Path
    reason: str
    """`NOT_FINITE`, `NOT_JSON` or `TOO_DEEP`."""
    part: Any
    """The original part."""


class ParsedValue(NamedTuple):
    """A value reduced to JSON."""

    value: Any
    """A copy that consists of JSON types only; invalid parts are replaced by an empty value or null."""
    invalid: tuple[InvalidPart, ...]
    """The first invalid parts, in order."""
    original: Any
    """The original value."""
    parts: int = 0
    """Number of values in it, including itself; 0 if there are more than `MAX_PARTS`."""
    characters: int = 0
    """Total number of characters of its texts, without the keys."""


def parse_value(value: Any) -> ParsedValue:
    """Reduce ``value`` to JSON without changing it, and collect the parts that JSON cannot represent."""
    reader = _JsonReader()
    parsed = reader.read(value, ())
    if reader.count > MAX_PARTS:
        return ParsedValue([] if isinstance(value, list) else {}, (InvalidPart((), TOO_DEEP, value),), value)
    return ParsedValue(parsed, tuple(reader.invalid), value, reader.count, reader.characters)


class _JsonReader:
    def __init__(self) -> None:
        self.invalid: list[InvalidPart] = []
        self.count = 0
        self.characters = 0
        self._open_containers: set[int] = set()
        """Ids of the containers being read, to detect one that contains itself."""

    def read(self, value: Any, path: Path) -> Any:
        self.count += 1
        if isinstance(value, str):
            self.characters += len(value)
            return _replace_surrogates(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._read_number(value, path)
        if isinstance(value, dict | list):
            return self._read_parts(value, path)
        return self._report(value, path, NOT_JSON, None)

    def _read_number(self, value: float, path: Path) -> Any:
        if isinstance(value, int):
            is_finite = value.bit_length() <= _MAX_BITS
            return int(value) if is_finite else self._report(value, path, NOT_FINITE, 0)
        if not math.isfinite(value):
            return self._report(value, path, NOT_FINITE, 0)
        is_large = value.is_integer() and int(value).bit_length() > _EXACT_BITS
        return int(value) if is_large else float(value)

    def _read_parts(self, value: dict[Any, Any] | list[Any], path: Path) -> Any:
        if len(path) >= MAX_LEVELS or id(value) in self._open_containers or self.count > MAX_PARTS:
            return self._report(value, path, TOO_DEEP, [] if isinstance(value, list) else {})
        self._open_containers.add(id(value))
        parsed = self._read_each(value, path)
        self._open_containers.discard(id(value))
        return parsed

    def _read_each(self, value: dict[Any, Any] | list[Any], path: Path) -> Any:
        if isinstance(value, list):
            return [self.read(part, (*path, index)) for index, part in enumerate(value)]
        if not all(isinstance(key, str) for key in value):
            return self._report(value, path, NOT_JSON, {})
        return {_replace_surrogates(key): self.read(part, (*path, key)) for key, part in value.items()}

    def _report(self, part: Any, path: Path, reason: str, stand_in: Any) -> Any:
        if len(self.invalid) < _MAX_REPORTED:
            self.invalid.append(InvalidPart(path, reason, part))
        return stand_in


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, keeping the number of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_REPLACEMENTS)
    return str.__str__(text)
