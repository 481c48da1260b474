"""Log and count each request without secrets, and record its time for the idle stop.

Clients ask again and again, so that an answer which changed nothing and delivered no content is logged at the
level `debug` only; changes, downloads, refusals and faults at `info`. Queries are not logged, since those of
links contain signatures.
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
"""Routes other than those of GET that are asked again and again, and change nothing that a user sees."""
_CONTENTS = ("/download/", "/files/")


class TrafficMiddleware:
    """Gives each request an identifier, and counts and logs it, except those of programs that watch.

    Args:
        note: called when a request starts and ends.
        tally: where requests are counted.
    """

    def __init__(self, app: ASGIApp, note: Callable[[Scope], None], tally: RequestTally) -> None:
        self._app = app
        self._note = note
        self._tally = tally

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in QUIET_PATHS:
            await self._app(scope, receive, send)
            return
        self._note(scope)
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
            self._note(scope)  # a download may have taken longer than the time until the idle stop
            took_s = time.perf_counter() - began
            route = getattr(scope.get("route"), "path_format", UNKNOWN)
            self._tally.add(scope["method"], route, status, took_s)
            level = logging.DEBUG if status < 400 and _is_poll(scope, route) else logging.INFO
            log.log(level, "%s %s %d %.1f ms", scope["method"], scope["path"], status, took_s * 1000)


def _is_poll(scope: Scope, route: str) -> bool:
    if scope["method"] not in ("GET", "HEAD"):
        return route in _POLLS
    return not scope["path"].startswith(_CONTENTS)
