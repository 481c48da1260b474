"""GET /tools and /tools.json: the catalog, joined with what runs here. The second needs no key."""

from __future__ import annotations

from fastapi import APIRouter, Response

from foldnote.models.tool import Tool
from foldnote.service.access.gate import Admitted
from foldnote.service.routes.answers import Here, answers, errors, keyed

router = APIRouter(tags=["tools"])


@router.get(
    "/tools",
    summary="The tools and their settings",
    responses={**answers(list[Tool], "Every tool."), **keyed()},
)
def list_tools(caller: Admitted, service: Here) -> Response:  # noqa: ARG001  the key is required, not used
    """Give the catalog."""
    return Response(service.toolbox.document(), media_type="application/json")


@router.get(
    "/tools.json",
    summary="The same without a key",
    responses={**answers(list[Tool], "Every tool."), **errors()},
)
def list_tools_openly(service: Here) -> Response:
    """Give the catalog to anybody."""
    return Response(service.toolbox.document(), media_type="application/json")
