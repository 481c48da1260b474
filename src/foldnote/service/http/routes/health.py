"""Routes for monitoring: liveness, readiness and metrics."""

from __future__ import annotations

import ipaddress

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.late import find_version
from foldnote.models.wire import WireModel
from foldnote.service.domain.access.gate import HEADER
from foldnote.service.faults import RefusalError
from foldnote.service.http.origins import is_own_machine, parse_host_name
from foldnote.service.http.routes.responses import CurrentService, error_responses, success_response

router = APIRouter(tags=["operation"])
_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_BEARER = "bearer "


class Health(WireModel):
    """The state of the service."""

    status: str
    """Always `ok`; otherwise the response is 5xx."""
    version: str
    """foldnote's version."""
    running: int
    """Number of running jobs."""


@router.get(
    "/healthz", summary="Health", responses={**success_response(Health, "It works."), **error_responses()}
)
def check_health(service: CurrentService) -> Response:
    """Query the database and report that the service works."""
    service.store.queue.has_unfinished()
    running = service.dispatcher.count_running()
    return JSONResponse({"status": "ok", "version": find_version(), "running": running})


@router.get("/readyz", include_in_schema=False)
def check_readiness(request: Request) -> Response:
    """Report whether the service should get new requests: 200, or 503 with the reasons."""
    readiness = request.app.state.readiness.check()
    body = {
        "status": "not ready" if readiness.reasons else "ready",
        "reasons": [{"code": code, "reason": sentence} for code, sentence in readiness.reasons.items()],
        "executors": readiness.executors,
        "running": readiness.running,
        "draining": readiness.is_draining,
    }
    return JSONResponse(body, 503 if readiness.reasons else 200, {"Cache-Control": "no-store"})


@router.get("/metrics", include_in_schema=False)
async def get_measurements(request: Request, service: CurrentService) -> Response:
    """Write the measurements for Prometheus, to this machine or to an administrator's key."""
    if not _is_from_here(request):
        caller = await service.gate.authenticate(_find_key(request))
        if not caller.is_admin:
            raise _administrators_only()
    measurements = request.app.state.measurements
    body, media_type = await run_in_threadpool(measurements.write, request.headers.get("accept", ""))
    return Response(body, media_type=media_type, headers={"Cache-Control": "no-store"})


def _is_from_here(request: Request) -> bool:
    """Return whether a program on this machine asks: no proxy for others, no page in a browser."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        is_local = request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
    return is_local and is_own_machine(parse_host_name("//" + request.headers.get("host", "")))


def _find_key(request: Request) -> str | None:
    """Return the key in `x-api-key` or as a bearer token, the only form that every Prometheus can send."""
    header = request.headers.get("authorization", "")
    bearer = header[len(_BEARER) :].strip() if header.lower().startswith(_BEARER) else None
    return request.headers.get(HEADER) or bearer


def _administrators_only() -> RefusalError:
    """Build the 403 response to a user's key."""
    sentence = (
        "Measurements are for this machine and for keys of administrators:"
        " foldnote admin issue-key ADDRESS --admin"
    )
    return RefusalError(403, "admin_required", sentence)
