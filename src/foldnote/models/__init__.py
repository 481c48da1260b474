"""The records of the interface as frozen models, and the table of job states.

Other spellings are normalised here: keys such as ``JobName`` and records inside JSON strings are converted to
one Python form. Unknown fields are kept. Only ``runtime_file`` does I/O. Each name is imported on first use:
checking names or showing a form needs no pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.models.account import Account, Credential, TrialLimits, read_credential
    from foldnote.models.file import FilePage, FileRecord, UploadReceipt, read_file_page
    from foldnote.models.job import Job, JobPage, StatusCounts, read_job, read_job_answer, read_job_page
    from foldnote.models.names import JOB_NAME_PATTERN, check_job_name, clean_job_name, propose_job_name
    from foldnote.models.problem import Problem
    from foldnote.models.recommendation import (
        DetectedMolecule,
        Recommendation,
        RecommendedTool,
        read_recommendation,
    )
    from foldnote.models.runtime_file import RuntimeInfo, read_runtime, write_runtime
    from foldnote.models.status import BatchStatus, JobStatus, read_batch_status, read_status
    from foldnote.models.submission import Receipt, Submission, read_receipt
    from foldnote.models.tool import Tool, ToolEngine, ToolOrigin
    from foldnote.models.verdict import BatchVerdict, ErrorBody, RowVerdict, Verdict, read_verdict

__all__ = [
    "JOB_NAME_PATTERN",
    "Account",
    "BatchStatus",
    "BatchVerdict",
    "Credential",
    "DetectedMolecule",
    "ErrorBody",
    "FilePage",
    "FileRecord",
    "Job",
    "JobPage",
    "JobStatus",
    "Problem",
    "Receipt",
    "Recommendation",
    "RecommendedTool",
    "RowVerdict",
    "RuntimeInfo",
    "StatusCounts",
    "Submission",
    "Tool",
    "ToolEngine",
    "ToolOrigin",
    "TrialLimits",
    "UploadReceipt",
    "Verdict",
    "check_job_name",
    "clean_job_name",
    "propose_job_name",
    "read_batch_status",
    "read_credential",
    "read_file_page",
    "read_job",
    "read_job_answer",
    "read_job_page",
    "read_receipt",
    "read_recommendation",
    "read_runtime",
    "read_status",
    "read_verdict",
    "write_runtime",
]

_HOMES = {
    "account": ("Account", "Credential", "TrialLimits", "read_credential"),
    "file": ("FilePage", "FileRecord", "UploadReceipt", "read_file_page"),
    "job": ("Job", "JobPage", "StatusCounts", "read_job", "read_job_answer", "read_job_page"),
    "names": ("JOB_NAME_PATTERN", "check_job_name", "clean_job_name", "propose_job_name"),
    "recommendation": ("DetectedMolecule", "Recommendation", "RecommendedTool", "read_recommendation"),
    "runtime_file": ("RuntimeInfo", "read_runtime", "write_runtime"),
    "status": ("BatchStatus", "JobStatus", "read_batch_status", "read_status"),
    "submission": ("Receipt", "Submission", "read_receipt"),
    "tool": ("Tool", "ToolEngine", "ToolOrigin"),
    "problem": ("Problem",),
    "verdict": ("BatchVerdict", "ErrorBody", "RowVerdict", "Verdict", "read_verdict"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
