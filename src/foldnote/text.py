"""Format sizes, durations, times, counts and lists uniformly; escape control characters in foreign text.

The panel's TypeScript (``labextension/src/models/formatting/``) follows the same rules; both are tested
against ``tests/data/figures.json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import category

if TYPE_CHECKING:
    from datetime import datetime

_UNITS = ("kB", "MB", "GB", "TB")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_LEAST_HOURS = 0.001
_WRITTEN_OUT, _WITH_EXPONENT = 9999.5, 1e7
"""Numbers in this range have one decimal; smaller ones have four significant digits."""
_ESCAPED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_KEPT = "\n\t"
_CODE = re.compile(r"`([^`\n]+)`")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def format_size(size_bytes: float) -> str:
    """Return a number of bytes in powers of 1000, three significant digits: ``271 kB``, ``1.5 GB``."""
    value, unit = float(max(0, size_bytes)), "B"
    for larger in _UNITS:
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} B" if unit == "B" else f"{float(f'{value:.3g}'):g} {unit}"


def format_figure(value: float) -> str:
    """Return a figure with four significant digits, ``-9.123``; from 10,000 with one decimal, ``13164.5``.

    Figures of ten million and more, and those below a ten-thousandth, are written with an exponent.
    """
    if _WRITTEN_OUT <= abs(value) < _WITH_EXPONENT:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.4g}"


def format_duration(seconds: float) -> str:
    """Format a duration in at most two units: ``under 1 s``, ``42 s``, ``1 min 12 s``, ``2 d 4 h``."""
    if 0 < seconds < 1:
        return "under 1 s"
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return _pair(whole, (_MINUTE, "min"), (1, "s"))
    if whole < _DAY:
        return _pair(whole, (_HOUR, "h"), (_MINUTE, "min"))
    return _pair(whole, (_DAY, "d"), (_HOUR, "h"))


def about_duration(seconds: float) -> str:
    """Format an estimated duration: ``about 42 s``, ``under 1 s``."""
    text = format_duration(seconds)
    return text if text.startswith("under") else f"about {text}"


def format_weighted_hours(hours: float) -> str:
    """Format a cost to three significant digits: ``0.25 weighted hours``, ``under 0.001 weighted hours``."""
    return f"{'under 0.001' if 0 < hours < _LEAST_HOURS else f'{hours:.3g}'} weighted hours"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun: ``1 residue``, ``2,000 residues``; ``plural`` if it is irregular."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_number(value: object) -> str:
    """Format a number as a user would type it, with thousands separators: ``10,000``, ``0.05``, ``1e-07``."""
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def describe_path(path: str, settings: object = None, *, is_inside: bool = False) -> str:
    """Format a setting's dotted path for display, counting from 1: ``smiles.2`` becomes ``smiles, item 3``.

    Args:
        path: steps with dots between them; a number is a 0-based position in a list, or a name in a map.
        settings: the settings, which tell the two apart; without them, a number is a position.
        is_inside: whether the path begins inside one setting, whose value is ``settings``; its first step may
            then also be a position.
    """
    shown, joint = "", ""
    for step in path.split("."):
        is_name = isinstance(settings, Mapping) and step in settings
        if (shown or is_inside) and step.isdecimal() and not is_name:
            shown, joint = f"{shown}{', ' if shown else ''}item {int(step) + 1}", ", "
        else:
            shown, joint = f"{shown}{joint}{step}", "."
        settings = _descend(settings, step)
    return shown


def _descend(value: object, step: str) -> object:
    """Return the value at one step; None if it is unknown."""
    if isinstance(value, Mapping):
        return value.get(step)
    is_place = isinstance(value, list | tuple) and step.isdecimal() and int(step) < len(value)
    return value[int(step)] if is_place and isinstance(value, list | tuple) else None


def join_words(words: Sequence[str], last: str = "or") -> str:
    """``a, b or c``; empty without words."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def cut_name(name: str, limit: int) -> str:
    """Shorten a name to ``limit`` characters by cutting its middle: names of variants differ at their end."""
    end = limit // 2
    return name if len(name) <= limit else f"{name[: limit - end - 1]}…{name[len(name) - end :]}"


def visible(text: str) -> str:
    r"""Escape the characters in ``text`` that move a terminal's cursor or change the direction of text.

    Control and format characters (Unicode categories Cc, Cf, Cs, Zl, Zp) become escapes such as ``\x1b`` and
    ``\u202e``; line ends and tabs stay, and a lone carriage return ends a line.
    """
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        ascii(letter)[1:-1] if category(letter) in _ESCAPED and letter not in _KEPT else letter
        for letter in lines
    )


def escape_html(text: str) -> str:
    """Escape text like ``html.escape``, whose module loads 2,000 entity names, which delays a first form."""
    return text.translate(_HTML)


def mark_code(text: str) -> str:
    """Return the HTML of a text, with the parts in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape_html(text))


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts in ``value``, including those in nested lists and in values of objects, but no keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item)


def _pair(whole: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    number, rest = divmod(whole, large[0])
    more = rest // small[0]
    return f"{number} {large[1]}" + (f" {more} {small[1]}" if more else "")


def format_local_time(value: datetime | None) -> str:
    """Return a time in this computer's time zone with its offset from UTC, ``2026-11-01 01:30:00-02:30``.

    The offset distinguishes the hour that occurs twice when clocks are set back. Empty for None.
    """
    if value is None:
        return ""
    try:
        local = value.astimezone()
    except (OverflowError, OSError, ValueError):  # not representable in this time zone
        local = value
    return local.isoformat(sep=" ", timespec="seconds")
