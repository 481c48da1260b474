"""Single files and structures out of a result archive, without unpacking it.

Archives come from our own runner, but what an engine wrote is not trusted: sizes are limited and a member's
name is only compared, never used as a path.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

STRUCTURE_EXTENSIONS = (".pdb", ".cif", ".mmcif", ".ent", ".pdbqt", ".bcif", ".pdb.gz", ".cif.gz")
MEMBER_BYTES = 10 * 1024**3
CHUNK = 1 << 20
_ZIP64_BYTES = 1 << 31


def member_names(archive: Path) -> list[str]:
    """Files in the archive, in its order."""
    with zipfile.ZipFile(archive) as opened:
        return [info.filename for info in opened.infolist() if not info.is_dir()]


def structure_names(archive: Path) -> list[str]:
    """Structure files in the archive."""
    return [name for name in member_names(archive) if name.lower().endswith(STRUCTURE_EXTENSIONS)]


def find_member(archive: Path, wanted: str) -> str | None:
    """The member that `wanted` names, by its whole path; None when there is none."""
    wanted = wanted.strip("/")
    return next((name for name in member_names(archive) if name == wanted), None)


def read_member(archive: Path, name: str, write: Callable[[bytes], object]) -> None:
    """Hand a member's bytes to `write` in pieces.

    Raises:
        ValueError: the member is larger than it may be.
    """
    with zipfile.ZipFile(archive) as opened, opened.open(name) as stream:
        _copy(stream, write)


def write_subset(archive: Path, names: list[str], target: IO[bytes]) -> None:
    """A new archive with these members only; the same members give the same bytes."""
    with zipfile.ZipFile(archive) as opened, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as subset:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            with opened.open(name) as stream, subset.open(info, "w") as out:
                _copy(stream, out.write)


def copy_members(archive: Path, target: zipfile.ZipFile, prefix: str) -> None:
    """Copy every file of the archive into another one, below a folder."""
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if not info.is_dir():
                with (
                    opened.open(info) as stream,
                    target.open(
                        prefix + info.filename, "w", force_zip64=info.file_size >= _ZIP64_BYTES
                    ) as out,
                ):
                    _copy(stream, out.write)


def _copy(stream: IO[bytes], write: Callable[[bytes], object]) -> None:
    size = 0
    while chunk := stream.read(CHUNK):
        size += len(chunk)
        if size > MEMBER_BYTES:
            raise ValueError("A member of the archive is larger than 10 GB.")
        write(chunk)
