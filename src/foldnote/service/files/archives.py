"""Read single files and structures of a result archive without unpacking it.

Archives are written by our own runner, but neither an engine's output nor the disk is trusted: an archive
with paths outside of it, links or devices is refused, as is an incomplete one. Each extraction is limited in
number of files, size and compression ratio. A member's name is never used as a path.
"""

from __future__ import annotations

import errno
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

STRUCTURE_EXTENSIONS = (".pdb", ".cif", ".mmcif", ".ent", ".pdbqt", ".bcif", ".pdb.gz", ".cif.gz")
MAX_MEMBERS = 10_000
MAX_BYTES = 10 * 1024**3
MAX_RATIO = 100
"""Maximum bytes per compressed byte, if more than `SMALL_BYTES` are extracted."""
SMALL_BYTES = 100 * 1024**2
CHUNK = 1 << 20
_ZIP64_BYTES = 1 << 31
_ENCRYPTED = 0x1
_STRANGE_NAME = re.compile(r"^/|^[A-Za-z]:|\\|[\x00-\x1f]|(^|/)\.\.(/|$)")
_READ_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, struct.error, ValueError
)  # fmt: skip
_FAULTS_OF_CONTENT = (errno.EINVAL, None)
"""`errno` values of a seek to before the start of the file, and of `bz2` for an invalid stream."""


class DamagedArchiveError(ValueError):
    """The archive cannot be read, or has members that a result may not have; the message names them."""


@contextmanager
def open_archive(archive: Path | IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open a valid archive for reading: a file, or its content.

    Raises:
        DamagedArchiveError: it is damaged, which may be found only while reading.
        OSError: the disk failed or the file is missing.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            _require_regular_files(opened.infolist())
            yield opened
    except DamagedArchiveError:
        raise
    except _READ_FAULTS as exc:
        raise DamagedArchiveError(f"it cannot be read ({exc})") from exc
    except OSError as exc:
        if exc.errno not in _FAULTS_OF_CONTENT:
            raise
        raise DamagedArchiveError(f"it cannot be read ({exc})") from exc


def _require_regular_files(members: Sequence[zipfile.ZipInfo]) -> None:
    for each in members:
        kind = stat.S_IFMT(each.external_attr >> 16)
        if _STRANGE_NAME.search(each.filename):
            raise DamagedArchiveError(f"its member {each.filename[:100]!r} has an unsafe path")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or each.flag_bits & _ENCRYPTED:
            raise DamagedArchiveError(f"its member {each.filename[:100]!r} is not a regular file")


def _limit_extraction(members: Sequence[zipfile.ZipInfo]) -> None:
    """Limit one extraction by the sizes in the directory, which zipfile enforces for each member."""
    inside = sum(each.file_size for each in members)
    packed = sum(each.compress_size for each in members)
    if len(members) > MAX_MEMBERS:
        raise DamagedArchiveError(f"it has {len(members)} files; {MAX_MEMBERS} are allowed")
    if inside > MAX_BYTES:
        raise DamagedArchiveError(f"it holds {inside} bytes; {MAX_BYTES} are allowed")
    if inside > SMALL_BYTES and inside > MAX_RATIO * packed:
        raise DamagedArchiveError(f"its contents are {inside // max(1, packed)} times its size")


def member_names(archive: Path) -> list[str]:
    """Return the files in the archive, in archive order.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    with open_archive(archive) as opened:
        return [info.filename for info in opened.infolist() if not info.is_dir()]


def structure_names(archive: Path) -> list[str]:
    """Return the structure files in the archive.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    return [name for name in member_names(archive) if name.lower().endswith(STRUCTURE_EXTENSIONS)]


def find_member(archive: Path, wanted: str) -> str | None:
    """Return the member whose full path is `wanted`; None if there is none.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    wanted = wanted.strip("/")
    return next((name for name in member_names(archive) if name == wanted), None)


def read_member(archive: Path, name: str, write: Callable[[bytes], object]) -> None:
    """Pass a member's bytes to `write` in chunks.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    with open_archive(archive) as opened:
        _limit_extraction([opened.getinfo(name)])
        with opened.open(name) as stream:
            _copy(stream, write)


def read_start(archive: Path, name: str, size: int) -> bytes:
    """Return the first `size` bytes of a member.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    with open_archive(archive) as opened, opened.open(name) as stream:
        return stream.read(size)


def write_subset(archive: Path, names: list[str], target: IO[bytes]) -> None:
    """Write a new archive with these members only; the same members give the same bytes.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    with open_archive(archive) as opened, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as subset:
        _limit_extraction([opened.getinfo(name) for name in names])
        for name in names:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            with opened.open(name) as stream, subset.open(info, "w") as out:
                _copy(stream, out.write)


def copy_members(archive: Path, target: zipfile.ZipFile, prefix: str) -> None:
    """Copy every file of the archive into another one, with `prefix` before each path.

    Raises:
        DamagedArchiveError: the archive is damaged.
    """
    with open_archive(archive) as opened:
        _limit_extraction(opened.infolist())
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
    while chunk := stream.read(CHUNK):
        write(chunk)
