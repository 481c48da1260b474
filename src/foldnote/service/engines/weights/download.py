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

_FRUITLESS_TRIES = 3
_PAUSE_S = 0.5
_CONNECT_S, _READ_S = 20.0, 60.0
_MAX_REDIRECTS = 5
_SPARE_BYTES = 100_000_000
"""Bytes to leave free on the disk."""
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_BY_HAND = "Or fetch it on any machine, and install with --weights FOLDER."


class _CutError(Exception):
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
    _note_of(part).unlink(missing_ok=True)


def _note_of(part: Path) -> Path:
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
            before = self._have
            try:
                # a new client for each attempt, so that no cookie is kept
                with httpx.Client(
                    timeout=timeout, max_redirects=_MAX_REDIRECTS, follow_redirects=True
                ) as client:
                    client.event_hooks = {"request": [self._check_request]}
                    self._try(client)
                return
            except httpx.TooManyRedirects as exc:
                raise self._refusal("is redirected again and again") from exc
            except (httpx.TransportError, _CutError) as exc:
                fruitless = 0 if self._have > before else fruitless + 1
                if fruitless >= _FRUITLESS_TRIES:
                    raise self._broken(exc) from exc
                time.sleep(_PAUSE_S * fruitless)
            except (httpx.InvalidURL, httpx.HTTPError) as exc:
                raise self._refusal(f"cannot be fetched ({exc})") from exc

    @property
    def _have(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _check_request(self, request: httpx.Request) -> None:
        """Refuse a URL before it is requested, including those of redirects."""
        url = str(request.url)
        if reason := explain_address(url, local=is_local(self._weights.url)):
            raise self._refusal(f"is redirected to {url}, and {reason}")
        for name in ("authorization", "cookie", "referer"):
            request.headers.pop(name, None)

    def _try(self, client: httpx.Client) -> None:
        note, have = self._read_note(), self._have
        if have and not note.get("validator"):
            have = 0  # the version of the partial file is unknown
        headers = {"Accept-Encoding": "identity", "User-Agent": "foldnote"}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": note["validator"]}
        with client.stream("GET", self._weights.url, headers=headers) as answer:
            if answer.status_code == 416 and have:
                self._finish_or_restart(answer, have)
                return
            self._check_status(answer)
            begin = self._find_begin(answer, have)
            self._total = self._find_total(answer, begin)
            self._check_room(self._total - begin)
            self._write_note(answer)
            self._receive(answer, begin)

    def _check_status(self, answer: httpx.Response) -> None:
        status = answer.status_code
        if status in _AGAIN:
            raise _CutError(f"it answers {status} {answer.reason_phrase}")
        if status not in (200, 206):
            moved = " Its authors may have moved it." if status in (401, 403, 404, 410) else ""
            raise self._refusal(f"answers {status} {answer.reason_phrase}.{moved}", ends=False)
        if answer.headers.get("content-type", "").startswith("text/html"):
            raise self._refusal("answers with a web page instead of the file")
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise self._refusal("answers in an encoding that was not asked for")

    def _find_begin(self, answer: httpx.Response, have: int) -> int:
        """Return the offset of the first byte of the response; 0 if the server sends the whole file again."""
        if answer.status_code == 200:
            return 0
        found = re.match(r"bytes (\d+)-", answer.headers.get("content-range", ""))
        if found is None or int(found[1]) != have:
            discard(self._part)
            raise _CutError("it sent another part than was asked for")
        return have

    def _find_total(self, answer: httpx.Response, begin: int) -> int:
        """Return the size of the whole file, without which a truncated download could pass for complete."""
        told = re.search(r"/(\d+)$", answer.headers.get("content-range", ""))
        length = answer.headers.get("content-length", "")
        total = (
            int(told[1]) if told else begin + int(length) if length.isdigit() else self._weights.size_bytes
        )
        declared = self._weights.size_bytes
        if declared and total != declared:
            discard(self._part)
            raise self._refusal(f"has {total:,} bytes now, and {declared:,} were published")
        if not total and not self._weights.sha256:
            raise self._refusal("does not say how long the file is, and no SHA-256 of it is published")
        return total

    def _check_room(self, needed: int) -> None:
        free = shutil.disk_usage(self._part.parent).free - _SPARE_BYTES
        if needed > free:
            raise OSError(errno.ENOSPC, "not enough room")

    def _receive(self, answer: httpx.Response, begin: int) -> None:
        have = begin
        with self._part.open("ab" if begin else "wb") as stream:
            for chunk in answer.iter_raw():
                have += len(chunk)
                if self._total and have > self._total:
                    raise self._refusal(f"sends more than the {self._total:,} bytes that it announced")
                stream.write(chunk)
                self._progress(have, self._total)
        if have < self._total:
            raise _CutError(f"it was cut off at {format_size(have)} of {format_size(self._total)}")

    def _finish_or_restart(self, answer: httpx.Response, have: int) -> None:
        """Handle a server without further bytes: the file is complete, or has changed."""
        if answer.headers.get("content-range") == f"bytes */{have}":
            return
        discard(self._part)
        raise _CutError("the file changed at its address")

    def _read_note(self) -> dict[str, str]:
        try:
            note = json.loads(_note_of(self._part).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) and note.get("url") == self._weights.url else {}

    def _write_note(self, answer: httpx.Response) -> None:
        """Record the version, so that only the same version is resumed (RFC 9110, section 13.1.5)."""
        etag = answer.headers.get("etag", "")
        validator = etag if etag and not etag.startswith("W/") else answer.headers.get("last-modified", "")
        content: dict[str, Any] = {"url": self._weights.url, "validator": validator}
        write_atomically(_note_of(self._part), json.dumps(content))

    def _refusal(self, what: str, *, ends: bool = True) -> EngineInstallError:
        named = f"The address of {self._weights.name} ({_without_query(self._weights.url)}) {what}"
        return EngineInstallError(f"{named}{'.' if ends else ''} {_BY_HAND}")

    def _broken(self, exc: Exception) -> EngineInstallError:
        reason = str(exc) or type(exc).__name__
        have = f" {format_size(self._have)} of it are there, and" if self._have else ""
        then = "installing it again continues from there." if have else "Check the network and try again."
        return EngineInstallError(
            f"{self._weights.name} could not be fetched from {self._weights.host}: {reason}.{have}"
            f" {then} {_BY_HAND}"
        )


def _without_query(url: str) -> str:
    return urlsplit(url)._replace(query="", fragment="").geturl()
