"""What the server extension answers to the page, as records with a schema.

The page's TypeScript types are generated from here, so that there is one description of each field. The
records hold no key, no settings (they may carry whole files) and no signed link: nothing the browser need not
know.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field
from pydantic.json_schema import models_json_schema

from foldnote.lab.known_jobs import KnownJobs, page_record, page_records
from foldnote.lab.local_notes import Notes
from foldnote.models.file import FileRecord
from foldnote.models.job import Job, JobPage, StatusCounts
from foldnote.models.tool import Tool
from foldnote.models.wire import WireModel

_NEEDLESS_OF_A_TOOL = ("schema", "exampleJob", "citation", "outputs")


class ServiceState(StrEnum):
    """How the job service was at the last attempt to reach it."""

    STARTING = "starting"
    OK = "ok"
    UNREACHABLE = "unreachable"
    UNAUTHORIZED = "unauthorized"


class ServiceReport(WireModel):
    """Which service the answer is about, and how it is."""

    state: ServiceState
    profile: str
    """Name of the profile that is in use."""
    is_embedded: bool
    """Whether it is the service of this computer, which foldnote starts by itself."""
    url: str | None = None
    """Base address; null until the embedded service runs."""
    last_good: datetime | None = None
    """UTC time of the last answer of the service; null before the first."""
    error: str | None = None
    """What is wrong and what to do, in a sentence; null while ``state`` is ok or starting."""


class LogAnswer(WireModel):
    """The end of one job's log."""

    log: str
    """Plain text, newest line last; empty before the first line."""


class PageJob(Job):
    """A job of the service, and what this computer knows of it beside."""

    tags: tuple[str, ...] = ()
    """Kept on this computer: the service does not know them."""
    notebook: str | None = None
    """Path of the notebook that submitted it, as its kernel knew it; null where nothing tells it."""
    is_leaving: bool = False
    """Whether it will be deleted in a moment unless somebody undoes that."""


class JobsAnswer(WireModel):
    """Every job that the poller knows, or those that are other than in the state that the page has."""

    jobs: tuple[PageJob, ...] = ()
    """Newest first."""
    removed: tuple[str, ...] = ()
    """Names of jobs that the page has and the service has no more."""
    is_whole: bool = True
    """Whether ``jobs`` is everything, so that the page forgets what it had."""
    statuses: StatusCounts = Field(default_factory=StatusCounts)
    """Counts of all jobs at the service, also of those that ``jobs`` does not hold."""
    older_key: str | None = None
    """Where older jobs begin; null when there are none."""
    service: ServiceReport


class OlderAnswer(WireModel):
    """A page of jobs beyond those that are followed: older ones, or the jobs of a batch."""

    jobs: tuple[PageJob, ...] = ()
    """Newest first."""
    older_key: str | None = None
    """Where the next page begins; null on the last."""


class RecordAnswer(WireModel):
    """One job, whether or not a list holds it."""

    job: PageJob | None = None
    """Null when the service has no job of this name."""


class ToolsAnswer(WireModel):
    """The service's catalog, without the schemas."""

    tools: tuple[Tool, ...] = ()
    service: ServiceReport


class Citation(WireModel):
    """What to cite."""

    text: str = ""
    doi: str | None = None
    """Its DOI without an address; null when none is given."""


class ToolInput(WireModel):
    """One setting of a tool, in words."""

    name: str
    title: str = ""
    description: str = ""
    kind: str = ""
    """What it takes: a text, a number in a range with its unit, files by their endings, one of some words."""
    default: str = ""
    """What holds when it is left out; empty when nothing does."""
    is_required: bool = False


class ToolAnswer(WireModel):
    """What a person wants to know of one tool before using it."""

    type: str
    inputs: tuple[ToolInput, ...] = ()
    """Required ones first."""
    outputs: tuple[str, ...] = ()
    """What the method gives, each as ``name: what it is (unit; lower is better)``; empty where the catalog
    does not say."""
    citation: Citation | None = None


class ToolAdvice(WireModel):
    """One tool that fits a described task."""

    tool_id: str
    reason: str = ""


class AdviceAnswer(WireModel):
    """Tools for a described task, best first."""

    tools: tuple[ToolAdvice, ...] = ()
    abstain: bool = False
    summary: str = ""
    """What was understood, or what was missing."""


class FilesAnswer(WireModel):
    """One page of the account's files."""

    files: tuple[FileRecord, ...] = ()
    total: int = 0
    has_more: bool = False


class UploadAnswer(WireModel):
    """How far a file is on its way to the service."""

    id: str
    size_bytes: int
    received_bytes: int
    """What the Jupyter server has; sending goes on from there."""
    sent_bytes: int | None = None
    """What was passed on to the service; null while that is not under way."""
    waiting: str | None = None
    """Why passing on broke off; it is retried automatically. Null while nothing is amiss."""
    path: str | None = None
    """What a file field takes for it; null until the service has it."""


class ProfileRecord(WireModel):
    """One service that can be chosen."""

    name: str
    url: str | None = None
    """Base address; null for the service of this computer."""
    is_active: bool = False
    """Whether notebooks use it unless they say otherwise."""


class ProfilesAnswer(WireModel):
    """The services that are known here."""

    profiles: tuple[ProfileRecord, ...] = ()


class ConnectionVerdict(WireModel):
    """What came of trying an address and a key."""

    is_good: bool
    message: str
    """What happened and what to do, in a sentence."""


class AccountAnswer(WireModel):
    """What is known of the account behind the key; a figure is null where nothing tells it."""

    is_own_service: bool = False
    """Whether it is the service of this computer, which has no accounts and no limits."""
    has_key: bool = True
    email: str | None = None
    tier: str | None = None
    """Name of the trial that the key was given out under; null for other keys."""
    is_claimed: bool | None = None
    expires_at: datetime | None = None
    """UTC; when an unclaimed key dies."""
    can_claim: bool = False
    """Whether ``account/claim`` leads to a page where a person makes the account theirs."""
    jobs_allowed: int | None = None
    jobs_left: int | None = None
    """At most: the service does not tell deleted jobs."""
    weighted_hours: float | None = None
    """What the listed jobs cost."""
    allowance_weighted_hours: float | None = None
    """What one run may cost; null until a run was refused for it."""
    budget_weighted_hours: float | None = None
    """The organization's budget; null until a run was refused for it."""
    spent_weighted_hours: float | None = None


class EngineRecord(WireModel):
    """A program that runs tools on this computer."""

    name: str
    method: str
    kind: str = "genuine"
    licence: str = ""
    licence_note: str = ""
    """What a person has to accept or to know beyond the licences' names."""
    disk_mb: int = 0
    """What it takes on the disk at least, in MB; 0 when that is not known."""
    tools: tuple[str, ...] = ()
    has_environment: bool = True
    """Whether it has an environment of its own, which can be installed and removed."""
    is_installed: bool = False
    has_files: bool = False
    """Whether there is something of it to remove: an installation, whole or begun."""
    how: str = ""
    """Why it does not run, and what to do; empty when it does."""
    is_busy: bool = False
    """Whether it is being installed or removed now."""
    fraction: float | None = None
    """Share of the installation that is done, 0 to 1; null when that is not known."""
    message: str = ""
    """What the installation does, or why the last one failed."""
    has_failed: bool = False


class EnginesAnswer(WireModel):
    """The programs that this computer has or can have."""

    engines: tuple[EngineRecord, ...] = ()


class ResultFileRecord(WireModel):
    """One file of a result."""

    name: str
    size_bytes: int
    kind: str


class ResultAnswer(WireModel):
    """A result, laid out for a page: the same HTML that a cell shows."""

    title: str
    html: str
    """Made by foldnote from escaped values; it holds the script that draws the scene."""
    files: tuple[ResultFileRecord, ...] = ()
    manifest: str = ""
    """The manifest as JSON text, indented; empty when the result has none."""


class SettingsAnswer(WireModel):
    """The settings that a job was submitted with."""

    settings: str
    """JSON text, indented; contents of files are shortened."""


@dataclass(frozen=True)
class PageResponse:
    """A body that is ready to be sent.

    Attributes:
        body: JSON, UTF-8.
        tag: what a weak ETag quotes; equal while the page would show the same.
    """

    body: bytes
    tag: str


_ANSWERS = (
    *(JobsAnswer, OlderAnswer, RecordAnswer, ToolsAnswer, ToolAnswer, AdviceAnswer, LogAnswer, FilesAnswer),
    *(ProfilesAnswer, ConnectionVerdict, EnginesAnswer, ResultAnswer, SettingsAnswer, AccountAnswer),
    UploadAnswer,
)


def write_jobs(known: KnownJobs, mark: str, report: ServiceReport, tag: str) -> PageResponse:
    """The jobs answer for a page that has the state of ``mark``."""
    difference = known.since(mark)
    content = {
        "jobs": difference.jobs,
        "removed": difference.removed,
        "isWhole": difference.is_whole,
        "statuses": known.statuses.to_wire(),
        "olderKey": known.older_key,
    }
    return PageResponse(_dump(content | {"service": report.to_wire()}), tag)


def write_older(page: JobPage, notes: Notes) -> PageResponse:
    """A page of older jobs, or of a batch's."""
    return _write({"jobs": page_records(page.jobs, notes), "olderKey": page.start_key})


def write_record(job: Job | None, notes: Notes) -> PageResponse:
    """The record of one job, or null."""
    return _write({"job": None if job is None else page_record(job, notes.find(job.job_name))})


def write_tools(tools: tuple[Tool, ...], report: ServiceReport) -> PageResponse:
    """The tools answer."""
    records = [_without(tool.to_wire(), _NEEDLESS_OF_A_TOOL) for tool in tools]
    return _write({"tools": records, "service": _shown(report).to_wire()})


def tag_report(known: KnownJobs, report: ServiceReport) -> str:
    """A mark of what a page shows beside the jobs themselves."""
    content = [known.statuses.to_wire(), known.older_key, _shown(report).to_wire()]
    return hashlib.blake2b(_dump(content), digest_size=6).hexdigest()


def openapi() -> dict[str, Any]:
    """The records above as an OpenAPI document, for the generator of the page's types."""
    _, schemas = models_json_schema(
        [(model, "serialization") for model in _ANSWERS],
        by_alias=True,
        ref_template="#/components/schemas/{model}",
    )
    info = {"title": "foldnote's Jupyter server extension", "version": "1"}
    return {
        "openapi": "3.1.0",
        "info": info,
        "paths": {},
        "components": {"schemas": schemas["$defs"]},
    }


def _without(record: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def _shown(report: ServiceReport) -> ServiceReport:
    """The report without the time of the last good answer while all is well: that alone is nothing new."""
    return report.model_copy(update={"last_good": None}) if report.state is ServiceState.OK else report


def _write(content: dict[str, Any]) -> PageResponse:
    body = _dump(content)
    return PageResponse(body, hashlib.blake2b(body, digest_size=12).hexdigest())


def _dump(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(openapi(), indent=1))
