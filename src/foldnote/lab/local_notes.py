"""Local data on jobs that the service does not store: tags, notes, notebooks, labels and pending deletions.

Users write tags and notes on this computer, in a notebook or in the panel. The notebook and the label come
from the ledger. This module makes no requests.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foldnote import settings
from foldnote.client.local.annotations import Annotations
from foldnote.client.local.ledger import Ledger


@dataclass(frozen=True)
class Note:
    """The local data on one job.

    Attributes:
        tags: in alphabetical order.
        label: the label that was given on this computer; None without one.
        notebook: path of the notebook that submitted it, as reported by its kernel; None where unknown.
        is_leaving: whether its deletion is pending and can still be undone.
        text: the user's note on it; empty without one.
    """

    tags: tuple[str, ...] = ()
    notebook: str | None = None
    is_leaving: bool = False
    label: str | None = None
    text: str = ""

    def to_wire(self) -> dict[str, Any]:
        """Return the fields added to the job's record; empty ones are left out."""
        fields = {
            "tags": list(self.tags),
            "notebook": self.notebook,
            "isLeaving": self.is_leaving,
            "localLabel": self.label,
            "note": self.text,
        }
        return {name: value for name, value in fields.items() if value}


EMPTY_NOTE = Note()


class Notes:
    """The notes on the jobs of one service.

    ``reload``, ``change_tags`` and ``forget`` use files, so they run in a thread outside the event loop.
    """

    def __init__(self, service: str = settings.EMBEDDED) -> None:
        """``service`` is the address of the service; nothing is read before ``reload``."""
        self.service = service
        self._lock = threading.Lock()  # data read before a change must not replace data read after it
        self._leaving: frozenset[str] = frozenset()
        self._tags: dict[str, tuple[str, ...]] = {}
        self._notebooks: Mapping[str, str] = {}
        self._labels: Mapping[str, str] = {}
        self._texts: Mapping[str, str] = {}

    def find(self, job_name: str) -> Note:
        """Return the note on a job; an empty one for an unknown job."""
        tags, notebook = self._tags.get(job_name, ()), self._notebooks.get(job_name)
        is_leaving, label = job_name in self._leaving, self._labels.get(job_name)
        text = self._texts.get(job_name, "")
        if not (tags or notebook or is_leaving or label or text):
            return EMPTY_NOTE
        return Note(tags, notebook, is_leaving, label, text)

    def reload(self) -> None:
        """Read the tags, notes, notebooks and labels that kernels and other servers have written."""
        ledger, annotations = Ledger(service=self.service), Annotations(self.service)
        with self._lock:
            self._notebooks, self._labels = ledger.notebooks(), ledger.labels()
            self._tags, self._texts = annotations.tags(), annotations.notes()

    def set_pending_deletions(self, names: Iterable[str]) -> None:
        """Set the jobs whose deletion is pending."""
        self._leaving = frozenset(names)

    def change_tags(self, names: Iterable[str], added: Iterable[str], removed: Iterable[str]) -> None:
        """Add and remove tags of jobs.

        Raises:
            ConfigurationError: a tag is empty or too long, a job would have too many, or saving fails.
        """
        with self._lock:
            self._tags = self._tags | Annotations(self.service).change_tags(names, added, removed)

    def forget(self, names: Iterable[str]) -> None:
        """Delete tags and notes of deleted jobs, whose names may be used again."""
        with self._lock:
            deleted = [name for name in names if name in self._tags or name in self._texts]
            if deleted:
                Annotations(self.service).forget(deleted)
                self._tags = {name: tags for name, tags in self._tags.items() if name not in deleted}
                self._texts = {name: text for name, text in self._texts.items() if name not in deleted}
