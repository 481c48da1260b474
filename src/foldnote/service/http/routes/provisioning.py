"""POST /agent/provision issues a trial key without an account; its claim page assigns it to a person."""

from __future__ import annotations

import html
from typing import Annotated
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse

from foldnote.models.wire import WireModel
from foldnote.service.composition import Service
from foldnote.service.domain.access.trials import TIER, Trial
from foldnote.service.domain.requests import ClaimRequest
from foldnote.service.faults import RefusalError
from foldnote.service.http.bodies import parse_json, read_chunks, read_model
from foldnote.service.http.routes.responses import (
    CurrentService,
    Message,
    ResponseDeclarations,
    absolute_url,
    error_responses,
    json_body,
    success_response,
)
from foldnote.service.store.accounts.trials import ClaimedAccount

router = APIRouter(tags=["accounts"])
FORM = "application/x-www-form-urlencoded"
_PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Claim your account</title>
<style>:root{{color-scheme:light dark}}
body{{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem;color:#1b1b1b;
background:#fff;overflow-wrap:anywhere}}h1{{font-size:1.6rem}}label{{display:block;margin-top:1rem}}
input{{box-sizing:border-box;width:100%;max-width:24rem}}input,button{{font:inherit;padding:.4rem .7rem}}
button{{margin-top:1.25rem}}
@media(prefers-color-scheme:dark){{body{{color:#eee;background:#1b1b1b}}}}</style></head>
<body><main><h1>Claim your account</h1>{content}</main></body></html>
"""
_FORM = """<p>A program created the account <strong>{email}</strong> for you. After you claim it, its key no
longer expires and has a number of jobs each month. If you already have an account here, enter one of its keys
to move the jobs, the files and the key into your account.</p>
<form method="post"><label for="email">Your email address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254">
<label for="key">An API key of your account here, if you have one</label>
<input id="key" name="apiKey" type="password" autocomplete="off" maxlength="200">
<div><button type="submit">Claim</button></div></form>"""
_DONE = "<p>The account <strong>{email}</strong> is claimed. You can close this page.</p>"


class TrialLimitsResponse(WireModel):
    """The limits of an unclaimed key."""

    jobs: int
    """Total number of jobs; each row of a batch counts."""
    allowed_tools: str
    """Always `all`."""
    max_runtime_seconds: float | None = None
    """Always null: runs have the usual time limit."""
    expires_in_days: int


class ProvisionedCredential(WireModel):
    """A trial key."""

    api_key: str
    """The key, for the header `x-api-key`."""
    email: str
    """Generated address of the account."""
    tier: str
    """Always `agent-trial`."""
    expires_at: str
    """RFC 3339 UTC: when the key expires unless it is claimed."""
    limits: TrialLimitsResponse
    claim_url: str
    """Address of the page on which a person claims the account."""


def _page_errors(*statuses: int) -> ResponseDeclarations:
    """Declare errors that are a page for a form and JSON for JSON."""
    return {
        status: row | {"content": {"text/html": {}}} for status, row in error_responses(*statuses).items()
    }


@router.post(
    "/agent/provision",
    status_code=201,
    summary="Get a trial key without an account",
    responses={**success_response(ProvisionedCredential, "The credential.", 201), **error_responses(429)},
)
def provision(request: Request, service: CurrentService) -> Response:
    """Create an account with a key; the request's body is ignored."""
    source = request.client.host if request.client else "unknown"
    trial = service.trials.provision(source)
    return JSONResponse(_credential(request, service, trial), 201, headers={"Cache-Control": "no-store"})


def _credential(request: Request, service: Service, trial: Trial) -> dict[str, object]:
    terms = service.config.trials
    return {
        "apiKey": trial.key,
        "email": trial.email,
        "tier": TIER,
        "expiresAt": trial.expires,
        "limits": {
            "jobs": terms.jobs,
            "allowedTools": "all",
            "maxRuntimeSeconds": None,
            "expiresInDays": terms.days,
        },
        "claimUrl": absolute_url(request, service, f"/claim?token={quote(trial.claim_token)}"),
    }


@router.get(
    "/claim",
    summary="The page that claims a trial account",
    response_class=Response,
    responses={200: {"description": "The page.", "content": {"text/html": {}}}, **error_responses(400, 404)},
)
def show_claim_page(service: CurrentService, token: Annotated[str, Query(max_length=200)]) -> Response:
    """Show the account and ask for an email address."""
    return _page(service.trials.find(token))


@router.post(
    "/claim",
    summary="Claim a trial account",
    response_class=Response,
    responses={
        200: {
            "description": "The account is claimed; a page for a form, JSON for JSON.",
            "content": {"application/json": {"schema": Message.model_json_schema()}, "text/html": {}},
        },
        **_page_errors(400, 403, 404),
        **error_responses(413),
    },
    openapi_extra=json_body(ClaimRequest, FORM),
)
async def claim_account(
    request: Request, service: CurrentService, token: Annotated[str, Query(max_length=200)]
) -> Response:
    """Claim the account for an address, sent by the page's form or as JSON."""
    limit = service.config.limits.small_body_bytes
    content = b"".join([chunk async for chunk in read_chunks(request, limit)])
    if not request.headers.get("content-type", "").startswith(FORM):
        await run_in_threadpool(_claim, service, token, read_model(parse_json(content), ClaimRequest))
        return JSONResponse({"message": "The account is claimed; its key remains valid."})
    try:
        await run_in_threadpool(_claim, service, token, read_model(_read_form(content), ClaimRequest))
        return _page(await run_in_threadpool(service.trials.find, token))
    except RefusalError as refusal:
        text = f'<p role="alert">{html.escape(refusal.sentence)}</p><p><a href="">Try again</a></p>'
        return HTMLResponse(_PAGE.format(content=text), refusal.status, headers=_PAGE_HEADERS)


def _claim(service: Service, token: str, claim: ClaimRequest) -> None:
    service.trials.claim(token, claim.email, claim.api_key)
    service.gate.forget_all()


def _read_form(content: bytes) -> dict[str, str]:
    fields = parse_qs(content.decode("utf-8", "replace"), max_num_fields=20)
    return {name: values[0].strip() for name, values in fields.items() if values[0].strip()}


def _page(claim: ClaimedAccount) -> Response:
    content = (_FORM if claim.claimed_by is None else _DONE).format(email=html.escape(claim.email))
    return HTMLResponse(_PAGE.format(content=content), headers=_PAGE_HEADERS)
