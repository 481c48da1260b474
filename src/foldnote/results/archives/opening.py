"""Open an archive of any kind, with the archives inside it.

A nested archive appears as a folder of its name. One that cannot be opened or is not safe remains a plain
file and is reported. Limits apply to the total.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO

from foldnote.errors import ArchiveError, UnreadableFileError
from foldnote.io import names_path
from foldnote.results.archives.archive import (
    BROKEN,
    MAX_READ_BYTES,
    Archive,
    FolderArchive,
    Member,
    SingleFile,
    check_amount,
)
from foldnote.results.archives.tar_reader import TarArchive, is_tar
from foldnote.results.archives.zip_reader import ZipArchive
from foldnote.results.core.messages import explain

DEEPEST = 3
"""Maximum nesting level of archives that are opened."""
_NAMES = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.(gz|bz2|xz|zst))$")


class NestedArchive(Archive):
    """An archive whose nested archives appear as folders."""

    def __init__(self, outer: Archive, inner: dict[str, Archive], problems: list[tuple[str, str]]) -> None:
        """Replace each nested archive by its members.

        Raises:
            ArchiveError: the total exceeds a limit.
        """
        self._outer = outer
        self._routes = {
            f"{name}/{member.name}": (archive, member)
            for name, archive in inner.items()
            for member in archive.members
        }
        plain = [member for member in outer.members if member.name not in inner]
        members = [*plain, *(Member(name, member.size_bytes) for name, (_, member) in self._routes.items())]
        check_amount(outer.path, len(members), sum(member.size_bytes for member in members), 2**63)
        within = [
            (f"{name}/{file}", text) for name, nested in inner.items() for file, text in nested.problems
        ]
        super().__init__(outer.path, members, [*outer.problems, *problems, *within])

    def __reduce__(self) -> tuple[Callable[[Path], Archive], tuple[Path]]:
        """Pickle only the path, since the streams of nested archives cannot be pickled."""
        return open_archive, (self.path.absolute(),)

    def open(self, name: str) -> IO[bytes]:
        """Return a stream of a member's bytes."""
        if name in self._routes:
            archive, member = self._routes[name]
            return archive.open(member.name)
        return self._outer.open(name)


def open_archive(path: str | Path) -> Archive:
    """Return the archive at ``path``: ZIP, tar (also compressed), a folder, or a single plain file.

    Raises:
        ArchiveError: ``path`` does not exist, or is an archive that has no complete file or is not safe to
            read.
    """
    if not names_path(str(path)):
        raise ArchiveError(f"There is no result at {str(path)!r:.200}.")
    target = Path(path).expanduser()
    if target.is_dir():
        return _open_inner(FolderArchive(target))
    if not target.is_file():
        raise ArchiveError(f"There is no result at {target}.")
    try:
        with target.open("rb") as stream:
            kind = _find_kind(stream, target.name)
    except OSError as exc:
        raise ArchiveError(f"{target} cannot be read: {explain(exc)}.") from exc
    return SingleFile(target) if kind is None else _open_inner(kind(target))


def is_archive(path: Path) -> bool:
    """Return whether there is a folder or an archive at ``path``, and not a plain file or nothing."""
    if not path.is_file():
        return path.is_dir()
    try:
        with path.open("rb") as stream:
            return _find_kind(stream, path.name) is not None
    except OSError:
        return False


def _find_kind(stream: IO[bytes], name: str) -> type[ZipArchive] | type[TarArchive] | None:
    is_zip = stream.read(2) == b"PK"
    stream.seek(0)
    lower = name.lower()
    if (is_zip and not lower.endswith((".npz", ".xlsx"))) or lower.endswith(".zip"):
        return ZipArchive
    return TarArchive if _NAMES.search(lower) or is_tar(stream) else None


def _open_inner(outer: Archive, depth: int = 1) -> Archive:
    names = {member.name for member in outer.members}
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    inner: dict[str, Archive] = {}
    problems: list[tuple[str, str]] = []
    for name in sorted(names - folders):
        if not _NAMES.search(name.lower()) or depth >= DEEPEST:
            continue
        try:
            inner[name] = _open_inner(_open_member(outer, name), depth + 1)
        except (ArchiveError, UnreadableFileError) as exc:
            problems.append((name, exc.message))
    return NestedArchive(outer, inner, problems) if inner or problems else outer


def _open_member(outer: Archive, name: str) -> Archive:
    """Return a member as an archive, copied to an unnamed temporary file."""
    stream = tempfile.SpooledTemporaryFile(max_size=32 * 1024**2)  # noqa: SIM115 - the archive closes it
    try:
        with outer.open(name) as source:
            while piece := source.read(1024**2):
                stream.write(piece)
                if stream.tell() > MAX_READ_BYTES:
                    raise ArchiveError(
                        f"{name} is an archive of more than {MAX_READ_BYTES:,} bytes; not opened."
                    )
    except (ArchiveError, *BROKEN) as exc:
        stream.close()
        if isinstance(exc, ArchiveError):
            raise
        raise UnreadableFileError(f"{name} in {outer.path.name} is damaged: {explain(exc)}.") from exc
    stream.seek(0)
    kind = ZipArchive if name.lower().endswith(".zip") else TarArchive
    try:
        return kind(Path(PurePosixPath(name).name), stream)
    except ArchiveError:
        stream.close()
        raise
