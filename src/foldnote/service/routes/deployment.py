"""POST /deploy-model: an administrator registers a command or an image as a tool."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.wire import WireModel
from foldnote.service.access.gate import AdmittedClaimed
from foldnote.service.bodies import read_json, read_model
from foldnote.service.disk import require_space
from foldnote.service.requests import ModelDeployment
from foldnote.service.routes.answers import Here, answers, keyed, takes

router = APIRouter(tags=["tools"])


class DeploymentReceipt(WireModel):
    """The answer of POST /deploy-model."""

    message: str
    type: str
    """What submissions name."""
    available: bool
    """Whether it can run here now."""
    unavailable_reason: str | None = None


@router.post(
    "/deploy-model",
    summary="Register a command or an image as a tool",
    responses={**answers(DeploymentReceipt, "It is a tool now."), **keyed(400, 403, 413, 507)},
    openapi_extra=takes(ModelDeployment),
)
async def deploy_model(request: Request, caller: AdmittedClaimed, service: Here) -> Response:
    """Check and keep the tool; it has a form, jobs and results like any other."""
    service.deployments.require(caller)
    value = await read_json(request, service.config.limits.small_body_bytes)
    wanted = read_model(value, ModelDeployment)
    require_space(service.config)
    tool = await run_in_threadpool(service.deployments.deploy, wanted)
    shown = service.toolbox.describe(tool)
    receipt = {
        "message": f"{tool.type} is a tool of this service.",
        "type": tool.type,
        "available": shown.available,
        "unavailableReason": shown.unavailable_reason,
    }
    return JSONResponse(receipt)
