"""The job that produced a result: its name, tool and settings, from the manifest or the client's record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldnote.results.result import Result


def find_job_name(result: Result) -> str:
    """Return the name of the job, from the manifest or the client's record of the job; empty if unknown."""
    return _find_origin(result, result.manifest.job_name if result.manifest else "", "JobName", "jobName")


def find_title(result: Result) -> str:
    """Return the heading of a view: the job's label, else its name, else the name of the archive."""
    label = result.origin.get("label")
    return str(label) if label else find_job_name(result) or result.name


def find_tool_type(result: Result) -> str:
    """Tool type of the job, from the manifest or the client's record of the job; empty if unknown."""
    return _find_origin(result, result.manifest.tool if result.manifest else "", "Type", "type")


def find_settings(result: Result) -> Mapping[str, Any]:
    """Return the settings of the run, with defaults filled in if the manifest has them; else empty."""
    settings = result.manifest.data.get("settings") if result.manifest else None
    if not isinstance(settings, Mapping):
        record = result.origin.get("job", {})
        settings = record.get("settings", record.get("Settings"))
    return settings if isinstance(settings, Mapping) else {}


def _find_origin(result: Result, stated: str | None, *spellings: str) -> str:
    job = result.origin.get("job", {})
    return stated or next((str(job[name]) for name in spellings if job.get(name)), "")
