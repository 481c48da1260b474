"""What is said of pipelines: saved, and run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldnote.models.wire import WireModel, lower_first, read_hidden_json


class PipelineReceipt(WireModel):
    """The answer of POST /submit-pipeline."""

    message: str = ""
    pipeline_name: str
    stages: tuple[str, ...]
    """Names of the stages in the order in which they run."""


class RunReceipt(WireModel):
    """The answer of POST /run-pipeline."""

    message: str = ""
    job_name: str
    """The run's parent, a batch of the stages."""
    pipeline_name: str
    job_names: tuple[str, ...] = ()
    """The job of each stage; empty where a service does not tell them."""


def read_pipeline_receipt(answer: object, name: str, stages: tuple[str, ...]) -> PipelineReceipt:
    """The receipt in ``answer``, which some deployments give as a bare sentence."""
    known: dict[str, Any] = {"pipelineName": name, "stages": stages}
    return PipelineReceipt.model_validate(known | _read_fields(answer))


def read_run_receipt(answer: object, job_name: str, pipeline_name: str) -> RunReceipt:
    """The receipt in ``answer``, which some deployments give as a bare sentence."""
    known: dict[str, Any] = {"jobName": job_name, "pipelineName": pipeline_name}
    return RunReceipt.model_validate(known | _read_fields(answer))


def _read_fields(answer: object) -> dict[str, Any]:
    hidden = read_hidden_json(answer)
    if not isinstance(hidden, Mapping):
        return {"message": str(hidden or "")}
    fields = {key: value for key, value in lower_first(hidden).items() if value is not None}
    named = fields.get("stages")
    if isinstance(named, list):  # some give the stages themselves
        fields["stages"] = [each.get("name") if isinstance(each, Mapping) else each for each in named]
    return fields
