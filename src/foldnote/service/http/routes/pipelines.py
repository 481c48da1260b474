"""POST /submit-pipeline and /run-pipeline: save stages, and run them in sequence."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.wire import WireModel
from foldnote.service.domain.access.gate import ClaimedCaller
from foldnote.service.domain.requests import PipelineSubmission, RunPipelineRequest
from foldnote.service.http.routes.responses import (
    CurrentService,
    json_body,
    keyed_errors,
    queued_response,
    read_jobs,
    read_submission,
    success_response,
)

router = APIRouter(tags=["pipelines"])


class PipelineReceiptResponse(WireModel):
    """The response to POST /submit-pipeline."""

    message: str
    pipeline_name: str
    stages: list[str]
    """Names of the stages in the order in which they run."""


class RunReceiptResponse(WireModel):
    """The response to POST /run-pipeline."""

    message: str
    job_name: str
    """Name of the run's parent, which is a batch of the stages."""
    pipeline_name: str
    type: str
    """Always `batch`."""
    job_names: list[str]
    """The job of each stage."""
    status: str
    """Always `In Queue`."""


@router.post(
    "/submit-pipeline",
    summary="Save a pipeline",
    responses={
        **success_response(PipelineReceiptResponse, "The pipeline is saved."),
        **keyed_errors(400, 403, 413, 507),
    },
    openapi_extra=json_body(PipelineSubmission),
)
async def submit_pipeline(request: Request, caller: ClaimedCaller, service: CurrentService) -> Response:
    """Validate every stage and save the pipeline; a pipeline of the same name is replaced."""
    pipeline = await read_submission(request, service, PipelineSubmission)
    await run_in_threadpool(service.pipelines.save, caller, pipeline)
    receipt = {
        "message": f"The pipeline {pipeline.pipeline_name} is saved.",
        "pipelineName": pipeline.pipeline_name,
        "stages": [stage.name for stage in pipeline.stages],
    }
    return JSONResponse(receipt)


@router.post(
    "/run-pipeline",
    summary="Run a saved pipeline",
    responses={
        **success_response(RunReceiptResponse, "All stages are queued."),
        **keyed_errors(400, 403, 404, 413, 507),
    },
    openapi_extra=json_body(RunPipelineRequest),
)
async def run_pipeline(request: Request, caller: ClaimedCaller, service: CurrentService) -> Response:
    """Validate every stage with the inputs of this run and queue all of them, or none."""
    run_request = await read_jobs(request, service, RunPipelineRequest)
    await run_in_threadpool(service.storage.require, caller.account_id, caller.tier)
    names = await run_in_threadpool(service.pipelines.run, caller, run_request)
    return queued_response(
        f"{run_request.job_name} with {len(names)} stages",
        jobName=run_request.job_name,
        pipelineName=run_request.pipeline_name,
        type="batch",
        jobNames=names,
    )
