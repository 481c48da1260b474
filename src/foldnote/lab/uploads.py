"""Files on their way from a page to a service, in pieces, so that a broken connection costs one piece only.

The interface takes a file as one body and cannot go on with half of one. So the pieces are put together on
the disk of the Jupyter server, which goes on where the page's connection broke, and the whole is passed on to
the service from there. Neither ``PUT /upload`` nor a presigned link takes a part of a file, so that second
part begins again at its start when it breaks off: by itself, from the disk, and nobody sends anything again.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path

from foldnote.errors import (
    BadRequestError,
    EmbeddedServiceError,
    FoldnoteError,
    NotFoundError,
    RateLimitedError,
    ServiceFaultError,
    TransportError,
)
from foldnote.lab.answers import UploadAnswer

MOST_BYTES = 20 * 1024**3
"""Largest file that is taken."""
MOST_PIECE_BYTES = 16 * 1024**2
"""Largest piece."""
KEPT_S = 6 * 3600.0
"""How long an upload that nobody goes on with is kept."""
ABANDONED_S = 600.0
"""How long a service that is gone is waited for while nobody asks how far the upload is."""
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""After the first, second … failure in a row to pass a file on; the last one is repeated."""
_LOOK_S = 0.1
_PATIENCE_S = 10.0
_PASSING_FAULTS = (TransportError, EmbeddedServiceError, RateLimitedError, ServiceFaultError, TimeoutError)
"""What passes by itself; a refusal of the file does not."""

Meter = Callable[[int, int | None], None]
Pass = Callable[[Path, Meter], Awaitable[str]]
"""Sends a whole file to the service; gives what a file field takes for it."""


@dataclass(frozen=True)
class Wish:
    """What a page wants to send.

    Attributes:
        owner: who asks, and for which profile.
        name: the file's name at the service.
        folder: its folder there; None at the top.
        size_bytes: all of it.
        mark: tells two states of a file apart, such as the time of its last change.
    """

    owner: str
    name: str
    folder: str | None
    size_bytes: int
    mark: str = ""


@dataclass
class Upload:
    """One file on its way."""

    id: str
    wish: Wish
    path: Path
    received_bytes: int = 0
    sent_bytes: int | None = None
    waiting: str | None = None
    value: str | None = None
    touched: float = field(default_factory=time.monotonic)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[str] | None = None

    def answer(self) -> UploadAnswer:
        """How far it is."""
        return UploadAnswer(
            id=self.id,
            size_bytes=self.wish.size_bytes,
            received_bytes=self.received_bytes,
            sent_bytes=self.sent_bytes,
            waiting=self.waiting,
            path=self.value,
        )

    async def take(self, offset: int, piece: bytes) -> UploadAnswer:
        """Put a piece where it belongs; one that is there already changes nothing.

        Raises:
            BadRequestError: pieces before it are missing, or it goes beyond the end.
        """
        async with self.lock:
            self.touched = time.monotonic()
            end = offset + len(piece)
            if offset > self.received_bytes or end > self.wish.size_bytes:
                raise BadRequestError(
                    f"{self.wish.name} is known to byte {self.received_bytes} of {self.wish.size_bytes}; "
                    f"the piece from {offset} to {end} does not fit."
                )
            if end > self.received_bytes:
                await asyncio.to_thread(_write_at, self.path, offset, piece)
                self.received_bytes = end
            return self.answer()

    async def finish(self, send: Pass) -> UploadAnswer:
        """Have the whole passed on, and wait a moment for the end; ask again while it has no ``path``.

        A service that is gone or too busy is waited for as long as somebody asks.

        Raises:
            BadRequestError: pieces are missing.
            FoldnoteError: the service refuses it. The next call tries again.
        """
        self.touched = time.monotonic()
        if self.received_bytes != self.wish.size_bytes:
            raise BadRequestError(f"{self.wish.name} is not here as a whole yet.")
        if self.value is None:
            if self.task is None:
                self.task = asyncio.create_task(self._pass_on(send))
            was_waiting = self.waiting
            await self._wait(lambda: self.waiting != was_waiting)
            if self.task is not None and self.task.done():
                task, self.task = self.task, None
                self.value = task.result()
                self.path.unlink(missing_ok=True)
        return self.answer()

    def close(self) -> None:
        """Give everything up."""
        if self.task is not None:
            self.task.cancel()
        self.path.unlink(missing_ok=True)

    async def _wait(self, is_news: Callable[[], bool]) -> None:
        """Wait for the end of passing on, for news of it, or for a moment."""
        end = time.monotonic() + _PATIENCE_S
        while self.task is not None and time.monotonic() < end:
            done, _ = await asyncio.wait([self.task], timeout=_LOOK_S)
            if done or is_news():
                return

    async def _pass_on(self, send: Pass) -> str:
        """Send the whole until the service has it; see ``_PASSING_FAULTS``."""
        try:
            for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
                self.sent_bytes = 0
                try:
                    return await send(self.path, self._count)
                except _PASSING_FAULTS as exc:
                    if time.monotonic() - self.touched > ABANDONED_S:
                        raise
                    self.sent_bytes, self.waiting = None, _explain(exc)
                await asyncio.sleep(pause_s)
            raise AssertionError  # the pauses have no end
        finally:
            self.sent_bytes = self.waiting = None

    def _count(self, done: int, _: int | None) -> None:
        self.sent_bytes = done
        if done > 0:
            self.waiting = None
        self.touched = time.monotonic()


class Uploads:
    """Every file that is on its way."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is on its way; the folder is made for the first file."""
        self._clock = clock
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._uploads: dict[str, Upload] = {}

    def begin(self, wish: Wish) -> Upload:
        """The upload of ``wish``: the one that was broken off, or a new one.

        Raises:
            BadRequestError: the file is empty or too large.
        """
        self._forget_old()
        if not 0 < wish.size_bytes <= MOST_BYTES:
            what = "is empty" if wish.size_bytes <= 0 else f"has more than {MOST_BYTES:,} bytes"
            raise BadRequestError(f"{wish.name} {what} and cannot be uploaded.")
        known = (each for each in self._uploads.values() if each.wish == wish and each.value is None)
        found = next(known, None)
        if found is None:
            self._folder = self._folder or tempfile.TemporaryDirectory(prefix="foldnote-uploads-")
            name = secrets.token_urlsafe(16)
            found = Upload(name, wish, Path(self._folder.name) / name)
            found.path.touch()
            self._uploads[name] = found
        return found

    def find(self, name: str, owner: str) -> Upload:
        """The upload of this id.

        Raises:
            NotFoundError: nobody of this name began it here.
        """
        found = self._uploads.get(name)
        if found is None or found.wish.owner != owner:
            raise NotFoundError("This upload is not known: Jupyter was restarted since. Begin it again.")
        return found

    def drop(self, upload: Upload) -> None:
        """Give an upload up."""
        self._uploads.pop(upload.id, None)
        upload.close()

    def close(self) -> None:
        """Give all of them up."""
        for upload in list(self._uploads.values()):
            self.drop(upload)
        if self._folder is not None:
            self._folder.cleanup()

    def _forget_old(self) -> None:
        now = self._clock()
        for upload in list(self._uploads.values()):
            if now - upload.touched > KEPT_S:
                self.drop(upload)


def _explain(exc: Exception) -> str:
    if isinstance(exc, FoldnoteError):
        return str(exc).partition("\n")[0]
    return "The job service does not answer in time."


def _write_at(path: Path, offset: int, piece: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(piece)
