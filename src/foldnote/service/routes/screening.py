"""POST /virtual-screening: one receptor, many ligands."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.service.access.gate import AdmittedClaimed
from foldnote.service.bodies import read_json, read_model
from foldnote.service.disk import require_space
from foldnote.service.requests import ScreeningSubmission
from foldnote.service.routes.answers import Here, answers, keyed, takes
from foldnote.service.routes.submission import BatchReceipt

router = APIRouter(tags=["submission"])


@router.post(
    "/virtual-screening",
    summary="Dock many ligands to one receptor and rank them",
    responses={**answers(BatchReceipt, "All ligands are queued."), **keyed(400, 403, 413, 507)},
    openapi_extra=takes(ScreeningSubmission),
)
async def screen(request: Request, caller: AdmittedClaimed, service: Here) -> Response:
    """Queue a job for each ligand, or none."""
    value = await read_json(request, service.config.limits.submission_bytes)
    wanted = read_model(value, ScreeningSubmission)
    require_space(service.config)
    tool, names = await run_in_threadpool(service.screening.submit, caller, wanted)
    receipt = {
        "message": f"{wanted.batch_name} with {len(names)} ligands submitted to queue.",
        "batchName": wanted.batch_name,
        "type": tool,
        "jobNames": names,
        "status": "In Queue",
    }
    return JSONResponse(receipt)
