"""MessagePack, as far as BinaryCIF uses it: maps, lists, texts, bytes and numbers.

A reader of plain data only: no extension types, no keys but texts, nothing is believed to be longer than the
bytes that are left, and there is a limit to the number of values, since one byte can be an empty map.
"""

from __future__ import annotations

import struct
from typing import Any

_DEEPEST = 64
_MOST_ITEMS = 300_000
"""Values in all maps and lists together; a BinaryCIF file of the Protein Data Bank has about 20,000."""
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_LENGTHS = {
    0xC4: (">B", "bytes"), 0xC5: (">H", "bytes"), 0xC6: (">I", "bytes"),
    0xD9: (">B", "text"), 0xDA: (">H", "text"), 0xDB: (">I", "text"),
    0xDC: (">H", "list"), 0xDD: (">I", "list"), 0xDE: (">H", "map"), 0xDF: (">I", "map"),
}  # fmt: skip
_PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}


class MessagePackError(ValueError):
    """The bytes are no MessagePack of plain data."""


def unpack(data: bytes) -> Any:
    """The one value in ``data``: dict, list, str, bytes, int, float, bool or None.

    Raises:
        MessagePackError: it is cut off, of another kind, or nested too deep.
    """
    return _MessagePackReader(data).read(0)


class _MessagePackReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._items = 0

    def read(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise MessagePackError("it is nested too deep")
        mark = self._take(1)[0]
        if mark < 0x80:
            return mark
        if mark >= 0xE0:
            return mark - 0x100
        if mark in _PLAIN:
            return _PLAIN[mark]
        if mark in _NUMBERS:
            return self._number(_NUMBERS[mark])
        kind, length = self._find_length(mark)
        if kind == "bytes":
            return self._take(length)
        if kind == "text":
            return self._take(length).decode("utf-8", "replace")
        self._require(length)
        self._items += length
        if self._items > _MOST_ITEMS:
            raise MessagePackError(f"it holds more than {_MOST_ITEMS:,} values")
        if kind == "list":
            return [self.read(depth + 1) for _ in range(length)]
        return {self._key(depth): self.read(depth + 1) for _ in range(length)}

    def _find_length(self, mark: int) -> tuple[str, int]:
        if mark < 0x90:
            return "map", mark & 0x0F
        if mark < 0xA0:
            return "list", mark & 0x0F
        if mark < 0xC0:
            return "text", mark & 0x1F
        if mark not in _LENGTHS:
            raise MessagePackError(f"the type {mark:#x} is no plain data")
        form, kind = _LENGTHS[mark]
        return kind, int(self._number(form))

    def _key(self, depth: int) -> str:
        key = self.read(depth + 1)
        if not isinstance(key, str):
            raise MessagePackError("a key is no text")
        return key

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _require(self, length: int) -> None:
        if length > len(self._data) - self._place:
            raise MessagePackError("it is cut off")

    def _take(self, length: int) -> bytes:
        self._require(length)
        start = self._place
        self._place += length
        return self._data[start : self._place]
