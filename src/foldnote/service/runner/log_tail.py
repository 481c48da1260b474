"""The end of a log, read backwards in blocks: a request costs what it answers, not what a job wrote."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 2 << 20
"""Of a log that is read at once; ten thousand long lines have room."""
_BLOCK_BYTES = 1 << 16


def read_tail(path: Path, max_lines: int, most_bytes: int = MOST_BYTES) -> str:
    """The file's last ``max_lines`` lines, as many of them as ``most_bytes`` hold; empty for no regular file.

    What is not UTF-8 becomes replacement characters. A line that is longer than all that is read is cut.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        status = os.fstat(descriptor)
        is_regular = stat.S_ISREG(status.st_mode)
        found, is_cut = (
            _read_back(descriptor, status.st_size, max_lines, most_bytes) if is_regular else (b"", False)
        )
    finally:
        os.close(descriptor)
    if is_cut and b"\n" in found[:-1]:
        found = found[found.index(b"\n") + 1 :]
    return "".join(found.decode("utf-8", "replace").splitlines(keepends=True)[-max_lines:])


def _read_back(descriptor: int, size: int, max_lines: int, most_bytes: int) -> tuple[bytes, bool]:
    """At least so many lines from the end, and whether the first of them may lack its beginning."""
    blocks: list[bytes] = []
    start, ends = size, 0
    while start > max(0, size - most_bytes) and ends <= max_lines:
        count = min(_BLOCK_BYTES, start - max(0, size - most_bytes))
        start -= count
        blocks.append(os.pread(descriptor, count, start))
        ends += blocks[-1].count(b"\n")
    return b"".join(reversed(blocks)), start > 0
