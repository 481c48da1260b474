"""Readers of numbers for ``argparse`` that refuse values no command can use.

``float`` accepts ``nan`` and ``inf``, which would make a limit meaningless.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

N = TypeVar("N", int, float)
MAX_NUMBER = 10**12
"""Largest value of any option: that many megabytes, in bytes, fit into an integer of the database."""
MAX_DAYS = 365_000
"""Largest number of days; from now on they end before the year 9999, the last of Python's calendar."""
MAX_SECONDS = 10**9
"""About 30 years; the system's clocks cannot wait for much longer."""


def read_count(text: str) -> int:
    """Return a non-negative integer.

    Raises:
        ArgumentTypeError: the text is not a non-negative integer.
    """
    return _read(text, int, 0, "a whole number that is not negative")


def read_positive(text: str) -> int:
    """Return a positive integer.

    Raises:
        ArgumentTypeError: the text is not a positive integer.
    """
    return _read(text, int, 1, "a whole number above 0")


def read_amount(text: str) -> float:
    """Return a finite non-negative number.

    Raises:
        ArgumentTypeError: the text is not a finite non-negative number.
    """
    return _read(text, float, 0.0, "a number that is not negative")


def read_rate(text: str) -> float:
    """Return a finite positive number.

    Raises:
        ArgumentTypeError: the text is not a finite positive number.
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
    """Return a reader that also refuses numbers above ``most``, the largest that a command can use."""

    def read_limited(text: str) -> N:
        number = read(text)
        if number > most:
            raise argparse.ArgumentTypeError(f"{text} is too large: at most {most:,} can be given")
        return number

    return read_limited


read_seconds = read_up_to(read_amount, MAX_SECONDS)
"""Reads a time in seconds; 0 is allowed."""
