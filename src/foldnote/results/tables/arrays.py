"""Safe reading of arrays from untrusted npz and npy files.

Object arrays, which need pickle, and too large arrays are not read. The shape in a header is checked against
the number of bytes.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foldnote.errors import UnreadableFileError
from foldnote.results.archives.archive import MAX_RATIO, MAX_READ_BYTES, SMALL_BYTES
from foldnote.results.core.messages import explain

Array = NDArray[Any]

_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    SyntaxError,
    RecursionError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    zlib.error,
    zipfile.BadZipFile,
)


def read_npz(data: bytes, name: str) -> Mapping[str, Array]:
    """Return the arrays of an npz file by name, without object arrays and very large ones.

    Raises:
        UnreadableFileError: it is not an npz file, or is damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            small = [entry for entry in archive.infolist() if entry.file_size <= MAX_READ_BYTES]
            total = sum(entry.file_size for entry in small)
            if total > min(MAX_READ_BYTES, max(SMALL_BYTES, MAX_RATIO * len(data))):
                raise ValueError(f"its {len(data):,} bytes expand to {total:,}")
            arrays = {}
            for entry in small:
                with archive.open(entry) as stream:
                    array = _read_array(stream.read(entry.file_size))
                if array is not None:
                    arrays[entry.filename.removesuffix(".npy")] = array
    except _BROKEN as exc:
        raise UnreadableFileError(f"{name} is not a readable npz file: {explain(exc)}.") from exc
    return arrays


def read_npy(data: bytes, name: str) -> Array | None:
    """Return the array of an npy file; None for an object array.

    Raises:
        UnreadableFileError: it is not an npy file, or is damaged.
    """
    try:
        return _read_array(data)
    except _BROKEN as exc:
        raise UnreadableFileError(f"{name} is not a readable npy file: {explain(exc)}.") from exc


def _read_array(data: bytes) -> Array | None:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = (
        np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    )
    shape, is_fortran, dtype = read_header(stream)
    if dtype.hasobject:
        return None
    count = prod(shape)
    left = len(data) - stream.tell()
    if count * dtype.itemsize > left:
        raise ValueError(f"its header declares {count:,} values, but it has {left:,} bytes")
    flat = np.frombuffer(data, dtype=dtype, count=count, offset=stream.tell())
    return flat.reshape(shape, order="F" if is_fortran else "C")
