"""How every refusal and fault becomes an answer: one mapping, one error shape."""

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

from foldnote.service.faults import BareRefusalError, RefusalError, no_space
from foldnote.service.files.conditions import is_full, is_passing
from foldnote.service.http.bodies import parameter_refusal
from foldnote.service.store.database import StorageFaultError

log = logging.getLogger(__name__)
Handler = Callable[[Request, Any], Awaitable[Response]]

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
ROUTE_CODES = {404: "route_not_found", 405: "method_not_allowed"}


def answer_refusal(refusal: RefusalError) -> Response:
    """The answer to a refused request."""
    return JSONResponse(refusal.body(), refusal.status, refusal.headers)


async def on_refusal(_: Request, refusal: RefusalError) -> Response:
    """A refusal that a route raised."""
    return answer_refusal(refusal)


async def on_bare_refusal(_: Request, refusal: BareRefusalError) -> Response:
    """A refusal whose body the interface fixes."""
    if refusal.body is None:
        return Response(status_code=refusal.status, headers={"Connection": "close"})
    return JSONResponse(dict(refusal.body), refusal.status)


async def on_invalid_parameter(_: Request, error: RequestValidationError) -> Response:
    """A path or query parameter of the wrong form: 400 that names it."""
    return answer_refusal(parameter_refusal(error.errors()[0]))


async def on_route_fault(request: Request, error: HTTPException) -> Response:
    """No such route, or not with this method."""
    if error.status_code == 404:
        sentence = f"There is no {request.method} {request.url.path[:200]!r} in this interface."
    elif error.status_code == 405:
        sentence = f"{request.method} is not allowed for {request.url.path[:200]!r}."
    else:
        sentence = f"{error.detail}"
    code = ROUTE_CODES.get(error.status_code, "refused")
    headers = {"Allow": ", ".join(_allowed(request))} if error.status_code == 405 else error.headers
    refusal = RefusalError(error.status_code, code, sentence, headers=headers)
    return answer_refusal(refusal)


def _allowed(request: Request) -> list[str]:
    """Every method that some route of this path takes."""
    scopes = {method: {**request.scope, "method": method} for method in METHODS}
    routes = request.app.routes
    taken = {
        method
        for method, scope in scopes.items()
        if any(route.matches(scope)[0] is Match.FULL for route in routes)
    }
    return sorted(taken | ({"HEAD"} if "GET" in taken else set()))


async def on_storage_fault(_: Request, fault: StorageFaultError) -> Response:
    """The database cannot work: 507 when the disk is full, else 503; nothing was changed."""
    log.error("storage fault: %s", fault)
    return answer_refusal(no_space() if fault.is_full else busy())


async def on_os_error(_: Request, fault: OSError) -> Response:
    """A full disk is 507, one that fails 503; any other fault of the system is the service's own: 500."""
    if is_full(fault):
        return answer_refusal(no_space())
    if is_passing(fault):
        log.error("storage fault: %s", fault)
        return answer_refusal(busy())
    log.error("system fault", exc_info=fault)
    return answer_refusal(internal())


async def on_fault(_: Request, fault: Exception) -> Response:
    """A fault of the service itself; its details go to the log only."""
    log.error("internal fault", exc_info=fault)
    return answer_refusal(internal())


async def on_disconnect(_: Request, __: ClientDisconnect) -> Response:
    """The client went away in the middle of its body; nobody reads this."""
    return answer_refusal(RefusalError(400, "client_disconnected", "The request ended before its body."))


def busy() -> RefusalError:
    """503."""
    sentence = "The service cannot use its disk or database now. Nothing was changed; try again in a second."
    more = {"retryAfterSeconds": 1}
    return RefusalError(503, "temporarily_unavailable", sentence, more=more, headers={"Retry-After": "1"})


def internal() -> RefusalError:
    """500."""
    sentence = "The service failed at this request. Its log says why; the request may be tried again."
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
