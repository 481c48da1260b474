"""Whether outputs are made for a screen or for paper.

Layouts, including those of other packages, make the same calls for both. On paper there are no scripts:
tables have all rows and columns, pictures have more pixels, and nothing is folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_paper: ContextVar[bool] = ContextVar("foldnote_is_paper", default=False)


def is_paper() -> bool:
    """Return whether the current output is for paper."""
    return _is_paper.get()


@contextmanager
def on_paper() -> Iterator[None]:
    """Make outputs inside this context for paper."""
    token = _is_paper.set(True)
    try:
        yield
    finally:
        _is_paper.reset(token)
