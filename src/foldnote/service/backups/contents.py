"""The format of a backup: a folder with a list of all files and their SHA-256.

    backup.json      when, by which version and from what it was made
    SHA256SUMS       every other file with its SHA-256, as `sha256sum -c` reads it
    service.sqlite3  a snapshot of the database
    key              the service's own key
    objects/         every content to which the snapshot refers
    jobs/            the kept files of ended runs: log, manifest, and their owner

A folder with a missing, additional or modified file is not a valid backup.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from foldnote import io
from foldnote.errors import ConfigurationError

DESCRIPTION = "backup.json"
SUMS = "SHA256SUMS"
VERSION = 1
_CHUNK_BYTES = 1 << 20
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


@dataclass(frozen=True)
class Backup:
    """The description of a backup.

    Attributes:
        made: time of the snapshot, RFC 3339 UTC.
        version: version of foldnote that made it.
        jobs: number of jobs, without deleted ones.
        files: number of uploaded files, without deleted ones.
        size_bytes: total size of its files.
        missing: SHA-256 (hex) of contents in the database that were missing in the data folder.
    """

    made: str
    version: str
    jobs: int
    files: int
    size_bytes: int
    missing: tuple[str, ...] = ()


def write_description(folder: Path, backup: Backup) -> None:
    """Write ``backup.json``.

    Raises:
        OSError: it cannot be written.
    """
    content = {"backupVersion": VERSION, **asdict(backup)}
    (folder / DESCRIPTION).write_text(json.dumps(content, indent=1) + "\n")


def read_description(folder: Path) -> Backup:
    """Read the description of the backup in ``folder``.

    Raises:
        ConfigurationError: it is not a backup, or this version cannot read it.
    """
    try:
        content = json.loads((folder / DESCRIPTION).read_text())
        version = content.pop("backupVersion")
        if version != VERSION:
            raise ConfigurationError(
                f"The backup {folder} was made by foldnote {content.get('version')}, in a format that this"
                " version cannot read. Restore it with that version or a later one."
            )
        return Backup(**{**content, "missing": tuple(content["missing"])})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as exc:
        raise ConfigurationError(
            f"{folder} is not a backup of foldnote: {DESCRIPTION} cannot be read."
        ) from exc


def read_sums(folder: Path) -> dict[str, str]:
    """Read the SHA-256 (hex) of each file of the backup, by its path.

    Raises:
        ConfigurationError: the list cannot be read, or the folder's files differ from it.
    """
    try:
        lines = (folder / SUMS).read_text().splitlines()
    except (OSError, ValueError) as exc:
        raise damaged(folder, f"{SUMS} cannot be read") from exc
    matches = [_LINE.fullmatch(line) for line in lines]
    sums = {found[2]: found[1] for found in matches if found}
    there = {str(path.relative_to(folder)) for path in find_files(folder)} - {SUMS}
    for name in sorted(sums.keys() ^ there):
        raise damaged(folder, f"{name} is " + ("missing" if name in sums else f"not in {SUMS}"))
    if len(sums) != len(lines):
        raise damaged(folder, f"{SUMS} is incomplete")
    return sums


def find_files(folder: Path) -> Iterator[Path]:
    """Find every file below a folder; links count as files and are not followed."""
    for path, _, names in os.walk(folder):
        for name in names:
            yield Path(path, name)


def damaged(folder: Path, what: str) -> ConfigurationError:
    """Build the error for a modified or incomplete backup."""
    return ConfigurationError(
        f"The backup {folder} is damaged: {what}. Nothing was changed. Use another one."
    )


def check_backup(folder: Path) -> Backup:
    """Compare every file of a backup with the list.

    Raises:
        ConfigurationError: it is not a backup, or it is damaged.
    """
    backup = read_description(folder)
    for name, expected in read_sums(folder).items():
        if hash_file(folder / name) != expected:
            raise damaged(folder, f"{name} was modified")
    return backup


def hash_file(path: Path) -> str:
    """Return the SHA-256 (hex) of a file; empty if it is a link or a folder."""
    if path.is_symlink() or not path.is_file():
        return ""
    return io.hash_file(path)


def copy_stream(source: BinaryIO, target: Path) -> tuple[str, int]:
    """Write ``source`` to a new file; return its SHA-256 (hex) and its size in bytes.

    Raises:
        OSError: it cannot be read or written.
    """
    return copy_chunks(iter(lambda: source.read(_CHUNK_BYTES), b""), target)


def copy_chunks(source: Iterable[bytes], target: Path) -> tuple[str, int]:
    """Write chunks to a new file; return its SHA-256 (hex) and its size in bytes.

    Raises:
        OSError: they cannot be read or written.
    """
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.open("xb") as copy:
        for chunk in source:
            digest.update(chunk)
            copy.write(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
