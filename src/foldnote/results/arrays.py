"""Single figures from npz files, without trusting them.

An npz is a ZIP of arrays. Only arrays of one element are read here, none that needs pickling, and none that
is larger on disk than a single figure can be.
"""

from __future__ import annotations

import io
import zipfile
import zlib

import numpy as np

from foldnote.errors import UnreadableFileError
from foldnote.results.tables import Scalar, find_figures

_MAX_MEMBER_BYTES = 4096
_BROKEN = (OSError, EOFError, ValueError, NotImplementedError, RuntimeError, MemoryError, zlib.error)


def read_array_figures(data: bytes, name: str) -> dict[str, Scalar]:
    """The arrays of one element in an npz, by name; empty when there are none.

    Raises:
        UnreadableFileError: it is no npz, or damaged.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            small = [entry for entry in archive.infolist() if entry.file_size <= _MAX_MEMBER_BYTES]
            arrays = {entry.filename.removesuffix(".npy"): _read_one(archive.read(entry)) for entry in small}
    except (*_BROKEN, zipfile.BadZipFile) as exc:
        raise UnreadableFileError(f"{name} is not a readable npz file: {exc}.") from exc
    return find_figures({key: array.item() for key, array in arrays.items() if array is not None})


def _read_one(data: bytes) -> np.ndarray | None:
    """The array when it has exactly one element; its declared shape is not believed before that."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read_header = (
        np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read_header(stream)
    if dtype.hasobject or any(length != 1 for length in shape):
        return None
    return np.frombuffer(stream.read(), dtype=dtype, count=1)
