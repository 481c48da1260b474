"""Send files with `os.sendfile`, from the page cache to the socket, as ASGI's `http.response.zerocopysend`.

uvicorn lacks this extension. Without it, or on systems without sendfile, a response streams the file in
chunks of 1 MB at about half the rate (`benchmarks/service_download.py`). A fast client occupies a thread; a
slow one waits in the event loop.
"""

from __future__ import annotations

import asyncio
import errno
import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foldnote.service.http.connections import Connection, RequestResponseCycle

_HAS_SENDFILE = hasattr(os, "sendfile") and hasattr(select, "poll")
EXTENSION = "http.response.zerocopysend"
MAX_THREAD_TIME_S = 0.25
"""Seconds for which a download keeps its thread while others wait for one."""
_POLL_MS = 20
"""Milliseconds for which a thread waits for a client to read."""
_CHECK_INTERVAL_S = 5.0
"""Seconds between checks of a slow client."""
_SENDFILE_BYTES = 256 << 10
"""Bytes per call of sendfile, few enough that the client reads them from the processor's cache."""
_STREAM_BYTES = 1 << 20
_UNSUPPORTED_ERRNOS = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
"""`errno` of file systems that do not support sendfile."""
_DISCONNECT_ERRNOS = frozenset(
    {errno.EPIPE, errno.ECONNRESET, errno.ECONNABORTED, errno.ENOTCONN, errno.ETIMEDOUT}
)


class SendingProtocol(Connection):
    """A connection whose requests may use the extension."""

    def extend_app(self, app: ASGIApp, cycle: RequestResponseCycle) -> ASGIApp:
        """Return the application with the extension, if the connection is not encrypted."""
        if _HAS_SENDFILE and self.transport.get_extra_info("sslcontext") is None:
            return _ZeroCopyApp(app, cycle, self.transport)
        return app


class _ZeroCopyApp:
    """The application with the extension, for one request."""

    def __init__(self, app: ASGIApp, cycle: RequestResponseCycle, transport: asyncio.Transport) -> None:
        self._app = app
        self._cycle = cycle
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_any(message: Message) -> None:
            if message["type"] != EXTENSION:
                await send(message)
                return
            await self._send_file(message, send)
            if not message.get("more_body", False):
                await send({"type": "http.response.body"})

        extensions = {**scope.get("extensions", {}), EXTENSION: {}}
        await self._app({**scope, "extensions": extensions}, receive, send_any)

    async def _send_file(self, message: Message, send: Send) -> None:
        """Send the part of the file; abort the connection if the file is shorter than declared."""
        file, start, end = message["file"], message["offset"], message["offset"] + message["count"]
        await self._flush()
        with self._duplicate_socket() as socket_fd:
            while start < end and not self._cycle.disconnected:
                try:
                    sent, is_slow = await run_in_threadpool(
                        _sendfile_for_a_turn, socket_fd, file.fileno(), start, end
                    )
                except OSError as exc:
                    if exc.errno in _UNSUPPORTED_ERRNOS:
                        await _stream(send, file.fileno(), start, end)
                        return
                    if exc.errno not in _DISCONNECT_ERRNOS:
                        raise
                    await self._abort_connection()
                    return
                start += sent
                self._cycle.expected_content_length -= sent
                if is_slow:
                    await self._wait_until_writable(socket_fd)

    async def _flush(self) -> None:
        """Wait until the transport has passed the head to the system."""
        self._transport.set_write_buffer_limits(high=0)
        await self._cycle.flow.drain()
        self._transport.set_write_buffer_limits()

    @contextmanager
    def _duplicate_socket(self) -> Iterator[int]:
        """Yield a duplicate of the socket, since the event loop watches the transport's own descriptor."""
        if self._cycle.disconnected:
            yield -1
            return
        socket_fd = os.dup(self._transport.get_extra_info("socket").fileno())
        try:
            yield socket_fd
        finally:
            os.close(socket_fd)

    async def _wait_until_writable(self, socket_fd: int) -> None:
        """Wait until the client has read something, or for one check interval."""
        loop, is_writable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(socket_fd, is_writable.set)
        try:
            await asyncio.wait_for(is_writable.wait(), _CHECK_INTERVAL_S)
        except TimeoutError:
            return
        finally:
            loop.remove_writer(socket_fd)

    async def _abort_connection(self) -> None:
        """Close a connection that the client abandoned, and wait until uvicorn has noticed."""
        self._transport.abort()
        while not self._cycle.disconnected:
            await asyncio.sleep(0)


def _sendfile_for_a_turn(socket_fd: int, file: int, start: int, end: int) -> tuple[int, bool]:
    """Send for a limited time; return the number of bytes sent, and whether the client is slow."""
    poller, sent = select.poll(), 0
    poller.register(socket_fd, select.POLLOUT)
    until = time.monotonic() + MAX_THREAD_TIME_S
    while start + sent < end and time.monotonic() < until:
        try:
            count = os.sendfile(socket_fd, file, start + sent, min(end - start - sent, _SENDFILE_BYTES))
        except BlockingIOError:
            if not poller.poll(_POLL_MS):
                return sent, True
            continue
        if count == 0:
            raise _truncated_error()
        sent += count
    return sent, False


async def _stream(send: Send, file: int, start: int, end: int) -> None:
    """Send a file for which sendfile is not supported."""
    while start < end:
        body = await run_in_threadpool(os.pread, file, min(end - start, _STREAM_BYTES), start)
        if not body:
            raise _truncated_error()
        start += len(body)
        await send({"type": "http.response.body", "body": body, "more_body": True})


def _truncated_error() -> Exception:
    return RuntimeError("A file was truncated while it was sent.")
