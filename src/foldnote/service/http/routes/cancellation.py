"""POST /stop-job and DELETE /delete-job."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.status import JobStatus
from foldnote.service.composition import Service
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.requests import NamedBatch, NamedJob
from foldnote.service.faults import bad_request, job_not_found
from foldnote.service.http.routes.responses import (
    CurrentService,
    Message,
    json_body,
    keyed_errors,
    read_small_body,
    success_response,
)
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.records import BATCH_TYPE

router = APIRouter(tags=["jobs"])
WAIT_S = 3.0
_POLL_INTERVAL_S = 0.05


@router.post(
    "/cancelJob",
    name="cancel_job",
    summary="Alias of /stop-job",
    responses={**success_response(Message, "As /stop-job."), **keyed_errors(400, 413)},
    openapi_extra=json_body(NamedJob),
)
@router.post(
    "/stop-job",
    summary="Stop a job, or a batch with all its jobs",
    responses={
        **success_response(Message, "The job is stopped, is being stopped, or had already ended."),
        **keyed_errors(400, 413),
    },
    openapi_extra=json_body(NamedJob),
)
async def stop_job(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Stop queued jobs at once and running jobs with all their processes, briefly waiting for their end."""
    body = await read_small_body(request, service, NamedJob)
    return await _stop(caller, service, body.job_name)


@router.post(
    "/cancelBatch",
    summary="Stop a batch with all its jobs",
    responses={**success_response(Message, "As /stop-job."), **keyed_errors(400, 413)},
    openapi_extra=json_body(NamedBatch),
)
async def cancel_batch(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Stop a batch as /stop-job does; 404 for a job that is not a batch."""
    name = (await read_small_body(request, service, NamedBatch)).batch_name
    row = await run_in_threadpool(service.store.jobs.find, [caller.account_id], name)
    if row is None or row["type"] != BATCH_TYPE:
        raise bad_request(
            f"The batch {name[:200]!r} does not exist.", code="job_not_found", field="batchName"
        )
    return await _stop(caller, service, name)


async def _stop(caller: Caller, service: Service, name: str) -> Response:
    stopped = await run_in_threadpool(service.store.jobs.stop, caller.account_id, name)
    if stopped is None:
        raise job_not_found(name, 400)
    if stopped.was_final:
        return JSONResponse({"message": f"{name} had already ended; nothing was changed."})
    service.dispatcher.wake()
    has_ended = await _wait_for_end(service, stopped.running)
    outcome = "was stopped" if has_ended else "is being stopped"
    return JSONResponse({"message": f"{name} {outcome}."})


@router.delete(
    "/delete-job",
    summary="Delete a job, or a batch with all its jobs",
    responses={
        **success_response(Message, "The job is deleted, and stopped if it was running."),
        **keyed_errors(400, 413),
    },
    openapi_extra=json_body(NamedJob),
)
async def delete_job(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Delete the job and its result; a running job is stopped."""
    name = (await read_small_body(request, service, NamedJob)).job_name
    running = await run_in_threadpool(service.store.jobs.delete, caller.account_id, name)
    if running is None:
        raise job_not_found(name, 400)
    service.dispatcher.wake()
    return JSONResponse({"message": f"{name} was deleted."})


async def _wait_for_end(service: Service, job_ids: list[int]) -> bool:
    """Wait a few seconds for the rows to end; return whether all did."""
    until = time.monotonic() + WAIT_S
    left = set(job_ids)
    while left and time.monotonic() < until:
        await asyncio.sleep(_POLL_INTERVAL_S)
        left = {job_id for job_id in left if not await run_in_threadpool(_has_ended, service, job_id)}
    return not left


def _has_ended(service: Service, job_id: int) -> bool:
    row = service.store.jobs.find_by_id(job_id)
    return row is None or JobStatus(row["state"]).is_final
