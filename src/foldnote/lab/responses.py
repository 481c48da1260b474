"""The responses of the server extension.

The front end's TypeScript types are generated from these records. They contain no API key, no signed link and
no settings of jobs in lists, because settings may contain whole files.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field
from pydantic.json_schema import models_json_schema

from foldnote.catalog.search_words import write_search_text
from foldnote.lab.known_jobs import KnownJobs, page_record, page_records
from foldnote.lab.local_notes import Notes
from foldnote.lab.opened_links import OpenedLink
from foldnote.models.file import FileRecord
from foldnote.models.job import Job, JobPage, StatusCounts
from foldnote.models.share import Share
from foldnote.models.tool import Tool
from foldnote.models.wire import WireModel

_MAX_TEXT_LENGTH = 400
_OMITTED_TOOL_FIELDS = ("schema", "exampleJob", "citation", "outputs")


class ServiceState(StrEnum):
    """The state of the job service at the last request."""

    STARTING = "starting"
    OK = "ok"
    UNREACHABLE = "unreachable"
    UNAUTHORIZED = "unauthorized"


class ServiceReport(WireModel):
    """The service that the response is about, and its state."""

    state: ServiceState
    profile: str
    """Name of the profile in use."""
    is_embedded: bool
    """Whether it is the embedded service on this computer, which foldnote starts automatically."""
    url: str | None = None
    """Base address; null until the embedded service runs."""
    last_good: datetime | None = None
    """UTC time of the service's last response; null before the first."""
    error: str | None = None
    """What is wrong and what to do; null while ``state`` is ok or starting."""


class LogResponse(WireModel):
    """The end of one job's log."""

    log: str
    """Plain text, newest line last; empty before the first line."""


class PageJob(Job):
    """A job of the service, with the local data on it."""

    tags: tuple[str, ...] = ()
    """Stored on this computer only; the service has no tags."""
    notebook: str | None = None
    """Path of the notebook that submitted it, as reported by its kernel; null where unknown."""
    is_leaving: bool = False
    """Whether its deletion is pending and can still be undone."""
    local_label: str | None = None
    """The label that was given on this computer; null without one. The service's own is in ``foldnote``."""
    note: str | None = None
    """The user's note, stored on this computer only; null without one."""


class JobsResponse(WireModel):
    """All jobs that the poller knows, or those that have changed since the page's state."""

    jobs: tuple[PageJob, ...] = ()
    """Newest first."""
    removed: tuple[str, ...] = ()
    """Names of jobs that the page has and that no longer exist at the service."""
    is_whole: bool = True
    """Whether ``jobs`` is the full list, which replaces the page's."""
    statuses: StatusCounts = Field(default_factory=StatusCounts)
    """Counts of all jobs at the service, including those not in ``jobs``."""
    older_key: str | None = None
    """Continuation key of the older jobs; null when there are none."""
    service: ServiceReport


class OlderResponse(WireModel):
    """A page of jobs that are not polled: older ones, or those of a batch or of other members."""

    jobs: tuple[PageJob, ...] = ()
    """Newest first."""
    older_key: str | None = None
    """Continuation key of the next page; null on the last."""


class RecordResponse(WireModel):
    """One job."""

    job: PageJob | None = None
    """Null when the service has no job of this name."""


class ToolsResponse(WireModel):
    """The service's catalog, without the schemas."""

    tools: tuple[Tool, ...] = ()
    service: ServiceReport


class Citation(WireModel):
    """The publication to cite."""

    text: str = ""
    doi: str | None = None
    """DOI, without ``https://doi.org/``; null where unknown."""


class ToolInput(WireModel):
    """One setting of a tool, described in prose."""

    name: str
    title: str = ""
    description: str = ""
    kind: str = ""
    """Description of valid values: text, a number with range and unit, files with their extensions, or a
    list."""
    default: str = ""
    """Default value; empty when there is none."""
    is_required: bool = False


class ToolResponse(WireModel):
    """The settings, outputs and citation of one tool."""

    type: str
    inputs: tuple[ToolInput, ...] = ()
    """Required ones first."""
    outputs: tuple[str, ...] = ()
    """Outputs of the method, each as ``name: description (unit; lower is better)``; empty where unknown."""
    citation: Citation | None = None


class ToolAdvice(WireModel):
    """One tool recommended for a described task."""

    tool_id: str
    reason: str = ""


class AdviceResponse(WireModel):
    """Tools recommended for a described task, best first."""

    tools: tuple[ToolAdvice, ...] = ()
    abstain: bool = False
    summary: str = ""
    """The task as the service understood it, or the information that is missing."""


class FilesResponse(WireModel):
    """One page of the account's files."""

    files: tuple[FileRecord, ...] = ()
    total: int = 0
    has_more: bool = False


class UploadResponse(WireModel):
    """The progress of an upload."""

    id: str
    size_bytes: int
    received_bytes: int
    """Bytes received by the Jupyter server; the browser continues from there."""
    sent_bytes: int | None = None
    """Bytes sent to the service; null while the file is not being sent."""
    waiting: str | None = None
    """Why sending was interrupted; it is retried automatically. Null otherwise."""
    path: str | None = None
    """The value for a file field; null until the service has the file."""


class ProfileRecord(WireModel):
    """One service that can be chosen."""

    name: str
    url: str | None = None
    """Base address; null for the embedded service."""
    is_active: bool = False
    """Whether notebooks use it by default."""


class ProfilesResponse(WireModel):
    """The services that can be chosen."""

    profiles: tuple[ProfileRecord, ...] = ()


class ConnectionVerdict(WireModel):
    """The outcome of a connection test."""

    is_good: bool
    message: str
    """What happened and what to do."""


class AccountResponse(WireModel):
    """The account of the API key; a value is null where unknown."""

    is_own_service: bool = False
    """Whether it is the embedded service, which has no accounts and no limits."""
    has_key: bool = True
    email: str | None = None
    tier: str | None = None
    """Name of the trial of a trial key; null for other keys."""
    is_claimed: bool | None = None
    expires_at: datetime | None = None
    """UTC time at which an unclaimed key expires; null for other keys."""
    can_claim: bool = False
    """Whether the account can be claimed at ``account/claim``."""
    jobs_allowed: int | None = None
    jobs_left: int | None = None
    """Upper bound: deleted jobs count, but the service does not report them."""
    weighted_hours: float | None = None
    """Weighted hours used by the listed jobs."""
    allowance_weighted_hours: float | None = None
    """Maximum cost of one run; null until a run was refused because of it."""
    budget_weighted_hours: float | None = None
    """The organization's budget; null until a run was refused because of it."""
    spent_weighted_hours: float | None = None


class EngineWeightsRecord(WireModel):
    """Weights that an engine downloads from their authors."""

    name: str
    host: str
    """Server from which they are downloaded."""
    source: str = ""
    """Publisher of the weights."""
    licence: str = ""
    size_bytes: int = 0
    """Size of the download; 0 where unknown."""
    is_exact: bool = False
    """Whether the size is exact rather than approximate."""
    is_optional: bool = False
    """Whether the engine runs without them; they are downloaded only if the user asks for them."""
    is_installed: bool = False


class EngineTermsRecord(WireModel):
    """Terms that must be accepted before an engine or its weights are installed."""

    name: str
    """What the terms apply to."""
    licence: str = ""
    source: str = ""
    """Licensor."""
    url: str = ""
    """Where to read the terms; empty if unknown."""
    is_optional: bool = False
    """Whether they apply to optional weights only."""
    is_asked: bool = False
    """Whether the user must accept them before installing, because the server's account has not accepted
    them yet."""
    user: str = ""
    """The account of this computer that last accepted them; empty if none did."""
    accepted: datetime | None = None
    """When they were last accepted; null if never."""


class EngineRecord(WireModel):
    """A program that runs tools on this computer."""

    name: str
    method: str
    kind: str = "genuine"
    licence: str = ""
    licence_note: str = ""
    """Conditions of the licence that the user must know or accept."""
    weights: tuple[EngineWeightsRecord, ...] = ()
    """Weights that it downloads from their authors, in addition to the packages of its environment."""
    terms: tuple[EngineTermsRecord, ...] = ()
    """Terms to accept before it or its weights are installed."""
    weights_note: str = ""
    """Notes on its weights for the user: whether they were verified, whether they are stand-ins."""
    optional_method: str = ""
    """The method that it runs with its optional weights, if any of these is missing; else empty."""
    disk_mb: int = 0
    """Minimum disk space in MB; 0 where unknown."""
    installed_mb: int = 0
    """Size of the installed environment in MB (2**20 bytes), without weights; 0 where unknown."""
    tools: tuple[str, ...] = ()
    """Tools that it runs; none for an add-on."""
    adds_to: tuple[str, ...] = ()
    """Engines whose runs use this add-on if it is installed."""
    has_environment: bool = True
    """Whether it has its own environment, which can be installed and removed."""
    is_installed: bool = False
    has_files: bool = False
    """Whether there is a complete or partial installation to remove."""
    how: str = ""
    """Why it cannot run, and what to do; empty when it can."""
    is_busy: bool = False
    """Whether it is being installed or removed now."""
    fraction: float | None = None
    """Progress of the installation, 0 to 1; null where unknown."""
    message: str = ""
    """The current step of the installation, or why the last one failed."""
    has_failed: bool = False


class EnginesResponse(WireModel):
    """The engines that are or can be installed on this computer."""

    engines: tuple[EngineRecord, ...] = ()


class ResultFileRecord(WireModel):
    """One file of a result."""

    name: str
    size_bytes: int
    kind: str


class ResultResponse(WireModel):
    """A rendered result: the same HTML that a cell shows."""

    title: str
    html: str
    """Generated by foldnote from escaped values; it contains the script that draws the scene."""
    files: tuple[ResultFileRecord, ...] = ()
    manifest: str = ""
    """The manifest as JSON text, indented; empty when the result has none."""
    settings: str = ""
    """For a batch, the common and the differing settings of its jobs, as indented JSON; empty otherwise."""


class SharesResponse(WireModel):
    """The account's valid links to one job, newest first; only a new link has its address."""

    shares: tuple[Share, ...] = ()


class SharedResponse(WireModel):
    """The job that a colleague's link opens."""

    url: str
    """The link, for the code of a cell."""
    mark: str
    """Identifier with which this Jupyter server finds the link again while it runs."""
    job: PageJob
    settings: str
    """Indented JSON; contents of files are shortened."""
    result: ResultResponse


class SettingsResponse(WireModel):
    """The settings that a job was submitted with."""

    settings: str
    """Indented JSON; contents of files are shortened."""


@dataclass(frozen=True)
class PageResponse:
    """A serialised response.

    Attributes:
        body: JSON, UTF-8.
        tag: the value of the weak ETag.
    """

    body: bytes
    tag: str


class FormCellRecord(WireModel):
    """A cell that shows the form of one call in another cell."""

    label: str
    """Tool and line of the call."""
    code: str
    unread: tuple[str, ...] = ()
    """Arguments that the form lacks, each with the reason."""


class FormCellsResponse(WireModel):
    """The form of each call of a tool in a cell, in the order of the calls; at least one."""

    cells: tuple[FormCellRecord, ...]


_RESPONSES = (
    JobsResponse,
    OlderResponse,
    RecordResponse,
    ToolsResponse,
    ToolResponse,
    AdviceResponse,
    LogResponse,
    FilesResponse,
    ProfilesResponse,
    ConnectionVerdict,
    EnginesResponse,
    ResultResponse,
    SettingsResponse,
    AccountResponse,
    UploadResponse,
    SharesResponse,
    SharedResponse,
    FormCellsResponse,
)


def write_jobs(known_jobs: KnownJobs, mark: str, report: ServiceReport, tag: str) -> PageResponse:
    """Return the jobs response for a page whose state has the hash ``mark``."""
    difference = known_jobs.since(mark)
    content = {
        "jobs": difference.jobs,
        "removed": difference.removed,
        "isWhole": difference.is_whole,
        "statuses": known_jobs.statuses.to_wire(),
        "olderKey": known_jobs.older_key,
    }
    return PageResponse(_dump(content | {"service": report.to_wire()}), tag)


def write_older(page: JobPage, notes: Notes) -> PageResponse:
    """Return the response with a page of jobs that are not polled."""
    return _write({"jobs": page_records(page.jobs, notes), "olderKey": page.start_key})


def write_record(job: Job | None, notes: Notes) -> PageResponse:
    """Return the response with one job, or null."""
    return _write({"job": None if job is None else page_record(job, notes.find(job.job_name))})


def write_shared(link: OpenedLink, settings: str, result: bytes) -> bytes:
    """Return the response about a shared job, with its rendered result, which is JSON."""
    head = _dump({"url": link.url, "mark": link.mark, "job": page_record(link.job), "settings": settings})
    return head[:-1] + b',"result":' + result + b"}"


def write_settings(settings: Mapping[str, Any]) -> str:
    """Return the settings as indented JSON; contents of files are shortened."""
    return json.dumps(_shorten(settings), indent=2, ensure_ascii=False)


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shorten(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shorten(item) for item in value]
    if isinstance(value, str) and len(value) > _MAX_TEXT_LENGTH and "\n" in value.strip():
        return f"{value.strip().partition(chr(10))[0][:80]} … ({len(value)} characters)"
    return value


def write_tools(tools: tuple[Tool, ...], report: ServiceReport) -> PageResponse:
    """Return the tools response."""
    records = [
        {name: value for name, value in tool.to_wire().items() if name not in _OMITTED_TOOL_FIELDS}
        | {"searchText": write_search_text(tool)}
        for tool in tools
    ]
    return _write({"tools": records, "service": _shown(report).to_wire()})


def tag_report(known_jobs: KnownJobs, report: ServiceReport) -> str:
    """Return a hash of the parts of the jobs response other than the jobs."""
    content = [known_jobs.statuses.to_wire(), known_jobs.older_key, _shown(report).to_wire()]
    return hashlib.blake2b(_dump(content), digest_size=6).hexdigest()


def openapi() -> dict[str, Any]:
    """Return the records above as an OpenAPI document, from which the TypeScript types are generated."""
    _, schemas = models_json_schema(
        [(model, "serialization") for model in _RESPONSES],
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


def _shown(report: ServiceReport) -> ServiceReport:
    """Return the report without ``last_good`` if the state is ok: a change of only that sends no update."""
    return report.model_copy(update={"last_good": None}) if report.state is ServiceState.OK else report


def _write(content: dict[str, Any]) -> PageResponse:
    body = _dump(content)
    return PageResponse(body, hashlib.blake2b(body, digest_size=12).hexdigest())


def _dump(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(openapi(), indent=1))
