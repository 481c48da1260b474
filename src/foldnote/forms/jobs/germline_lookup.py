"""Look up the germlines of typed chains in a thread, one after another, once typing has paused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from foldnote.forms.jobs.background_calls import has_running_loop, start

_QUIET_S: Final = 1.0
"""Seconds without a change after which a chain is looked up."""
_MAX_KNOWN: Final = 500


class GermlineLookup:
    """The germlines of the chains that a form shows.

    Args:
        find: returns the germline of a chain, or None; it may block. Without it, nothing is looked up.
        show: refreshes the form after a germline was found.
    """

    def __init__(self, find: Callable[[str], object] | None, show: Callable[[], object]) -> None:
        self._find = find
        self._show = show
        self._known: dict[str, str] = {}
        self._requested: list[str] = []
        self._latest = 0
        self._is_busy = False

    def begin(self) -> None:
        """Reset the requested chains, before the form requests those that it shows."""
        self._requested = []

    def tell(self, chain: str) -> str:
        """Return what is known of a chain; empty until it was looked up."""
        if chain not in self._known:
            self._requested.append(chain)
        return self._known.get(chain, "")

    def look_up(self) -> None:
        """Look up the requested unknown chains, unless the form makes new requests before."""
        self._latest += 1
        if self._find is not None and self._requested and has_running_loop():
            start(self._look_up(self._find, self._latest))

    async def _look_up(self, find: Callable[[str], object], number: int) -> None:
        import asyncio  # deferred, like everything that a form does after it is shown

        await asyncio.sleep(_QUIET_S)
        if number != self._latest or self._is_busy:
            return
        self._is_busy = True
        try:
            while chain := next(
                (requested for requested in self._requested if requested not in self._known), ""
            ):
                germline = await asyncio.to_thread(find, chain)
                if len(self._known) >= _MAX_KNOWN:
                    self._known.clear()
                self._known[chain] = "" if germline is None else str(germline)
        finally:
            self._is_busy = False
        self._show()
