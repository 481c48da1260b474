"""Validate, save and start pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from foldnote import catalog
from foldnote.models.extensions import ALIGNMENT, REUSE, WEBHOOK, WEBHOOK_PATH, WIRE_NAME
from foldnote.models.job import PIPELINE
from foldnote.models.names import check_job_name
from foldnote.models.problem import Problem
from foldnote.models.tool import Tool
from foldnote.service.domain.extensions import RunCheck, read_extensions
from foldnote.service.domain.file_resolution import FileResolver, file_values
from foldnote.service.domain.intake import problem_sentence, refusals, require_name
from foldnote.service.domain.pipelines.references import read_reference, substitute
from foldnote.service.domain.requests import (
    Extensions,
    PipelineStage,
    PipelineSubmission,
    RunPipelineRequest,
)
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.domain.webhooks.webhook_rules import WebhookRules
from foldnote.service.faults import RefusalError, bad_request, not_found
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.insertion import Input, NewJob
from foldnote.service.store.jobs.reuse import digest_stage
from foldnote.service.store.store import Store

MAX_STAGES = 50


class PipelineService:
    """Saves pipelines and starts them.

    Args:
        wake: called after a run was queued.
    """

    def __init__(
        self,
        store: Store,
        toolbox: Toolbox,
        files: FileResolver,
        webhooks: WebhookRules,
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._toolbox = toolbox
        self._files = files
        self._webhooks = webhooks
        self._wake = wake

    def save(self, caller: Caller, pipeline: PipelineSubmission) -> None:
        """Save a pipeline; missing fields may be given with each run.

        Raises:
            RefusalError: 400 naming the stage and the invalid field.
        """
        require_name(pipeline.pipeline_name, "pipelineName")
        _require_stages(pipeline.stages)
        names = [stage.name for stage in pipeline.stages]
        for index, stage in enumerate(pipeline.stages):
            tool = self._find_tool(index, stage)
            _refuse_later(index, stage, tool, names)
            check = catalog.check(tool, substitute(tool, stage.settings, names[:index]))
            _refuse_first(
                index, stage, [problem for problem in check.problems if problem.code != "missing_field"]
            )
            self._read_extensions(tool, index, stage)
        rows = [_as_row(stage) for stage in pipeline.stages]
        self._store.pipelines.save(caller.account_id, pipeline.pipeline_name, rows)

    def run(self, caller: Caller, request: RunPipelineRequest) -> list[str]:
        """Commit a parent and a job for each stage; return the jobs' names.

        Raises:
            RefusalError: 404 without such a pipeline, 400 naming the stage and the invalid field, 403 above a
                limit.
        """
        saved = self._store.pipelines.find(caller.account_id, request.pipeline_name)
        if saved is None:
            sentence = f"There is no pipeline {request.pipeline_name[:100]!r}. Save it with /submit-pipeline."
            raise not_found(sentence, code="pipeline_not_found", field="pipelineName")
        require_name(request.job_name)
        extensions = _read_run_extensions(request.foldnote)
        stages = with_inputs([PipelineStage.model_validate(row) for row in saved], request.given_inputs())
        tools = [self._find_tool(index, stage) for index, stage in enumerate(stages)]
        rows = [self._make_job(caller, request, stages, tool, index) for index, tool in enumerate(tools)]
        for index, (tool, row) in enumerate(zip(tools, rows, strict=True)):
            with _at_stage(index):
                RunCheck(tool, self._toolbox).require_runnable(row.normalized, row.extensions)
        settings = {"pipelineName": request.pipeline_name, "inputs": request.given_inputs(), "stages": saved}
        if extensions:
            rows[0] = replace(rows[0], is_held=True)  # the scheduler releases it, or reuses its result
        tag = request.project_tag
        webhook = self._webhooks.choose(caller, request.foldnote)
        parent = NewJob(
            request.job_name, PIPELINE, settings, settings, tag, extensions=extensions, webhook=webhook
        )
        with refusals("jobName"):
            self._store.jobs.add_batch(caller.account_id, parent, rows)
        self._wake()
        return [row.name for row in rows]

    def _find_tool(self, index: int, stage: PipelineStage) -> Tool:
        try:
            return self._toolbox.find(stage.type)
        except RefusalError as refusal:
            raise bad_request(refusal.sentence, code=refusal.code, field=f"stages.{index}.type") from refusal

    def _make_job(
        self,
        caller: Caller,
        request: RunPipelineRequest,
        stages: Sequence[PipelineStage],
        tool: Tool,
        index: int,
    ) -> NewJob:
        names = [stage.name for stage in stages[:index]]
        stage = stages[index]
        name = f"{request.job_name}-{stage.name}"
        require_name(name)
        check = catalog.check(tool, substitute(tool, stage.settings, names))
        _refuse_first(index, stage, check.problems)
        normalized = dict(check.normalized)
        own = {field for field, *_ in file_values(tool, normalized)}
        normalized |= {field: stage.settings[field] for field in own if field in stage.settings}
        waits_for = names[-1] if names else None
        extensions = self._read_extensions(tool, index, stage)
        inputs = self._keep_inputs(caller, tool, stage, normalized, names)
        inputs += self._keep_alignment(caller, extensions, stage, names)
        digest = None if names else digest_stage(tool.type, normalized, inputs, extensions)
        return NewJob(
            name,
            tool.type,
            stage.settings,
            normalized,
            request.project_tag,
            inputs,
            stage=stage.name,
            waits_for=waits_for,
            stage_digest=digest,
            extensions=extensions,
        )

    def _read_extensions(self, tool: Tool, index: int, stage: PipelineStage) -> dict[str, Any] | None:
        with _at_stage(index):
            if stage.foldnote is not None and stage.foldnote.webhook is not None:
                sentence = "A stage has no webhook. Give it with the run of the pipeline."
                raise bad_request(sentence, code="not_taken", field=WEBHOOK_PATH)
            return read_extensions(stage.foldnote, tool, self._toolbox)

    def _keep_alignment(
        self,
        caller: Caller,
        extensions: Mapping[str, Any] | None,
        stage: PipelineStage,
        names: Sequence[str],
    ) -> tuple[Input, ...]:
        """Store the stage's own alignment, unless it is a file of an earlier stage."""
        if read_reference((extensions or {}).get(ALIGNMENT, ""), names) is not None:
            return ()
        located = self._files.locate_alignment(caller, extensions)
        if isinstance(located, Problem):
            field = f"stages.{len(names)}.{located.field}"
            sentence = _name_stage(stage, problem_sentence(located, stage.settings))
            raise bad_request(sentence, code=located.code, field=field)
        return tuple(self._files.store_input(file) for file in located)

    def _keep_inputs(
        self,
        caller: Caller,
        tool: Tool,
        stage: PipelineStage,
        normalized: Mapping[str, Any],
        names: Sequence[str],
    ) -> tuple[Input, ...]:
        """Store the files that are known now; references are resolved when their stage is complete."""
        stored: list[Input] = []
        for field, path, value, _ in file_values(tool, normalized):
            if read_reference(value, names) is None:
                located, problems = self._files.locate(caller, tool, {field: value})
                if problems:
                    message = _name_stage(stage, problem_sentence(problems[0], stage.settings))
                    field_path = f"stages.{len(names)}.settings.{path}"
                    raise bad_request(message, code=problems[0].code, field=field_path)
                stored.extend(self._files.store_input(file) for file in located)
        return tuple(stored)


def with_inputs(stages: Sequence[PipelineStage], inputs: Mapping[str, Any]) -> list[PipelineStage]:
    """Merge a run's inputs into its stages: `{stage: {field: value}}`, or fields of the first stage.

    Raises:
        RefusalError: 400 if a stage's inputs are not an object.
    """
    names = {stage.name for stage in stages}
    first = {field: value for field, value in inputs.items() if field not in names}
    changed = []
    for index, stage in enumerate(stages):
        own_inputs = inputs.get(stage.name, {})
        if not isinstance(own_inputs, dict):
            sentence = f"The inputs of the stage {stage.name} must be an object of its fields."
            raise bad_request(sentence, code="invalid_field", field=f"inputs.{stage.name}")
        settings = {**stage.settings, **(first if index == 0 else {}), **own_inputs}
        changed.append(stage.model_copy(update={"settings": settings}))
    return changed


def _read_run_extensions(extensions: Extensions | None) -> dict[str, Any] | None:
    """Return what is stored with a run: whether it reuses results; None for nothing.

    Raises:
        RefusalError: 400 for a part that belongs to a stage or a batch.
    """
    parts = {} if extensions is None else extensions.model_dump(by_alias=True, exclude_defaults=True)
    others = [name for name in parts if name not in (REUSE, WEBHOOK)]
    if others:
        sentence = (
            f"The run of a pipeline takes {REUSE} and {WEBHOOK} only. Give {others[0]} at a stage of the"
            " pipeline."
        )
        raise bad_request(sentence, code="not_taken", field=f"{WIRE_NAME}.{others[0]}")
    return {REUSE: True} if parts.get(REUSE) else None


@contextmanager
def _at_stage(index: int) -> Iterator[None]:
    """Prefix the stage to the field of refusals raised within."""
    try:
        yield
    except RefusalError as refusal:
        if refusal.field not in (None, "type"):
            is_beside = str(refusal.field).startswith(f"{WIRE_NAME}.")
            refusal.field = f"stages.{index}.{'' if is_beside else 'settings.'}{refusal.field}"
        raise


def _as_row(stage: PipelineStage) -> dict[str, Any]:
    """Return the stage in the form in which it is saved."""
    return stage.model_dump(by_alias=True, exclude=None if stage.foldnote else {"foldnote"})


def _require_stages(stages: Sequence[PipelineStage]) -> None:
    if not 1 <= len(stages) <= MAX_STAGES:
        sentence = f"A pipeline must have 1 to {MAX_STAGES} stages; this one has {len(stages)}."
        raise bad_request(sentence, code="pipeline_size", field="stages")
    seen: set[str] = set()
    for index, stage in enumerate(stages):
        fault = check_job_name(stage.name) or (
            f"Two stages are named {stage.name!r}." if stage.name in seen else None
        )
        if fault:
            raise bad_request(fault, code="invalid_stage_name", field=f"stages.{index}.name")
        seen.add(stage.name)


def _refuse_later(index: int, stage: PipelineStage, tool: Tool, names: Sequence[str]) -> None:
    """Refuse references to the stage itself or to a later one."""
    for _, path, value, _ in file_values(tool, stage.settings):
        reference = read_reference(value, names[index:])
        if reference is not None:
            sentence = f"{path}: the stage {reference.stage} does not come before the stage {stage.name}."
            raise bad_request(sentence, code="stage_order", field=f"stages.{index}.settings.{path}")


def _refuse_first(index: int, stage: PipelineStage, problems: Sequence[Any]) -> None:
    if problems:
        first = problems[0]
        field = f"stages.{index}.settings.{first.field}".rstrip(".")
        sentence = _name_stage(stage, problem_sentence(first, stage.settings))
        raise bad_request(sentence, code=first.code, field=field)


def _name_stage(stage: PipelineStage, sentence: str) -> str:
    """Insert the stage's name before a sentence that begins with one of its fields."""
    return f"stage {stage.name}, {sentence}"
