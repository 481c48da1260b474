"""Limits on a body while it is received: its size and its minimum rate.

A service, or whatever answers in its place, may send without end: quickly, a byte now and then, or packed so
that a little becomes very much.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx

from foldnote.errors import ProtocolError, RequestTimeoutError

ENCODINGS = ("gzip", "deflate")
"""How answers may be packed. Both grow by a factor of about 1,000 at most, so no chunk fills the memory."""
_SLOWEST_BYTES_PER_S = 1000.0


class Guard:
    """Watches the pace at which a body arrives."""

    def __init__(
        self,
        response: httpx.Response,
        timeout_s: float,
        limit_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with an answer whose body was not read yet.

        Args:
            timeout_s: seconds in which 1 kB must come for each of them, again and again.
            limit_bytes: the most bytes that may come, unpacked.
            clock: seconds from any beginning.

        Raises:
            ProtocolError: it is packed in a way that was not asked for.
        """
        self.limit_bytes = limit_bytes
        self._address = str(response.request.url.copy_with(query=None))
        self._timeout_s = timeout_s
        self._clock = clock
        self._begin, self._came = clock(), 0
        packings = response.headers.get("content-encoding", "identity").replace(" ", "").split(",")
        for packing in packings:
            if packing not in ("identity", "", *ENCODINGS):
                raise ProtocolError(
                    f"The service packed its answer with {packing!r}, which it was not asked for."
                )
        if len(packings) > 1:
            raise ProtocolError("The service packed its answer more than once.")

    def note(self, size: int) -> None:
        """So many bytes have come.

        Raises:
            RequestTimeoutError: the body arrives too slowly ever to end.
        """
        self._came += size
        passed_s = self._clock() - self._begin
        if passed_s < self._timeout_s:
            return
        if self._came < passed_s * _SLOWEST_BYTES_PER_S:
            raise RequestTimeoutError(
                f"{self._address} sends too slowly: {self._came:,} bytes in {passed_s:.0f} s. Try again"
                " later.",
                was_sent=True,
            )
        self._begin, self._came = self._clock(), 0


class BufferedBody:
    """A body that is kept in memory."""

    def __init__(self, response: httpx.Response, timeout_s: float, limit_bytes: int) -> None:
        """Begin with an answer whose body was not read yet.

        Raises:
            ProtocolError: it is announced to be larger than ``limit_bytes``.
        """
        self._guard = Guard(response, timeout_s, limit_bytes)
        self._size = 0
        self._chunks: list[bytes] = []
        announced = response.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > limit_bytes and response.request.method != "HEAD":
            self._refuse()

    def take(self, chunk: bytes) -> None:
        """The next bytes.

        Raises:
            ProtocolError: they are more than the limit.
            RequestTimeoutError: they arrive too slowly.
        """
        self._guard.note(len(chunk))
        self._size += len(chunk)
        if self._size > self._guard.limit_bytes:
            self._refuse()
        self._chunks.append(chunk)

    def join(self) -> bytes:
        """All of it."""
        return b"".join(self._chunks)

    def _refuse(self) -> None:
        self._chunks.clear()
        raise ProtocolError(
            f"The service's answer is larger than {self._guard.limit_bytes / 1e6:g} MB and was not read on."
            " If it may be, set FOLDNOTE_LARGEST_ANSWER_MB to its size in MB; of a list, ask for fewer rows."
        )
