"""GET /tools and /tools.json: the catalog, with whether each tool can run here; /tools.json needs no key."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from foldnote.models.tool import Tool
from foldnote.models.wire import WireModel
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.http.routes.responses import (
    CurrentService,
    error_responses,
    keyed_errors,
    success_response,
)

router = APIRouter(tags=["tools"])


@router.get(
    "/tools",
    summary="The tools and their settings",
    responses={**success_response(list[Tool], "Every tool."), **keyed_errors()},
)
def list_tools(caller: AuthenticatedCaller, service: CurrentService) -> Response:  # noqa: ARG001  the key is required, not used
    """Get the catalog."""
    return Response(service.toolbox.document(), media_type="application/json")


@router.get(
    "/tools.json",
    summary="The tools and their settings, without a key",
    responses={**success_response(list[Tool], "Every tool."), **error_responses()},
)
def list_tools_openly(service: CurrentService) -> Response:
    """Get the catalog without a key."""
    return Response(service.toolbox.document(), media_type="application/json")


class FinetunedModelResponse(WireModel):
    """A model produced by one of the caller's jobs."""

    model_name: str
    """The job's name, which is unique for the account."""
    type: str
    """The tool that produced it."""
    job_name: str
    created: str
    """RFC 3339 UTC: when it was completed."""


class FinetunedModels(WireModel):
    """The response to GET /finetuned-models."""

    models: list[FinetunedModelResponse]


@router.get(
    "/finetuned-models",
    summary="Models produced by the caller's jobs",
    responses={**success_response(FinetunedModels, "Newest first."), **keyed_errors()},
)
def list_finetuned_models(caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """List the completed fine-tuning jobs as models."""
    rows = service.store.jobs.complete_of(caller.account_id, service.toolbox.finetuning_types())
    models = [
        {"modelName": row["name"], "type": row["type"], "jobName": row["name"], "created": row["completed"]}
        for row in rows
    ]
    return JSONResponse({"models": models})
