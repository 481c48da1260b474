"""GET /healthz: whether the service works; needs no key and tells nothing private."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from foldnote.late import find_version
from foldnote.models.wire import WireModel
from foldnote.service.http.routes.responses import Here, answers, errors

router = APIRouter(tags=["operation"])


class Health(WireModel):
    """How the service is."""

    status: str
    """Always `ok`; a service that is not answers 5xx."""
    version: str
    """foldnote's version."""
    running: int
    """Jobs that run now."""


@router.get("/healthz", summary="Health", responses={**answers(Health, "It works."), **errors()})
def check_health(service: Here) -> Response:
    """Ask the database, and say that all is well."""
    service.store.queue.has_unfinished()
    return JSONResponse({"status": "ok", "version": find_version(), **service.dispatcher.counts()})
