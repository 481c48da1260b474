"""Unpack a downloaded archive, without letting it write outside of its folder."""

from __future__ import annotations

import hashlib
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from foldnote.io import hash_bytes, hash_file

_CHUNK_BYTES = 1 << 20
_EXECUTABLE = 0o111


class BadArchiveError(Exception):
    """The archive cannot be unpacked; the message completes ``It cannot be unpacked: …``."""


def unpack(archive: Path, folder: Path, leading_folders: int = 0) -> None:
    """Unpack a tar or zip archive into the new folder ``folder``; only plain files and folders are allowed.

    Args:
        archive: the file.
        folder: created here; incomplete after an error.
        leading_folders: number of leading folders to drop from each name.

    Raises:
        BadArchiveError: it is not an archive, is damaged, or contains a link or a name outside of the folder.
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True)
    try:
        for name, is_executable, stream in _list_files(archive):
            parts = PurePosixPath(name).parts[leading_folders:]
            if not parts:
                continue
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                shutil.copyfileobj(stream, out, _CHUNK_BYTES)
            target.chmod(0o555 if is_executable else 0o444)
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, NotImplementedError) as exc:
        raise BadArchiveError(f"it is damaged ({exc})") from exc
    except FileExistsError as exc:
        raise BadArchiveError("it has two files of one name") from exc
    except (NotADirectoryError, IsADirectoryError) as exc:
        raise BadArchiveError("one of its names is a file and a folder") from exc


def _list_files(archive: Path) -> Iterator[tuple[str, bool, IO[bytes]]]:
    """Yield name, whether it is a program, and content of each file."""
    if zipfile.is_zipfile(archive):
        yield from _list_zip(archive)
    elif tarfile.is_tarfile(archive):
        yield from _list_tar(archive)
    else:
        raise BadArchiveError("it is neither a tar nor a zip archive")


def _list_tar(archive: Path) -> Iterator[tuple[str, bool, IO[bytes]]]:
    with tarfile.open(archive) as content:
        for member in content:
            if member.isdir():
                continue
            if not member.isreg():
                raise BadArchiveError(f"{member.name!r} is a link or a device")
            _check_name(member.name)
            if (stream := content.extractfile(member)) is not None:
                yield member.name, bool(member.mode & _EXECUTABLE), stream


def _list_zip(archive: Path) -> Iterator[tuple[str, bool, IO[bytes]]]:
    with zipfile.ZipFile(archive) as content:
        for member in content.infolist():
            if member.is_dir():
                continue
            mode = member.external_attr >> 16
            if stat.S_ISLNK(mode):
                raise BadArchiveError(f"{member.filename!r} is a link")
            _check_name(member.filename)
            with content.open(member) as stream:
                yield member.filename, bool(mode & _EXECUTABLE), stream


def _check_name(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\x00" in name or ":" in path.parts[0]:
        raise BadArchiveError(f"the name {name!r} leads out of its folder")


def hash_tree(folder: Path) -> str:
    """Return one SHA-256 over names and contents of all files below ``folder``."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = [f"{hash_file(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    return hash_bytes("".join(rows).encode())


def name_git_tree(folder: Path) -> str:
    """Return git's name of a tree with the files of ``folder``: SHA-1, 40 hexadecimal digits.

    The format is described in "Git Internals: Git Objects" of Chacon S., Straub B., Pro Git.
    """
    rows = []
    for path in folder.iterdir():
        if path.is_dir():
            rows.append((f"{path.name}/", f"40000 {path.name}", name_git_tree(path)))
        else:
            mode = "100755" if path.stat().st_mode & _EXECUTABLE else "100644"
            rows.append((path.name, f"{mode} {path.name}", _name_git_blob(path)))
    body = b"".join(f"{head}\0".encode() + bytes.fromhex(name) for _, head, name in sorted(rows))
    return hashlib.sha1(f"tree {len(body)}\0".encode() + body, usedforsecurity=False).hexdigest()


def _name_git_blob(path: Path) -> str:
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
