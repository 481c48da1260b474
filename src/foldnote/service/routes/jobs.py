"""GET /jobs: one job, or a page of them. Records were serialised when they changed; here they are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from foldnote.models.job import Job, JobPage
from foldnote.models.status import JobStatus
from foldnote.models.wire import WireModel
from foldnote.service.access.gate import Admitted, AdmittedByGateway
from foldnote.service.assembly import Service
from foldnote.service.changes import Mark
from foldnote.service.faults import job_not_found
from foldnote.service.queue.attempt import read_log
from foldnote.service.queue.launching import attempt_folder
from foldnote.service.requests import Email
from foldnote.service.routes.answers import Here, absolute, answers, keyed, visible_accounts
from foldnote.service.store.accounts import Caller
from foldnote.service.store.jobs import JobFilter
from foldnote.service.store.pages import Page
from foldnote.service.store.records import BATCH_TYPE, add_fields, write_text

router = APIRouter(tags=["jobs"])
DEFAULT_LOG_LINES = 10_000
_BEGIN = b'{"jobs":['
_FEW = 50
"""Records of batches and running jobs that are completed at once; more of them take a thread."""


class JobLog(WireModel):
    """The log of a job."""

    log: str
    """What the engine wrote, the last lines; empty before it began."""


class GatewayMessage(WireModel):
    """What the gateway before GET /jobs says."""

    message: str
    """Always `Forbidden`."""


@router.get(
    "/jobs",
    summary="One job, or a page of jobs",
    responses={
        **answers(JobPage | Job, "A page, newest first; with `jobName` the record itself."),
        **keyed(400, 404),
        403: {"model": GatewayMessage, "description": "No key, or a misnamed header."},
    },
)
async def get_jobs(
    request: Request,
    caller: AdmittedByGateway,
    service: Here,
    mark: Mark,
    job_name: Annotated[str | None, Query(alias="jobName")] = None,
    batch: str | None = None,
    start_key: Annotated[str | None, Query(alias="startKey")] = None,
    limit: Annotated[int, Query(ge=1)] = 1000,
    organization: Literal["true"] | None = None,
    include_subjobs: Annotated[Literal["true"] | None, Query(alias="includeSubjobs")] = None,
    job_email: Annotated[Email | None, Query(alias="jobEmail")] = None,
) -> Response:
    """List the caller's jobs, or give one; with `since` and `waitSeconds`, when something changed."""
    before = None if start_key is None else service.page_keys.read(caller.account_id, start_key)
    rows = min(limit, service.config.limits.page_rows)
    has_subjobs = include_subjobs is not None
    if job_name is None and batch is None and organization is None and job_email is None:
        own = JobFilter((caller.account_id,), has_subjobs=has_subjobs)
        page = service.store.pages.find(own, before, rows)
        if page is not None and len(page.live) <= _FEW:
            return _json(_answer(request, service, caller, page, mark))

    def answer() -> Response:
        owners = visible_accounts(service, caller, job_email, has_organization=organization is not None)
        if job_name is not None:
            return _json(_one_job(request, service, caller, owners, job_name).encode())
        wanted = _filter(service, owners, batch, has_subjobs=has_subjobs)
        found = service.store.pages.find(wanted, before, rows) or service.store.pages.read(
            wanted, before, rows
        )
        return _json(_answer(request, service, caller, found, mark))

    return await run_in_threadpool(answer)


@router.get(
    "/jobs/{jobName}/log",
    summary="What the engine wrote",
    responses={**answers(JobLog, "The end of the log."), **keyed(400, 404)},
)
def get_job_log(
    name: Annotated[str, Path(alias="jobName")],
    caller: Admitted,
    service: Here,
    max_lines: Annotated[int, Query(alias="maxLines", ge=1)] = DEFAULT_LOG_LINES,
) -> Response:
    """Give the last lines of a job's log."""
    row = service.store.jobs.find([caller.account_id], name)
    if row is None:
        raise job_not_found(name)
    folder = attempt_folder(service.config.data_dir / "jobs", row["id"], row["attempt"])
    return _json(write_text({"log": read_log(folder, min(max_lines, 10**9))}).encode())


def _filter(service: Service, owners: tuple[int, ...], batch: str | None, *, has_subjobs: bool) -> JobFilter:
    """The listing's filter; a batch that is none of the caller's has no subjobs."""
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
    request: Request, service: Service, caller: Caller, row: Mapping[Any, Any], counts: Mapping[str, int]
) -> str:
    """A batch's record with its subjobs by status, and a fresh link once its archive is built.

    The interface's record has no `failed`, so only who watches with `since`, an addition too, is told it.
    """
    more: dict[str, object] = {"statuses": counts}
    if counts[JobStatus.STOPPED] and "since" in request.query_params:
        more["failed"] = service.store.jobs.count_failed(row["account_id"], row["id"])
    if row["result_sha256"] is not None:
        name = f"{row['name']}.zip"
        path = service.results.sign(row["id"], caller.account_id, row["result_sha256"], name)
        more["resultUrl"] = absolute(request, service, path)
    return add_fields(row["record"], more)


def _complete(service: Service, job_id: int, state: str, record: str) -> str:
    """The record with what a running job tells now."""
    if state != JobStatus.RUNNING:
        return record
    live = service.dispatcher.live(job_id)
    progress, message = (live.progress, live.message) if live else (None, None)
    return add_fields(record, {"progress": progress, "message": message})


def _answer(request: Request, service: Service, caller: Caller, page: Page, mark: str | None) -> bytes:
    """The body; of a plain page it is made once for each account that asks."""
    if mark is not None or not page.is_plain:
        return _join(request, service, caller, page, mark)
    body = page.bodies.get(caller.account_id)
    if body is None:
        body = page.bodies[caller.account_id] = _join(request, service, caller, page, None)
    return body


def _join(request: Request, service: Service, caller: Caller, page: Page, mark: str | None) -> bytes:
    rows, texts = page.rows, [*page.texts]
    for position, row in page.live_rows():
        texts[position] = _text(request, service, caller, rows.children, row).encode()
    tail: dict[str, Any] = {"statuses": rows.counts} | ({} if mark is None else {"mark": mark})
    if rows.has_more:
        tail = {"startKey": service.page_keys.write(caller.account_id, rows.rows[-1].id)} | tail
    end = b"]," + write_text(tail)[1:].encode()
    if not texts:
        return _BEGIN + end
    texts[0] = _BEGIN + texts[0]
    texts[-1] += end  # so that the whole is put together once
    return b",".join(texts)


def _text(
    request: Request, service: Service, caller: Caller, children: Mapping[int, Mapping[str, int]], row: Any
) -> str:
    if row.type == BATCH_TYPE:
        return _parent(request, service, caller, row._asdict(), children[row.id])
    return _complete(service, row.id, row.state, row.record)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
