"""Let a client read the refusal of a body that it is still sending.

Closing a connection with unread input resets it, and the reset can overtake the response. Therefore, after
the response is sent, further input is discarded for a short time before the exchange ends.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LINGER_S = 2.0


class LingerMiddleware:
    """Discards the rest of a request's body, for at most two seconds, before the response ends."""

    def __init__(self, app: ASGIApp, linger_s: float = LINGER_S) -> None:
        self._app = app
        self._linger_s = linger_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] != "http" or not _announces_body(scope):
            await self._app(scope, receive, send)
            return
        body = _Body(receive)

        async def send_lingering(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if not is_last or body.is_read:
                await send(message)
                return
            await send({**message, "more_body": True})
            await body.drain(self._linger_s)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app(scope, body.receive, send_lingering)


class _Body:
    """A request's body, and whether it was read completely."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.is_read = False

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] != "http.request" or not message.get("more_body", False):
            self.is_read = True
        return message

    async def drain(self, limit_s: float) -> None:
        try:
            async with asyncio.timeout(limit_s):
                while not self.is_read:
                    await self.receive()
        except TimeoutError:
            return


def _announces_body(scope: Scope) -> bool:
    """Return whether a body will follow; a client that waits for `100 Continue` does not send it."""
    headers = Headers(scope=scope)
    has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    return has_body and "expect" not in headers
