"""The requests of a node to the service, with the standard library's HTTP client.

An agent makes few and small requests, so it does not need a client that takes a tenth of a second to import.
The requests of one attempt share a connection, and small outputs are sent with the outcome.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import json
import os
import shutil
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import IOBase
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from foldnote.service.node.order import NodeInput, NodeOrder
from foldnote.service.runner.attempt import Outcome, as_content

_TIMEOUT_S = 30.0
_CHUNK_BYTES = 1 << 20
INLINE_BYTES = 256 << 10
"""Maximum total size of outputs that are sent with the outcome, in bytes."""
_MAX_RESPONSE_BYTES = 64 << 20
_REDIRECT = 307
_ATTEMPT_TAKEN_STATUSES = frozenset({403, 409})
"""The attempt no longer belongs to this node."""
_REJECTED_STATUSES = frozenset({400, 404, 413})


class NodeConnectionError(Exception):
    """The service cannot be reached, or is busy; the same request may succeed later."""


class AttemptTakenError(Exception):
    """The service does not give this node the attempt, or has withdrawn it."""


class NotAcceptedError(Exception):
    """The service cannot accept the request, now or later."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """The service's response to a heartbeat."""

    cancel_grace_s: float | None
    """Seconds between TERM and KILL if the attempt must stop; None to continue."""
    log_bytes: int
    """Size of the log at the service."""


@dataclass(frozen=True, slots=True)
class StartedAttempt:
    """An attempt that the service lets this node run."""

    token: str
    order: NodeOrder


@dataclass(frozen=True, slots=True)
class Report:
    """The newest progress, and a part of the log."""

    progress: float | None
    message: str | None
    log: bytes
    log_offset: int
    """Offset of that part in the log, in bytes."""

    def as_content(self) -> dict[str, Any]:
        """Return the fields of a request."""
        log = base64.b64encode(self.log).decode()
        return {
            "progress": self.progress,
            "message": self.message,
            "log": log,
            "logOffset": self.log_offset,
        }


class NodeConnection:
    """A connection that is kept between requests, for one thread at a time.

    Args:
        url: address of the service.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: http.client.HTTPConnection | None = None

    def send(
        self, method: str, path: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Send a request and return the content of the response.

        If the service has closed the kept connection, the request is sent again over a new one, so it may
        arrive twice.

        Raises:
            AttemptTakenError: the service does not give this node the attempt.
            NodeConnectionError: the service cannot be reached.
            NotAcceptedError: the service cannot accept the request.
        """
        is_reused = self._connection is not None
        start_offset = body.tell() if isinstance(body, IOBase) else 0
        try:
            status, content = self._request(method, path, body, headers)
        except (OSError, http.client.HTTPException) as exc:
            self.close()
            if not is_reused or isinstance(exc, TimeoutError):
                raise _unreachable_error(self.url, exc) from exc
            if isinstance(body, IOBase):
                body.seek(start_offset)
            return self.send(method, path, body, headers)
        return _check_status(self.url, status, content)

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _request(
        self, method: str, path: str, body: bytes | IO[bytes] | None, headers: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = _connect(self.url)
        self._connection.request(
            method, urlsplit(self.url).path.rstrip("/") + path, body, dict(headers or {})
        )
        response = self._connection.getresponse()
        content = response.read(_MAX_RESPONSE_BYTES)
        _require_whole(response)
        return response.status, content


def start_attempt(connection: NodeConnection, job_id: int, number: int, nonce: str) -> StartedAttempt:
    """Exchange the nonce for a token and the order; the request is sent once, over a new connection.

    Raises:
        AttemptTakenError: the nonce was used, or the attempt may not start.
        NodeConnectionError: the service cannot be reached.
        NotAcceptedError: the service does not know this request.
    """
    body = {"jobId": job_id, "number": number, "nonce": nonce}
    connection.close()
    return _parse_started_attempt(
        connection.url, connection.send("POST", "/internal/attempts/start", _encode_json(body))
    )


class AttemptLink:
    """The requests for one attempt; each raises what ``start_attempt`` raises.

    Args:
        connection: the attempt's connection. Heartbeats use another one, so that an upload does not delay
            them.
        started: the attempt.
    """

    def __init__(self, connection: NodeConnection, started: StartedAttempt) -> None:
        self._connection = connection
        self._heartbeat_connection = NodeConnection(connection.url)
        self._path = f"/internal/attempts/{started.order.job_id}/{started.order.number}"
        self._headers = {"Authorization": f"Bearer {started.token}"}

    def close(self) -> None:
        """Close the connection of the heartbeats, after the last one."""
        self._heartbeat_connection.close()

    def send_heartbeat(self, report: Report) -> Instruction:
        """Renew the lease; called by one thread only."""
        body = _encode_json(report.as_content())
        response = self._heartbeat_connection.send("POST", f"{self._path}/heartbeat", body, self._headers)
        with _reading_response(self._heartbeat_connection.url):
            content = json.loads(response)
            return Instruction(content["cancelGraceS"], content["logBytes"])

    def upload(self, path: Path) -> None:
        """Upload a file under its name, with its hash.

        Raises:
            OSError: it cannot be read.
        """
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            headers = {"x-content-sha256": digest, "Content-Length": str(os.fstat(content.fileno()).st_size)}
            self._connection.send(
                "PUT", f"{self._path}/outputs/{path.name}", content, {**self._headers, **headers}
            )

    def finish(
        self, outcome: Outcome, outputs: Mapping[str, bytes], report: Report, *, takes_next: bool
    ) -> StartedAttempt | None:
        """Report how the attempt ended, after large outputs were uploaded.

        Args:
            outcome: outcome of the attempt.
            outputs: outputs that were not uploaded, by name.
            report: the last progress, and the end of the log.
            takes_next: whether this node is ready to run another attempt now. The response to a repeated
                request contains the same one.

        Returns:
            The next attempt, already begun; None if there is none for this node.
        """
        content: dict[str, Any] = {_to_camel(name): value for name, value in as_content(outcome).items()}
        content["outputs"] = {name: base64.b64encode(each).decode() for name, each in outputs.items()}
        content["takesNext"] = takes_next
        content |= report.as_content()
        response = self._connection.send(
            "POST", f"{self._path}/outcome", _encode_json(content), self._headers
        )
        return _parse_started_attempt(self._connection.url, response) if response else None


def fetch_input(given: NodeInput, target: Path) -> None:
    """Download an input by its signed link.

    Raises:
        NotAcceptedError: its hash or size differs.
        NodeConnectionError: the service cannot be reached.
        AttemptTakenError: the link is no longer valid.
        OSError: the target cannot be written.
    """
    with target.open("wb") as stream:
        redirect_url = _download(given.url, stream)
        if redirect_url is not None and _download(redirect_url, stream) is not None:
            raise NodeConnectionError(f"The input {given.name!r} is redirected twice.")
    with target.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != given.sha256 or target.stat().st_size != given.size_bytes:
        raise NotAcceptedError(
            f"The input {given.name!r} arrived with another content than it was sent with."
        )


def _download(url: str, stream: IO[bytes]) -> str | None:
    """Write the content of a link; return a URL if it redirects there, to the service's object store."""
    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}"
    with contextlib.closing(_connect(server)) as connection:
        try:
            connection.request("GET", f"{parts.path}?{parts.query}")
            response = connection.getresponse()
            if response.status == _REDIRECT:
                return response.getheader("Location", "")
            if response.status == 200:
                shutil.copyfileobj(response, stream, _CHUNK_BYTES)
                _require_whole(response)
            else:
                _check_status(server, response.status, response.read(_MAX_RESPONSE_BYTES))
        except (OSError, http.client.HTTPException) as exc:
            raise _unreachable_error(server, exc) from exc
    return None


class _Connection(http.client.HTTPConnection):
    """Sends the head of a request together with the start of its body, so that the service wakes up once."""

    _head: bytes | None = None
    """The head, until more is sent; empty before it is known, None outside of ``endheaders``."""

    def endheaders(self, message_body: Any = None, *, encode_chunked: bool = False) -> None:
        self._head = b""
        super().endheaders(message_body, encode_chunked=encode_chunked)
        head, self._head = self._head, None
        if head:  # there is no body
            super().send(head)

    def send(self, data: Any) -> None:
        if self._head == b"":
            self._head = data
            return
        head, self._head = self._head, None
        super().send(data if head is None else head + data)


class _TlsConnection(_Connection, http.client.HTTPSConnection):
    """The same, encrypted."""


def _connect(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return _TlsConnection(host, parts.port, timeout=_TIMEOUT_S, context=context)
    return _Connection(host, parts.port, timeout=_TIMEOUT_S)


def _check_status(url: str, status: int, content: bytes) -> bytes:
    if status >= 300:
        raise _error_class(status)(_read_error_message(content) or f"{url} answered {status}")
    return content


def _unreachable_error(url: str, reason: Exception) -> NodeConnectionError:
    return NodeConnectionError(f"{url} cannot be reached: {reason or type(reason).__name__}")


def _require_whole(response: http.client.HTTPResponse) -> None:
    """Refuse a content that is shorter than declared, since the connection was lost; ``read`` does not."""
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)


@contextlib.contextmanager
def _reading_response(url: str) -> Iterator[None]:
    """Treat an unreadable response, such as a proxy's page, as none."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as exc:
        raise NodeConnectionError(f"{url} gave an answer that is not the service's") from exc


def _parse_started_attempt(url: str, response: bytes) -> StartedAttempt:
    with _reading_response(url):
        content = json.loads(response)
        return StartedAttempt(content["token"], NodeOrder.from_content(content["order"]))


def _error_class(status: int) -> Callable[[str], Exception]:
    if status in _ATTEMPT_TAKEN_STATUSES:
        return AttemptTakenError
    return NotAcceptedError if status in _REJECTED_STATUSES else NodeConnectionError


def _read_error_message(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def _encode_json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body).encode()


def _to_camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
