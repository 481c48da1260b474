"""Read the end of a log backwards, in blocks, so that the cost depends on the result and not on the log."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 2 << 20
"""Maximum number of bytes read; enough for ten thousand long lines."""
_BLOCK_BYTES = 1 << 16


def read_tail(path: Path, max_lines: int, max_bytes: int = MAX_BYTES) -> str:
    """Return the last ``max_lines`` lines of a file, within ``max_bytes``; empty if it is not a regular file.

    Invalid UTF-8 becomes replacement characters. A line longer than ``max_bytes`` is cut.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        status = os.fstat(descriptor)
        is_regular = stat.S_ISREG(status.st_mode)
        tail, is_cut = (
            _read_back(descriptor, status.st_size, max_lines, max_bytes) if is_regular else (b"", False)
        )
    finally:
        os.close(descriptor)
    if is_cut and b"\n" in tail[:-1]:
        tail = tail[tail.index(b"\n") + 1 :]
    return "".join(tail.decode("utf-8", "replace").splitlines(keepends=True)[-max_lines:])


def _read_back(descriptor: int, size: int, max_lines: int, max_bytes: int) -> tuple[bytes, bool]:
    """Return at least ``max_lines`` lines from the end, and whether the first may be incomplete."""
    blocks: list[bytes] = []
    start, ends = size, 0
    while start > max(0, size - max_bytes) and ends <= max_lines:
        count = min(_BLOCK_BYTES, start - max(0, size - max_bytes))
        start -= count
        blocks.append(os.pread(descriptor, count, start))
        ends += blocks[-1].count(b"\n")
    return b"".join(reversed(blocks)), start > 0
