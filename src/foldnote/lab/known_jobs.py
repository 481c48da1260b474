"""The jobs that are known of one service: brought up to date from short pages, told to pages as differences.

Most looks bring the newest jobs only; what is older cannot change unless somebody deletes it, which the
counts tell. Nothing here asks anybody anything.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from foldnote.lab.local_notes import NOTHING, Note, Notes
from foldnote.models.job import Job, JobPage, StatusCounts

WHOLE = 1000
"""Jobs that a whole look brings, newest first; older ones are asked for when somebody scrolls to them."""

SHORT = 100
"""Jobs that a look brings while only the newest can have changed."""

_REMEMBERED = 24
_KEPT_FROM_THE_PAGE = {"settings", "resultUrl"}
_TOLD = {field.alias for field in Job.model_fields.values()} - _KEPT_FROM_THE_PAGE

State = dict[str, bytes]
"""What a page holds: the mark of each job's record by name, newest first."""


@dataclass(frozen=True)
class Difference:
    """From a state that a page holds to the present one.

    Attributes:
        jobs: records that are new or other than before, newest first.
        removed: names that are gone.
        is_whole: whether the page's state is not known here, so that ``jobs`` is everything.
    """

    jobs: tuple[dict[str, Any], ...]
    removed: tuple[str, ...]
    is_whole: bool


class KnownJobs:
    """The jobs of one service, newest first."""

    def __init__(self, notes: Notes | None = None) -> None:
        """Begin with nothing; ``notes`` tell what this computer knows of the jobs."""
        self.notes = notes or Notes()
        self.jobs: tuple[Job, ...] = ()
        self.statuses = StatusCounts()
        self.older_key: str | None = None
        """Where the jobs begin that are older than all of these; None when there are none."""
        self._untold = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._state: State = {}
        self._noted: dict[str, Note] = {}
        self._past: OrderedDict[str, State] = OrderedDict()

    def take_all(self, page: JobPage) -> None:
        """The newest ``WHOLE`` jobs, as a service gives them."""
        self.older_key = page.start_key
        self._untold = page.statuses.total - len(page.jobs)
        self._keep(page.jobs, page.statuses)

    def take_newest(self, page: JobPage) -> bool:
        """The newest jobs only; says whether they fit to what is known. If not, ask for all."""
        fresh = {job.job_name for job in page.jobs}
        places = {job.job_name: place for place, job in enumerate(self.jobs)}
        if page.start_key is None:
            self.take_all(page)
            return True
        last = places.get(page.jobs[-1].job_name) if page.jobs else None
        if last is None:
            return False
        rest = tuple(job for job in self.jobs[last + 1 :] if job.job_name not in fresh)
        if page.statuses.total - len(fresh) - len(rest) != self._untold:
            return False
        self._keep((*page.jobs, *rest), page.statuses)
        return True

    @property
    def window(self) -> int:
        """How many of the newest jobs a look must bring to see every change."""
        unfinished = [place for place, job in enumerate(self.jobs) if not job.is_final]
        return min(WHOLE, max(SHORT, unfinished[-1] + SHORT // 2 if unfinished else 0))

    @property
    def is_busy(self) -> bool:
        """Whether a job can still change."""
        return any(not job.is_final for job in self.jobs)

    def note_anew(self) -> None:
        """Tell of the jobs again whose notes have changed."""
        self._keep(self.jobs, self.statuses)

    def mark(self) -> str:
        """A mark of the present state; it is remembered for a while."""
        digest = hashlib.blake2b(digest_size=9)
        for name, record in self._state.items():
            digest.update(name.encode() + b"\0" + record)
        mark = digest.hexdigest()
        self._past[mark] = self._state
        self._past.move_to_end(mark)
        while len(self._past) > _REMEMBERED:
            self._past.popitem(last=False)
        return mark

    def since(self, mark: str | None) -> Difference:
        """What is other than in the state that ``mark`` stands for."""
        past = self._past.get(mark or "")
        if past is None:
            return Difference(tuple(self._records.values()), (), is_whole=True)
        changed = (self._records[name] for name, record in self._state.items() if past.get(name) != record)
        return Difference(tuple(changed), tuple(name for name in past if name not in self._state), False)

    def _keep(self, jobs: tuple[Job, ...], statuses: StatusCounts) -> None:
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


def page_record(job: Job, note: Note = NOTHING) -> dict[str, Any]:
    """A job as a page gets it, with what this computer knows of it.

    Without its settings, which may be whole files, and without a signed link, neither under its own name nor
    among the fields that only one deployment knows.
    """
    return {name: value for name, value in job.to_wire().items() if name in _TOLD} | note.to_wire()


def page_records(jobs: Iterable[Job], notes: Notes) -> list[dict[str, Any]]:
    """Several jobs as a page gets them."""
    return [page_record(job, notes.find(job.job_name)) for job in jobs]
