"""Takes the signatures of links out of what goes to a page.

A signed link opens a file to whoever has it. Pages need none: bytes go through this server. But a log, a
sentence of the service, or a field that only one deployment knows may hold one, so every answer passes here.
Keys need no curtain: the client takes them out of what a service answers.
"""

from __future__ import annotations

import re

_SIGNED = re.compile(
    rb"""(https?://[^\s"'<>\\?]{1,2000})\?(?:[^\s"'<>\\]|\\u0026){0,4000}?"""
    rb"""(?:signature|[?&;]sig|security-token|credential)=(?:[^\s"'<>\\]|\\u0026)*""",
    re.IGNORECASE,
)
"""A link whose query is signed: those of Amazon, Google and Azure, and those of our own service."""

_MARKS = (b"ignature", b"IGNATURE", b"sig=", b"-token=", b"-Token=", b"redential=")
"""Without one of these there is no signed link: a look that costs megabytes of a drawing nothing."""


def cover_links(body: bytes) -> bytes:
    """``body`` with the addresses of signed links, but without what makes them work."""
    return _SIGNED.sub(rb"\1?[signature]", body) if any(mark in body for mark in _MARKS) else body
