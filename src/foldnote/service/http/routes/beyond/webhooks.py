"""Routes for an account's webhook; absent if the service calls no webhooks.

They are not part of the interface. A response contains the secret only when it has just been created.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import Field

from foldnote.service.composition import Service
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.requests import RequestBody
from foldnote.service.http.routes.responses import CurrentService, read_small_body
from foldnote.service.store.accounts.accounts import Caller

router = APIRouter(include_in_schema=False)
_KEYS = {"url": "url", "has_secret": "hasSecret", "secret_created": "secretCreated", "allowed": "allowed"}


class WebhookChange(RequestBody):
    """POST /webhook: the URL for all jobs of the account; null for none."""

    url: str | None = Field(max_length=2000)


@router.get("/webhook")
def show_webhook(caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Return the account's settings and what the administrator allows."""
    return JSONResponse(_show(service, caller))


@router.post("/webhook")
async def set_webhook(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Set or remove the URL that is called at the end of every job submitted from now on."""
    change = await read_small_body(request, service, WebhookChange)
    await run_in_threadpool(service.webhooks.put_url, caller, change.url)
    return JSONResponse(await run_in_threadpool(_show, service, caller))


@router.post("/webhook/secret")
def renew_webhook_secret(caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Replace the account's secret by a new one, shown only in this response."""
    secret = service.webhooks.renew_secret(caller)
    content = {**_show(service, caller), "secret": secret}
    return JSONResponse(content, headers={"Cache-Control": "no-store"})


def _show(service: Service, caller: Caller) -> dict[str, Any]:
    return {_KEYS[name]: value for name, value in asdict(service.webhooks.show(caller)).items()}
