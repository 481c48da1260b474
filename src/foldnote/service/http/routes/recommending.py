"""POST /model-router: recommend tools for a described task."""

from __future__ import annotations

import re

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from foldnote.catalog.checks.molecule import find_smiles_fault
from foldnote.models.wire import WireModel
from foldnote.service.composition import Service
from foldnote.service.domain.access.gate import AuthenticatedCaller
from foldnote.service.domain.recommending.detection import FoundMolecule, find_molecules, read_sequence
from foldnote.service.domain.recommending.ranking import advise, read_task
from foldnote.service.domain.requests import RouterInput, RouterRequest
from foldnote.service.faults import RefusalError, bad_request
from foldnote.service.http.routes.responses import (
    CurrentService,
    json_body,
    keyed_errors,
    read_small_body,
    success_response,
)

router = APIRouter(tags=["tools"])
_CODE = re.compile(r"[A-Za-z0-9]{1,5}")


class RecommendedToolResponse(WireModel):
    """One recommended tool."""

    tool_id: str
    """The tool's type."""
    reason: str
    """Why the tool fits."""


class DetectedMoleculeResponse(WireModel):
    """One molecule found in the request."""

    kind: str
    """`protein`, `antibody`, `nucleic-acid` or `small-molecule`."""
    form: str
    """`FASTA`, `sequence`, `SMILES` or `CCD code`."""
    length: int
    """Residues, nucleotides or characters."""


class RouterResponse(WireModel):
    """The response to POST /model-router."""

    tools: list[RecommendedToolResponse]
    """Those that run here first, each best first; empty if nothing is recommended."""
    abstain: bool
    """Whether nothing is recommended."""
    summary: str
    """How the task was understood, or what is missing if nothing is recommended."""
    detected: list[DetectedMoleculeResponse]
    """The molecules of the prompt and of `inputs`."""


@router.post(
    "/model-router",
    summary="Recommend tools for a described task",
    responses={
        **success_response(RouterResponse, "At most four tools, or none, with the reason."),
        **keyed_errors(400, 403, 413),
    },
    openapi_extra=json_body(RouterRequest),
)
async def route_model(request: Request, caller: AuthenticatedCaller, service: CurrentService) -> Response:  # noqa: ARG001  the key is required
    """Rank the tools of this service for a task, without contacting other machines.

    Raises:
        RefusalError: recommendations are not enabled.
    """
    if not service.config.has_router:
        sentence = "Recommendations are not enabled at this service. GET /tools lists its tools."
        raise RefusalError(403, "router_disabled", sentence)
    body = await read_small_body(request, service, RouterRequest)
    return JSONResponse(await run_in_threadpool(_advise, service, body))


def _advise(service: Service, body: RouterRequest) -> dict[str, object]:
    molecules_given = [_read_input(index, item) for index, item in enumerate(body.inputs or [])]
    molecules = list({item.text: item for item in [*molecules_given, *find_molecules(body.prompt)]}.values())
    tools = service.toolbox.tools()
    roles = {item.role for item in body.inputs or [] if item.role}
    advice = advise(read_task(body.prompt, molecules, roles, tools), tools)
    return {
        "tools": [{"toolId": row.tool_id, "reason": row.reason} for row in advice.tools],
        "abstain": advice.is_abstaining,
        "summary": advice.summary,
        "detected": [{"kind": m.kind, "form": m.form, "length": m.length} for m in molecules],
    }


def _read_input(index: int, molecule_input: RouterInput) -> FoundMolecule:
    """Read the molecule of one element of `inputs`.

    Raises:
        RefusalError: 400 if it does not have exactly one molecule, or has an invalid sequence.
    """
    forms = (molecule_input.sequence, molecule_input.smiles, molecule_input.ccd)
    if sum(form is not None for form in forms) != 1:
        sentence = f"inputs.{index} must have exactly one of sequence, smiles and ccd."
        raise bad_request(sentence, code="invalid_field", field=f"inputs.{index}")
    fault = _find_fault(molecule_input)
    if fault:
        name, message = fault
        field = f"inputs.{index}.{name}"
        raise bad_request(f"{field}: {message}", code="invalid_field", field=field)
    if molecule_input.smiles is not None:
        return FoundMolecule("small-molecule", "SMILES", molecule_input.smiles.strip())
    if molecule_input.ccd is not None:
        return FoundMolecule("small-molecule", "CCD code", molecule_input.ccd.strip().upper())
    molecule = read_sequence(molecule_input.sequence or "")
    if molecule is None:
        sentence = f"inputs.{index}.sequence has letters that are neither residues nor nucleotides."
        raise bad_request(sentence, code="invalid_field", field=f"inputs.{index}.sequence")
    return molecule


def _find_fault(molecule_input: RouterInput) -> tuple[str, str] | None:
    """Return the field and reason of the refusal (400) of an invalid element; None if it is valid."""
    if molecule_input.smiles is not None:
        fault = find_smiles_fault(molecule_input.smiles)
        return ("smiles", fault) if fault else None
    if molecule_input.ccd is not None and not _CODE.fullmatch(molecule_input.ccd.strip()):
        return "ccd", "this is not a code of the chemical component dictionary (1 to 5 letters and digits)."
    if molecule_input.sequence is not None and not molecule_input.sequence.strip():
        return "sequence", "this is empty."
    return None
