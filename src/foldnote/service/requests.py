"""What the routes read: a frozen model a body, camelCase on the wire, no coercion, further keys ignored."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Body(BaseModel):
    """A request body."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, extra="ignore")


class JobSubmission(Body):
    """POST /submit-job."""

    job_name: str
    """1 to 100 of `A-Z a-z 0-9 _ . -`, unique for the account."""
    type: str
    """Tool identifier, case-sensitive."""
    settings: dict[str, Any]
    """Fields of the tool's schema."""
    project_tag: str | None = Field(default=None, max_length=200)
    """Identifier of a project."""


class JobPayload(Body):
    """POST /validate-job; an array of settings is a batch."""

    job_name: str | None = None
    batch_name: str | None = None
    type: str
    settings: dict[str, Any] | list[Any]
    job_names: list[str] | None = None
    project_tag: str | None = Field(default=None, max_length=200)


class BatchSubmission(Body):
    """POST /submit-batch."""

    batch_name: str
    type: str
    settings: list[dict[str, Any]]
    """One object per subjob."""
    job_names: list[str] | None = None
    """Names of the subjobs in the order of `settings`; made from the batch's name when absent."""
    project_tag: str | None = Field(default=None, max_length=200)
    max_runtime_seconds: float | None = Field(default=None, gt=0)
    weighted_hours_budget: float | None = Field(default=None, gt=0)


class NamedJob(Body):
    """A body that names one job or batch."""

    job_name: str


class ClaimRequest(Body):
    """POST /claim."""

    email: str
    """Address of the person who claims the account."""


class ResultRequest(Body):
    """POST /result."""

    job_name: str
    job_email: str | None = None
    """Another member of the organization."""
    file_name: str | None = None
    """Path of one file in the result."""
    pdbs_only: bool = False
    """Only structure files."""
    no_async: bool = False
    """400 instead of 202 while an aggregated archive is not built."""
