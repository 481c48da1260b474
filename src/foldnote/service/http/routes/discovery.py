"""GET /catalog/… and /getFolders: routes of deployed services that other clients of this interface use.

They return nothing that /tools and /files do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse

from foldnote.models.tool import Tool
from foldnote.models.wire import WireModel
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.parameters import Parameter, list_parameters
from foldnote.service.faults import RefusalError, not_found
from foldnote.service.http.routes.responses import CurrentService, keyed_errors, success_response

router = APIRouter(tags=["tools"])


class CatalogTool(WireModel):
    """One row of GET /catalog/tools."""

    name: str
    """The tool's type."""
    display_name: str
    description: str
    categories: list[str]
    """The modality, which is what the tool works on."""
    functions: list[str]
    """The function of the tool."""
    available: bool
    """Whether it can run here now."""


class CatalogTools(WireModel):
    """The response to GET /catalog/tools."""

    tools: list[CatalogTool]
    total_tools: int


class CatalogWord(WireModel):
    """A modality or function by which tools can be filtered."""

    value: str
    label: str
    tool_count: int


class Modalities(WireModel):
    """The response to GET /catalog/modalities."""

    modalities: list[CatalogWord]


class Functions(WireModel):
    """The response to GET /catalog/functions."""

    functions: list[CatalogWord]


class ToolSheet(CatalogTool):
    """The response to GET /catalog/tools/{jobType}/schema."""

    parameters: list[Parameter]
    """The settings as a list; the JSON Schema of /tools has more detail."""
    example_job: dict[str, Any] | None
    """A valid submission; null if there is no example."""


class Folders(WireModel):
    """The response to GET /getFolders."""

    folders: list[str]
    """Paths, sorted by name."""
    total: int
    has_more: bool


@router.get(
    "/catalog/tools",
    summary="Find tools",
    responses={
        **success_response(CatalogTools, "The tools that match all given filters."),
        **keyed_errors(400),
    },
)
def find_tools(
    caller: AuthenticatedCaller,  # noqa: ARG001  the key is required, not used
    service: CurrentService,
    modality: str | None = None,
    function: str | None = None,
    search: str | None = None,
    custom: Literal["true"] | None = None,
) -> Response:
    """List tools by modality, function, text in name or description, or whether they were registered."""
    own = service.toolbox.registered_types()
    matching = [
        _row(tool)
        for tool in service.toolbox.tools()
        if modality in (None, *tool.modalities)
        and function in (None, *tool.functions)
        and (search or "").casefold() in f"{tool.type} {tool.display_name} {tool.description}".casefold()
        and (custom is None or tool.type in own)
    ]
    return JSONResponse({"tools": matching, "totalTools": len(matching)})


@router.get(
    "/catalog/modalities",
    summary="Modalities of tools",
    responses={**success_response(Modalities, "Each with its number of tools."), **keyed_errors()},
)
def list_modalities(caller: AuthenticatedCaller, service: CurrentService) -> Response:  # noqa: ARG001  the key is required
    """List the values of `modality`."""
    return JSONResponse({"modalities": _count_words(tool.modalities for tool in service.toolbox.tools())})


@router.get(
    "/catalog/functions",
    summary="Functions of tools",
    responses={**success_response(Functions, "Each with its number of tools."), **keyed_errors()},
)
def list_functions(caller: AuthenticatedCaller, service: CurrentService) -> Response:  # noqa: ARG001  the key is required
    """List the values of `function`."""
    return JSONResponse({"functions": _count_words(tool.functions for tool in service.toolbox.tools())})


@router.get(
    "/catalog/tools/{jobType}/schema",
    summary="The settings of a tool as a list",
    responses={**success_response(ToolSheet, "The tool with its settings."), **keyed_errors(404)},
)
def get_tool_sheet(
    tool_type: Annotated[str, Path(alias="jobType")],
    caller: AuthenticatedCaller,  # noqa: ARG001  the key is required, not used
    service: CurrentService,
) -> Response:
    """Get one tool with its settings and an example."""
    try:
        tool = service.toolbox.describe(service.toolbox.find(tool_type))
    except RefusalError as refusal:
        raise not_found(refusal.sentence, code=refusal.code, field="jobType") from refusal
    sheet = {"parameters": list_parameters(tool.settings_schema), "exampleJob": tool.example_job}
    return JSONResponse(_row(tool) | sheet)


@router.get(
    "/getFolders",
    name="get_folders",
    tags=["files"],
    summary="Every folder of the caller",
    responses={**success_response(Folders, "By name."), **keyed_errors(400)},
)
def get_folders(
    caller: AuthenticatedCaller,
    service: CurrentService,
    limit: Annotated[int, Query(ge=1)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**62)] = 0,
    load_all: Annotated[Literal["true"] | None, Query(alias="loadAll")] = None,
) -> Response:
    """List all folders that contain files, including nested ones."""
    names = service.store.files.all_folders(caller.account_id)
    page = names if load_all else names[offset : offset + limit]
    has_more = not load_all and offset + len(page) < len(names)
    return JSONResponse({"folders": page, "total": len(names), "hasMore": has_more})


def _row(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.type,
        "displayName": tool.label,
        "description": tool.description,
        "categories": list(tool.modalities),
        "functions": list(tool.functions),
        "available": tool.available,
    }


def _count_words(word_lists: Iterable[tuple[str, ...]]) -> list[dict[str, Any]]:
    counts = Counter(word for words in word_lists for word in words)
    return [
        {"value": word, "label": word.replace("-", " ").capitalize(), "toolCount": count}
        for word, count in sorted(counts.items())
    ]
