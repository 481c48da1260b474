"""Resumable uploads from the browser to the service.

The browser sends a file in pieces, which the Jupyter server collects on disk; after a broken connection it
continues with the next missing piece. The server then sends the complete file to the service. Neither
``PUT /upload`` nor a presigned link accepts part of a file, so this second step restarts from the beginning
when it fails. Repeating it is safe because a file replaces one of the same name.

The data and a JSON file that describes the upload are in the cache folder, so that a restarted Jupyter server
can resume. A lock file prevents two servers of one user from handling the same upload.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Self

from foldnote import settings
from foldnote.errors import (
    ArgumentError,
    ConfigurationError,
    EmbeddedServiceError,
    FoldnoteError,
    RateLimitedError,
    ServiceFaultError,
    TransportError,
)
from foldnote.io import hold_lock, write_atomically
from foldnote.lab.responses import UploadResponse

MAX_BYTES = 20 * 1024**3
"""Maximum size of a file in bytes."""
MAX_CHUNK_BYTES = 16 * 1024**2
"""Maximum size of a piece in bytes."""
KEPT_S = 6 * 3600.0
"""Seconds for which an inactive upload is kept."""
ABANDONED_S = 600.0
"""Seconds without a request from the page after which sending to an unreachable service is abandoned."""
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds to wait after each consecutive failure to send a file; the last value is repeated."""
_MAX_NOTE_BYTES = 1 << 16
_ID = re.compile(r"[\w-]{22}")
_LOOK_S = 0.1
_TIMEOUT_S = 10.0
_TRANSIENT_ERRORS = (TransportError, EmbeddedServiceError, RateLimitedError, ServiceFaultError, TimeoutError)
"""Errors after which sending is retried."""

ReportBytes = Callable[[int, int | None], None]
SendFile = Callable[[Path, ReportBytes], Awaitable[str]]
"""Sends a complete file to the service and returns the value for a file field."""


@dataclass(frozen=True)
class PlannedUpload:
    """The file that a page uploads, and its destination.

    Attributes:
        owner: the user and the profile.
        name: the file's name at the service.
        folder: its folder there; None at the top.
        size_bytes: size of the file.
        mark: distinguishes versions of the file, for example its modification time.
    """

    owner: str
    name: str
    folder: str | None
    size_bytes: int
    mark: str = ""


@dataclass
class UploadSession:
    """One upload in progress."""

    id: str
    request: PlannedUpload
    path: Path
    hold: ExitStack
    """Holds the lock of the upload."""
    received_bytes: int = 0
    sent_bytes: int | None = None
    waiting: str | None = None
    value: str | None = None
    touched: float = field(default_factory=time.monotonic)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[str] | None = None

    @classmethod
    def begin(cls, folder: Path, request: PlannedUpload) -> Self:
        """Start a new upload in ``folder``."""
        name = secrets.token_urlsafe(16)
        path = folder / name
        path.touch(mode=0o600)
        upload = cls(name, request, path, _lock(path))
        upload._write_note()
        return upload

    @classmethod
    def find(cls, path: Path) -> Self | None:
        """Find the upload left at ``path`` by an earlier server; None if there is none or it is locked."""
        note = _note_of(path)
        if not note.is_file():
            return None
        try:
            hold = _lock(path)
        except OSError:
            return None
        try:
            with note.open("rb") as stream:
                content = json.loads(stream.read(_MAX_NOTE_BYTES))
            upload = cls(path.name, PlannedUpload(**content["wish"]), path, hold, value=content["value"])
            size = upload.request.size_bytes
            upload.received_bytes = size if upload.value else min(path.stat().st_size, size)
        except (OSError, ValueError, KeyError, TypeError):
            hold.close()
            return None
        return upload

    def describe(self) -> UploadResponse:
        """Return the progress of the upload."""
        return UploadResponse(
            id=self.id,
            size_bytes=self.request.size_bytes,
            received_bytes=self.received_bytes,
            sent_bytes=self.sent_bytes,
            waiting=self.waiting,
            path=self.value,
        )

    async def write_chunk(self, offset: int, piece: bytes) -> UploadResponse:
        """Write a piece at ``offset``; one that has been received already changes nothing.

        Raises:
            ArgumentError: an earlier piece is missing, or it extends beyond the end of the file.
            ConfigurationError: it cannot be written to disk.
        """
        async with self.lock:
            self.touched = time.monotonic()
            end = offset + len(piece)
            if offset > self.received_bytes or end > self.request.size_bytes:
                raise ArgumentError(
                    f"{self.request.name} has been received up to byte {self.received_bytes:,} of "
                    f"{self.request.size_bytes:,}; bytes {offset:,} to {end:,} do not follow."
                )
            if end > self.received_bytes:
                try:
                    await asyncio.to_thread(_write_at, self.path, offset, piece)
                except OSError as exc:
                    subject = f"The computer that runs Jupyter cannot store {self.request.name}"
                    raise ConfigurationError(
                        f"{subject}: {exc.strerror}. Free disk space there and try again."
                    ) from exc
                self.received_bytes = end
            return self.describe()

    async def finish(self, send: SendFile) -> UploadResponse:
        """Send the complete file to the service, and wait up to ``_TIMEOUT_S`` for it to finish.

        Call it again until the answer has a ``path``. While it is called, sending to an unreachable or busy
        service is retried.

        Raises:
            ArgumentError: pieces are missing, or the upload is cancelled meanwhile.
            FoldnoteError: the service refuses the file. The next call tries again.
        """
        self.touched = time.monotonic()
        if self.received_bytes != self.request.size_bytes:
            raise ArgumentError(f"{self.request.name} has not been received completely.")
        if self.value is None:
            if self.task is None:
                self.task = asyncio.create_task(self._send(send))
            was_waiting = self.waiting
            await self._wait(lambda: self.waiting != was_waiting)
            if self.task is not None and self.task.done():
                task, self.task = self.task, None
                if task.cancelled():
                    raise ArgumentError(f"The upload of {self.request.name} was cancelled.")
                self.value = task.result()
                self._write_note()  # in case the server restarts before the page has the answer
                self.path.unlink(missing_ok=True)
        return self.describe()

    def suspend(self) -> None:
        """Stop, keeping the received data for a restarted server."""
        if self.task is not None:
            self.task.cancel()
        self.hold.close()

    def close(self) -> None:
        """Stop and delete the received data."""
        _remove(self.path)
        self.suspend()

    def _write_note(self) -> None:
        content = json.dumps({"wish": asdict(self.request), "value": self.value})
        write_atomically(_note_of(self.path), content, is_private=True)

    async def _wait(self, is_news: Callable[[], bool]) -> None:
        """Wait until sending has ended, ``is_news`` is true or ``_TIMEOUT_S`` have passed."""
        end = time.monotonic() + _TIMEOUT_S
        while self.task is not None and time.monotonic() < end:
            done, _ = await asyncio.wait([self.task], timeout=_LOOK_S)
            if done or is_news():
                return

    async def _send(self, send: SendFile) -> str:
        """Send the file, retrying after ``_TRANSIENT_ERRORS``."""
        pauses_s = chain(PAUSES_S, repeat(PAUSES_S[-1]))
        try:
            while True:
                self.sent_bytes = 0
                try:
                    return await send(self.path, self._count)
                except _TRANSIENT_ERRORS as exc:
                    if time.monotonic() - self.touched > ABANDONED_S:
                        raise
                    self.sent_bytes, self.waiting = None, _explain(exc)
                await asyncio.sleep(next(pauses_s))
        finally:
            self.sent_bytes = self.waiting = None

    def _count(self, done: int, _: int | None) -> None:
        self.sent_bytes = done
        if done > 0:
            self.waiting = None
        self.touched = time.monotonic()


class Uploads:
    """The uploads of this server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, folder: Path | None = None) -> None:
        """``folder`` holds the received data; by default it is a subfolder of the cache."""
        self._clock = clock
        self._folder = folder or settings.cache_dir() / "uploads"
        self._uploads: dict[str, UploadSession] = {}

    def begin(self, request: PlannedUpload) -> UploadSession:
        """Resume the interrupted upload of ``request``, or start a new one.

        Raises:
            ArgumentError: the file is empty or too large.
        """
        self._forget_old()
        if not 0 < request.size_bytes <= MAX_BYTES:
            fault = "is empty" if request.size_bytes <= 0 else f"has more than {MAX_BYTES:,} bytes"
            raise ArgumentError(f"{request.name} {fault} and cannot be uploaded.")
        self._resume(request)
        unfinished = (
            other for other in self._uploads.values() if other.request == request and other.value is None
        )
        upload = next(unfinished, None)
        if upload is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            upload = UploadSession.begin(self._folder, request)
            self._uploads[upload.id] = upload
        return upload

    def find(self, name: str, owner: str) -> UploadSession | None:
        """Return the upload with the id ``name``; None when ``owner`` has none or it has expired."""
        upload = self._uploads.get(name)
        if upload is None and _ID.fullmatch(name):
            upload = UploadSession.find(self._folder / name)
            if upload is not None:
                self._uploads[name] = upload
        return upload if upload is not None and upload.request.owner == owner else None

    def drop(self, upload: UploadSession) -> None:
        """Cancel an upload and delete its data."""
        self._uploads.pop(upload.id, None)
        upload.close()

    def close(self) -> None:
        """Stop all uploads, keeping the received data for a restarted server."""
        for upload in self._uploads.values():
            upload.suspend()
        self._uploads.clear()

    def _list_interrupted(self) -> Iterator[Path]:
        """Yield the paths of uploads in the folder that this server does not handle."""
        for note in self._folder.glob("*.json"):
            if note.stem not in self._uploads:
                yield note.with_suffix("")

    def _resume(self, request: PlannedUpload) -> None:
        """Take over the upload of ``request`` that an earlier server left."""
        for path in [*self._list_interrupted()]:
            upload = UploadSession.find(path)
            if upload is not None and upload.request == request:
                self._uploads[upload.id] = upload
            elif upload is not None:
                upload.suspend()

    def _forget_old(self) -> None:
        now = self._clock()
        for upload in list(self._uploads.values()):
            if now - upload.touched > KEPT_S:
                self.drop(upload)
        for path in [*self._list_interrupted()]:
            with suppress(OSError):
                if time.time() - _changed_at(path) > KEPT_S:
                    with _lock(path):  # not in use by another server
                        _remove(path)


def _explain(exc: Exception) -> str:
    if isinstance(exc, FoldnoteError):
        return exc.first_line
    return "The job service does not answer in time."


def _write_at(path: Path, offset: int, piece: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(piece)


def _note_of(path: Path) -> Path:
    """Return the JSON file that describes the upload at ``path``."""
    return path.with_suffix(".json")


def _lock(path: Path) -> ExitStack:
    """Lock the upload at ``path`` until the returned stack is closed.

    Raises:
        OSError: another server holds it.
    """
    stack = ExitStack()
    if not stack.enter_context(hold_lock(path.with_suffix(".lock"), is_temporary=True)):
        raise BlockingIOError(f"another server handles {path.name}")
    return stack


def _changed_at(path: Path) -> float:
    """Return the time of the last change of the upload, in seconds since 1970."""
    places = (path, _note_of(path))
    return max(each.stat().st_mtime for each in places if each.exists())


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _note_of(path).unlink(missing_ok=True)
