"""Parse job records directly from JSON bytes, for long lists.

Only the spelling of the interface is parsed here; ``job`` reads all others.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter

from pydantic import ValidationError

from foldnote.models.job import FOREIGN_KEYS, Job, JobPage, StatusCounts

_MANY_BYTES = 50_000
_ALL_COUNTS = len(StatusCounts.model_fields)
_EXTRA, _COUNTS = attrgetter("__pydantic_extra__"), attrgetter("statuses")


def read_plain_job(body: bytes) -> Job | None:
    """Return the job in ``body``; None if it has another spelling."""
    try:
        job = Job.model_validate_json(body)
    except ValidationError:
        return None
    return job if _is_plain(job) else None


def read_plain_page(body: bytes) -> JobPage | None:
    """Return the page of jobs in ``body``; None if any part has another spelling."""
    try:
        with _without_collecting(len(body) > _MANY_BYTES):
            page = JobPage.model_validate_json(body)
    except ValidationError:
        return None
    if _has_foreign(page.model_extra or ()) or page.statuses.model_extra:
        return None
    has_odd = any(map(_EXTRA, page.jobs)) or any(map(_COUNTS, page.jobs))
    return page if not has_odd or all(map(_is_plain, page.jobs)) else None


@contextmanager
def _without_collecting(is_many: bool) -> Iterator[None]:
    """Disable garbage collection, which would double the time for thousands of new records."""
    was_on = is_many and gc.isenabled()
    if was_on:
        gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _is_plain(job: Job) -> bool:
    """Return whether a parsed record has no field in another spelling."""
    extra, counts = job.__pydantic_extra__, job.statuses
    if extra and _has_foreign(extra):
        return False
    return counts is None or (not counts.model_extra and len(counts.model_fields_set) == _ALL_COUNTS)


def _has_foreign(keys: Iterable[str]) -> bool:
    """Return whether a key is another spelling of a known one."""
    return any(key in FOREIGN_KEYS or key[:1].isupper() or key.isdigit() for key in keys)
