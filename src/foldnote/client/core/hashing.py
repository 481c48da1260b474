"""Hash a download while it is being received, so that a large file need not be read again afterwards.

hashlib releases the interpreter lock, so a separate thread hashes while the next bytes arrive. Small files
are hashed at the end, without a thread. The queue is bounded, which limits memory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from queue import Queue
from threading import Thread

_PARCEL_BYTES = 1 << 20
_MAX_PARCELS = 8


class RunningHash:
    """SHA-256 of a file that is being written."""

    def __init__(self, path: Path, have: int) -> None:
        """Begin with the first ``have`` bytes of ``path``, which were downloaded earlier."""
        self._digest = hashlib.sha256()
        self._path, self._have = path, have
        self._parcel: list[bytes] = []
        self._size = 0
        self._queue: Queue[list[bytes] | None] = Queue(_MAX_PARCELS)
        self._thread: Thread | None = None
        self._fault: OSError | None = None

    def feed(self, chunk: bytes) -> None:
        """Add the next bytes."""
        self._parcel.append(chunk)
        self._size += len(chunk)
        if self._size >= _PARCEL_BYTES:
            if self._thread is None:
                self._thread = Thread(target=self._work, name="foldnote download hash", daemon=True)
                self._thread.start()
            self._queue.put(self._parcel)
            self._parcel, self._size = [], 0

    def close(self) -> str | None:
        """Return the SHA-256 (hex) of the file; None if the earlier bytes could not be read."""
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
