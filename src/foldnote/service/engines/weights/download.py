"""Download one file over HTTP into a partial file, resuming where an earlier attempt stopped.

Only https addresses are requested, and http addresses of this machine if the declared address is one of them;
the same holds for redirects. No key, cookie or user name is sent. The caller verifies the content.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foldnote.errors import EngineInstallError
from foldnote.io import compare_space, write_atomically
from foldnote.service.engines.weights.declared import Weights, explain_address, is_local
from foldnote.service.files.conditions import is_full
from foldnote.text import format_size

if TYPE_CHECKING:
    import httpx

Progress = Callable[[int, int], None]
"""Called with the number of bytes received and the total; 0 if the total is unknown."""

_MAX_FRUITLESS_TRIES = 3
_PAUSE_S = 0.5
_CONNECT_S, _READ_S = 20.0, 60.0
_MAX_REDIRECTS = 5
_SPARE_BYTES = 100_000_000
"""Bytes to leave free on the disk."""
_RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_MANUAL_DOWNLOAD_HINT = "Or fetch it on any machine, and install with --weights FOLDER."


class _InterruptedError(Exception):
    """The transfer was interrupted, or the server asks to retry later."""


def download(weights: Weights, part: Path, progress: Progress) -> None:
    """Complete ``part`` with the content of the address, resuming an earlier attempt.

    A JSON file beside ``part`` records the version of the content. After an error ``part`` is kept for the
    next attempt, unless the disk was full.

    Args:
        weights: the file to download.
        part: the partial file; no other process may write it.
        progress: called for each piece.

    Raises:
        EngineInstallError: what failed, and what to do.
        OSError: the partial file cannot be written.
    """
    try:
        _Download(weights, part, progress).run()
    except OSError as exc:
        if not is_full(exc):
            raise
        discard(part)
        raise EngineInstallError(
            f"The disk has too little space: {weights.name} ({weights.size_in_words}) is not installed, and"
            f" its incomplete files were removed. {compare_space(part, weights.expected_bytes)}"
            f"Free space in {part.parent.parent}, or choose another"
            " folder with FOLDNOTE_WEIGHTS_DIR. Then install again."
        ) from exc


def discard(part: Path) -> None:
    """Remove a partial file and the note beside it."""
    part.unlink(missing_ok=True)
    _metadata_path(part).unlink(missing_ok=True)


def _metadata_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


class _Download:
    """The download of one file, over as many connections as needed."""

    def __init__(self, weights: Weights, part: Path, progress: Progress) -> None:
        self._weights = weights
        self._part = part
        self._progress = progress
        self._total = 0

    def run(self) -> None:
        import httpx  # deferred: slow to import

        fruitless = 0
        timeout = httpx.Timeout(_READ_S, connect=_CONNECT_S)
        while True:
            before = self._received_bytes
            try:
                # a new client for each attempt, so that no cookie is kept
                with httpx.Client(
                    timeout=timeout, max_redirects=_MAX_REDIRECTS, follow_redirects=True
                ) as client:
                    client.event_hooks = {"request": [self._check_request]}
                    self._request_file(client)
                return
            except httpx.TooManyRedirects as exc:
                raise self._address_error("is redirected again and again") from exc
            except (httpx.TransportError, _InterruptedError) as exc:
                fruitless = 0 if self._received_bytes > before else fruitless + 1
                if fruitless >= _MAX_FRUITLESS_TRIES:
                    raise self._connection_error(exc) from exc
                time.sleep(_PAUSE_S * fruitless)
            except (httpx.InvalidURL, httpx.HTTPError) as exc:
                raise self._address_error(f"cannot be fetched ({exc})") from exc

    @property
    def _received_bytes(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _check_request(self, request: httpx.Request) -> None:
        """Refuse a URL before it is requested, including those of redirects."""
        url = str(request.url)
        if reason := explain_address(url, local=is_local(self._weights.url)):
            raise self._address_error(f"is redirected to {url}, and {reason}")
        for name in ("authorization", "cookie", "referer"):
            request.headers.pop(name, None)

    def _request_file(self, client: httpx.Client) -> None:
        metadata, received = self._read_metadata(), self._received_bytes
        if received and not metadata.get("validator"):
            received = 0  # the version of the partial file is unknown
        headers = {"Accept-Encoding": "identity", "User-Agent": "foldnote"}
        if received:
            headers |= {"Range": f"bytes={received}-", "If-Range": metadata["validator"]}
        with client.stream("GET", self._weights.url, headers=headers) as response:
            if response.status_code == 416 and received:
                self._finish_or_restart(response, received)
                return
            self._check_status(response)
            offset = self._find_offset(response, received)
            self._total = self._find_total_bytes(response, offset)
            self._check_free_space(self._total - offset)
            self._write_metadata(response)
            self._write_body(response, offset)

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status in _RETRIED_STATUSES:
            raise _InterruptedError(f"it answers {status} {response.reason_phrase}")
        if status not in (200, 206):
            moved = " Its authors may have moved it." if status in (401, 403, 404, 410) else ""
            raise self._address_error(f"answers {status} {response.reason_phrase}.{moved}", ends=False)
        if response.headers.get("content-type", "").startswith("text/html"):
            raise self._address_error("answers with a web page instead of the file")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self._address_error("answers in an encoding that was not asked for")

    def _find_offset(self, response: httpx.Response, received: int) -> int:
        """Return the offset of the first byte of the response; 0 if the server sends the whole file again."""
        if response.status_code == 200:
            return 0
        found = re.match(r"bytes (\d+)-", response.headers.get("content-range", ""))
        if found is None or int(found[1]) != received:
            discard(self._part)
            raise _InterruptedError("it sent another part than was asked for")
        return received

    def _find_total_bytes(self, response: httpx.Response, offset: int) -> int:
        """Return the size of the whole file, without which a truncated download could pass for complete."""
        match = re.search(r"/(\d+)$", response.headers.get("content-range", ""))
        length = response.headers.get("content-length", "")
        total = (
            int(match[1]) if match else offset + int(length) if length.isdigit() else self._weights.size_bytes
        )
        declared = self._weights.size_bytes
        if declared and total != declared:
            discard(self._part)
            raise self._address_error(f"has {total:,} bytes now, and {declared:,} were published")
        if not total and not self._weights.sha256:
            raise self._address_error("does not say how long the file is, and no SHA-256 of it is published")
        return total

    def _check_free_space(self, needed: int) -> None:
        free = shutil.disk_usage(self._part.parent).free - _SPARE_BYTES
        if needed > free:
            raise OSError(errno.ENOSPC, "not enough room")

    def _write_body(self, response: httpx.Response, offset: int) -> None:
        received = offset
        with self._part.open("ab" if offset else "wb") as stream:
            for chunk in response.iter_raw():
                received += len(chunk)
                if self._total and received > self._total:
                    raise self._address_error(f"sends more than the {self._total:,} bytes that it announced")
                stream.write(chunk)
                self._progress(received, self._total)
        if received < self._total:
            raise _InterruptedError(
                f"it was cut off at {format_size(received)} of {format_size(self._total)}"
            )

    def _finish_or_restart(self, response: httpx.Response, received: int) -> None:
        """Handle a server without further bytes: the file is complete, or has changed."""
        if response.headers.get("content-range") == f"bytes */{received}":
            return
        discard(self._part)
        raise _InterruptedError("the file changed at its address")

    def _read_metadata(self) -> dict[str, str]:
        try:
            metadata = json.loads(_metadata_path(self._part).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return metadata if isinstance(metadata, dict) and metadata.get("url") == self._weights.url else {}

    def _write_metadata(self, response: httpx.Response) -> None:
        """Record the version, so that only the same version is resumed (RFC 9110, section 13.1.5)."""
        etag = response.headers.get("etag", "")
        validator = etag if etag and not etag.startswith("W/") else response.headers.get("last-modified", "")
        content: dict[str, Any] = {"url": self._weights.url, "validator": validator}
        write_atomically(_metadata_path(self._part), json.dumps(content))

    def _address_error(self, what: str, *, ends: bool = True) -> EngineInstallError:
        named = f"The address of {self._weights.name} ({_without_query(self._weights.url)}) {what}"
        return EngineInstallError(f"{named}{'.' if ends else ''} {_MANUAL_DOWNLOAD_HINT}")

    def _connection_error(self, exc: Exception) -> EngineInstallError:
        reason = str(exc) or type(exc).__name__
        received = (
            f" {format_size(self._received_bytes)} of it are there, and" if self._received_bytes else ""
        )
        then = "installing it again continues from there." if received else "Check the network and try again."
        return EngineInstallError(
            f"{self._weights.name} could not be fetched from {self._weights.host}: {reason}.{received}"
            f" {then} {_MANUAL_DOWNLOAD_HINT}"
        )


def _without_query(url: str) -> str:
    return urlsplit(url)._replace(query="", fragment="").geturl()
