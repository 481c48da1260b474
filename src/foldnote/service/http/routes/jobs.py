"""GET /jobs: one job or a page of jobs, immediately or after a change; and the log of a job.

Records were serialised when they changed; those of batches and running jobs are completed here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from foldnote.models.job import Job, JobPage
from foldnote.models.status import JobStatus
from foldnote.models.wire import WireModel
from foldnote.service.composition import Service
from foldnote.service.domain.access.gate import AuthenticatedCaller, authenticate_behind_gateway
from foldnote.service.domain.requests import JobsQuery
from foldnote.service.faults import job_not_found
from foldnote.service.http.routes.responses import (
    CurrentService,
    absolute_url,
    find_service,
    keyed_errors,
    query_parameters,
    read_query,
    success_response,
    visible_accounts,
)
from foldnote.service.layout import JOBS
from foldnote.service.queue.ownership import read_own_log
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.counting import Counts
from foldnote.service.store.jobs.first_pages import FirstPage
from foldnote.service.store.jobs.pages import JobFilter, LiveRow, Page
from foldnote.service.store.jobs.records import BATCH_TYPE, MARK, add_fields, write_text

router = APIRouter(tags=["jobs"])
MAX_WAIT_S = 25.0
"""Maximum seconds for which a request can wait for a change."""
_POLL_INTERVAL_S = 0.2
_DEFAULT_LOG_LINES = 10_000
_BEGIN = b'{"jobs":['
_FEW = 50
"""Maximum records of batches and running jobs completed in the event loop; more are completed in a thread."""


class JobLog(WireModel):
    """The log of a job."""

    log: str
    """The last lines of the engine's output; empty before it has started."""


class GatewayMessage(WireModel):
    """The gateway's response to GET /jobs."""

    message: str
    """Always `Forbidden`."""


@router.get(
    "/jobs",
    summary="One job, or a page of jobs",
    responses={
        **success_response(JobPage | Job, "A page, newest first; with `jobName`, the record of this job."),
        **keyed_errors(400, 404),
        403: {"model": GatewayMessage, "description": "No key, or under another header's name."},
    },
    openapi_extra=query_parameters(JobsQuery),
)
async def get_jobs(request: Request) -> Response:
    """List the caller's jobs, or get one; with `since` and `waitSeconds`, after a change."""
    service, caller = find_service(request), await authenticate_behind_gateway(request)
    query = read_query(request, JobsQuery)
    key, since, mark = query.start_key, query.since, None
    before = None if key is None else service.page_keys.read(caller.account_id, key)
    if since is not None:
        mark = await _wait_for_change(request, service, caller.account_id, since, query.wait_seconds)

    rows = min(query.limit, service.config.limits.page_rows)
    if query.is_own:
        page = await _own_page(service, caller.account_id, query, before, rows)
        if page is not None and len(page.live) <= _FEW:
            return _json(_join(request, service, caller, page, mark))

    def answer() -> Response:
        has_organization = query.organization is not None
        owners = visible_accounts(service, caller, query.job_email, has_organization=has_organization)
        if query.job_name is not None:
            return _json(_one_job(request, service, caller, owners, query.job_name).encode())
        job_filter = _filter(service, owners, query.batch, has_subjobs=query.include_subjobs is not None)
        page = service.store.pages.read(job_filter, before=before, limit=rows)
        return _json(_join(request, service, caller, page, mark))

    return await run_in_threadpool(answer)


@router.get(
    "/catalog/jobs/{jobName}/logs",
    name="get_logs",
    summary="Alias of /jobs/{jobName}/log",
    responses={**success_response(JobLog, "The end of the log."), **keyed_errors(400, 404)},
)
@router.get(
    "/jobs/{jobName}/log",
    summary="The output of the engine",
    responses={**success_response(JobLog, "The end of the log."), **keyed_errors(400, 404)},
)
def get_job_log(
    name: Annotated[str, Path(alias="jobName")],
    caller: AuthenticatedCaller,
    service: CurrentService,
    max_lines: Annotated[int, Query(alias="maxLines", ge=1)] = _DEFAULT_LOG_LINES,
) -> Response:
    """Get the last lines of a job's log."""
    row = service.store.jobs.find([caller.account_id], name)
    if row is None:
        raise job_not_found(name)
    attempt = service.store.queue.find_attempt(row["id"], row["attempt"])
    text = read_own_log(service.config.data_dir / JOBS, attempt, min(max_lines, 10**9))
    return _json(write_text({"log": text}).encode())


async def _own_page(
    service: Service, account_id: int, query: JobsQuery, before: int | None, rows: int
) -> Page | None:
    """Return a page of the account's own jobs, if it is short; read alone or with those of other accounts."""
    has_subjobs = query.include_subjobs is not None
    if service.store.database.is_shared and before is None:
        return await service.first_pages.find(FirstPage(account_id, rows, has_subjobs))
    job_filter = JobFilter((account_id,), has_subjobs=has_subjobs)
    return service.store.pages.read_raw(job_filter, before=before, limit=rows)


async def _wait_for_change(
    request: Request, service: Service, account_id: int, since: str, wait_s: float
) -> str:
    """Wait until the state differs from `since`, or the time is over; return the state token."""
    database = service.store.database
    end = time.monotonic() + min(wait_s, MAX_WAIT_S)
    version, mark = None, since
    while True:
        if (now := database.version(account_id)) != version:
            version, mark = now, await service.state_tokens.find(account_id) or "0"
        if mark != since or time.monotonic() >= end or service.is_closing or await request.is_disconnected():
            return mark
        await asyncio.sleep(_POLL_INTERVAL_S)


def _filter(service: Service, owners: tuple[int, ...], batch: str | None, *, has_subjobs: bool) -> JobFilter:
    """Return the filter of the listing; a batch of another account has no subjobs."""
    if batch is None:
        return JobFilter(owners, has_subjobs=has_subjobs)
    parent = service.store.jobs.find(owners, batch)
    if parent is None or parent["type"] != BATCH_TYPE:
        return JobFilter((), parent_id=0)
    return JobFilter(owners, parent_id=parent["id"])


def _one_job(request: Request, service: Service, caller: Caller, owners: tuple[int, ...], name: str) -> str:
    row = service.store.jobs.find(owners, name)
    if row is None:
        raise job_not_found(name)
    if row["type"] == BATCH_TYPE:
        counts = service.store.jobs.child_counts(owners, row["id"])
        return _parent(request, service, caller, row, counts)
    return _complete(service, row["id"], row["state"], row["record"])


def _parent(
    request: Request, service: Service, caller: Caller, row: Mapping[Any, Any], counts: Counts
) -> str:
    """Return a batch's record with its subjobs by status, and a new link once its archive is built.

    The interface does not define `failed`, so it is only included in requests with `since`, which is also an
    extension.
    """
    fields: dict[str, object] = {"statuses": counts.statuses}
    if counts.failed and "since" in request.query_params:
        fields["failed"] = counts.failed
    if row["result_sha256"] is not None:
        name = f"{row['name']}.zip"
        path = service.results.sign(row["id"], caller.account_id, row["result_sha256"], name)
        fields["resultUrl"] = absolute_url(request, service, path)
    return add_fields(row["record"], fields)


def _complete(service: Service, job_id: int, state: str, record: str) -> str:
    """Return the record with a running job's current progress and message."""
    if state != JobStatus.RUNNING:
        return record
    live = service.dispatcher.live(job_id)
    progress, message = (live.progress, live.message) if live else (None, None)
    return add_fields(record, {"progress": progress, "message": message})


def _join(request: Request, service: Service, caller: Caller, page: Page, mark: str | None) -> bytes:
    """Build the body: the text of the page with completed records, and the fields after it."""
    parts = [_BEGIN, *(page.text.split(MARK.encode()) if page.live else [page.text])]
    for position in range(2, len(parts), 2):
        row = page.live[int(parts[position])]
        parts[position] = _text(request, service, caller, page.children, row).encode()
    tail: dict[str, Any] = {"statuses": page.counts.statuses} | ({} if mark is None else {"mark": mark})
    if page.last is not None:
        tail = {"startKey": service.page_keys.write(caller.account_id, page.last)} | tail
    return b"".join([*parts, b"],", write_text(tail)[1:].encode()])


def _text(
    request: Request,
    service: Service,
    caller: Caller,
    children: Mapping[int, Counts],
    row: LiveRow,
) -> str:
    if row.type == BATCH_TYPE:
        return _parent(request, service, caller, row._asdict(), children[row.id])
    return _complete(service, row.id, row.state, row.record)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
