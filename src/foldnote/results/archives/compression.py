"""Decompression of streams: gzip, bzip2, xz and, if its package is installed, Zstandard.

The format is determined by the first bytes, not by the name.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import IO, Any

from foldnote.errors import UnreadableFileError
from foldnote.results.archives.archive import BROKEN, MAX_RATIO, MAX_READ_BYTES, SMALL_BYTES
from foldnote.results.core.messages import explain
from foldnote.results.naming.families import PACKED

_PIECE_BYTES = 2048
"""Bytes decompressed at a time: a few bytes can expand to a 128 kB block, and this many to at most 64 MB."""
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


def open_packed(stream: IO[bytes]) -> IO[bytes] | None:
    """Return a stream of the decompressed bytes; None if ``stream`` is not compressed.

    Raises:
        UnreadableFileError: the format is Zstandard, whose package is not installed.
    """
    head = stream.read(6)
    stream.seek(-len(head), 1)
    if head[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=stream, mode="rb")  # type: ignore[return-value]
    if head[:3] == b"BZh":
        return bz2.BZ2File(stream)
    if head == b"\xfd7zXZ\x00":
        return lzma.LZMAFile(stream)
    return _open_zstandard(stream) if head[:4] == _ZSTANDARD else None


def _open_zstandard(stream: IO[bytes]) -> IO[bytes]:
    try:
        import zstandard
    except ImportError as exc:
        raise UnreadableFileError(
            "The file is compressed with Zstandard; install zstandard to read it (pip install zstandard)."
        ) from exc
    return io.BufferedReader(_Zstandard(stream, zstandard))


class _Zstandard(io.RawIOBase):
    """A Zstandard stream that raises EOFError when truncated, which the package's reader does not."""

    def __init__(self, stream: IO[bytes], package: Any) -> None:
        self._stream, self._package = stream, package
        self._frame: Any = None
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            packed = self._stream.read(_PIECE_BYTES)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the compressed data is truncated")
                return 0
            while packed:
                self._frame = self._frame or self._package.ZstdDecompressor().decompressobj()
                self._ready += self._feed(packed)
                packed = self._frame.unused_data if self._frame.eof else b""
                self._frame = None if self._frame.eof else self._frame
        data, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def _feed(self, packed: bytes) -> bytes:
        try:
            return bytes(self._frame.decompress(packed))
        except self._package.ZstdError as exc:
            raise OSError(str(exc)) from exc


def unpack_single(data: bytes, name: str) -> bytes:
    """Return ``data``, decompressed if ``name`` has the suffix of a compressed file.

    Raises:
        UnreadableFileError: it is damaged, or expands to more than ``MAX_READ_BYTES`` or by a
            suspicious factor.
    """
    if not name.lower().endswith(PACKED):
        return data
    allowed = min(MAX_READ_BYTES, max(SMALL_BYTES, MAX_RATIO * len(data)))
    try:
        stream = open_packed(io.BytesIO(data))
        if stream is None:
            raise UnreadableFileError(f"{name} is damaged: it is not compressed, unlike its name.")
        with stream:
            content = stream.read(allowed + 1)
    except EOFError as exc:
        raise UnreadableFileError(f"{name} is damaged: its compressed data is truncated.") from exc
    except BROKEN as exc:
        raise UnreadableFileError(f"{name} is damaged: {explain(exc)}.") from exc
    if len(content) > allowed:
        raise UnreadableFileError(f"{name} expands to more than {allowed:,} bytes and is not read.")
    return content
