"""A part of a file as a stream of its own, as members of archives are."""

from __future__ import annotations

import io
import threading
from typing import IO


class Window(io.RawIOBase):
    """A part of a file as a stream; several may be read at the same time."""

    def __init__(self, file: IO[bytes], start: int, size: int, lock: threading.Lock) -> None:
        """The ``size`` bytes of ``file`` from ``start``; ``lock`` is that of everybody who reads the file."""
        self._whole, self._place, self._left, self._lock = file, start, size, lock

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill ``buffer`` with the next bytes, and say how many there were."""
        with self._lock:
            self._whole.seek(self._place)
            data = self._whole.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._place += len(data)
        self._left -= len(data)
        return len(data)
