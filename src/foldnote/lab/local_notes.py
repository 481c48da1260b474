"""Local data on jobs that the service does not store: tags, notebooks, labels and pending deletions.

The interface has no tags that can be changed after submission, so they are kept in a database of the Jupyter
server's user. The notebook and the label come from the ledger. This module makes no requests.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from foldnote import settings
from foldnote.client.local.ledger import Ledger
from foldnote.errors import ConfigurationError

MAX_TAGS = 20
MAX_TAG_LENGTH = 40
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tags (
    service TEXT NOT NULL, job_name TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (service, job_name, tag)
);
"""


@dataclass(frozen=True)
class Note:
    """The local data on one job.

    Attributes:
        tags: in alphabetical order.
        label: the label that was given on this computer; None without one.
        notebook: path of the notebook that submitted it, as reported by its kernel; None where unknown.
        is_leaving: whether its deletion is pending and can still be undone.
    """

    tags: tuple[str, ...] = ()
    notebook: str | None = None
    is_leaving: bool = False
    label: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The fields added to the job's record; empty ones are left out."""
        fields = {
            "tags": list(self.tags),
            "notebook": self.notebook,
            "isLeaving": self.is_leaving,
            "localLabel": self.label,
        }
        return {name: value for name, value in fields.items() if value}


EMPTY_NOTE = Note()


class Notes:
    """The notes on the jobs of one service."""

    def __init__(self, service: str = settings.EMBEDDED) -> None:
        """``service`` is the address of the service; nothing is read before ``reload``."""
        self.service = service
        self._leaving: frozenset[str] = frozenset()
        self._tags: dict[str, tuple[str, ...]] = {}
        self._notebooks: Mapping[str, str] = {}
        self._labels: Mapping[str, str] = {}

    def find(self, job_name: str) -> Note:
        """The note on a job; an empty one for an unknown job."""
        tags, notebook = self._tags.get(job_name, ()), self._notebooks.get(job_name)
        is_leaving, label = job_name in self._leaving, self._labels.get(job_name)
        if not (tags or notebook or is_leaving or label):
            return EMPTY_NOTE
        return Note(tags, notebook, is_leaving, label)

    def reload(self) -> None:
        """Read the tags, notebooks and labels that kernels and other servers have written."""
        ledger = Ledger(service=self.service)
        self._notebooks, self._labels = ledger.notebooks(), ledger.labels()
        found: dict[str, list[str]] = {}
        query = "SELECT job_name, tag FROM tags WHERE service = ? ORDER BY tag"
        try:
            with _open() as connection:
                for name, tag in connection.execute(query, (self.service,)):
                    found.setdefault(name, []).append(tag)
        except (sqlite3.Error, OSError):  # jobs are shown without tags when the file is damaged
            return
        self._tags = {name: tuple(tags) for name, tags in found.items()}

    def set_leaving(self, names: Iterable[str]) -> None:
        """Set the jobs whose deletion is pending."""
        self._leaving = frozenset(names)

    def change_tags(self, names: Iterable[str], added: Iterable[str], removed: Iterable[str]) -> None:
        """Add and remove tags of jobs.

        Raises:
            ConfigurationError: a tag is empty or too long, a job would have too many, or saving fails.
        """
        more, less = {_read_tag(tag) for tag in added}, {tag.strip() for tag in removed}
        wanted = {name: ({*self._tags.get(name, ())} - less) | more for name in names}
        if any(len(tags) > MAX_TAGS for tags in wanted.values()):
            raise ConfigurationError(f"A job has at most {MAX_TAGS} tags.")
        self._write(wanted)

    def forget(self, names: Iterable[str]) -> None:
        """Delete the tags of deleted jobs, whose names may be used again."""
        known = {name: set[str]() for name in names if name in self._tags}
        if known:
            self._write(known)

    def _write(self, wanted: Mapping[str, set[str]]) -> None:
        rows = [(self.service, name, tag) for name, tags in wanted.items() for tag in tags]
        try:
            with _open() as connection, connection:
                connection.executemany(
                    "DELETE FROM tags WHERE service = ? AND job_name = ?",
                    [(self.service, name) for name in wanted],
                )
                connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as exc:
            raise ConfigurationError(f"Tags cannot be saved in {_path()}: {exc}.") from exc
        self._tags |= {name: tuple(sorted(tags)) for name, tags in wanted.items()}


def _read_tag(tag: str) -> str:
    text = " ".join(tag.split())
    if not text or len(text) > MAX_TAG_LENGTH:
        raise ConfigurationError(f"A tag must have 1 to {MAX_TAG_LENGTH} characters; {tag[:60]!r} does not.")
    return text


def _path() -> str:
    return str(settings.data_dir() / "tags.db")


@contextmanager
def _open() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(_path(), timeout=10)) as connection:
        connection.executescript(_SCHEMA)
        yield connection
