"""Select and unpack parts of a result beside its archive in the cache.

What is safe to unpack, and how, is known by whoever reads results; here is only where it goes, and that it is
done once.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from foldnote import late
from foldnote.client.local.cache import is_intact, write_hash
from foldnote.errors import FoldnoteError
from foldnote.io import hash_bytes, hash_file

_MOST_SHOWN = 8


def unpack_selected(archive: Path, patterns: Sequence[str]) -> Path:
    """The folder with the files of ``archive`` whose names match one of ``patterns``; unpacked once.

    Raises:
        FoldnoteError: no file matches; the message names those that are there.
        ArchiveError: the archive is damaged or not safe to unpack.
    """
    status = archive.stat()
    wanted = [sorted(patterns), status.st_ino, status.st_mtime_ns, status.st_size]
    folder = archive.parent / f"selected-{hash_bytes(json.dumps(wanted).encode())[:16]}"
    if is_intact(folder, _hash_files):
        return folder
    shutil.rmtree(folder, ignore_errors=True)  # damaged, or left by a version that noted no hash
    result = late.load("open_result")(archive)
    if not result.match(patterns):
        names = [file.name for file in result.files]
        more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
        raise FoldnoteError(
            f"No file of {archive.name} matches {', '.join(patterns)}."
            f" It has: {', '.join(names[:_MOST_SHOWN])}{more}."
        )
    beside = archive.parent / f"{uuid4().hex}.unpacking"
    try:
        result.save_to(beside, patterns)
        digest = _hash_files(beside)
        with suppress(OSError):  # somebody else was first: theirs is the same
            beside.rename(folder)
        write_hash(folder, digest)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _hash_files(folder: Path) -> str:
    """SHA-256 (hex) over names and contents of all files in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    told = [[str(path.relative_to(folder)), hash_file(path)] for path in files]
    return hash_bytes(json.dumps(told).encode())
