"""Remove signatures from links in responses to the browser.

A signed link opens a file to whoever has it. Pages need none: bytes go through this server. But a log, a
sentence of the service, or a field that only one deployment knows may hold one, so every answer passes here.
Keys need no curtain: the client takes them out of what a service answers.
"""

from __future__ import annotations

import re

_LINK = re.compile(rb"""https?://[^\s"'<>\\]*(?:\\u0026[^\s"'<>\\]*)*""", re.IGNORECASE)
"""A link to its end. Matches do not overlap and nothing is tried twice."""

_SIGNED = re.compile(rb"(?:signature|(?:[?&;]|\\u0026)sig|security-token|credential)=", re.IGNORECASE)
"""What a signed query holds: those of Amazon, Google and Azure, and those of our own service."""

_MARKS = (b"signature=", b"sig=", b"security-token=", b"credential=")
"""Without one of these there is no signed link: a search that costs megabytes of a drawing little."""


def cover_links(body: bytes) -> bytes:
    """``body`` with the addresses of signed links, but without what makes them work.

    The time is linear in the length of ``body``, whatever it holds: this runs in the server's event loop.
    """
    lowered = body.lower()
    return _LINK.sub(_cover, body) if any(mark in lowered for mark in _MARKS) else body


def _cover(connection: re.Match[bytes]) -> bytes:
    address, mark, query = connection[0].partition(b"?")
    return address + b"?[signature]" if _SIGNED.search(mark + query) else connection[0]
