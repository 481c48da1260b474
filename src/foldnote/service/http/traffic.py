"""Log and count each request without secrets, and record its time for the idle stop.

Clients poll, so a response that changed nothing and delivered no content is logged at level `debug` only;
changes, downloads, refusals and faults at `info`. Query strings are not logged, since those of links contain
signatures.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldnote.service.http.request_ids import HEADER, REQUEST_ID, choose_id
from foldnote.service.operation.request_tally import UNKNOWN, RequestTally

log = logging.getLogger(__name__)
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
_POLLS = frozenset({"/validate-job", "/internal/attempts/{job_id}/{number}/heartbeat"})
"""Routes, other than GET, that are polled and change nothing visible to users."""
_CONTENTS = ("/download/", "/files/")


class TrafficMiddleware:
    """Gives each request an identifier, and counts and logs it, except those of monitoring.

    Args:
        on_request: called when a request starts and ends.
        tally: counts the requests.
    """

    def __init__(self, app: ASGIApp, on_request: Callable[[Scope], None], tally: RequestTally) -> None:
        self._app = app
        self._on_request = on_request
        self._tally = tally

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Process one request."""
        if scope["type"] != "http" or scope["path"] in QUIET_PATHS:
            await self._app(scope, receive, send)
            return
        self._on_request(scope)
        began = time.perf_counter()
        status = 500
        request_id = choose_id(scope)
        REQUEST_ID.set(request_id)
        mark = (HEADER, request_id.encode())

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), mark]}
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            self._on_request(scope)  # a download may have taken longer than the idle time
            took_s = time.perf_counter() - began
            route = getattr(scope.get("route"), "path_format", UNKNOWN)
            self._tally.add(scope["method"], route, status, took_s)
            level = logging.DEBUG if status < 400 and _is_poll(scope, route) else logging.INFO
            log.log(level, "%s %s %d %.1f ms", scope["method"], scope["path"], status, took_s * 1000)


def _is_poll(scope: Scope, route: str) -> bool:
    if scope["method"] not in ("GET", "HEAD"):
        return route in _POLLS
    return not scope["path"].startswith(_CONTENTS)
