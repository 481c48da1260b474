"""Download results once, verify them, and keep them in the cache.

A download is written to a temporary file, resumed after an interruption, and compared with the service's
hash. Only then is it moved to its place in the cache.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from uuid import uuid4

from foldnote import late
from foldnote.client.core.connection import ServiceConnection
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.job_pages import get_job
from foldnote.client.core.operations import Operation, Run, ServiceResponse, Sleep
from foldnote.client.core.pacing import poll_delays
from foldnote.client.core.progress import ProgressCallback, track_bytes
from foldnote.client.local import cache
from foldnote.errors import (
    ArchiveError,
    ArgumentError,
    IncompleteResultWarning,
    JobFailedError,
    ProtocolError,
    ResultError,
    UnfinishedJobError,
    warn_caller,
)
from foldnote.io import hash_bytes, hash_file
from foldnote.models import BatchStatus, Job, JobStatus

_RESULT_TIMEOUT_S = 330.0  # the service may hold the request for about 290 s while it builds an archive
_BUILD_POLLS = 6
"""Polls (half a minute) before the result is requested again, since not all deployments report that an
archive is built."""
_MAX_SHOWN = 8
_SHA256 = re.compile(r'^"?(?:sha256[:=-])?([0-9a-f]{64})"?$')


def result_link(connection: ServiceConnection, job_name: str, options: Mapping[str, Any]) -> Operation[str]:
    """Get the signed link to a job's result; for a batch, wait until its archive is built.

    Raises:
        NotFoundError: there is no such job, or no such file in its result.
        UnfinishedJobError: the job has no result yet.
        JobFailedError: the archive of a batch could not be built.
        ProtocolError: the answer has no link.
    """
    body = {"jobName": job_name, **options}
    while True:
        answer = yield from connection.request(
            "POST", "/result", json=body, repeatable=True, timeout_s=_RESULT_TIMEOUT_S
        )
        url = yield from _read_link(connection, answer)
        if url is not None:
            return url
        yield from _wait_until_built(connection, job_name, options.get("jobEmail"))


def _read_link(connection: ServiceConnection, answer: Any) -> Operation[str | None]:
    """Return the link in a service's answer; None if the service is still preparing the result.

    Raises:
        ProtocolError: the answer is neither of these.
    """
    url = answer.get("url") if isinstance(answer, Mapping) else answer
    if isinstance(url, str) and url.startswith(("https://", "http://", "/")):
        address = yield from connection.locate()
        return parse_response(partial(urljoin, f"{address.url}/"), url)
    if isinstance(answer, Mapping) and answer.get("status") == "preparing":
        return None
    raise ProtocolError(
        "The service answered neither with a link to the result nor that it is preparing one."
    )


def fetch_shared(
    connection: ServiceConnection, job: Job, token: str, *, is_asked: bool = False
) -> Operation[Path]:
    """Download the result archive of a job that was shared by a link; returns the local path.

    Args:
        is_asked: whether to ask the service if the link is still valid even when the result is cached.

    Raises:
        UnfinishedJobError: the job has no result yet.
        NotFoundError: the link is not valid, or the job has no result.
        ArchiveError: the download differs from what the service announced.
        ResultError: the disk is full, or the folder is not writable.
    """
    if is_asked:
        yield from _shared_link(connection, token)
    return (yield from _fetch(connection, job, {}, False, lambda: _shared_link(connection, token)))


def _shared_link(connection: ServiceConnection, token: str) -> Operation[str]:
    pauses = poll_delays(first_s=1.0, max_s=15.0)
    while True:
        answer = yield from connection.request(
            "POST", "/shared/result", json={"token": token}, repeatable=True, timeout_s=_RESULT_TIMEOUT_S
        )
        url = yield from _read_link(connection, answer)
        if url is not None:
            return url
        yield Sleep(next(pauses))


def _wait_until_built(connection: ServiceConnection, job_name: str, job_email: str | None) -> Operation[None]:
    """Poll a batch until its archive is built, or until it is time to request it again.

    Raises:
        JobFailedError: the archive could not be built.
    """
    for pause in islice(poll_delays(first_s=1.0, max_s=15.0), _BUILD_POLLS):
        yield Sleep(pause)
        job = yield from get_job(connection, job_name, job_email)
        if job.batch_status is BatchStatus.AGGREGATION_FAILED:
            raise make_archive_error(job)
        if job.result_url or not job.is_batch:
            return


def make_archive_error(batch: Job) -> JobFailedError:
    """Return the exception for a batch whose archive could not be built."""
    return JobFailedError(
        f"The archive of the batch {batch.job_name!r} could not be built. "
        "Each of its jobs still has its own result.",
        batch,
    )


def fetch_result(
    connection: ServiceConnection,
    job: Job,
    file_name: str | None = None,
    pdbs_only: bool = False,
    progress: bool | ProgressCallback = False,
    job_email: str | None = None,
) -> Operation[Path]:
    """Download a complete job's result archive, or one file of it; returns the local path.

    Args:
        progress: True to show a bar, or a callback (bytes received, total bytes or None).
        job_email: address of the organization's member who owns the job; None for your own.

    Raises:
        UnfinishedJobError: the job has no result yet.
        ArchiveError: the download differs from what the service announced.
        ResultError: the disk is full, or the folder is not writable.
    """
    options: dict[str, object] = {}
    if file_name:
        options["fileName"] = file_name
    if pdbs_only:
        options["pdbsOnly"] = True
    if job_email is not None:
        options["jobEmail"] = job_email
    return (
        yield from _fetch(
            connection, job, options, progress, lambda: result_link(connection, job.job_name, options)
        )
    )


def warn_if_incomplete(job: Job) -> None:
    """Warn if a job failed or was stopped: its files are those that it had written before."""
    if job.is_final and not job.is_batch and job.status is not JobStatus.COMPLETE:
        message = f"{job.job_name} is {job.word}, so its result may be incomplete."
        warn_caller(message, IncompleteResultWarning)


def _fetch(
    connection: ServiceConnection,
    job: Job,
    options: Mapping[str, object],
    progress: bool | ProgressCallback,
    find_url: Callable[[], Operation[str]],
) -> Operation[Path]:
    """Bring a result to the cache, unless it is there."""
    if not job.is_final:
        message = f"{job.job_name!r} is {job.status} and has no result yet. Wait until it is complete."
        raise UnfinishedJobError(message, job)
    try:
        place = _choose_path(connection, job, options)
        if _is_cacheable(job) and (yield Run(lambda: cache.is_intact(place))):
            cache.mark_used(place)
            return place
        with track_bytes(progress, place.name) as report:
            yield from _download_to(connection, find_url, place, report)
    except OSError as exc:
        raise ResultError(
            f"The result of {job.job_name!r} cannot be saved: {exc.filename or 'a file'} cannot be written"
            f" ({exc.strerror or exc}). Free some space, or set FOLDNOTE_HOME to another folder."
        ) from exc
    yield Run(lambda: cache.evict_old_results(place))
    return place


def _download_to(
    connection: ServiceConnection,
    find_url: Callable[[], Operation[str]],
    place: Path,
    report: ProgressCallback | None,
    *,
    afresh: bool = False,
) -> Operation[None]:
    """Write the content to ``place``; it is downloaded only if no cached result has the same content."""
    digest: str | None = None
    with cache.claim_part(place) as part:
        answer = yield from connection.fetch(find_url, part, report, None if afresh else _is_cached)
        if answer.status == HTTPStatus.NOT_MODIFIED:
            digest = announced_hash(answer.headers)
        else:
            found = yield Run(lambda: _verify(part, answer, is_archive=place.suffix == ".zip"))
            yield Run(lambda: cache.publish(part, place, found))
            yield Run(lambda: cache.store_content(place, found))
    if digest is not None and not (yield Run(lambda: cache.link_content(str(digest), place))):
        yield from _download_to(connection, find_url, place, report, afresh=True)


def _is_cached(headers: Mapping[str, str]) -> bool:
    digest = announced_hash(headers)
    return digest is not None and cache.has_content(digest)


def announced_hash(headers: Mapping[str, str]) -> str | None:
    """Return the SHA-256 (hex) of a download as announced by the service; None if it announces none."""
    found = _SHA256.match(headers.get("etag", "")) or _SHA256.match(headers.get("x-content-sha256", ""))
    return found.group(1) if found else None


def _is_cacheable(job: Job) -> bool:
    """Return whether to cache the result: the job is final, and its times identify it among namesakes."""
    return job.created is not None or job.completed is not None


def _choose_path(connection: ServiceConnection, job: Job, options: Mapping[str, object]) -> Path:
    """Return the path of this result in the cache."""
    ended = job.completed.isoformat() if job.completed else ""
    created = job.created.isoformat() if job.created else ""
    identity = repr((connection.service, job.job_name, created, ended, sorted(options.items())))
    folder = cache.results_dir() / hash_bytes(identity.encode())[:32]
    folder.mkdir(parents=True, exist_ok=True)
    wanted = Path(str(options.get("fileName") or f"{job.job_name}.zip")).name
    return folder / (re.sub(r"[^A-Za-z0-9_.+ -]", "_", wanted).lstrip(".") or "result.zip")


def _verify(part: Path, answer: ServiceResponse, *, is_archive: bool) -> str:
    """Verify a download against the announced hash, if any; returns its SHA-256 (hex).

    Raises:
        ArchiveError: the hash differs, or the file is not a complete ZIP archive.
    """
    announced = announced_hash(answer.headers)
    if announced is None and is_archive and not zipfile.is_zipfile(part):
        raise ArchiveError("The download is not a complete ZIP archive. Try again.")
    found = answer.sha256 or hash_file(part)
    if announced is not None and found != announced:
        raise ArchiveError("The download is damaged: its SHA-256 differs from the announced one. Try again.")
    return found


def unpack_selected(archive: Path, patterns: Sequence[str]) -> Path:
    """Unpack the files of ``archive`` that match one of ``patterns``, once; returns their folder.

    Raises:
        ArgumentError: no file matches; the message lists the archive's files.
        ArchiveError: the archive is damaged or not safe to unpack.
    """
    status = archive.stat()
    wanted = [sorted(patterns), status.st_ino, status.st_mtime_ns, status.st_size]
    folder = archive.parent / f"selected-{hash_bytes(json.dumps(wanted).encode())[:16]}"
    if cache.is_intact(folder, _hash_files):
        return folder
    shutil.rmtree(folder, ignore_errors=True)  # damaged, or written by a version without hashes
    result = late.load("open_result")(archive)
    if not result.match(patterns):
        names = [file.name for file in result.files]
        more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
        raise ArgumentError(
            f"No file of {archive.name} matches {', '.join(patterns)}."
            f" It has: {', '.join(names[:_MAX_SHOWN])}{more}."
        )
    beside = archive.parent / f"{uuid4().hex}.unpacking"
    try:
        result.save_to(beside, patterns)
        digest = _hash_files(beside)
        with suppress(OSError):  # another process unpacked the same files first
            beside.rename(folder)
        cache.write_hash(folder, digest)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _hash_files(folder: Path) -> str:
    """Return the SHA-256 (hex) of the names and contents of all files in a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = [[str(path.relative_to(folder)), hash_file(path)] for path in files]
    return hash_bytes(json.dumps(entries).encode())
