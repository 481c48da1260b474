"""Keep one copy of the large files that several engines' environments have in common, by hard links.

Environments contain the same builds of PyTorch, SciPy and CUDA's libraries, which make up most of their size.
The store contains each file under the SHA-256 that its wheel's RECORD gives; an equal file of another
environment becomes a hard link to it. Every environment remains complete in itself: it can be removed, and
pip replaces a linked file without touching the others.
"""

from __future__ import annotations

import base64
import csv
import filecmp
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from foldnote.service.files.conditions import is_full

STORE = ".files"
"""Folder beside the engines' own."""
_MIN_BYTES = 65_536
_DIGEST_BYTES = 32


def share_files(site_packages: Path, store: Path) -> int:
    """Link an environment's large files with equal ones of others, and make them available to later ones.

    Args:
        site_packages: the environment's packages, as pip installed them.
        store: the folder of shared files, on the same file system; created if missing.

    Returns:
        Bytes that this freed: 0 if the file system has no hard links, in which case nothing changes.

    Raises:
        OSError: the disk is full.
    """
    freed = 0
    done: set[str] = set()
    for path, digest in _find_large_files(site_packages):
        if digest in done:  # a package that lists a file twice
            continue
        done.add(digest)
        try:
            freed += _share(path, store / digest[:2] / digest)
        except OSError as exc:
            if is_full(exc):
                raise
            return freed
    return freed


def drop_unused_files(store: Path) -> int:
    """Remove shared files that no environment uses any more; return the bytes that this freed."""
    freed = 0
    for path in store.glob("*/*"):
        with suppress(OSError):
            about = path.stat()
            if about.st_nlink == 1:
                path.unlink()
                freed += about.st_size
    return freed


def _find_large_files(site_packages: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that a wheel's RECORD lists, each with its SHA-256 in hexadecimal digits."""
    for found in distributions(path=[str(site_packages)]):
        for name, digest, size in _read_record(found.read_text("RECORD") or ""):
            path = site_packages / name
            if size >= _MIN_BYTES and path.is_file() and not path.is_symlink():
                yield path, digest


def _read_record(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the rows of a RECORD that have a SHA-256: file name, hexadecimal digits, size in bytes."""
    for row in csv.reader(text.splitlines()):
        with suppress(ValueError):  # pip's own row, which has neither, or a damaged file
            name, digest, size = row
            kind, _, encoded = digest.partition("=")
            decoded = base64.urlsafe_b64decode(f"{encoded}=")
            if kind == "sha256" and len(decoded) == _DIGEST_BYTES:
                yield name, decoded.hex(), int(size)


def _share(path: Path, shared: Path) -> int:
    """Make ``path`` a link to ``shared`` if their contents are equal; return the bytes freed."""
    shared.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, shared)
        return 0
    except FileExistsError:
        pass
    if path.samefile(shared) or not filecmp.cmp(path, shared, shallow=False):
        return 0
    if path.stat().st_mode != shared.stat().st_mode:
        return 0
    draft = path.with_name(f".{path.name}.shared")
    draft.unlink(missing_ok=True)
    os.link(shared, draft)
    freed = path.stat().st_size if path.stat().st_nlink == 1 else 0
    draft.replace(path)
    return freed
