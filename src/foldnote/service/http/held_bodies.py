"""Limit the total memory of request bodies that are being received.

A body may have tens of megabytes and is parsed as a whole. To limit the memory of simultaneous requests,
large bodies above the total are answered with 503 and can be sent again. Uploads do not count: they are
written to disk as they arrive.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldnote.service.faults import RefusalError, retry_later

SMALL_BYTES = 1 << 20
"""Bytes of a body that are always accepted."""
_RETRY_S = 2


class HeldBodiesMiddleware:
    """Counts the bytes of request bodies from their arrival until the response."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] != "http" or scope["method"] == "PUT":
            await self._app(scope, receive, send)
            return
        own = 0

        async def receive_counted() -> Message:
            nonlocal own
            message = await receive()
            size = len(message.get("body", b""))
            if own + size > SMALL_BYTES and self._held_bytes + size > self._max_bytes:
                raise too_many_bodies()
            own += size
            self._held_bytes += size
            return message

        try:
            await self._app(scope, receive_counted, send)
        finally:
            self._held_bytes -= own


def too_many_bodies() -> RefusalError:
    """Build the response (503) to a large body that exceeds the total."""
    sentence = (
        "The service is reading as many large requests as it can. Nothing was changed; try again in 2 s."
    )
    refusal = retry_later(503, "temporarily_unavailable", sentence, _RETRY_S)
    refusal.headers["Connection"] = "close"
    return refusal
