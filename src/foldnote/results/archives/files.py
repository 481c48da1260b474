"""Reading the files of one archive, and remembering which could not be read.

A damaged file is reported once and costs only itself. What the bytes mean is the business of those who ask.
"""

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
        kind: what it holds, judged by its name.
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
    """The files of an archive, and the problems met so far."""

    def __init__(self, archive: Archive) -> None:
        """Keep the archive; what it already found damaged is a problem from the start."""
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
        """Files that turned out to be unreadable so far."""
        return tuple(self._problems.values())

    def named(self, *kinds: FileKind) -> tuple[str, ...]:
        """Names of the files of these kinds."""
        return tuple(file.name for file in self.files if file.kind in kinds)

    def read(self, name: str) -> bytes:
        """The bytes of one file; one that is compressed by itself is unpacked.

        Raises:
            UnreadableFileError: there is no such file, or it is damaged; it is then among the problems.
        """
        try:
            return unpack_single(self.archive.read(name), name)
        except UnreadableFileError as exc:
            self.report(name, exc)
            raise

    def read_text(self, name: str) -> str:
        """The text of one file; bytes that are no UTF-8 are replaced.

        Raises:
            UnreadableFileError: there is no such file, or it is damaged; it is then among the problems.
        """
        return self.read(name).decode("utf-8", "replace")

    def parse(self, reader: Callable[[bytes, str], T], name: str) -> T:
        """What ``reader`` makes of a file.

        Raises:
            UnreadableFileError: it is damaged; it is then among the problems.
        """
        try:
            return reader(self.read(name), name)
        except UnreadableFileError as exc:
            self.report(name, exc)
            raise

    def attempt(self, name: str, action: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The action's value, or None after reporting that the file ``name`` cannot be read."""
        try:
            return action(*args, **kwargs)
        except UnreadableFileError as exc:
            self.report(name, exc)
            return None

    def report(self, name: str, exc: UnreadableFileError) -> None:
        """Remember that the file cannot be read, and why; the first reason counts."""
        self._problems.setdefault(name, FileProblem(name, exc.message))
