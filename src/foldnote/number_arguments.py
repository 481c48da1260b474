"""Numbers given on a command line: readers for ``argparse``, which refuse what no command can use.

``float`` takes ``nan`` and ``inf``, with which a limit would limit nothing.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

N = TypeVar("N", int, float)
MAX_NUMBER = 10**12
"""Of any option; as megabytes it is less than the largest integer of a database."""
MAX_DAYS = 365_000
"""Days from now that are before the year 9999, the last of Python's calendar."""
MAX_SECONDS = 10**9
"""About 30 years; the system's clocks cannot wait for much longer."""


def read_count(text: str) -> int:
    """A whole number that is not negative.

    Raises:
        ArgumentTypeError: the text is no such number.
    """
    return _read(text, int, 0, "a whole number that is not negative")


def read_positive(text: str) -> int:
    """A whole number above zero.

    Raises:
        ArgumentTypeError: the text is no such number.
    """
    return _read(text, int, 1, "a whole number above 0")


def read_amount(text: str) -> float:
    """A finite number that is not negative.

    Raises:
        ArgumentTypeError: the text is no such number.
    """
    return _read(text, float, 0.0, "a number that is not negative")


def read_rate(text: str) -> float:
    """A finite number above zero.

    Raises:
        ArgumentTypeError: the text is no such number.
    """
    return _read(text, float, math.ulp(0.0), "a number above 0")


def _read(text: str, kind: type[N], least: N, what: str) -> N:
    number = None
    with suppress(ValueError):
        number = kind(text)
    if number is None or not least <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return number


def read_up_to(read: Callable[[str], N], most: int = MAX_NUMBER) -> Callable[[str], N]:
    """A reader that also refuses what is more than ``most``, with which a command could not count."""

    def read_limited(text: str) -> N:
        number = read(text)
        if number > most:
            raise argparse.ArgumentTypeError(f"{text} is too large: at most {most:,} can be given")
        return number

    return read_limited


read_seconds = read_up_to(read_amount, MAX_SECONDS)
"""Reads a time in seconds, 0 included."""
