"""The hash of a download, computed beside it, so that a large file is not read again when it has arrived.

hashlib lets go of the interpreter's lock, so a thread of its own hashes while the next bytes come in. What is
small is hashed at the end, without a thread. Memory is bounded: who is faster waits.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from queue import Queue
from threading import Thread

_PARCEL_BYTES = 1 << 20
_MOST_PARCELS = 8


class RunningHash:
    """SHA-256 of a file that is being written."""

    def __init__(self, path: Path, have: int) -> None:
        """Begin with the first ``have`` bytes of ``path``, which are there already."""
        self._digest = hashlib.sha256()
        self._path, self._have = path, have
        self._parcel: list[bytes] = []
        self._size = 0
        self._queue: Queue[list[bytes] | None] = Queue(_MOST_PARCELS)
        self._thread: Thread | None = None
        self._fault: OSError | None = None

    def feed(self, chunk: bytes) -> None:
        """The next bytes."""
        self._parcel.append(chunk)
        self._size += len(chunk)
        if self._size >= _PARCEL_BYTES:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="foldnote download hash", daemon=True)
                self._thread.start()
            self._queue.put(self._parcel)
            self._parcel, self._size = [], 0

    def close(self) -> str | None:
        """The SHA-256 (hex) of everything; None where the first bytes could not be read again."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        else:
            self._begin()
        for chunk in self._parcel:
            self._digest.update(chunk)
        self._parcel = []
        return None if self._fault else self._digest.hexdigest()

    def _work(self) -> None:
        self._begin()
        while (parcel := self._queue.get()) is not None:
            for chunk in parcel:
                self._digest.update(chunk)

    def _begin(self) -> None:
        left, self._have = self._have, 0
        if not left:
            return
        try:
            with self._path.open("rb") as stream:
                while left and (chunk := stream.read(min(left, _PARCEL_BYTES))):
                    self._digest.update(chunk)
                    left -= len(chunk)
        except OSError as exc:
            self._fault = exc
