"""POST /virtual-screening: one receptor, many ligands."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from foldnote.service.domain.access.gate import AdmittedClaimed
from foldnote.service.domain.requests import ScreeningSubmission
from foldnote.service.http.routes.responses import Here, answers, keyed, queued, read_submission, takes
from foldnote.service.http.routes.submission import BatchReceipt

router = APIRouter(tags=["submission"])


@router.post(
    "/virtual-screening",
    summary="Dock many ligands to one receptor and rank them",
    responses={**answers(BatchReceipt, "All ligands are queued."), **keyed(400, 403, 413, 507)},
    openapi_extra=takes(ScreeningSubmission),
)
async def screen(request: Request, caller: AdmittedClaimed, service: Here) -> Response:
    """Queue a job for each ligand, or none."""
    wanted = await read_submission(request, service, ScreeningSubmission)
    tool, names = await run_in_threadpool(service.screening.submit, caller, wanted)
    what = f"{wanted.batch_name} with {len(names)} ligands"
    return queued(what, batchName=wanted.batch_name, type=tool, jobNames=names)
