"""The known jobs of one service, updated from pages of the newest jobs and sent to browsers as differences.

Most polls list the newest jobs only. Older jobs are final and can only be deleted, which the status counts
reveal. This module makes no requests.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from foldnote.lab.local_notes import EMPTY_NOTE, Note, Notes
from foldnote.models.job import Job, JobPage, StatusCounts

WHOLE = 1000
"""Number of jobs in a full list, newest first; older ones are requested when the user scrolls to them."""

SHORT = 100
"""Number of jobs that a poll lists while only the newest can have changed."""

_MAX_STATES = 24
_WITHHELD = {"settings", "resultUrl"}
_PAGE_FIELDS = {field.alias for field in Job.model_fields.values()} - _WITHHELD

State = dict[str, bytes]
"""The state of a page: a hash of each job's record by job name, newest first."""


@dataclass(frozen=True)
class Difference:
    """The difference between the state of a page and the current state.

    Attributes:
        jobs: records that are new or have changed, newest first.
        removed: names of jobs that no longer exist.
        is_whole: whether the page's state is unknown here, so that ``jobs`` is the full list.
    """

    jobs: tuple[dict[str, Any], ...]
    removed: tuple[str, ...]
    is_whole: bool


class KnownJobs:
    """The jobs of one service, newest first."""

    def __init__(self, notes: Notes | None = None) -> None:
        """``notes`` are the tags, notebooks and pending deletions of the jobs."""
        self.notes = notes or Notes()
        self.jobs: tuple[Job, ...] = ()
        self.statuses = StatusCounts()
        self.older_key: str | None = None
        """Continuation key of the older jobs; None when there are none."""
        self._unlisted = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._state: State = {}
        self._noted: dict[str, Note] = {}
        self._past_states: OrderedDict[str, State] = OrderedDict()

    def replace_all(self, page: JobPage) -> None:
        """Replace all jobs by the newest ``WHOLE`` jobs of the service."""
        self.older_key = page.start_key
        self._unlisted = page.statuses.total - len(page.jobs)
        self._store(page.jobs, page.statuses)

    def update_newest(self, page: JobPage) -> bool:
        """Update the newest jobs; False if they do not fit the known ones and a full list is needed."""
        fresh = {job.job_name for job in page.jobs}
        indices = {job.job_name: index for index, job in enumerate(self.jobs)}
        if page.start_key is None:
            self.replace_all(page)
            return True
        last = indices.get(page.jobs[-1].job_name) if page.jobs else None
        if last is None:
            return False
        rest = tuple(job for job in self.jobs[last + 1 :] if job.job_name not in fresh)
        if page.statuses.total - len(fresh) - len(rest) != self._unlisted:
            return False
        self._store((*page.jobs, *rest), page.statuses)
        return True

    @property
    def poll_size(self) -> int:
        """Number of newest jobs that a poll must list to see every change."""
        unfinished = [index for index, job in enumerate(self.jobs) if not job.is_final]
        return min(WHOLE, max(SHORT, unfinished[-1] + SHORT // 2 if unfinished else 0))

    @property
    def is_busy(self) -> bool:
        """Whether a job can still change."""
        return any(not job.is_final for job in self.jobs)

    def find_label(self, job_name: str) -> str:
        """Return the label of a job at the service; empty for an unknown job."""
        return next((job.label for job in self.jobs if job.job_name == job_name), "")

    def update_notes(self) -> None:
        """Update the records of jobs whose notes have changed."""
        self._store(self.jobs, self.statuses)

    def mark(self) -> str:
        """Return a hash of the current state; the last ``_MAX_STATES`` states are kept for ``since``."""
        digest = hashlib.blake2b(digest_size=9)
        for name, record in self._state.items():
            digest.update(name.encode() + b"\0" + record)
        mark = digest.hexdigest()
        self._past_states[mark] = self._state
        self._past_states.move_to_end(mark)
        while len(self._past_states) > _MAX_STATES:
            self._past_states.popitem(last=False)
        return mark

    def since(self, mark: str | None) -> Difference:
        """Return the difference from the state with the hash ``mark``."""
        past = self._past_states.get(mark or "")
        if past is None:
            return Difference(tuple(self._records.values()), (), is_whole=True)
        changed = (self._records[name] for name, record in self._state.items() if past.get(name) != record)
        return Difference(tuple(changed), tuple(name for name in past if name not in self._state), False)

    def _store(self, jobs: tuple[Job, ...], statuses: StatusCounts) -> None:
        before = {job.job_name: job for job in self.jobs}
        records, state, noted = self._records, self._state, self._noted
        self.jobs, self.statuses, self._records, self._state = jobs, statuses, {}, {}
        self._noted = {job.job_name: self.notes.find(job.job_name) for job in jobs}
        for job in jobs:
            name = job.job_name
            note = self._noted[name]
            if before.get(name) == job and noted.get(name) == note:
                self._records[name], self._state[name] = records[name], state[name]
            else:
                self._records[name] = record = page_record(job, note)
                self._state[name] = hashlib.blake2b(json.dumps(record).encode(), digest_size=8).digest()


def page_record(job: Job, note: Note = EMPTY_NOTE) -> dict[str, Any]:
    """Return a job with its note, as sent to the browser.

    Settings are left out because they may contain files, and so are result links and all unknown fields,
    which may contain signed links.
    """
    return {name: value for name, value in job.to_wire().items() if name in _PAGE_FIELDS} | note.to_wire()


def page_records(jobs: Iterable[Job], notes: Notes) -> list[dict[str, Any]]:
    """Return several jobs with their notes, as sent to the browser."""
    return [page_record(job, notes.find(job.job_name)) for job in jobs]
