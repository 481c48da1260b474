"""Tags and notes that a user attaches to jobs; they are kept on this computer only.

No service has a field for them that can be changed after submission. Unlike the ledger, which can be rebuilt
from the service, they exist nowhere else; a failure to save them is therefore an error.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from foldnote import settings
from foldnote.errors import ConfigurationError

MAX_TAGS = 20
"""Maximum number of tags per job."""
MAX_TAG_LENGTH = 40
"""Maximum length of a tag in characters."""
MAX_NOTE_LENGTH = 5000
"""Maximum length of a note in characters."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tags (
    service TEXT NOT NULL, job_name TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (service, job_name, tag)
);
CREATE TABLE IF NOT EXISTS notes (
    service TEXT NOT NULL, job_name TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY (service, job_name)
);
"""


class Annotations:
    """The tags and notes on the jobs of one service, in one SQLite file that several processes may use."""

    def __init__(self, service: str) -> None:
        """``service`` is the address of the service."""
        self._service = service
        self._path = settings.data_dir() / "tags.db"

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Return the tags by job name, each in alphabetical order; empty if the file cannot be read."""
        found: dict[str, list[str]] = {}
        for name, tag in self._read("SELECT job_name, tag FROM tags WHERE service = ? ORDER BY tag"):
            found.setdefault(name, []).append(tag)
        return {name: tuple(tags) for name, tags in found.items()}

    def tags_of(self, job_name: str) -> tuple[str, ...]:
        """Return the tags of one job, in alphabetical order."""
        query = "SELECT tag, tag FROM tags WHERE service = ? AND job_name = ? ORDER BY tag"
        return tuple(tag for tag, _ in self._read(query, job_name))

    def notes(self) -> dict[str, str]:
        """Return the notes by job name; empty if the file cannot be read."""
        return dict(self._read("SELECT job_name, note FROM notes WHERE service = ?"))

    def note(self, job_name: str) -> str:
        """Return the note on a job; empty without one."""
        query = "SELECT job_name, note FROM notes WHERE service = ? AND job_name = ?"
        return next((note for _, note in self._read(query, job_name)), "")

    def set_note(self, job_name: str, text: str) -> str:
        """Replace the note on a job and return it; empty text removes it.

        Raises:
            ConfigurationError: the note is not text, is too long, or cannot be saved.
        """
        if not isinstance(text, str):
            raise ConfigurationError(f"A note is text, not {type(text).__name__}.")
        note = "\n".join(line.rstrip() for line in text.strip().splitlines())
        if len(note) > MAX_NOTE_LENGTH:
            raise ConfigurationError(
                f"A note has at most {MAX_NOTE_LENGTH:,} characters; this one has {len(note):,}."
            )
        key = (self._service, job_name)
        with self._change() as connection:
            connection.execute("DELETE FROM notes WHERE service = ? AND job_name = ?", key)
            if note:
                connection.execute("INSERT INTO notes VALUES (?, ?, ?)", (*key, note))
        return note

    def change_tags(
        self, names: Iterable[str], added: Iterable[str], removed: Iterable[str] = ()
    ) -> dict[str, tuple[str, ...]]:
        """Add and remove tags of jobs; returns the tags that each of them has then.

        Raises:
            ConfigurationError: a tag is empty or too long, a job would have too many, or saving fails.
        """
        more, less = {_read_tag(tag) for tag in added}, {" ".join(tag.split()) for tag in removed}
        wanted: dict[str, tuple[str, ...]] = {}
        with self._change() as connection:
            for name in names:
                key = (self._service, name)
                query = "SELECT tag FROM tags WHERE service = ? AND job_name = ?"
                tags = ({tag for (tag,) in connection.execute(query, key)} - less) | more
                if len(tags) > MAX_TAGS:
                    raise ConfigurationError(f"A job has at most {MAX_TAGS} tags.")
                connection.execute("DELETE FROM tags WHERE service = ? AND job_name = ?", key)
                connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(*key, tag) for tag in tags])
                wanted[name] = tuple(sorted(tags))
        return wanted

    def forget(self, names: Iterable[str]) -> None:
        """Delete tags and notes of deleted jobs, whose names may be used again.

        Raises:
            ConfigurationError: the change cannot be saved.
        """
        if not self._path.exists():
            return
        keys = [(self._service, name) for name in names]
        with self._change() as connection:
            for table in ("tags", "notes"):
                connection.executemany(
                    f"DELETE FROM {table} WHERE service = ? AND job_name = ?",  # noqa: S608 - our own names
                    keys,
                )

    def _read(self, query: str, *keys: str) -> list[tuple[str, str]]:
        try:
            with self._open() as connection:
                return connection.execute(query, (self._service, *keys)).fetchall()
        except (sqlite3.Error, OSError):  # jobs are shown without their notes when the file is damaged
            return []

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._open() as connection, connection:
                yield connection
        except (sqlite3.Error, OSError, UnicodeError) as exc:
            raise ConfigurationError(f"Tags and notes cannot be saved in {self._path}: {exc}.") from exc

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=10)) as connection:
            connection.executescript(_SCHEMA)
            yield connection


def _read_tag(tag: str) -> str:
    if not isinstance(tag, str):
        raise ConfigurationError(
            f"A tag is text, not {type(tag).__name__}; several are given as tag('a', 'b')."
        )
    text = " ".join(tag.split())
    if not text or len(text) > MAX_TAG_LENGTH:
        raise ConfigurationError(f"A tag must have 1 to {MAX_TAG_LENGTH} characters; {tag[:60]!r} does not.")
    return text
