"""Files on their way from a page to a service, in pieces, so that a broken connection costs one piece only.

The interface takes a file as one body and cannot go on with half of one. So the pieces are put together on
the disk of the Jupyter server, which goes on where the page's connection broke, and the whole is passed on to
the service from there; that second part begins again at its start when it fails.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from foldnote.errors import BadRequestError, NotFoundError
from foldnote.lab.answers import UploadAnswer

MOST_BYTES = 20 * 1024**3
"""Largest file that is taken."""
MOST_PIECE_BYTES = 16 * 1024**2
"""Largest piece."""
KEPT_S = 6 * 3600.0
"""How long an upload that nobody goes on with is kept."""
_PATIENCE_S = 10.0

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

        Raises:
            BadRequestError: pieces are missing.
            FoldnoteError: the service does not take it. The next call tries again.
        """
        self.touched = time.monotonic()
        if self.received_bytes != self.wish.size_bytes:
            raise BadRequestError(f"{self.wish.name} is not here as a whole yet.")
        if self.value is None:
            if self.task is None:
                self.sent_bytes = 0
                self.task = asyncio.create_task(_pass_on(send, self.path, self._count))
            await asyncio.wait([self.task], timeout=_PATIENCE_S)
            if self.task.done():
                task, self.task = self.task, None
                self.sent_bytes = None
                self.value = task.result()
                self.path.unlink(missing_ok=True)
        return self.answer()

    def close(self) -> None:
        """Give everything up."""
        if self.task is not None:
            self.task.cancel()
        self.path.unlink(missing_ok=True)

    def _count(self, done: int, _: int | None) -> None:
        self.sent_bytes = done
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


async def _pass_on(send: Pass, path: Path, meter: Meter) -> str:
    return await send(path, meter)


def _write_at(path: Path, offset: int, piece: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(piece)
