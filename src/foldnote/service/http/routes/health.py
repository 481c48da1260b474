"""GET /healthz: whether the service works; needs no key and reveals nothing private."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from foldnote.late import find_version
from foldnote.models.wire import WireModel
from foldnote.service.http.routes.responses import Here, answers, errors

router = APIRouter(tags=["operation"])


class Health(WireModel):
    """The state of the service."""

    status: str
    """Always `ok`; otherwise the response is 5xx."""
    version: str
    """foldnote's version."""
    running: int
    """Number of running jobs."""


@router.get("/healthz", summary="Health", responses={**answers(Health, "It works."), **errors()})
def check_health(service: Here) -> Response:
    """Query the database and report that the service works."""
    service.store.queue.has_unfinished()
    return JSONResponse({"status": "ok", "version": find_version(), **service.dispatcher.counts()})
