"""Limits of connections: their number, the time for a head and a body; protocol upgrades are ignored.

The only module that overrides private methods of uvicorn, whose HTTP protocol lacks these limits and does not
give applications access to its transport. `pyproject.toml` bounds uvicorn's version; a test lists the members
used.
"""

from __future__ import annotations

import asyncio
import logging
import re
import resource
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import httptools
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from foldnote.errors import ConfigurationError

__all__ = [
    "Connection",
    "ConnectionLimits",
    "RequestResponseCycle",
    "limit_accept_error_logging",
    "plan_connections",
]

log = logging.getLogger(__name__)
MAX_HEAD_BYTES = 64 << 10
"""Maximum size of method, path and headers; many times that of the longest path and key."""
HEAD_S = 15.0
"""Seconds in which a head must be complete, from the connection or from its first byte."""
BODY_CHECK_INTERVAL_S = 15.0
"""Seconds between checks of a body's progress."""
BODY_BYTES_PER_S = 500
"""Minimum rate of a body in bytes per second, while the service reads it."""
ACCEPTED_AT_ONCE = 128
"""Connections that asyncio accepts in one iteration of its loop, before it serves others."""
MAX_FILES = 65_536
"""Value up to which the limit of open files is raised, unless more connections are configured."""
MAX_BACKLOG = 4096
"""Linux's default maximum of the backlog (net.core.somaxconn)."""
_OWN_FILES = 256
"""Files left for the database, contents, jobs and the connections that are refused."""
_REJECTED_CLOSE_DELAY_S = 1.0
_MAX_REJECTED = 64
_IDLE_S = 1.0
"""Seconds without a request after which a connection may be closed in favour of a new one."""
_LOG_INTERVAL_S = 60.0
_UPGRADE = frozenset({b"upgrade", b"http2-settings"})
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections a service holds.

    Attributes:
        connections: maximum number of open connections.
        backlog: connections that are established, but not yet accepted; the system may lower this limit.
    """

    connections: int
    backlog: int


def plan_connections(connections: int | None = None, backlog: int | None = None) -> ConnectionLimits:
    """Raise this process's limit of open files as far as needed and allowed, and divide the files.

    By default, the connections get three quarters of the files that the service does not need itself. The
    rest is for downloads, which need two more files each.

    Raises:
        ConfigurationError: this process may not open enough files for so many connections.
    """
    files = _raise_file_limit(max(MAX_FILES, (connections or 0) + _OWN_FILES))
    most = files - _OWN_FILES
    if connections is None:
        connections = max(16, most * 3 // 4)
    elif connections > most:
        raise ConfigurationError(
            f"{connections} connections need {connections + _OWN_FILES} open files, but this process may open"
            f" {files} only. Raise its limit (ulimit -Hn, or LimitNOFILE= of systemd), or set --connections"
            f" to at most {max(most, 0)}."
        )
    return ConnectionLimits(connections, min(connections, MAX_BACKLOG) if backlog is None else backlog)


def _raise_file_limit(requested: int) -> int:
    """Raise the soft limit of open files to at most `requested`, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = requested if hard == resource.RLIM_INFINITY else min(hard, requested)
    if soft == resource.RLIM_INFINITY:
        return requested
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(soft, allowed)


def limit_accept_error_logging(loop: asyncio.AbstractEventLoop) -> None:
    """Log at most once a minute that no connection can be accepted; asyncio would log every attempt."""
    logged_at, count = -_LOG_INTERVAL_S, 0

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal logged_at, count
        if "socket.accept()" not in context.get("message", ""):
            loop.default_exception_handler(context)
            return
        count += 1
        if loop.time() - logged_at >= _LOG_INTERVAL_S:
            log.error("Connections could not be accepted (%d times): %s", count, context.get("exception"))
            logged_at, count = loop.time(), 0

    loop.set_exception_handler(handle)


class Connection(HttpToolsProtocol):
    """One connection, with limits.

    It raises nothing: a connection that exceeds a limit gets a short response (408, 503) and is closed.
    """

    _head_bytes = 0
    _is_in_head = True
    _is_refused = False
    _is_upgrading = False
    _body_bytes = 0
    _deadline: asyncio.TimerHandle | None = None
    _idle: dict[Connection, float]
    _idle_connections: ClassVar[WeakKeyDictionary[ServerState, dict[Connection, float]]] = WeakKeyDictionary()
    """The idle connections of each server and the time since when, longest first."""
    _rejected_count: ClassVar[int] = 0
    """Number of refused connections that are still given time to read the response."""

    def extend_app(self, app: ASGIApp, _cycle: RequestResponseCycle) -> ASGIApp:
        """Return the application for one request; subclasses can add ASGI extensions."""
        return app

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGIApp) -> None:  # type: ignore[override]
        super()._start_asgi_task(cycle, self.extend_app(app, cycle))  # type: ignore[arg-type]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or refuse it if there are too many."""
        self._idle = self._idle_connections.setdefault(self.server_state, {})
        is_full = self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency - 1
        if is_full and not self._close_idle_connection():
            self._reject(transport)
            return
        super().connection_made(transport)
        self._idle[self] = self.loop.time()
        self._start_head_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection when it has ended."""
        self._cancel_timeout()
        self._idle.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data; answer 400 if the head is too long."""
        if self._is_refused:
            return
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._deadline is None:
                self._start_head_timeout()
        self._unset_keepalive_if_required()
        self._feed(data)
        if self._is_in_head and self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_headers_complete(self) -> None:
        """Start the time limits of the body when the head is complete."""
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            self._is_upgrading = True
            return
        self._is_in_head, self._body_bytes = False, 0
        self._idle.pop(self, None)
        self._cancel_timeout()
        self._deadline = self.loop.call_later(BODY_CHECK_INTERVAL_S, self._check_body_rate)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Count a received part of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Prepare for another head when the request is complete."""
        if self._is_upgrading:
            return
        self._is_in_head, self._head_bytes = True, 0
        self._cancel_timeout()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Mark the connection as idle after a response, unless another request waits."""
        super().on_response_complete()
        if self.timeout_keep_alive_task is not None:
            self._idle[self] = self.loop.time()

    def _feed(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as stop:
            if self._is_upgrading:
                self._retry_without_upgrade(data[stop.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    def _retry_without_upgrade(self, rest: bytes) -> None:
        """Parse the request again as plain HTTP/1.1, because the parser skips the body of an upgrade."""
        self._is_upgrading = False
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        headers = [
            (name, _without_upgrade(name, value)) for name, value in self.headers if name not in _UPGRADE
        ]
        lines = [b"%s %s HTTP/%s" % (method, self.url, version), *(b"%s: %s" % pair for pair in headers)]
        if any(_LINE_END.search(line) for line in lines):
            self.send_400_response("Invalid HTTP request received.")
            return
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self._feed(b"\r\n".join([*lines, b"", b""]) + rest)

    def _start_head_timeout(self) -> None:
        self._cancel_timeout()
        self._deadline = self.loop.call_later(HEAD_S, self._on_head_timeout)

    def _cancel_timeout(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _on_head_timeout(self) -> None:
        """Close a connection without a request; answer 408 to an incomplete head."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._start_head_timeout()  # an earlier request is still being processed
        elif self._head_bytes:
            self._time_out(f"The head of the request was not complete within {HEAD_S:g} s.")
        else:
            self.transport.close()

    def _check_body_rate(self) -> None:
        """Abort a request whose body arrives too slowly, unless it is waiting for the service."""
        is_waiting = self.flow.read_paused or self.cycle.waiting_for_100_continue
        if not is_waiting and self._body_bytes < BODY_CHECK_INTERVAL_S * BODY_BYTES_PER_S:
            self._time_out(f"The body came more slowly than {BODY_BYTES_PER_S} bytes a second.")
            return
        self._body_bytes = 0
        self._deadline = self.loop.call_later(BODY_CHECK_INTERVAL_S, self._check_body_rate)

    def _time_out(self, sentence: str) -> None:
        """Send a response with status 408, unless a response has begun, and close."""
        if not self.transport.is_closing():
            has_response = not self._is_in_head and self.cycle is not None and self.cycle.response_started
            if not has_response:
                self.transport.write(_error_response(408, sentence))
            self.transport.close()

    def _close_idle_connection(self) -> bool:
        """Close the connection that has been idle for longest, if for at least a second."""
        oldest = next(iter(self._idle), None)
        if oldest is None or self.loop.time() - self._idle[oldest] < _IDLE_S:
            return False
        oldest.transport.close()
        self.connections.discard(oldest)
        del self._idle[oldest]
        return True

    def _reject(self, transport: asyncio.Transport) -> None:
        """Answer 503 and close, sometimes with a delay, because a reset could overtake the response."""
        self.transport, self._is_refused = transport, True
        transport.write(_error_response(503, "The service has too many connections. Try again in a second."))
        if Connection._rejected_count >= _MAX_REJECTED:
            transport.abort()
            return
        Connection._rejected_count += 1
        self.loop.call_later(_REJECTED_CLOSE_DELAY_S, self._close_rejected)

    def _close_rejected(self) -> None:
        Connection._rejected_count -= 1
        self.transport.abort()


def _without_upgrade(name: bytes, value: bytes) -> bytes:
    if name != b"connection":
        return value
    tokens = [token.strip() for token in value.split(b",")]
    return b", ".join(token for token in tokens if token.lower() not in _UPGRADE)


def _error_response(status: int, sentence: str) -> bytes:
    """Build a complete HTTP response with the interface's error body."""
    reason, code = {408: ("Request Timeout", "request_timeout")}.get(
        status, ("Service Unavailable", "temporarily_unavailable")
    )
    body = f'{{"error":"{sentence}","code":"{code}"}}'
    retry_header = "retry-after: 1\r\n" if status == 503 else ""
    head = f"HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return f"{head}{retry_header}connection: close\r\n\r\n{body}".encode()
