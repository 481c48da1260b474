"""Pictures of at most 256 colours as PNG files (ISO/IEC 15948), small enough to be stored in a notebook."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def write_png(index: NDArray[np.uint8], colors: NDArray[np.uint8]) -> bytes:
    """A PNG.

    Args:
        index: shape (height, width): the place of each pixel's colour.
        colors: shape (n, 4), n at most 256: red, green, blue and cover, 0 to 255.
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
