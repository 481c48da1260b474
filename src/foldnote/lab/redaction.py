"""Remove signatures from links in responses to the browser.

Anyone with a signed link can read the file. Pages need none, because file contents pass through this server,
but a log, a message of the service or an unknown field may contain one. API keys need no redaction here: the
client removes them from the service's responses.
"""

from __future__ import annotations

import re

_LINK = re.compile(rb"""https?://[^\s"'<>\\]*(?:\\u0026[^\s"'<>\\]*)*""", re.IGNORECASE)
"""A complete URL. Matching takes linear time."""

_SIGNED = re.compile(rb"(?:signature|(?:[?&;]|\\u0026)sig|security-token|credential)=", re.IGNORECASE)
"""Names of query parameters in signed links of Amazon, Google, Azure and the foldnote service."""

_MARKS = (b"signature=", b"sig=", b"security-token=", b"credential=")
"""Every signed link contains one of these; a fast search for them skips large bodies without signed links."""


def redact_links(body: bytes) -> bytes:
    """Replace the queries of signed links in ``body`` by ``[signature]``.

    Takes time linear in the length of ``body``, because it runs in the server's event loop.
    """
    lowered = body.lower()
    return _LINK.sub(_redact, body) if any(mark in lowered for mark in _MARKS) else body


def _redact(link: re.Match[bytes]) -> bytes:
    address, mark, query = link[0].partition(b"?")
    return address + b"?[signature]" if _SIGNED.search(mark + query) else link[0]
