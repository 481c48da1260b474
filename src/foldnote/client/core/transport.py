"""Perform calls, downloads and pauses with httpx, synchronously or asynchronously.

Exceptions of httpx become a TransportError here, once, without the request, whose headers hold the key. While
a body is received, its size and rate are checked, since a server may send without limit. A key that an answer
repeats is masked before anything else reads the answer: gateways repeat refused keys in messages, headers and
redirects, from where they would reach logs and pages.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from math import isfinite
from pathlib import Path
from typing import IO, Any, NoReturn
from urllib.parse import quote

import httpx

from foldnote.client.core.hashing import BackgroundHash
from foldnote.client.core.http_connections import connect, explain
from foldnote.client.core.operations import Call, Download, Effect, Run, ServiceResponse, Sleep
from foldnote.client.local.cache import read_etag, write_etag
from foldnote.errors import (
    FoldnoteError,
    ProtocolError,
    RequestTimeoutError,
    ResultError,
    ServiceUnreachableError,
)

_CHUNK_BYTES = 1 << 20
_CONNECT_S = 10.0
_LARGEST_REFUSAL_BYTES = 1_000_000
_HASH_HEADER = "x-content-sha256"
_NEAR = 20
_DEEPEST = 100
_ENCODINGS = ("gzip", "deflate")
"""Accepted content encodings. Both expand at most about 1000-fold, so no chunk fills the memory."""
_SLOWEST_BYTES_PER_S = 1000.0
_MASK = "[key]"
_SHORTEST_KEY = 12
"""Length of the shortest key that is masked: a shorter key could be an ordinary word of the answer."""


class HttpTransport:
    """Performs effects synchronously, with one ``httpx.Client`` per process."""

    def __init__(self, http_client: httpx.Client | None = None) -> None:
        self._given = http_client
        self._own = None if http_client else self._connect()

    @property
    def _http(self) -> httpx.Client:
        if self._given is not None:
            return self._given
        if self._own is None or self._own[0] != os.getpid():  # a forked process must not share connections
            self._own = self._connect()
        return self._own[1]

    def _connect(self) -> tuple[int, httpx.Client]:
        made = connect(httpx.Client, httpx.HTTPTransport)
        weakref.finalize(self, made.close)  # for clients that are never closed
        return os.getpid(), made

    def perform(self, effect: Effect) -> Any:
        """Perform ``effect`` and return its outcome.

        Raises:
            TransportError: no answer was received.
        """
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        if isinstance(effect, Run):
            return effect.function()
        try:
            if isinstance(effect, Download):
                return self._download(effect)
            with self._http.stream(**_request(effect), content=_stream(effect)) as answer:
                body = BufferedBody(answer, effect.timeout_s, effect.limit_bytes)
                for chunk in answer.iter_bytes():
                    body.append(chunk)
                return _read(answer, body)
        except BaseException as exc:  # noqa: BLE001  also KeyboardInterrupt: its traceback holds the key
            fault = explain(exc, effect)
        raise fault  # outside the handler: drops httpx's exception, whose request holds the key

    def _download(self, effect: Download) -> ServiceResponse:
        with self._http.stream("GET", **_download_request(effect)) as answer:
            if answer.status_code not in (200, 206):
                body = BufferedBody(answer, effect.timeout_s, _LARGEST_REFUSAL_BYTES)
                for chunk in answer.iter_bytes():
                    body.append(chunk)
                return ServiceResponse(answer.status_code, answer.headers, body.join())
            if effect.is_cached and effect.is_cached(_headers_of(answer)):
                return ServiceResponse(HTTPStatus.NOT_MODIFIED, _headers_of(answer), b"")
            with _Target(effect, answer) as target:
                for chunk in answer.iter_bytes():
                    target.write(chunk)
        return _received(answer, effect.part, target.sha256)

    def close(self) -> None:
        """Close the connections; a client that the caller passed in stays open."""
        if self._own is not None:
            self._own[1].close()


class AsyncHttpTransport:
    """Performs effects asynchronously, with one ``httpx.AsyncClient`` per event loop."""

    def __init__(self, http_client: httpx.AsyncClient | None = None) -> None:
        self._given = http_client
        self._own: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    @property
    def _http(self) -> httpx.AsyncClient:
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        own = self._own.get(loop)
        if own is None:  # connections belong to the loop that opened them
            own = connect(httpx.AsyncClient, httpx.AsyncHTTPTransport)
            others = {each: client for each, client in self._own.items() if not each.is_closed()}
            self._own = {**others, loop: own}
        return own

    async def perform(self, effect: Effect) -> Any:
        """Perform ``effect`` and return its outcome.

        Raises:
            TransportError: no answer was received.
        """
        if isinstance(effect, Sleep):
            return await asyncio.sleep(effect.seconds)
        if isinstance(effect, Run):
            return await asyncio.to_thread(effect.function)
        try:
            if isinstance(effect, Download):
                return await self._download(effect)
            async with self._http.stream(**_request(effect), content=_stream_async(effect)) as answer:
                body = BufferedBody(answer, effect.timeout_s, effect.limit_bytes)
                async for chunk in answer.aiter_bytes():
                    body.append(chunk)
                return _read(answer, body)
        except BaseException as exc:  # noqa: BLE001  also CancelledError: its traceback holds the key
            fault = explain(exc, effect)
        raise fault  # outside the handler: drops httpx's exception, whose request holds the key

    async def _download(self, effect: Download) -> ServiceResponse:
        async with self._http.stream("GET", **_download_request(effect)) as answer:
            if answer.status_code not in (200, 206):
                body = BufferedBody(answer, effect.timeout_s, _LARGEST_REFUSAL_BYTES)
                async for chunk in answer.aiter_bytes():
                    body.append(chunk)
                return ServiceResponse(answer.status_code, answer.headers, body.join())
            if effect.is_cached and effect.is_cached(_headers_of(answer)):
                return ServiceResponse(HTTPStatus.NOT_MODIFIED, _headers_of(answer), b"")
            with _Target(effect, answer) as target:  # short writes to a local disk need no thread
                async for chunk in answer.aiter_bytes():
                    target.write(chunk)
        return _received(answer, effect.part, target.sha256)

    async def close(self) -> None:
        """Close the connections; a client that the caller passed in stays open."""
        own, self._own = self._own.get(asyncio.get_running_loop()), {}
        if own is not None:
            await own.aclose()


def _request(call: Call) -> dict[str, Any]:
    """Return the arguments of httpx for a call, without its body."""
    headers = {"Accept-Encoding": ", ".join(_ENCODINGS)}
    if isinstance(call.content, Path):
        headers["Content-Length"] = str(call.content.stat().st_size)
    elif call.content is not None:
        headers["Content-Length"] = str(len(call.content))
    kind = "application/json" if call.content is None else "application/octet-stream"
    if call.content is not None or call.json is not None:
        headers["Content-Type"] = kind
    return {
        "method": call.method,
        "url": call.url,
        "params": dict(call.params) or None,
        "timeout": _timeout(call.timeout_s),
        "follow_redirects": False,  # a redirect would send the key elsewhere
        "headers": headers | ({"x-api-key": call.key.get_secret_value()} if call.key else {}),
    }


def _write_json(content: Any) -> bytes:
    """Serialise a body as JSON.

    Raises:
        FoldnoteError: it contains a value that JSON cannot represent.
    """
    try:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError as exc:
        near = exc.object[max(0, exc.start - _NEAR) : exc.end]
        reason = f"unpaired surrogate after {near[:-1]!r}"
    except (TypeError, ValueError) as exc:
        path, fault = next(_find_unsendable(content, ()), ((), str(exc)))
        place = f"{'.'.join(path[path[:1] == ('settings',) :])}: " if path else ""
        raise FoldnoteError(f"{place}This cannot be sent as JSON: {fault}.") from None
    raise FoldnoteError(f"This cannot be sent as JSON: {reason}.")


def _find_unsendable(content: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the path and the fault of each value that JSON cannot represent."""
    if len(path) > _DEEPEST:
        return
    if isinstance(content, float) and not isfinite(content):
        yield path, "numbers must be finite, and NaN and infinity are not"
    elif isinstance(content, Mapping):
        for name, value in content.items():
            yield from _find_unsendable(value, (*path, str(name)))
    elif isinstance(content, list | tuple):
        for place, value in enumerate(content):
            yield from _find_unsendable(value, (*path, str(place)))
    elif not isinstance(content, str | int | float | None):
        yield path, f"give text, numbers, lists or dicts, not a Python {type(content).__name__}"


def _download_request(download: Download) -> dict[str, Any]:
    have = download.part.stat().st_size if download.part.exists() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        mark = read_etag(download.part)
        headers |= {"Range": f"bytes={have}-"} | ({"If-Range": mark} if mark else {})
    return {
        "url": download.url,
        "headers": headers,
        "timeout": _timeout(download.timeout_s),
        "follow_redirects": True,
    }


def _timeout(seconds: float) -> httpx.Timeout:
    """Limit the connection to a few seconds; a long time-out applies to the answer only."""
    return httpx.Timeout(seconds, connect=min(seconds, _CONNECT_S))


def _stream(call: Call) -> bytes | Iterator[bytes] | None:
    if call.json is not None:
        return _write_json(call.json)
    if isinstance(call.content, Path) or (call.content is not None and call.report):
        return _read_chunks(call)
    return call.content


def _stream_async(call: Call) -> bytes | AsyncIterator[bytes] | None:
    if call.json is not None:
        return _write_json(call.json)
    if isinstance(call.content, Path) or (call.content is not None and call.report):
        return _read_chunks_async(call)
    return call.content


def _open_content(call: Call) -> tuple[IO[bytes], int]:
    """Open the body; returns the stream and its size in bytes."""
    if isinstance(call.content, Path):
        return call.content.open("rb"), call.content.stat().st_size
    content = call.content or b""
    return io.BytesIO(content), len(content)


def _read_chunks(call: Call) -> Iterator[bytes]:
    body, size = _open_content(call)
    with body:
        while chunk := body.read(_CHUNK_BYTES):
            yield chunk
            if call.report:  # httpx asks for more, so the last chunk was sent
                call.report(body.tell(), size)


async def _read_chunks_async(call: Call) -> AsyncIterator[bytes]:
    body, size = _open_content(call)
    with body:
        while chunk := await asyncio.to_thread(body.read, _CHUNK_BYTES):
            yield chunk
            if call.report:
                call.report(body.tell(), size)


def _read(response: httpx.Response, body: BufferedBody) -> ServiceResponse:
    answer = ServiceResponse(response.status_code, response.headers, body.join())
    return _mask_key(answer, response.request.headers.get("x-api-key", ""))


class _Target:
    """The file that a body is written to, with its progress callback."""

    def __init__(self, download: Download, answer: httpx.Response) -> None:
        self._limit = BodyLimit(answer, download.timeout_s, download.limit_bytes)
        self._part = download.part
        expected = _announced_size(answer)
        if expected is not None and expected > download.limit_bytes:
            self._raise_too_large()
        mode = _mode(answer, download.part)
        self._file = download.part.open(mode)
        self._hash = BackgroundHash(download.part, self._file.tell())
        self.sha256: str | None = None
        """SHA-256 (hex) of the complete file; None until it is closed."""
        self._report = download.report
        self._total = expected

    def write(self, chunk: bytes) -> None:
        self._limit.count(len(chunk))
        if self._file.tell() + len(chunk) > self._limit.limit_bytes:
            self._raise_too_large()
        self._file.write(chunk)
        self._hash.update(chunk)
        if self._report:
            self._report(self._file.tell(), self._total)

    def _raise_too_large(self) -> NoReturn:
        self._part.unlink(missing_ok=True)
        raise ResultError(
            f"The download is larger than {self._limit.limit_bytes / 1e9:g} GB. If it may be, set"
            " FOLDNOTE_LARGEST_DOWNLOAD_GB to its size in GB, then try again."
        )

    def __enter__(self) -> _Target:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self.sha256 = self._hash.close()


def _mode(response: httpx.Response, part: Path) -> str:
    """Return the mode to open the partial file: append (``ab``) or overwrite (``wb``).

    Raises:
        ServiceUnreachableError: the body starts at another byte or belongs to another content; the partial
        file is deleted.
    """
    etag, known = response.headers.get("etag"), read_etag(part)
    if response.status_code != 206:
        write_etag(part, etag)
        return "wb"
    have = part.stat().st_size if part.exists() else 0
    if known and etag and known != etag:
        part.unlink(missing_ok=True)
        raise ServiceUnreachableError("The file at the service changed during the download.")
    if not response.headers.get("content-range", "").replace(" ", "").startswith(f"bytes{have}-"):
        part.unlink(missing_ok=True)
        raise ServiceUnreachableError(
            f"The download was not resumed at byte {have}, where it was interrupted."
        )
    return "ab"


def _received(response: httpx.Response, part: Path, sha256: str | None) -> ServiceResponse:
    """Compare the announced length with the file on disk; returns the answer.

    Raises:
        ServiceUnreachableError: the body ended early (the partial file stays, and the next try resumes), or
            it is longer than announced (the partial file is deleted).
        ProtocolError: the announced length is invalid.
    """
    expected, found = _announced_size(response), part.stat().st_size
    if expected is not None and found != expected:
        if found > expected:
            part.unlink(missing_ok=True)
        raise ServiceUnreachableError(f"The download ended after {found} of {expected} bytes.")
    return ServiceResponse(response.status_code, _headers_of(response), b"", sha256)


def _headers_of(response: httpx.Response) -> httpx.Headers:
    """Return the headers of a download, with the hash from the service's redirect to an object store."""
    headers = response.headers.copy()
    for each in response.history:
        if _HASH_HEADER in each.headers:
            headers[_HASH_HEADER] = each.headers[_HASH_HEADER]
    return headers


def _announced_size(response: httpx.Response) -> int | None:
    """Return the size of the complete file in bytes; None if the service does not report it."""
    if response.headers.get("content-encoding", "identity") != "identity":
        return None  # Content-Length counts compressed bytes
    whole = response.headers.get("content-range", "").rpartition("/")[2]
    text = whole or response.headers.get("content-length")
    if text is None or text == "*":
        return None
    try:
        return int(text)
    except ValueError as exc:
        raise ProtocolError(f"The service sent a download with the length {text!r}.") from exc


class BodyLimit:
    """Limits the size and the minimum rate of a body."""

    def __init__(
        self,
        response: httpx.Response,
        timeout_s: float,
        limit_bytes: int,
    ) -> None:
        """Begin with an answer whose body is still unread.

        Args:
            timeout_s: interval in seconds over which the mean rate must reach 1 kB/s.
            limit_bytes: largest body in bytes, after decompression.

        Raises:
            ProtocolError: its content encoding was not requested.
        """
        self.limit_bytes = limit_bytes
        self._address = str(response.request.url.copy_with(query=None))
        self._timeout_s = timeout_s
        self._begin, self._received_bytes = time.monotonic(), 0
        encodings = response.headers.get("content-encoding", "identity").replace(" ", "").split(",")
        for encoding in encodings:
            if encoding not in ("identity", "", *_ENCODINGS):
                raise ProtocolError(
                    f"The service compressed its answer with {encoding!r}, which was not requested."
                )
        if len(encodings) > 1:
            raise ProtocolError("The service compressed its answer more than once.")

    def count(self, size: int) -> None:
        """Count received bytes.

        Raises:
            RequestTimeoutError: the body arrives too slowly.
        """
        self._received_bytes += size
        passed_s = time.monotonic() - self._begin
        if passed_s < self._timeout_s:
            return
        if self._received_bytes < passed_s * _SLOWEST_BYTES_PER_S:
            raise RequestTimeoutError(
                f"{self._address} sends too slowly: {self._received_bytes:,} bytes in {passed_s:.0f} s."
                " Try again later.",
                was_sent=True,
            )
        self._begin, self._received_bytes = time.monotonic(), 0


class BufferedBody:
    """A body that is kept in memory."""

    def __init__(self, response: httpx.Response, timeout_s: float, limit_bytes: int) -> None:
        """Begin with an answer whose body is still unread.

        Raises:
            ProtocolError: its announced size exceeds ``limit_bytes``.
        """
        self._limit = BodyLimit(response, timeout_s, limit_bytes)
        self._size = 0
        self._chunks: list[bytes] = []
        announced = response.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > limit_bytes and response.request.method != "HEAD":
            self._raise_too_large()

    def append(self, chunk: bytes) -> None:
        """Add the next bytes.

        Raises:
            ProtocolError: the body exceeds the limit.
            RequestTimeoutError: the body arrives too slowly.
        """
        self._limit.count(len(chunk))
        self._size += len(chunk)
        if self._size > self._limit.limit_bytes:
            self._raise_too_large()
        self._chunks.append(chunk)

    def join(self) -> bytes:
        """Return the complete body."""
        return b"".join(self._chunks)

    def _raise_too_large(self) -> None:
        self._chunks.clear()
        raise ProtocolError(
            f"The service's answer is larger than {self._limit.limit_bytes / 1e6:g} MB and was not read."
            " If it may be, set FOLDNOTE_LARGEST_ANSWER_MB to its size in MB; of a list, ask for fewer rows."
        )


def _mask_key(answer: ServiceResponse, key: str) -> ServiceResponse:
    """Mask the request's ``key`` in the answer; an empty ``key`` leaves it unchanged."""
    if len(key) < _SHORTEST_KEY:
        return answer
    body, headers = answer.body, dict(answer.headers)
    for form in {key, quote(key, safe="")}:
        body = body.replace(form.encode(), _MASK.encode())
        headers = {name: value.replace(form, _MASK) for name, value in headers.items()}
    return replace(answer, body=body, headers=headers)
