"""The format of a backup: a folder with a list of all files and their SHA-256.

    backup.json      when, by which version and of what it was made
    SHA256SUMS       every other file with its SHA-256, as `sha256sum -c` reads it
    service.sqlite3  a snapshot of the database
    key              the service's own key
    objects/         every content that the snapshot names
    jobs/            what is kept of ended runs: log, manifest, and whose they are

A folder that lacks a file of the list, has one more, or one that was changed, is no backup.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
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
        made: RFC 3339 UTC, the moment of the snapshot.
        version: foldnote's version that made it.
        jobs: jobs that are not deleted.
        files: uploaded files that are not deleted.
        size_bytes: of all its files.
        missing: hashes of contents that the database names and the data folder had lost.
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
        ConfigurationError: it is no backup, or one that this version cannot read.
    """
    try:
        content = json.loads((folder / DESCRIPTION).read_text())
        version = content.pop("backupVersion")
        if version != VERSION:
            raise ConfigurationError(
                f"The backup {folder} was made by foldnote {content.get('version')}, in a form that this"
                " version does not know. Install that version, or a later one, and restore it there."
            )
        return Backup(**{**content, "missing": tuple(content["missing"])})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as exc:
        raise ConfigurationError(f"{folder} is no backup of foldnote: {DESCRIPTION} cannot be read.") from exc


def read_sums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of the backup, by its path.

    Raises:
        ConfigurationError: the list cannot be read, or the folder has other files than it names.
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
        raise damaged(folder, f"{SUMS} is not whole")
    return sums


def find_files(folder: Path) -> Iterator[Path]:
    """Every file below a folder; links count as files and are not followed."""
    for path, _, names in os.walk(folder):
        for name in names:
            yield Path(path, name)


def damaged(folder: Path, what: str) -> ConfigurationError:
    """The error for a backup that was changed or is incomplete."""
    return ConfigurationError(
        f"The backup {folder} is damaged: {what}. Nothing was changed. Use another one."
    )


def check_backup(folder: Path) -> Backup:
    """Read every file of a backup and compare it with the list.

    Raises:
        ConfigurationError: it is no backup, or damaged.
    """
    backup = read_description(folder)
    for name, expected in read_sums(folder).items():
        if hash_file(folder / name) != expected:
            raise damaged(folder, f"{name} was changed")
    return backup


def hash_file(path: Path) -> str:
    """The SHA-256 of a file in hex; empty where a link or a folder is in its place."""
    if path.is_symlink() or not path.is_file():
        return ""
    return io.hash_file(path)


def copy_stream(source: BinaryIO, target: Path) -> tuple[str, int]:
    """Write ``source`` to a new file; return its SHA-256 in hex and its size in bytes.

    Raises:
        OSError: it cannot be read or written.
    """
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with target.open("xb") as copy:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
            copy.write(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
