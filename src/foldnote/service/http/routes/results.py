"""POST /result: a signed link to a job's result."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.models.wire import WireModel
from foldnote.service.composition import Service
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.requests import ResultRequest
from foldnote.service.domain.result_links import PreparingError
from foldnote.service.faults import bad_request
from foldnote.service.http.routes.responses import (
    CurrentService,
    absolute_url,
    json_body,
    keyed_errors,
    read_small_body,
    success_response,
    visible_accounts,
)
from foldnote.service.store.accounts.accounts import Caller

router = APIRouter(tags=["results"])
_POLL_INTERVAL_S = 0.2


class Preparing(WireModel):
    """The archive of a batch is being built."""

    status: str
    """Always `preparing`."""
    job_name: str
    """The batch."""
    message: str
    """What to do next."""


@router.post(
    "/result",
    summary="Get a link to the result",
    responses={
        **success_response(Preparing, "The archive of a batch is being built.", 202),
        **success_response(str, "A JSON string: a link that is valid for an hour without a key."),
        **keyed_errors(400, 404, 413),
    },
    openapi_extra=json_body(ResultRequest),
)
async def get_result(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:
    """Get a link to the archive, to one of its files, or to its structures only."""
    body = await read_small_body(request, service, ResultRequest)
    owners = await run_in_threadpool(visible_accounts, service, caller, body.job_email)
    wait_s = 0.0 if body.no_async else service.config.limits.inline_wait_s
    path = await _wait_for_link(service, caller, owners, body, wait_s)
    if path is not None:
        return JSONResponse(absolute_url(request, service, path))
    if body.no_async:
        raise bad_request(f"The archive of {body.job_name} is not built yet.", code="result_preparing")
    return JSONResponse(preparing(body.job_name), 202)


async def _wait_for_link(
    service: Service, caller: Caller, owners: tuple[int, ...], body: ResultRequest, wait_s: float
) -> str | None:
    """Return the link, or None if a batch's archive is not built within the time."""
    until = time.monotonic() + wait_s
    while True:
        try:
            return await run_in_threadpool(service.results.link, caller.account_id, owners, body)
        except PreparingError:
            if time.monotonic() >= until:
                return None
            await asyncio.sleep(_POLL_INTERVAL_S)


def preparing(name: str) -> dict[str, str]:
    """Build the body of a 202 response."""
    message = (
        f"The result is being built. Poll GET /jobs?jobName={name} until resultUrl appears, then ask again."
    )
    return {"status": "preparing", "jobName": name, "message": message}
