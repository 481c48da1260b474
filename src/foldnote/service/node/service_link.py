"""The requests of a node to the service, by the standard library's HTTP client.

An agent makes few and small requests, so it needs no client that takes a tenth of a second to import.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import shutil
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from foldnote.service.node.order import NodeInput, NodeOrder
from foldnote.service.runner.attempt import Outcome, as_content

_TIMEOUT_S = 30.0
_CHUNK_BYTES = 1 << 20
_ANSWER_BYTES = 64 << 20
_LOST = frozenset({403, 409})
"""The attempt belongs to this node no longer."""
_WRONG = frozenset({400, 404, 413})


class ServiceAwayError(Exception):
    """The service cannot be reached, or is busy; the same request may succeed later."""


class AttemptTakenError(Exception):
    """The service does not let this node have the attempt, or no longer does."""


class NotAcceptedError(Exception):
    """The service cannot accept the request, now or later."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the service says in return for a heartbeat."""

    cancel_grace_s: float | None
    """Seconds between TERM and KILL if the attempt is to be stopped; None to continue."""
    log_bytes: int
    """Size of the log at the service."""


def start_attempt(url: str, job_id: int, number: int, nonce: str) -> tuple[str, NodeOrder]:
    """Exchange the nonce for a token; returns the token and the order.

    Raises:
        AttemptTakenError: the nonce was used, or the attempt may not start.
        ServiceAwayError: the service cannot be reached.
        NotAcceptedError: the service does not know such a request.
    """
    body = {"jobId": job_id, "number": number, "nonce": nonce}
    answer = json.loads(_send(url, "POST", "/internal/attempts/start", _json(body)))
    return answer["token"], NodeOrder.from_content(answer["order"])


class AttemptLink:
    """The requests for one attempt; each raises what ``start_attempt`` raises."""

    def __init__(self, url: str, job_id: int, number: int, token: str) -> None:
        self._url = url
        self._path = f"/internal/attempts/{job_id}/{number}"
        self._headers = {"Authorization": f"Bearer {token}"}

    def send_heartbeat(
        self, progress: float | None, message: str | None, log: bytes, log_offset: int
    ) -> Instruction:
        """Renew the lease, with the latest progress and a part of the log."""
        body = {"progress": progress, "message": message, "logOffset": log_offset}
        if log:
            body["log"] = base64.b64encode(log).decode()
        answer = json.loads(self._send("POST", "/heartbeat", _json(body)))
        return Instruction(answer["cancelGraceS"], answer["logBytes"])

    def upload(self, path: Path) -> None:
        """Upload a file under its name, with its hash.

        Raises:
            OSError: it cannot be read.
        """
        with path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            content.seek(0)
            headers = {"x-content-sha256": digest, "Content-Length": str(os.fstat(content.fileno()).st_size)}
            self._send("PUT", f"/outputs/{path.name}", content, headers)

    def finish(self, outcome: Outcome) -> None:
        """Report how the attempt ended, once everything else is uploaded."""
        content = {_to_camel(name): value for name, value in as_content(outcome).items()}
        self._send("POST", "/outcome", _json(content))

    def _send(
        self, method: str, path: str, body: bytes | IO[bytes], headers: Mapping[str, str] | None = None
    ) -> bytes:
        return _send(self._url, method, self._path + path, body, {**self._headers, **(headers or {})})


def fetch_input(given: NodeInput, target: Path) -> None:
    """Download an input by its signed link.

    Raises:
        NotAcceptedError: it has another hash or size.
        ServiceAwayError: the service cannot be reached.
        AttemptTakenError: the link is not valid any more.
        OSError: the target cannot be written.
    """
    parts = urlsplit(given.url)
    base = f"{parts.scheme}://{parts.netloc}"
    with target.open("xb") as stream:
        _send(base, "GET", f"{parts.path}?{parts.query}", None, None, stream)
    with target.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != given.sha256 or target.stat().st_size != given.size_bytes:
        raise NotAcceptedError(
            f"The input {given.name!r} arrived with another content than it was sent with."
        )


def _send(
    url: str,
    method: str,
    path: str,
    body: bytes | IO[bytes] | None,
    headers: Mapping[str, str] | None = None,
    target: IO[bytes] | None = None,
) -> bytes:
    connection, prefix = _connect(url)
    try:
        connection.request(method, prefix + path, body, dict(headers or {}))
        response = connection.getresponse()
        if target is not None and response.status == 200:
            shutil.copyfileobj(response, target, _CHUNK_BYTES)
            return b""
        content = response.read(_ANSWER_BYTES)
    except (OSError, http.client.HTTPException) as exc:
        raise ServiceAwayError(f"{url} cannot be reached: {exc or type(exc).__name__}") from exc
    finally:
        connection.close()
    if response.status >= 300:
        raise _fault(response.status)(_sentence(content) or f"{url} answered {response.status}")
    return content


def _connect(url: str) -> tuple[http.client.HTTPConnection, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        secure = http.client.HTTPSConnection(
            host, parts.port, timeout=_TIMEOUT_S, context=ssl.create_default_context()
        )
        return secure, parts.path.rstrip("/")
    return http.client.HTTPConnection(host, parts.port, timeout=_TIMEOUT_S), parts.path.rstrip("/")


def _fault(status: int) -> Callable[[str], Exception]:
    if status in _LOST:
        return AttemptTakenError
    return NotAcceptedError if status in _WRONG else ServiceAwayError


def _sentence(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body).encode()


def _to_camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
