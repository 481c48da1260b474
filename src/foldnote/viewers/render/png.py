"""Write palette PNG files (ISO/IEC 15948) of at most 256 colours."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def write_png(index: NDArray[np.uint8], colors: NDArray[np.uint8]) -> bytes:
    """Return a PNG file.

    Args:
        index: shape (height, width): index of each pixel's colour.
        colors: shape (n, 4), n ≤ 256: red, green, blue and alpha, 0 to 255.
    """
    height, width = index.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), index], axis=1)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", colors[:, :3].tobytes()),
            _chunk(b"tRNS", colors[:, 3].tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
