"""Locks: every package of an engine's environment, with its version and the SHA-256 of each of its files.

A lock is a requirements file for all platforms and Pythons, made by ``scripts/lock-engines`` from the steps
of ``engine.toml``. This module reads locks and pip's reports on them; pip itself compares the hashes.
Packages whose builds differ from index to index, such as torch, are pinned by version only, and the hash of
the installed file is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from foldnote.errors import EngineError

BUILD_TOOLS = ("setuptools", "wheel")
"""Build tools of packages without a wheel."""
_ENTRY = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MISMATCH = re.compile(r"^\s+(\S+) from (\S+)")
_GOT = re.compile(r"^\s+Got\s+([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class LockSource:
    """``[environment.lock]`` of ``engine.toml``."""

    file: str
    """Requirements file with hashes, relative to the engine's folder."""
    unhashed: tuple[str, ...] = ()
    """Packages pinned only by the version in ``steps``, since their builds differ between indexes; they are
    installed first."""
    libraries: tuple[str, ...] = ()
    """Patterns of packages that only some builds of the unhashed ones require, such as ``nvidia-*``."""
    libraries_for_gpu: bool = False
    """Whether ``libraries`` are instead those that are only useful on a machine with an NVIDIA GPU."""
    built: tuple[str, ...] = ()
    """Packages that may be built from source if they have no wheel, with the lock's own setuptools; all
    others are installed from wheels only."""
    without_dependencies: bool = False
    """Whether the lock contains only the packages of ``steps``, without their dependencies."""


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One entry of a lock; a package has several if Pythons or platforms need different versions."""

    name: str
    version: str
    text: str
    """The lines of the lock."""

    @property
    def hashes(self) -> tuple[str, ...]:
        """SHA-256 of each acceptable file."""
        return tuple(_HASH.findall(self.text))

    @property
    def without_hashes(self) -> str:
        """The requirement with its marker, without hashes."""
        return self.text.splitlines()[0].rstrip(" \\")


def read_lock(path: Path) -> tuple[LockedPackage, ...]:
    """Read the packages of a lock.

    Raises:
        EngineError: it cannot be read, or a package has no exact version or no hash.
    """
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as exc:
        raise EngineError(f"The lock {path} cannot be read: {exc}.") from exc
    entries: list[list[str]] = []
    for line in lines:
        if line.startswith("#"):
            continue
        if line[0].isspace() and entries:
            entries[-1].append(line)
        else:
            entries.append([line])
    return tuple(_read_entry(path, "\n".join(entry)) for entry in entries)


def _read_entry(path: Path, text: str) -> LockedPackage:
    found = _ENTRY.match(text)
    if found is None or not _HASH.search(text):
        raise EngineError(
            f"The lock {path} cannot be used: {text.splitlines()[0]!r} has no exact version or no hash."
            " Recreate it with scripts/lock-engines."
        )
    return LockedPackage(normalize(found[1]), found[2], text)


def normalize(name: str) -> str:
    """Normalize a package's name as registries compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_library(source: LockSource, name: str) -> bool:
    """Return whether only some builds of the unhashed packages, or machines with a GPU, need it."""
    return any(fnmatch(name, pattern) for pattern in source.libraries)


def name_of(requirement: str) -> str:
    """Return the package that a requirement names; empty for an option of pip."""
    found = _NAME.match(requirement)
    return normalize(found[0]) if found else ""


def read_report(report: Mapping[str, Any], *, is_checked: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the packages in pip's report: name, then version, file, SHA-256 and whether that was compared."""
    for row in report.get("install") or ():
        about, origin = row.get("metadata") or {}, row.get("download_info") or {}
        hashes = (origin.get("archive_info") or {}).get("hashes") or {}
        yield (
            normalize(str(about.get("name", ""))),
            {
                "version": about.get("version"),
                "file": _file_of(str(origin.get("url", ""))),
                "sha256": hashes.get("sha256"),
                "checked": is_checked,
            },
        )


def _file_of(url: str) -> str:
    """Return the file name in a URL, without credentials, query and fragment."""
    return url.partition("#")[0].partition("?")[0].rsplit("/", 1)[-1]


def explain_other_hash(engine: str, lines: Sequence[str]) -> str | None:
    """Return a sentence on a package whose hash differs from the lock's, from pip's output; else None."""
    named = None
    for line in lines:
        if match := _MISMATCH.match(line):
            named = match
        elif named and (got := _GOT.match(line)):
            package, url = named[1].replace("==", " "), named[2].rstrip(":")
            return (
                f"{_file_of(url)} is not the file of {package} that the lock of {engine} names: its SHA-256"
                f" is {got[1]}. It was not installed. Either it was changed or damaged on its way: then try"
                " again, and do not use that registry if it happens again. Or your registry builds its own"
                f" packages: if you trust it, run `foldnote engines install {engine} --no-hashes`, which"
                " installs the same versions and records their hashes."
            )
    return None
