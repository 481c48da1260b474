"""Build a batch's archive when its last subjob has ended: a folder per subjob, and a merged table.

A single thread builds all archives, so that none is built twice at the same time. This module reads and
writes stored contents; the store keeps the state of batches.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
import threading
import zipfile
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from foldnote.models.status import BatchStatus, JobStatus
from foldnote.service.files import archives
from foldnote.service.files.conditions import is_passing
from foldnote.service.files.objects import ObjectDraft, ObjectStore
from foldnote.service.store.jobs.batches import Parent, Subjob
from foldnote.service.store.store import Store
from foldnote.service.worker_thread import BackgroundWorker
from foldnote.text import count

log = logging.getLogger(__name__)
RANKING = "ranking.csv"
"""Ranking of a screening: rank, jobName and score, lowest first; jobs without a score are omitted."""
TABLE = "results.csv"
"""Table with one row per subjob: jobName, status, error, then `settings.NAME` and `score.NAME`."""
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""Cells that Excel and LibreOffice would evaluate as formulas, and escaped ones."""


class Aggregator:
    """Builds batch archives.

    Args:
        on_ended: called when a batch has ended.
    """

    def __init__(
        self, store: Store, objects: ObjectStore, on_ended: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._objects = objects
        self._on_ended = on_ended
        self._partial = threading.Lock()
        self._worker = BackgroundWorker("aggregator", self.build_all)

    def start(self) -> None:
        """Start; first build archives that an earlier process left unfinished."""
        self._worker.start()

    def stop(self) -> None:
        """Stop after the current archive."""
        self._worker.stop()

    def wake(self) -> None:
        """Signal that a batch may have ended."""
        self._worker.wake()

    def build_partial(self, parent_id: int) -> str | None:
        """Store the completed results of a stopped batch as its archive; return its SHA-256, or None.

        Raises:
            OSError: the archive cannot be written.
        """
        with self._partial:
            row = self._store.jobs.find_by_id(parent_id)
            if row is None or row["result_sha256"] is not None:
                return None if row is None else str(row["result_sha256"])
            subjobs = self._store.batches.subjobs(parent_id)
            if not any(subjob.result_sha256 for subjob in subjobs):
                return None
            with self._objects.draft() as draft:
                self._write(subjobs, draft, row["settings"])
                size, sha256 = draft.size, draft.commit()
            self._store.batches.attach(parent_id, sha256, size)
            return sha256

    def build_all(self) -> None:
        """Build the archive of every batch whose jobs have all ended, unless another replica builds it."""
        for parent in self._store.batches.aggregating():
            if self._worker.is_stopping:
                return
            with self._store.database.hold_exclusively(f"archive {parent.job_id}") as is_exclusive:
                if is_exclusive:
                    self._build(parent)
                    self._on_ended()

    def _build(self, parent: Parent) -> None:
        subjobs = self._store.batches.subjobs(parent.job_id)
        broken = next((subjob for subjob in subjobs if subjob.state != JobStatus.COMPLETE), None)
        if parent.is_pipeline and broken is not None:
            self._store.batches.fail(parent, _broken_sentence(parent, broken), BatchStatus.STOPPED)
            return
        if not any(subjob.result_sha256 for subjob in subjobs):
            error = f"No job of the batch produced a result; it has {count(len(subjobs), 'job')}."
            self._store.batches.fail(parent, error, BatchStatus.STOPPED)
            return
        try:
            with self._objects.draft() as draft:
                self._write(subjobs, draft, parent.settings)
                size = draft.size
                self._store.batches.complete(parent, draft.commit(), size)
        except (OSError, ValueError) as exc:
            if isinstance(exc, OSError) and is_passing(exc):
                raise
            log.exception("The archive of batch %s could not be built.", parent.job_id)
            error = f"The archive of the batch could not be built: {exc}."
            self._store.batches.fail(parent, error, BatchStatus.AGGREGATION_FAILED)

    def _write(self, subjobs: Sequence[Subjob], draft: ObjectDraft, settings: str) -> None:
        rank_by = json.loads(settings).get("rankBy")
        folders = frozenset(subjob.name for subjob in subjobs)
        with zipfile.ZipFile(DraftStream(draft), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(free_of(folders, TABLE), make_table(subjobs))
            if rank_by is not None:
                archive.writestr(free_of(folders, RANKING), make_ranking(subjobs, rank_by))
            for subjob in subjobs:
                if subjob.result_sha256:
                    source = self._objects.path(subjob.result_sha256)
                    archives.copy_members(source, archive, f"{subjob.name}/")


def _broken_sentence(parent: Parent, broken: Subjob) -> str:
    stage = broken.name.removeprefix(f"{parent.name}-")
    if broken.error is None:
        return f"The stage {stage} was stopped."
    return f"The stage {stage} failed: {broken.error}"


class DraftStream(io.RawIOBase):
    """A draft as a forward-only stream, for writing an archive."""

    def __init__(self, draft: ObjectDraft) -> None:
        self._draft = draft

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, content: Any) -> int:
        """Append to the draft."""
        self._draft.write(bytes(content))
        return len(content)


def free_of(folders: Container[str], name: str) -> str:
    """Return a file name that differs from all folders of subjobs."""
    while name in folders:
        name = f"batch-{name}"
    return name


def make_table(subjobs: Sequence[Subjob]) -> str:
    """Make the merged table as CSV, with the union of all columns."""
    rows = [_row(subjob) for subjob in subjobs]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def make_ranking(subjobs: Sequence[Subjob], rank_by: str) -> str:
    """Make the ranking of jobs with the score as CSV, lowest first."""
    scores = [(json.loads(subjob.score or "{}").get(rank_by), subjob.name) for subjob in subjobs]
    ranked = sorted((score, name) for score, name in scores if isinstance(score, int | float))
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("rank", "jobName", rank_by))
    writer.writerows((rank, name, score) for rank, (score, name) in enumerate(ranked, start=1))
    return stream.getvalue()


def _row(subjob: Subjob) -> dict[str, Any]:
    head: dict[str, Any] = {
        "jobName": subjob.name,
        "status": subjob.state,
        "error": guard_formula(subjob.error or ""),
    }
    if subjob.state == JobStatus.STOPPED and subjob.message:
        head["message"] = guard_formula(subjob.message)
    if subjob.retries:
        head["retries"] = subjob.retries
    settings = _columns("settings", json.loads(subjob.settings))
    return head | settings | _columns("score", json.loads(subjob.score or "{}"))


def _columns(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{key}": _cell(value) for key, value in values.items()}


def _cell(value: Any) -> Any:
    """Format a CSV cell: numbers unchanged, text escaped against formulas, other values as JSON."""
    if isinstance(value, str):
        return guard_formula(value)
    return value if isinstance(value, int | float) else json.dumps(value)


def guard_formula(text: str) -> str:
    """Escape ``text`` so that no spreadsheet program evaluates it as a formula.

    Excel and LibreOffice evaluate cells that begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
    return; a leading apostrophe makes them text. Text with apostrophes before such a character gets one more,
    so that readers can remove exactly one.
    """
    return f"'{text}" if _FORMULA.match(text) else text
