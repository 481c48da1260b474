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

from foldnote.models.job import Job, JobPage, StatusCounts
from foldnote.models.tool import Tool
from foldnote.models.wire import WireModel

_KEPT_FROM_THE_PAGE = ("settings", "resultUrl")
_NEEDLESS_OF_A_TOOL = ("schema", "exampleJob")


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


class JobsAnswer(WireModel):
    """Every job that the poller knows, newest first."""

    jobs: tuple[Job, ...] = ()
    statuses: StatusCounts = Field(default_factory=StatusCounts)
    """Counts of all jobs at the service, also of those that ``jobs`` does not hold."""
    service: ServiceReport


class ToolsAnswer(WireModel):
    """The service's catalog, without the schemas."""

    tools: tuple[Tool, ...] = ()
    service: ServiceReport


@dataclass(frozen=True)
class Answer:
    """A body that is ready to be sent.

    Attributes:
        body: JSON, UTF-8.
        tag: weak ETag; equal while the page would show the same.
    """

    body: bytes
    tag: str


def write_jobs(page: JobPage, report: ServiceReport) -> Answer:
    """The jobs answer."""
    jobs = [_without(job.to_wire(), _KEPT_FROM_THE_PAGE) for job in page.jobs]
    return _write({"jobs": jobs, "statuses": page.statuses.to_wire()}, report)


def write_tools(tools: tuple[Tool, ...], report: ServiceReport) -> Answer:
    """The tools answer."""
    return _write({"tools": [_without(tool.to_wire(), _NEEDLESS_OF_A_TOOL) for tool in tools]}, report)


def openapi() -> dict[str, Any]:
    """The records above as an OpenAPI document, for the generator of the page's types."""
    answers = (JobsAnswer, ToolsAnswer, LogAnswer)
    _, schemas = models_json_schema(
        [(model, "serialization") for model in answers],
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


def _write(content: dict[str, Any], report: ServiceReport) -> Answer:
    """``content`` with the service's report; the time of the last good answer alone makes nothing new."""
    is_moving = report.state is ServiceState.OK
    shown = report.model_copy(update={"last_good": None}) if is_moving else report
    key = _dump(content | {"service": shown.to_wire()})
    tag = f'W/"{hashlib.blake2b(key, digest_size=12).hexdigest()}"'
    return Answer(_dump(content | {"service": report.to_wire()}) if is_moving else key, tag)


def _dump(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(openapi(), indent=1))
