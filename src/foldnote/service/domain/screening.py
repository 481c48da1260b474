"""Virtual screening: one receptor and many ligands, one job per ligand, ranked by a score.

A screening is a batch of a docking tool: one with the settings `receptorFile` and `ligandFile`, from the
catalog or registered. A ligand is a file in any of its three forms, or a SMILES string. This module creates
the rows; the batch's archive also contains `ranking.csv`.
"""

from __future__ import annotations

from collections.abc import Sequence

from foldnote.catalog.checks.molecule import find_smiles_fault
from foldnote.models.tool import Tool
from foldnote.service.domain.file_resolution import FileResolver
from foldnote.service.domain.intake import Intake, require_rows
from foldnote.service.domain.requests import BatchSubmission, ScreeningSubmission
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.faults import RefusalError, bad_request
from foldnote.service.store.accounts.accounts import Caller

RECEPTOR, LIGAND = "receptorFile", "ligandFile"
FUNCTION = "small-molecule-docking"
"""The function of docking tools that are preferred."""


class ScreeningService:
    """Turns screenings into batches."""

    def __init__(self, toolbox: Toolbox, intake: Intake, files: FileResolver, max_ligands: int) -> None:
        self._toolbox = toolbox
        self._intake = intake
        self._files = files
        self._most_ligands = max_ligands

    def submit(self, caller: Caller, request: ScreeningSubmission) -> tuple[str, list[str]]:
        """Commit a batch with one job per ligand; return the tool and the jobs' names.

        Raises:
            RefusalError: 400 naming the invalid field (and as row the ligand's index), 403 above a limit.
        """
        require_rows(request.ligands, self._most_ligands, "ligands")
        tool = self._choose(request.tool)
        batch = BatchSubmission.model_construct(
            batch_name=request.batch_name,
            type=tool.type,
            settings=[
                {**request.settings, RECEPTOR: request.receptor, LIGAND: self._as_file(caller, ligand)}
                for ligand in request.ligands
            ],
            job_names=request.job_names,
            project_tag=request.project_tag,
            max_runtime_seconds=None,
            weighted_hours_budget=None,
            foldnote=None,
        )
        names = self._intake.submit_batch(caller, batch, about={"rankBy": request.rank_by})
        return tool.type, names

    def _choose(self, tool_type: str | None) -> Tool:
        docking = [tool for tool in self._toolbox.tools() if _docks(tool)]
        if tool_type is not None:
            tool = self._find(tool_type)
            if not _docks(tool):
                sentence = f"{tool_type} does not have the settings {RECEPTOR} and {LIGAND}. {_name(docking)}"
                raise bad_request(sentence, code="no_docking_tool", field="tool")
            return tool
        available = [tool for tool in docking if tool.available]
        if not available:
            sentence = f"No docking tool runs at this service now. {_name(docking)}"
            raise bad_request(sentence, code="tool_unavailable", field="tool")
        return min(available, key=lambda tool: FUNCTION not in tool.functions)

    def _as_file(self, caller: Caller, ligand: str) -> str:
        """Convert SMILES to inline contents; keep the name of an upload."""
        if "\n" in ligand or find_smiles_fault(ligand) or self._files.is_uploaded(caller, ligand):
            return ligand
        return f"{ligand.strip()}\n"

    def _find(self, tool_type: str) -> Tool:
        try:
            return self._toolbox.find(tool_type)
        except RefusalError as refusal:
            raise bad_request(refusal.sentence, code=refusal.code, field="tool") from refusal


def _docks(tool: Tool) -> bool:
    return {RECEPTOR, LIGAND} <= set(tool.settings_schema.get("properties", {}))


def _name(tools: Sequence[Tool]) -> str:
    return f"Docking tools: {', '.join(tool.type for tool in tools)}."
