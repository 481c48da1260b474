"""Map exceptions to responses, all with one error body."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from foldnote.service.faults import BareRefusalError, RefusalError, no_space, retry_later
from foldnote.service.files.conditions import is_full, is_passing
from foldnote.service.http.bodies import parameter_refusal
from foldnote.service.store.database import StorageFaultError

log = logging.getLogger(__name__)
Handler = Callable[[Request, Any], Awaitable[Response]]

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
ROUTE_CODES = {404: "route_not_found", 405: "method_not_allowed"}


def refusal_response(refusal: RefusalError) -> Response:
    """Build the response to a refused request."""
    return JSONResponse(refusal.body(), refusal.status, refusal.headers)


async def on_refusal(_: Request, refusal: RefusalError) -> Response:
    """Respond to a refusal raised by a route."""
    return refusal_response(refusal)


async def on_bare_refusal(_: Request, refusal: BareRefusalError) -> Response:
    """Respond to a refusal with a body defined by the interface."""
    if refusal.body is None:
        return Response(status_code=refusal.status, headers={"Connection": "close"})
    return JSONResponse(dict(refusal.body), refusal.status)


async def on_invalid_parameter(_: Request, error: RequestValidationError) -> Response:
    """Respond to an invalid path or query parameter with 400 and its name."""
    return refusal_response(parameter_refusal(error.errors()[0]))


async def on_route_fault(request: Request, error: HTTPException) -> Response:
    """Respond to an unknown route or method."""
    if error.status_code == 404:
        sentence = f"There is no {request.method} {request.url.path[:200]!r} in this interface."
    elif error.status_code == 405:
        sentence = f"{request.method} is not allowed for {request.url.path[:200]!r}."
    else:
        sentence = f"{error.detail}"
    code = ROUTE_CODES.get(error.status_code, "refused")
    headers = {"Allow": ", ".join(_allowed(request))} if error.status_code == 405 else error.headers
    refusal = RefusalError(error.status_code, code, sentence, headers=headers)
    return refusal_response(refusal)


def _allowed(request: Request) -> list[str]:
    """Return all methods accepted by routes with this path."""
    scopes = {method: {**request.scope, "method": method} for method in METHODS}
    routes = request.app.routes
    methods = {
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in routes)
    }
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


async def on_storage_fault(_: Request, fault: StorageFaultError) -> Response:
    """Respond to a database fault: 507 if the disk is full, else 503; nothing was changed."""
    log.error("storage fault: %s", fault)
    return refusal_response(no_space() if fault.is_full else busy())


async def on_os_error(_: Request, fault: OSError) -> Response:
    """Respond to an OSError: 507 for a full disk, 503 for a failing one, 500 for any other."""
    if is_full(fault):
        return refusal_response(no_space())
    if is_passing(fault):
        log.error("storage fault: %s", fault)
        return refusal_response(busy())
    log.error("system fault", exc_info=fault)
    return refusal_response(internal())


async def on_fault(_: Request, fault: Exception) -> Response:
    """Respond to an unexpected exception; its details are only logged."""
    log.error("internal fault", exc_info=fault)
    return refusal_response(internal())


async def on_disconnect(_: Request, __: ClientDisconnect) -> Response:
    """Respond to a client that disconnected while sending its body."""
    return refusal_response(RefusalError(400, "client_disconnected", "The request ended before its body."))


def busy() -> RefusalError:
    """Build a 503 response."""
    sentence = "The service cannot use its disk or database now. Nothing was changed; try again in a second."
    return retry_later(503, "temporarily_unavailable", sentence, 1)


def internal() -> RefusalError:
    """Build a 500 response."""
    sentence = "The service failed to process this request. Its log has the reason; you may try again."
    return RefusalError(500, "internal_error", sentence)


HANDLERS: dict[type[Exception], Handler] = {
    RefusalError: on_refusal,
    BareRefusalError: on_bare_refusal,
    RequestValidationError: on_invalid_parameter,
    HTTPException: on_route_fault,
    StorageFaultError: on_storage_fault,
    OSError: on_os_error,
    ClientDisconnect: on_disconnect,
    Exception: on_fault,
}
