"""Routes for sharing a job with colleagues, who open it with their own keys.

They are not part of the interface. A link is the URL of a page with a token after ``#``. Browsers do not send
that part, so no log contains it; programs send it in the body. The page explains how to use the link.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import Field

from foldnote.models.share import LINK_REVOKED
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.requests import RequestBody
from foldnote.service.domain.result_links import PreparingError
from foldnote.service.domain.sharing import describe
from foldnote.service.http.routes.responses import CurrentService, absolute_url, read_small_body

router = APIRouter(include_in_schema=False)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A shared result</title>
<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style></head>
<body><main><h1>A shared result</h1><p>It opens with a key of your own for this service: in JupyterLab by
<b>Protein Analysis › Open a Shared Link …</b>, in a notebook, or on the command line. Copy the whole address
of this page:</p>
<pre>import foldnote as fn
fn.open_shared("…")</pre>
<pre>foldnote share --open "…"</pre></main></body></html>
"""
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


class NewLink(RequestBody):
    """POST /shares: the job, and how long to share it."""

    job_name: str
    expires_in_days: float = 30.0


class LinkToken(RequestBody):
    """The token of a link."""

    token: str = Field(max_length=200)


@router.post("/shares")
async def share_job(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Create a link to a job or batch; its token is shown only in this response."""
    new_link = await read_small_body(request, service, NewLink)
    make = service.sharing.make
    token, link = await run_in_threadpool(make, caller, new_link.job_name, new_link.expires_in_days)
    readers = await run_in_threadpool(service.sharing.find_readers, caller)
    url = f"{absolute_url(request, service, '/shared')}#{token}"
    return JSONResponse({**describe(link, readers), "url": url}, headers={"Cache-Control": "no-store"})


@router.get("/shares")
def list_shares(
    caller: AuthenticatedCaller,
    service: CurrentService,
    job_name: Annotated[str | None, Query(alias="jobName")] = None,
) -> Response:
    """List the caller's valid links, newest first, with who has opened them."""
    readers, links = service.sharing.find_readers(caller), service.sharing.all(caller, job_name)
    return JSONResponse({"shares": [describe(link, readers) for link in links]})


@router.delete("/shares/{name}")
def revoke_share(
    name: Annotated[str, Path()], caller: AuthenticatedCaller, service: CurrentService
) -> Response:
    """End a link at once."""
    service.sharing.revoke(caller, name)
    return JSONResponse({"message": LINK_REVOKED})


@router.get("/shared")
def show_shared() -> Response:
    """Show how to open a link; nothing else is visible without a key."""
    return HTMLResponse(_PAGE, 401, headers=_PAGE_HEADERS)


@router.post("/shared")
async def open_shared(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Return the record of the shared job."""
    token = (await read_small_body(request, service, LinkToken)).token
    return JSONResponse(await run_in_threadpool(service.sharing.open, caller, token))


@router.post("/shared/result")
async def get_shared_result(
    request: Request, caller: AuthenticatedCaller, service: CurrentService
) -> Response:
    """Return a signed link to the result, or 202 while the archive of a batch is being built."""
    token = (await read_small_body(request, service, LinkToken)).token
    try:
        path = await run_in_threadpool(service.sharing.link, caller, token)
    except PreparingError:
        return JSONResponse({"status": "preparing", "message": "The result is being built. Ask again."}, 202)
    return JSONResponse(absolute_url(request, service, path))
