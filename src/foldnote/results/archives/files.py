"""Read the files of an archive, and record which could not be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ParamSpec, TypeVar

from foldnote.errors import UnreadableFileError
from foldnote.results.archives.archive import Archive
from foldnote.results.archives.compression import unpack_single
from foldnote.results.naming.file_kinds import FileKind, find_kind

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class ResultFile:
    """One file of a result.

    Attributes:
        name: path inside the archive.
        size_bytes: unpacked size.
        kind: kind of the contents, determined by the name.
    """

    name: str
    size_bytes: int
    kind: FileKind


@dataclass(frozen=True)
class FileProblem:
    """A file that could not be read.

    Attributes:
        name: path inside the archive.
        message: what is wrong with it.
    """

    name: str
    message: str


class Reader:
    """The files of an archive, and the problems found so far."""

    def __init__(self, archive: Archive) -> None:
        """Keep the archive and the problems that it found while listing."""
        self.archive = archive
        self._problems = {name: FileProblem(name, message) for name, message in archive.problems}

    @cached_property
    def files(self) -> tuple[ResultFile, ...]:
        """Every file, by name."""
        return tuple(ResultFile(m.name, m.size_bytes, find_kind(m.name)) for m in self.archive.members)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Size in bytes of every file."""
        return {file.name: file.size_bytes for file in self.files}

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """Files found to be unreadable so far."""
        return tuple(self._problems.values())

    def named(self, *kinds: FileKind) -> tuple[str, ...]:
        """Return the names of the files of these kinds."""
        return tuple(file.name for file in self.files if file.kind in kinds)

    def read(self, name: str) -> bytes:
        """Return the bytes of one file; a compressed file is decompressed.

        Raises:
            UnreadableFileError: there is no such file, or it is damaged; it is added to the problems.
        """
        try:
            return unpack_single(self.archive.read(name), name)
        except UnreadableFileError as exc:
            self.report(name, exc)
            raise

    def read_text(self, name: str) -> str:
        """Return the text of one file; invalid UTF-8 is replaced.

        Raises:
            UnreadableFileError: there is no such file, or it is damaged; it is added to the problems.
        """
        return self.read(name).decode("utf-8", "replace")

    def parse(self, reader: Callable[[bytes, str], T], name: str) -> T:
        """Return the value that ``reader`` returns for a file's bytes and name.

        Raises:
            UnreadableFileError: it is damaged; it is added to the problems.
        """
        try:
            return reader(self.read(name), name)
        except UnreadableFileError as exc:
            self.report(name, exc)
            raise

    def attempt(self, name: str, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Return the value of ``action``; None after recording that the file ``name`` cannot be read."""
        try:
            return action(*args, **kwargs)
        except UnreadableFileError as exc:
            self.report(name, exc)
            return None

    def report(self, name: str, exc: UnreadableFileError) -> None:
        """Record that the file cannot be read, and why; the first reason is kept."""
        self._problems.setdefault(name, FileProblem(name, exc.message))
