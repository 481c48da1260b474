"""Log each request without secrets, and record its time for the idle stop.

Queries are not logged, since those of links contain signatures.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)
QUIET_PATHS = frozenset({"/healthz"})


class TrafficMiddleware:
    """Calls `note` when a request starts and ends, and logs the request, except health checks."""

    def __init__(self, app: ASGIApp, note: Callable[[Scope], None]) -> None:
        self._app = app
        self._note = note

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in QUIET_PATHS:
            await self._app(scope, receive, send)
            return
        self._note(scope)
        began = time.perf_counter()
        status = 500

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            self._note(scope)  # a download may have taken longer than the time until the idle stop
            took_ms = (time.perf_counter() - began) * 1000
            log.info("%s %s %d %.1f ms", scope["method"], scope["path"], status, took_ms)
