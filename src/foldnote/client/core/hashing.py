"""Hash a download while it is being received, so that a large file need not be read again afterwards.

hashlib releases the interpreter lock, so a separate thread hashes while the next bytes arrive. Small files
are hashed at the end, without a thread. The queue is bounded, which limits memory.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from queue import Queue
from threading import Thread

_BLOCK_BYTES = 1 << 20
_MAX_BLOCKS = 8


class BackgroundHash:
    """SHA-256 of a file that is being written."""

    def __init__(self, path: Path, have: int) -> None:
        """Begin with the first ``have`` bytes of ``path``, which were downloaded earlier."""
        self._digest = hashlib.sha256()
        self._path, self._have = path, have
        self._block: list[bytes] = []
        self._size = 0
        self._queue: Queue[list[bytes] | None] = Queue(_MAX_BLOCKS)
        self._thread: Thread | None = None
        self._fault: OSError | None = None

    def update(self, chunk: bytes) -> None:
        """Add the next bytes."""
        self._block.append(chunk)
        self._size += len(chunk)
        if self._size >= _BLOCK_BYTES:
            if self._thread is None:
                self._thread = Thread(target=self._hash_blocks, name="foldnote download hash", daemon=True)
                self._thread.start()
            self._queue.put(self._block)
            self._block, self._size = [], 0

    def close(self) -> str | None:
        """Return the SHA-256 (hex) of the file; None if the earlier bytes could not be read."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None
        else:
            self._begin()
        for chunk in self._block:
            self._digest.update(chunk)
        self._block = []
        return None if self._fault else self._digest.hexdigest()

    def _hash_blocks(self) -> None:
        self._begin()
        while (block := self._queue.get()) is not None:
            for chunk in block:
                self._digest.update(chunk)

    def _begin(self) -> None:
        left, self._have = self._have, 0
        if not left:
            return
        try:
            with self._path.open("rb") as stream:
                while left and (chunk := stream.read(min(left, _BLOCK_BYTES))):
                    self._digest.update(chunk)
                    left -= len(chunk)
        except OSError as exc:
            self._fault = exc
