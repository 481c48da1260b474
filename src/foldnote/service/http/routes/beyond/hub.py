"""The route that gives keys to users of a JupyterHub; absent without a configured hub.

It is not part of the interface. The token of the user's server is sent in the header of keys, so that
everything that protects keys in clients, proxies and logs protects it, too.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from foldnote.service.domain.access.gate import HEADER, missing_key
from foldnote.service.faults import not_found
from foldnote.service.http.routes.responses import CurrentService

router = APIRouter(include_in_schema=False)


@router.post("/jupyterhub/key")
async def exchange_token(request: Request, service: CurrentService) -> Response:
    """Exchange the token of a user's server for a key that is valid for minutes."""
    token = request.headers.get(HEADER)
    if not token:
        raise missing_key()
    if service.hub is None:
        raise not_found("This service has no users of a JupyterHub.", code="route_not_found")
    issued = await service.hub.issue(token)
    body = {"apiKey": issued.key, "expiresInSeconds": int(issued.expires_in_s)}
    return JSONResponse(body, headers={"Cache-Control": "no-store"})
