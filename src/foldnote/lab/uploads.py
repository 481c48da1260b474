"""Files on their way from a page to a service, in pieces, so that a broken connection costs one piece only.

The interface takes a file as one body and cannot go on with half of one. So the pieces are put together on
the disk of the Jupyter server, which goes on where the page's connection broke, and the whole is passed on to
the service from there. Neither ``PUT /upload`` nor a presigned link takes a part of a file, so that second
part begins again at its start when it breaks off: by itself, from the disk, and nobody sends anything again.
Repeating it does no harm, since a file replaces one of its name.

What came, and a note of what it is, lie in the cache folder, so that a Jupyter server that is started again
goes on with them. A lock beside the note keeps servers of one user apart.
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
from foldnote.lab.responses import UploadAnswer

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
_MOST_NOTE_BYTES = 1 << 16
_ID = re.compile(r"[\w-]{22}")
_LOOK_S = 0.1
_TIMEOUT_S = 10.0
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
class UploadSession:
    """One file on its way."""

    id: str
    wish: Wish
    path: Path
    hold: ExitStack
    """Holds the upload's lock until it is closed."""
    received_bytes: int = 0
    sent_bytes: int | None = None
    waiting: str | None = None
    value: str | None = None
    touched: float = field(default_factory=time.monotonic)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[str] | None = None

    @classmethod
    def begin(cls, folder: Path, wish: Wish) -> Self:
        """A file of which nothing came yet."""
        name = secrets.token_urlsafe(16)
        path = folder / name
        path.touch(mode=0o600)
        upload = cls(name, wish, path, _hold(path))
        upload._write_note()
        return upload

    @classmethod
    def find(cls, path: Path) -> Self | None:
        """What a server that ended left at ``path``; None when there is none, or another server has it."""
        note = _note_of(path)
        if not note.is_file():
            return None
        try:
            hold = _hold(path)
        except OSError:
            return None
        try:
            with note.open("rb") as stream:
                content = json.loads(stream.read(_MOST_NOTE_BYTES))
            upload = cls(path.name, Wish(**content["wish"]), path, hold, value=content["value"])
            size = upload.wish.size_bytes
            upload.received_bytes = size if upload.value else min(path.stat().st_size, size)
        except (OSError, ValueError, KeyError, TypeError):
            hold.close()
            return None
        return upload

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
            ArgumentError: pieces before it are missing, or it goes beyond the end.
            ConfigurationError: it cannot be written on this computer.
        """
        async with self.lock:
            self.touched = time.monotonic()
            end = offset + len(piece)
            if offset > self.received_bytes or end > self.wish.size_bytes:
                raise ArgumentError(
                    f"{self.wish.name} is known to byte {self.received_bytes} of {self.wish.size_bytes}; "
                    f"the piece from {offset} to {end} does not fit."
                )
            if end > self.received_bytes:
                try:
                    await asyncio.to_thread(_write_at, self.path, offset, piece)
                except OSError as exc:
                    where = f"The computer that runs Jupyter cannot keep {self.wish.name} on its way"
                    raise ConfigurationError(
                        f"{where}: {exc.strerror}. Make room there, and try again."
                    ) from exc
                self.received_bytes = end
            return self.answer()

    async def finish(self, send: Pass) -> UploadAnswer:
        """Have the whole passed on, and wait a moment for the end; ask again while it has no ``path``.

        A service that is gone or too busy is waited for as long as somebody asks.

        Raises:
            ArgumentError: pieces are missing.
            FoldnoteError: the service refuses it. The next call tries again.
        """
        self.touched = time.monotonic()
        if self.received_bytes != self.wish.size_bytes:
            raise ArgumentError(f"{self.wish.name} is not here as a whole yet.")
        if self.value is None:
            if self.task is None:
                self.task = asyncio.create_task(self._pass_on(send))
            was_waiting = self.waiting
            await self._wait(lambda: self.waiting != was_waiting)
            if self.task is not None and self.task.done():
                task, self.task = self.task, None
                self.value = task.result()
                self._write_note()  # a page that did not hear it asks a server that is started again
                self.path.unlink(missing_ok=True)
        return self.answer()

    def leave(self) -> None:
        """Do nothing more; what came stays for a server that is started again."""
        if self.task is not None:
            self.task.cancel()
        self.hold.close()

    def close(self) -> None:
        """Give everything up."""
        _remove(self.path)
        self.leave()

    def _write_note(self) -> None:
        content = json.dumps({"wish": asdict(self.wish), "value": self.value})
        write_atomically(_note_of(self.path), content, is_private=True)

    async def _wait(self, is_news: Callable[[], bool]) -> None:
        """Wait for the end of passing on, for news of it, or for a moment."""
        end = time.monotonic() + _TIMEOUT_S
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

    def __init__(self, clock: Callable[[], float] = time.monotonic, folder: Path | None = None) -> None:
        """What an earlier server left in ``folder`` is found when somebody asks; by default in the cache."""
        self._clock = clock
        self._folder = folder or settings.cache_dir() / "uploads"
        self._uploads: dict[str, UploadSession] = {}

    def begin(self, wish: Wish) -> UploadSession:
        """The upload of ``wish``: the one that was broken off, or a new one.

        Raises:
            ArgumentError: the file is empty or too large.
        """
        self._forget_old()
        if not 0 < wish.size_bytes <= MOST_BYTES:
            what = "is empty" if wish.size_bytes <= 0 else f"has more than {MOST_BYTES:,} bytes"
            raise ArgumentError(f"{wish.name} {what} and cannot be uploaded.")
        self._adopt(wish)
        known = (each for each in self._uploads.values() if each.wish == wish and each.value is None)
        found = next(known, None)
        if found is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = UploadSession.begin(self._folder, wish)
            self._uploads[found.id] = found
        return found

    def find(self, name: str, owner: str) -> UploadSession | None:
        """The upload of this id; None when nobody of this name began it, or it is too long ago."""
        found = self._uploads.get(name)
        if found is None and _ID.fullmatch(name):
            found = UploadSession.find(self._folder / name)
            if found is not None:
                self._uploads[name] = found
        return found if found is not None and found.wish.owner == owner else None

    def drop(self, upload: UploadSession) -> None:
        """Give an upload up."""
        self._uploads.pop(upload.id, None)
        upload.close()

    def close(self) -> None:
        """Do nothing more; what came stays for a server that is started again."""
        for upload in self._uploads.values():
            upload.leave()
        self._uploads.clear()

    def _left(self) -> Iterator[Path]:
        """Places of what no upload of this server is."""
        for note in self._folder.glob("*.json"):
            if note.stem not in self._uploads:
                yield note.with_suffix("")

    def _adopt(self, wish: Wish) -> None:
        """Go on with what an earlier server left of ``wish``."""
        for path in [*self._left()]:
            found = UploadSession.find(path)
            if found is not None and found.wish == wish:
                self._uploads[found.id] = found
            elif found is not None:
                found.leave()

    def _forget_old(self) -> None:
        now = self._clock()
        for upload in list(self._uploads.values()):
            if now - upload.touched > KEPT_S:
                self.drop(upload)
        for path in [*self._left()]:
            with suppress(OSError):
                if time.time() - _changed_at(path) > KEPT_S:
                    with _hold(path):  # nobody else goes on with it
                        _remove(path)


def _explain(exc: Exception) -> str:
    if isinstance(exc, FoldnoteError):
        return str(exc).partition("\n")[0]
    return "The job service does not answer in time."


def _write_at(path: Path, offset: int, piece: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(piece)


def _note_of(path: Path) -> Path:
    """Where it stands what the upload at ``path`` is."""
    return path.with_suffix(".json")


def _hold(path: Path) -> ExitStack:
    """The lock of the upload at ``path``, held until it is closed.

    Raises:
        OSError: another server holds it.
    """
    stack = ExitStack()
    if not stack.enter_context(hold_lock(path.with_suffix(".lock"), is_temporary=True)):
        raise BlockingIOError(f"another server goes on with {path.name}")
    return stack


def _changed_at(path: Path) -> float:
    """When something of the upload came last, in seconds since 1970."""
    places = (path, _note_of(path))
    return max(each.stat().st_mtime for each in places if each.exists())


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _note_of(path).unlink(missing_ok=True)
