"""Observers of a form's changes: the saved form and linked views."""

from __future__ import annotations

from collections.abc import Callable


class Observed:
    """Something whose values change, and that tells of it."""

    _observers: tuple[Callable[[], object], ...] = ()

    def observe(self, function: Callable[[], object]) -> None:
        """Call ``function()`` after every change of a value, by hand or by code."""
        self._observers = (*self._observers, function)

    def note_change(self) -> None:
        """Hear that a value changed."""
        for function in self._observers:
            function()
