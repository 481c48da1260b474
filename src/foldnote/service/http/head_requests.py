"""Answer HEAD for every GET route, with the same head and without a body (RFC 9110, section 9.3.2).

Most routes handle GET only. Those for signed links, whose signature covers the method, and for files handle
HEAD themselves.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_HEADS = ("/download/", "/files/", "/presigned/")
"""Prefixes of paths whose routes handle HEAD themselves."""


class HeadMiddleware:
    """Routes HEAD as GET and drops the body; runs after the path's prefix was removed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        if scope["path"].removeprefix(scope.get("root_path", "")).startswith(OWN_HEADS):
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        get_scope = {**scope, "method": "GET"}
        try:
            await self._app(get_scope, receive, send_head)
        finally:
            scope["route"] = get_scope.get("route")  # for middleware that counts requests by route
