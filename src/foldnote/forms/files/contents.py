"""What files hold that are elsewhere: contents that were seen once, kept in memory for their checks.

Nothing is fetched here. Contents go when the kernel goes; then fields fall back to what can be typed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from foldnote.client.inputs.file_values import LocalFile

_MOST_FILES: Final = 8
_LARGEST_CHARACTERS: Final = 20_000_000
_seen: OrderedDict[str, str] = OrderedDict()


class UploadedFile(str):
    """The name of an upload, with its size where it is known."""

    size_bytes: int | None = None

    @classmethod
    def of(cls, name: str, size_bytes: int | None) -> UploadedFile:
        """The upload ``name``."""
        made = cls(name)
        made.size_bytes = size_bytes
        return made


def size_of(name: str, uploads: Iterable[str]) -> int | None:
    """Bytes of the upload ``name``; None where they are not known."""
    found = next((upload for upload in uploads if upload == name), None)
    return found.size_bytes if isinstance(found, UploadedFile) else None


def remember(value: str, text: str) -> None:
    """Keep what the file that a setting names ``value`` holds."""
    if len(text) <= _LARGEST_CHARACTERS:
        _seen[value] = text
        while len(_seen) > _MOST_FILES:
            _seen.popitem(last=False)


def recall(value: str) -> str | None:
    """What the file at the service that is named ``value`` holds, if it was seen."""
    return None if isinstance(value, LocalFile) else _seen.get(value)
