"""POST /result: a signed link to what a job left."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.service.access.gate import Admitted
from foldnote.service.bodies import read_json, read_model
from foldnote.service.requests import ResultRequest
from foldnote.service.routes.answers import Here, absolute, answers, keyed, takes, visible_accounts

router = APIRouter(tags=["results"])


@router.post(
    "/result",
    summary="A link to the result",
    responses={
        **answers(str, "A JSON string: a link that works for an hour without the key."),
        **keyed(400, 404, 413),
    },
    openapi_extra=takes(ResultRequest),
)
async def get_result(request: Request, caller: Admitted, service: Here) -> Response:
    """Give a link to the archive, to one file of it, or to its structures only."""
    value = await read_json(request, service.config.limits.small_body_bytes)
    wanted = read_model(value, ResultRequest)
    owners = await run_in_threadpool(visible_accounts, service, caller, wanted.job_email)
    path = await run_in_threadpool(service.results.link, owners, wanted)
    return JSONResponse(absolute(request, service, path))
