"""GET /tools and /tools.json: the catalog, joined with what runs here. The second needs no key."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from foldnote.models.tool import Tool
from foldnote.models.wire import WireModel
from foldnote.service.domain.access.gate import Admitted
from foldnote.service.http.routes.responses import Here, answers, errors, keyed

router = APIRouter(tags=["tools"])


@router.get(
    "/tools",
    summary="The tools and their settings",
    responses={**answers(list[Tool], "Every tool."), **keyed()},
)
def list_tools(caller: Admitted, service: Here) -> Response:  # noqa: ARG001  the key is required, not used
    """Give the catalog."""
    return Response(service.toolbox.document(), media_type="application/json")


@router.get(
    "/tools.json",
    summary="The same without a key",
    responses={**answers(list[Tool], "Every tool."), **errors()},
)
def list_tools_openly(service: Here) -> Response:
    """Give the catalog to anybody."""
    return Response(service.toolbox.document(), media_type="application/json")


class FinetunedModelResponse(WireModel):
    """A model that one of the caller's jobs made."""

    model_name: str
    """The job's name, which is unique for the account."""
    type: str
    """The tool that made it."""
    job_name: str
    created: str
    """RFC 3339 UTC: when it was finished."""


class FinetunedModels(WireModel):
    """The answer of GET /finetuned-models."""

    models: list[FinetunedModelResponse]


@router.get(
    "/finetuned-models",
    summary="Models that the caller's jobs made",
    responses={**answers(FinetunedModels, "Newest first."), **keyed()},
)
def list_finetuned_models(caller: Admitted, service: Here) -> Response:
    """Give the complete fine-tuning jobs as models."""
    rows = service.store.jobs.complete_of(caller.account_id, service.toolbox.finetuning_types())
    models = [
        {"modelName": row["name"], "type": row["type"], "jobName": row["name"], "created": row["completed"]}
        for row in rows
    ]
    return JSONResponse({"models": models})
