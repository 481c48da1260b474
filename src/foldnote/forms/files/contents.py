"""Contents of files in the kernel: a memory cache of files at the service, and objects used as contents.

The cache serves the checks of a form. It is filled when contents pass through the kernel; nothing is
downloaded here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Final

from foldnote.client.inputs.file_values import Contents, LocalFile
from foldnote.forms.schema.spec import MISSING, FieldSpec

_MAX_FILES: Final = 8
_LARGEST_CHARACTERS: Final = 20_000_000
_cache: OrderedDict[str, str] = OrderedDict()


class UploadedFile(str):
    """The name of an upload, with its size in bytes if known."""

    size_bytes: int | None = None

    @classmethod
    def of(cls, name: str, size_bytes: int | None) -> UploadedFile:
        """Return the upload ``name`` with this size."""
        upload = cls(name)
        upload.size_bytes = size_bytes
        return upload


def size_of(name: str, uploads: Iterable[str]) -> int | None:
    """Return the size of the upload ``name`` in bytes; None if unknown."""
    known = next((upload for upload in uploads if upload == name), None)
    return known.size_bytes if isinstance(known, UploadedFile) else None


def remember(value: str, text: str) -> None:
    """Cache the contents of the file that a setting names ``value``: the last 8 files of up to 20 MB."""
    if len(text) <= _LARGEST_CHARACTERS:
        _cache[value] = text
        while len(_cache) > _MAX_FILES:
            _cache.popitem(last=False)


def recall(value: str) -> str | None:
    """Return the cached contents of the file at the service named ``value``; None if they are not cached."""
    return None if isinstance(value, LocalFile) else _cache.get(value)


def read_object(value: Any, spec: FieldSpec) -> Any:
    """Convert a path to `LocalFile`, and an object such as a DataFrame to `Contents`; keep plain data.

    Raises:
        FoldnoteError: the object cannot be written as a file.
    """
    if value is None or value is MISSING or isinstance(value, str | int | float | list | tuple | dict):
        return value
    if isinstance(value, PurePath):
        return LocalFile(value)
    from foldnote.client.inputs.sources import open_source  # deferred: needed only for objects

    content, _ = open_source(value, f"object.{spec.extensions[0] if spec.extensions else ''}".rstrip("."))
    text = content.read_text() if not isinstance(content, bytes) else content.decode()
    return Contents(text if "\n" in text else f"{text}\n")
