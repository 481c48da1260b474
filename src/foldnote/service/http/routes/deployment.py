"""POST /deploy-model and DELETE: an administrator registers a command or a container image as a tool."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.wire import WireModel
from foldnote.service.disk import require_space
from foldnote.service.domain.access.gate import ClaimedCaller
from foldnote.service.domain.requests import ModelDeployment, NamedTool
from foldnote.service.http.routes.responses import (
    CurrentService,
    Message,
    json_body,
    keyed_errors,
    read_small_body,
    success_response,
)

router = APIRouter(tags=["tools"])


class DeploymentReceipt(WireModel):
    """The response to POST /deploy-model."""

    message: str
    type: str
    """What submissions name."""
    available: bool
    """Whether it can run here now."""
    unavailable_reason: str | None = None


@router.post(
    "/deploy-model",
    summary="Register a command or an image as a tool",
    responses={
        **success_response(DeploymentReceipt, "The tool is registered."),
        **keyed_errors(400, 403, 413, 507),
    },
    openapi_extra=json_body(ModelDeployment),
)
async def deploy_model(request: Request, caller: ClaimedCaller, service: CurrentService) -> Response:
    """Validate and save the tool; it has a form, jobs and results like any other."""
    service.deployments.require_deployment_allowed(caller)
    deployment = await read_small_body(request, service, ModelDeployment)
    require_space(service.config)
    tool = await run_in_threadpool(service.deployments.deploy, deployment)
    description = service.toolbox.describe(tool)
    receipt = {
        "message": f"{tool.type} was registered.",
        "type": tool.type,
        "available": description.available,
        "unavailableReason": description.unavailable_reason,
    }
    return JSONResponse(receipt)


class DeployedModel(WireModel):
    """A tool that an administrator registered."""

    type: str
    """What submissions name."""
    display_name: str
    command: list[str] | None
    """Program and arguments; null for an image."""
    image: str | None
    """The container image; null for a command."""
    created: str
    """RFC 3339 UTC: when it was registered."""
    available: bool
    """Whether it can run here now."""
    unavailable_reason: str | None
    """Why not, and what to do; null when available."""


class DeployedModels(WireModel):
    """The response to GET /deployed-models."""

    models: list[DeployedModel]


@router.get(
    "/deployed-models",
    summary="Tools that administrators registered",
    responses={
        **success_response(DeployedModels, "All registered tools, oldest first."),
        **keyed_errors(403),
    },
)
def list_deployed_models(caller: ClaimedCaller, service: CurrentService) -> Response:
    """List the registered tools with their commands or images."""
    service.deployments.require_admin(caller)
    models = [
        {
            "type": definition.type,
            "displayName": tool.display_name,
            "command": definition.content.get("command"),
            "image": definition.content.get("image"),
            "created": definition.created,
            "available": tool.available,
            "unavailableReason": tool.unavailable_reason,
        }
        for definition, tool in service.deployments.registered()
    ]
    return JSONResponse({"models": models})


@router.delete(
    "/delete-model",
    summary="Remove a registered tool",
    responses={
        **success_response(Message, "The tool accepts no more jobs; running jobs continue."),
        **keyed_errors(400, 403, 413),
    },
    openapi_extra=json_body(NamedTool),
)
async def delete_model(request: Request, caller: ClaimedCaller, service: CurrentService) -> Response:
    """Remove a tool registered with /deploy-model; its waiting jobs end with the reason."""
    service.deployments.require_admin(caller)
    body = await read_small_body(request, service, NamedTool)
    await run_in_threadpool(service.deployments.remove, body.type)
    service.dispatcher.wake()
    return JSONResponse({"message": f"{body.type} was removed. Its jobs and results are kept."})
