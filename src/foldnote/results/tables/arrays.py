"""Arrays from npz and npy files, without trusting them.

An npz is a ZIP of arrays. None that needs pickling is read, none that is larger than it should be, and the
shape that a header declares counts only when the bytes for it are there.
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
from foldnote.results.tables.tabular import Scalar, find_figures

Array = NDArray[Any]

_MAX_FIGURE_BYTES = 4096
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


def read_array_figures(data: bytes, name: str) -> dict[str, Scalar]:
    """The arrays of one element in an npz, by name; empty when there are none.

    Raises:
        UnreadableFileError: it is no npz, or damaged.
    """
    arrays = read_npz(data, name, limit_bytes=_MAX_FIGURE_BYTES)
    return find_figures({key: array.item() for key, array in arrays.items() if array.size == 1})


def read_npz(data: bytes, name: str, *, limit_bytes: int = MAX_READ_BYTES) -> Mapping[str, Array]:
    """The arrays of an npz by name, without those of objects and those of more than ``limit_bytes``.

    Raises:
        UnreadableFileError: it is no npz, or damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            small = [entry for entry in archive.infolist() if entry.file_size <= limit_bytes]
            total = sum(entry.file_size for entry in small)
            if total > min(MAX_READ_BYTES, max(SMALL_BYTES, MAX_RATIO * len(data))):
                raise ValueError(f"its arrays unpack to {total:,} bytes, of {len(data):,}")
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
    """The array of an npy file; None when it holds objects.

    Raises:
        UnreadableFileError: it is no npy, or damaged.
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
        raise ValueError(f"{count:,} values are announced and {left:,} bytes are there")
    flat = np.frombuffer(data, dtype=dtype, count=count, offset=stream.tell())
    return flat.reshape(shape, order="F" if is_fortran else "C")
