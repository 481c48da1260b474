"""POST /submit-job, /submit-batch and /virtual-screening queue jobs; /validate-job only checks them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.submission import Receipt
from foldnote.models.verdict import BatchVerdict, Verdict
from foldnote.models.wire import WireModel
from foldnote.service.disk import require_space
from foldnote.service.domain.access.gate import AuthenticatedCaller, ClaimedCaller
from foldnote.service.domain.requests import (
    BatchSubmission,
    JobPayload,
    JobSubmission,
    ListedBatch,
    ScreeningSubmission,
)
from foldnote.service.faults import BareRefusalError, RefusalError, bad_request
from foldnote.service.http.bodies import read_json, read_model
from foldnote.service.http.routes.responses import (
    CurrentService,
    json_body,
    json_body_of_any,
    keyed_errors,
    queued_response,
    read_jobs,
    success_response,
)
from foldnote.text import count

router = APIRouter(tags=["submission"])


class BatchReceipt(WireModel):
    """The response to POST /submit-batch."""

    message: str
    batch_name: str
    type: str
    job_names: list[str]
    status: str
    """Always `In Queue`."""


@router.post(
    "/submit-job",
    summary="Queue one job",
    responses={**success_response(Receipt, "The job is queued."), **keyed_errors(400, 403, 413, 507)},
    openapi_extra=json_body(JobSubmission),
)
async def submit_job(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Validate a job and queue it."""
    submission = await read_jobs(request, service, JobSubmission)
    await run_in_threadpool(service.intake.submit, caller, submission)
    return queued_response(submission.job_name, jobName=submission.job_name, type=submission.type)


@router.post(
    "/submit-batch",
    summary="Queue many jobs of one tool",
    responses={**success_response(BatchReceipt, "All jobs are queued."), **keyed_errors(400, 403, 413, 507)},
    openapi_extra=json_body_of_any(BatchSubmission, ListedBatch),
)
async def submit_batch(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Validate every row and queue all of them, or none."""
    service.draining.require_off()
    value = await read_json(request, service.config.limits.submission_bytes)
    batch = _read_batch(value)
    require_space(service.config)
    names = await run_in_threadpool(service.intake.submit_batch, caller, batch)
    subject = f"{batch.batch_name} with {count(len(names), 'job')}"
    return queued_response(subject, batchName=batch.batch_name, type=batch.type, jobNames=names)


@router.post(
    "/virtual-screening",
    summary="Dock many ligands to one receptor and rank them",
    responses={
        **success_response(BatchReceipt, "All ligands are queued."),
        **keyed_errors(400, 403, 413, 507),
    },
    openapi_extra=json_body(ScreeningSubmission),
)
async def screen(request: Request, caller: ClaimedCaller, service: CurrentService) -> Response:
    """Queue one job per ligand, or none."""
    screening = await read_jobs(request, service, ScreeningSubmission)
    tool, names = await run_in_threadpool(service.screening.submit, caller, screening)
    subject = f"{screening.batch_name} with {len(names)} ligands"
    return queued_response(subject, batchName=screening.batch_name, type=tool, jobNames=names)


def _read_batch(value: Any) -> BatchSubmission:
    """Validate either form of a batch; the form with a list of jobs has `jobs`."""
    if not isinstance(value, dict) or "jobs" not in value or "settings" in value:
        return read_model(value, BatchSubmission)
    if "tool" not in value and "type" in value:
        value = value | {"tool": value["type"]}
    try:
        return read_model(value, ListedBatch).as_batch()
    except ValueError as exc:
        raise bad_request(str(exc), code="invalid_field", field="jobs") from exc


@router.post(
    "/validate-job",
    summary="Validate a submission without submitting it",
    responses={
        **success_response(Verdict | BatchVerdict, "The result; one per row for an array of settings."),
        **keyed_errors(400),
        413: {"description": "The body is larger than about 4.5 MB; the answer has no body."},
    },
    openapi_extra=json_body_of_any(JobPayload, has_others=True),
)
async def validate_job(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Validate a job or the rows of a batch; nothing is stored or queued."""
    value = await read_json(request, service.config.limits.validation_bytes, _refuse_bare)
    try:
        payload = read_model(value, JobPayload)
    except RefusalError as refusal:
        missing = [refusal.field] if refusal.code == "missing_field" else []
        body = {"valid": False, "error": refusal.sentence, "field": refusal.field, "missingFields": missing}
        return JSONResponse(body)
    return JSONResponse(await run_in_threadpool(service.intake.validate, caller, payload))


def _refuse_bare(_: int) -> Exception:
    return BareRefusalError(413)
