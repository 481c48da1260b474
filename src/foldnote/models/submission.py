"""The body of a submission, and the receipts of jobs, pipelines and their runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from foldnote.models.wire import WireModel, lower_first, read_hidden_json


class Submission(WireModel):
    """The body of POST /submit-job."""

    job_name: str
    """See ``models.names`` for the rule; unique for the account."""
    type: str
    """Tool identifier, case-sensitive."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Fields of the tool's schema."""
    project_tag: str | None = None
    """Identifier of the project that the job belongs to; null for none."""
    max_runtime_seconds: float | None = None
    """Time limit of the run in seconds; null for the tool's own. Only foldnote's own service takes it."""
    extensions: dict[str, Any] | None = Field(default=None, alias="foldnote")
    """Extensions of foldnote's own service (`models.extensions`); null for none."""

    def to_wire(self) -> dict[str, Any]:
        """Return the body without a null project."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class Receipt(WireModel):
    """The response to POST /submit-job."""

    message: str
    job_name: str
    type: str
    status: str = "In Queue"


def read_receipt(answer: object, sent: Submission) -> Receipt:
    """Parse the receipt in ``answer``, which is a bare sentence at some deployments.

    Fields that are missing or are not text are taken from the submission that was ``sent``, since the job
    exists in any case.
    """
    known = {"message": "", "jobName": sent.job_name, "type": sent.type, "status": "In Queue"}
    if isinstance(answer, Mapping):
        fields = lower_first(answer)
        odd = {key for key in known if key in fields and not (isinstance(fields[key], str) and fields[key])}
        return Receipt.model_validate(known | {key: fields[key] for key in fields.keys() - odd})
    return Receipt.model_validate(known | {"message": str(answer or "")})


class PipelineReceipt(WireModel):
    """The response to POST /submit-pipeline."""

    message: str = ""
    pipeline_name: str
    stages: tuple[str, ...]
    """Names of the stages in the order in which they run."""


class RunReceipt(WireModel):
    """The response to POST /run-pipeline."""

    message: str = ""
    job_name: str
    """The run's parent, a batch of the stages."""
    pipeline_name: str
    job_names: tuple[str, ...] = ()
    """The job of each stage; empty if the service does not report them."""


def read_pipeline_receipt(answer: object, name: str, stages: tuple[str, ...]) -> PipelineReceipt:
    """Return the receipt in ``answer``, which some deployments give as a bare sentence."""
    known: dict[str, Any] = {"pipelineName": name, "stages": stages}
    return PipelineReceipt.model_validate(known | _read_fields(answer))


def read_run_receipt(answer: object, job_name: str, pipeline_name: str) -> RunReceipt:
    """Return the receipt in ``answer``, which some deployments give as a bare sentence."""
    known: dict[str, Any] = {"jobName": job_name, "pipelineName": pipeline_name}
    return RunReceipt.model_validate(known | _read_fields(answer))


def _read_fields(answer: object) -> dict[str, Any]:
    hidden = read_hidden_json(answer)
    if not isinstance(hidden, Mapping):
        return {"message": str(hidden or "")}
    fields = {key: value for key, value in lower_first(hidden).items() if value is not None}
    named = fields.get("stages")
    if isinstance(named, list):  # some services return the stages instead of their names
        fields["stages"] = [each.get("name") if isinstance(each, Mapping) else each for each in named]
    return fields
