"""Storage of the contents of files and results: a folder, or a bucket of an object store.

A content is stored once, under its SHA-256, and never changes. This module does not know which contents are
used; callers pass a function that queries the database.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self

YOUNG_S = 7200.0
"""Time for which an unused content is kept: its row may not be committed yet, or a link (valid for one hour)
may refer to it."""
LATELY_S = 60.0
"""The same for a content released by a row: a new row would follow within seconds, and its links are
invalid."""


class ObjectDraft(Protocol):
    """A content being written: `write`, then `commit`; leaving the block without `commit` discards it.

    Attributes:
        size: bytes written so far.
    """

    size: int

    def write(self, chunk: bytes, /) -> None:
        """Append bytes.

        Raises:
            OSError: the disk is full or fails.
        """

    def commit(self) -> str:
        """Store the content durably and return its SHA-256.

        Raises:
            OSError: the disk or the object store is full, fails or cannot be reached.
        """

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class ObjectStore(ABC):
    """The contents of one service, which all its replicas share.

    Attributes:
        is_remote: whether contents are on other machines, so that a transfer takes time.
        collects_every_s: interval between two searches for unused contents.
    """

    is_remote = False
    collects_every_s = 600.0

    @abstractmethod
    def path(self, sha256: str) -> Path:
        """Return a file on this machine with the content, fetched if necessary; open it within a minute.

        Raises:
            FileNotFoundError: the content is missing; if contents are local, opening the file raises it.
            OSError: it cannot be fetched.
        """

    @abstractmethod
    def has(self, sha256: str) -> bool:
        """Return whether the content exists.

        Raises:
            OSError: the object store cannot be reached.
        """

    @abstractmethod
    def size_bytes(self, sha256: str) -> int:
        """Return the size of a content.

        Raises:
            OSError: it is missing, or the object store cannot be reached.
        """

    @abstractmethod
    def read(self, sha256: str) -> Iterator[bytes]:
        """Read a content in pieces of about 1 MB, without caching it.

        Raises:
            OSError: it is missing, or the object store cannot be reached.
        """

    @abstractmethod
    def measure(self, wanted: Collection[str]) -> int:
        """Return the total size of these contents in bytes, without missing ones.

        Raises:
            OSError: the object store cannot be reached.
        """

    def is_cached(self, sha256: str) -> bool:  # noqa: ARG002
        """Return whether `path` need not fetch the content."""
        return True

    def find_link(self, sha256: str, method: str = "GET") -> str | None:  # noqa: ARG002
        """Return a URL, signed by the object store, that serves the content for some minutes.

        None if it is missing, or if clients cannot reach the object store: then the service sends the
        content.

        Raises:
            OSError: the object store cannot be reached.
        """
        return None

    @abstractmethod
    def draft(self) -> ObjectDraft:
        """Return an empty draft."""

    def put_bytes(self, content: bytes) -> str:
        """Store `content` and return its SHA-256.

        Raises:
            OSError: see `ObjectDraft.commit`.
        """
        with self.draft() as draft:
            draft.write(content)
            return draft.commit()

    @abstractmethod
    def adopt(self, source: Path, sha256: str) -> None:
        """Add a complete file of known SHA-256 durably; the file itself stays.

        Raises:
            OSError: see `ObjectDraft.commit`.
        """

    def adopt_all(self, sources: Sequence[tuple[Path, str]]) -> None:
        """Add several complete files, each with its SHA-256, which takes less time than one by one.

        Raises:
            OSError: see `ObjectDraft.commit`; some may have been added.
        """
        for source, sha256 in sources:
            self.adopt(source, sha256)

    @abstractmethod
    def clear_drafts(self) -> None:
        """Remove unfinished drafts of an earlier process."""

    @abstractmethod
    def collect(self, is_used: Callable[[str], bool], young_s: float = YOUNG_S) -> int:
        """Remove unused contents older than `young_s` seconds; return their number."""

    @abstractmethod
    def release(self, sha256: str, is_used: Callable[[str], bool]) -> bool:
        """Remove a released content unless it is used; return False if it is too recent to decide."""

    def find_fault(self) -> str | None:
        """Return why contents cannot be stored or read now, as a sentence; None if they can."""
        return None
