"""Write PNG files (ISO/IEC 15948): of at most 256 colours, or in full colour."""

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
    palette = _chunk(b"PLTE", colors[:, :3].tobytes()) + _chunk(b"tRNS", colors[:, 3].tobytes())
    return _write_file(width, height, 3, palette, rows)


def write_rgb_png(pixels: NDArray[np.uint8]) -> bytes:
    """Return a PNG file in full colour.

    Args:
        pixels: shape (height, width, 3): red, green and blue, 0 to 255.
    """
    height, width, _ = pixels.shape
    flat = pixels.reshape(height, width * 3)
    steps = flat.copy()
    steps[:, 3:] -= flat[:, :-3]  # filter 1: difference from the previous pixel, which compresses better
    rows = np.concatenate([np.ones((height, 1), np.uint8), steps], axis=1)
    return _write_file(width, height, 2, b"", rows)


def _write_file(width: int, height: int, kind: int, palette: bytes, rows: NDArray[np.uint8]) -> bytes:
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
            palette,
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
