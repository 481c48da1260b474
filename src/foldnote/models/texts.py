"""Texts of others: those inside a JSON value, and how any of them is printed in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from unicodedata import category

_SPELT = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_KEPT = "\n\t"


def visible(text: str) -> str:
    r"""``text`` for a terminal: characters that move its cursor, or turn its direction, are spelt out.

    Control and format characters (Unicode categories Cc, Cf, Cs, Zl, Zp) become escapes such as ``\x1b`` and
    ``\u202e``; line ends and tabs stay, and a lone carriage return ends a line.
    """
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        ascii(letter)[1:-1] if category(letter) in _SPELT and letter not in _KEPT else letter
        for letter in lines
    )


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
