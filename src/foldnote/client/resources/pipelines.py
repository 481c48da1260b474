"""Pipelines: stages that run one after another, each with the output files of earlier ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from foldnote import catalog
from foldnote.client.core import job_pages
from foldnote.client.core.connection import Resource, ServiceConnection
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Operation, Run, SyncApi, operation
from foldnote.client.inputs.file_values import find_elsewhere
from foldnote.client.inputs.plain_values import make_plain
from foldnote.client.inputs.stages import (
    Inputs,
    Pipeline,
    Stage,
    check_stages,
    find_input_doubts,
    read_records,
)
from foldnote.client.local.identity import identify, uploads_in
from foldnote.client.local.ledger import Ledger
from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle, JobHandleOperations
from foldnote.client.resources.pipeline_plan import StagePlan, name_rerun, plan_stages, read_pipeline
from foldnote.client.resources.tools import list_tools, recall_tool
from foldnote.client.submission.extensions import (
    choose_sent,
    require_webhooks,
    warn_of_lost_webhook,
    warn_of_webhook,
)
from foldnote.client.submission.idempotency import Post, find_job, submit_once
from foldnote.client.tables.batch_results import SheetRow
from foldnote.client.tables.frames import tabulate_batch
from foldnote.client.tables.job_list import JobList
from foldnote.errors import ArgumentError, FoldnoteError, SettingsError
from foldnote.models import (
    BatchStatus,
    Job,
    JobPage,
    JobStatus,
    Problem,
    Tool,
    check_job_name,
    propose_job_name,
)
from foldnote.models.extensions import REUSE, WEBHOOK, WIRE_NAME
from foldnote.models.job import PIPELINE
from foldnote.models.submission import read_pipeline_receipt, read_run_receipt

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R", bound="PipelineRunOperations[Any]")
J = TypeVar("J", bound=JobHandleOperations)


class PipelineRunOperations(JobHandleOperations, Generic[J]):
    """Operations of a run; it is final when its last stage is."""

    _job_handle: type[J]

    def _make_job_handle(self, job: Job) -> J:
        """Make a handle of a stage's job, of this API (sync or async)."""
        return self._job_handle(job, self._connection, self._transport)

    @operation
    def stages(self) -> Operation[JobList[J]]:
        """Get the stages' jobs, in the order of the stages."""
        found = yield from _list_stages(self._connection, self.job_name)
        return JobList(JobPage(jobs=tuple(found)), self._make_job_handle)

    @operation
    def list_rows(self) -> Operation[list[SheetRow]]:
        """List the stages with their tools and the records of their jobs, in order."""
        found = yield from _list_stages(self._connection, self.job_name)
        stem = f"{self.job_name}-"
        return [
            SheetRow(job.job_name, {"stage": job.job_name.removeprefix(stem), "tool": job.tool_type}, job)
            for job in found
        ]

    @operation
    def pipeline(self) -> Operation[Pipeline]:
        """Get the pipeline as it was run, with the inputs of this run among the settings of its stages.

        Raises:
            FoldnoteError: the service keeps no stages with a run, and the job of one was deleted.
        """
        run, jobs, tools = yield from self._read_run()
        return read_pipeline(run, jobs, tools)

    @operation
    def plan_again(self) -> Operation[list[StagePlan]]:
        """Plan a repetition: which stages :meth:`run_again` would reuse, and why it would run the others.

        Nothing is sent. A stage whose uploaded file was replaced by one with other contents is listed as
        reused, but runs.

        Raises:
            FoldnoteError: the service keeps no stages with a run, and the job of one was deleted.
        """
        run, jobs, tools = yield from self._read_run()
        return plan_stages(run, read_pipeline(run, jobs, tools).stages, jobs, tools)

    @operation
    def run_again(self, *, reuse: bool = True, webhook: str | None = None) -> Operation[Self]:
        """Run the same stages again as a new run, named after this one; returns the new run.

        If the service reuses results, complete stages are not computed again but take the results of this
        run. The stages are saved under a name of their own, so that a pipeline that was changed meanwhile is
        not overwritten. Code that found this run finds the new run afterwards.

        Args:
            reuse: whether to take the results of complete stages; otherwise all stages are computed.
            webhook: address that the service calls when the new run has ended, see ``jobs.submit``. A
                `NotSentWarning` tells if none is called, although one was for this run.

        Raises:
            FoldnoteError: the run has not ended; or the service keeps no stages with a run, and the job of
                one was deleted.
            SettingsError: a tool no longer accepts the settings of its stage; nothing was sent.
            UnknownToolError: the service no longer has a tool.
            ServiceError: the service refused.
            TransportError: no answer was received, and the service does not have the new run.
        """
        run, jobs, tools = yield from self._read_run()
        if not run.is_final:
            raise FoldnoteError(f"{run.job_name!r} has not ended. Wait for it, or stop it first.")
        ran = read_pipeline(run, jobs, tools)
        saved = yield from _save(self._connection, name_rerun(ran), ran.stages)
        ledger = Ledger(service=self._connection.service)
        beside = _choose_extensions(tools.values(), webhook, reuse=reuse)
        _, post = yield Run(lambda: _prepare(ledger, saved, {}, run.job_name, run.project_tag, beside))
        record = yield from _start(self._connection, post, run.project_tag, again=True)
        yield Run(lambda: _record_rerun(ledger, run.job_name, record.job_name))
        if webhook is None and run.webhook is not None:
            record = yield from job_pages.get_job(self._connection, record.job_name)
            warn_of_lost_webhook(run, record)
        return type(self)(record, self._connection, self._transport)

    def _read_run(self) -> Operation[tuple[Job, Sequence[Job], dict[str, Tool]]]:
        """Return the records of the run and of its stages' jobs, and the service's tools by type."""
        run = yield from job_pages.get_job(self._connection, self.job_name)
        jobs = yield from _list_stages(self._connection, self.job_name)
        tools = yield from list_tools(self._connection)  # an engine may have been updated since the last list
        return run, jobs, {tool.type: tool for tool in tools}

    @operation
    def to_frame(self) -> Operation[pd.DataFrame]:
        """Get the stages' jobs with their settings and scores.

        Returns:
            One row per stage, in order, with the columns of ``client.jobs.to_frame``, then ``settings.NAME``
            and ``score.NAME`` in the tools' units.
        """
        found = yield from _list_stages(self._connection, self.job_name)
        frame: pd.DataFrame = yield Run(lambda: tabulate_batch(found))
        return frame


class PipelineRun(JobHandle, PipelineRunOperations[JobHandle]):
    """Handle of a pipeline run (synchronous)."""

    _job_handle = JobHandle


class AsyncPipelineRun(AsyncJobHandle, PipelineRunOperations[AsyncJobHandle]):
    """Handle of a pipeline run (asynchronous)."""

    _job_handle = AsyncJobHandle


class PipelinesOperations(Resource, Generic[R]):
    """POST /submit-pipeline and POST /run-pipeline."""

    _handle: type[R]

    def _make_handle(self, job: Job) -> R:
        """Make a handle of a run, of this API (sync or async)."""
        return self._handle(job, self._connection, self._transport)

    @operation
    def submit(self, name: str, stages: Sequence[Stage]) -> Operation[Pipeline]:
        """Save a pipeline without running it, replacing any of the same name.

        Args:
            name: the pipeline's name.
            stages: the stages in running order; a file field takes ``earlier_stage.file("path")``.

        Raises:
            SettingsError: names, settings or references are invalid; nothing was sent.
            UnknownToolError: the service has no such tool.
            RestrictedRouteError: the key is an unclaimed trial key.
            ServiceError: the service refused.
        """
        listed = list(stages) if isinstance(stages, Iterable) else []
        if not isinstance(stages, Iterable) or not all(isinstance(stage, Stage) for stage in listed):
            message = 'Give a list of stages, such as [fn.stage("fold", "abodybuilder", heavy="EVQL…")].'
            raise SettingsError([Problem(field="stages", message=message)])
        return (yield from _save(self._connection, name, listed))

    @operation
    def run(
        self,
        pipeline: str | Pipeline,
        inputs: Inputs | None = None,
        *,
        job_name: str | None = None,
        project_tag: str | None = None,
        webhook: str | None = None,
        again: bool = False,
    ) -> Operation[R]:
        """Run a pipeline, unless the same run was submitted before; returns the run.

        If the service supports it, a stage takes the result of a complete stage of any earlier run with the
        same tool, settings and file contents; the record's ``reused_from`` names it.

        Args:
            pipeline: the ``Pipeline`` that ``submit`` returned, or the name of a saved pipeline.
            inputs: settings of this run, ``{stage: {field: value}}``; fields of the first stage may be given
                at the top level.
            job_name: name of the run; by default derived from pipeline and inputs.
            project_tag: identifier of a project.
            webhook: address that the service calls when the run as a whole has ended, see ``jobs.submit``.
            again: start a new run even if the same run was submitted before, and compute all its stages.

        Raises:
            SettingsError: the name is invalid, a stage is not in the pipeline, or the service calls no
                webhooks; nothing was sent.
            JobNameTakenError: the name belongs to another job; the message shows the difference.
            NotFoundError: there is no such pipeline.
            RestrictedRouteError: the key is an unclaimed trial key.
            ServiceError: the service refused.
            TransportError: no answer was received, and the service does not have the run.
        """
        tools = {}
        for stage in pipeline.stages if inputs and isinstance(pipeline, Pipeline) else ():
            tools[stage.tool] = yield from recall_tool(self._connection, stage.tool)
        given = make_plain(inputs or {})
        if isinstance(pipeline, Pipeline):
            given = read_records(pipeline.stages, given, tools)
        _check_run(pipeline, given, job_name, tools, self._connection.service)
        listed = self._connection.tools or (yield from list_tools(self._connection))
        beside = _choose_extensions(listed, webhook, reuse=not again)
        identity, post = yield Run(
            lambda: _prepare(self.ledger, pipeline, given, job_name, project_tag, beside)
        )
        if again:
            return self._make_handle((yield from _start(self._connection, post, project_tag, again=True)))
        rerun = yield from _find_rerun(self._connection, self.ledger, identity, post.name)
        if rerun is not None:
            warn_of_webhook(rerun, beside)
            return self._make_handle(rerun)
        job = yield from _start(self._connection, post, project_tag, again=False)
        yield Run(lambda: self.ledger.remember(identity, job.job_name, PIPELINE))
        return self._make_handle(job)

    @operation
    def get(self, job_name: str) -> Operation[R]:
        """Get a run by its name.

        Raises:
            NotFoundError: there is no such job.
            ArgumentError: it is a single job, or another batch.
        """
        job = yield from job_pages.get_job(self._connection, job_name)
        if job.tool not in (None, PIPELINE) or not job.is_batch:
            what = f"a batch of {job.tool}" if job.is_batch else "a single job"
            raise ArgumentError(f"{job_name!r} is {what}, not the run of a pipeline.")
        return self._make_handle(job)


def _save(connection: ServiceConnection, name: str, stages: Sequence[Stage]) -> Operation[Pipeline]:
    """Save a pipeline; see ``PipelinesOperations.submit``."""
    tools = {}
    for stage in stages:
        tools[stage.tool] = yield from recall_tool(connection, stage.tool)
    stages = [
        replace(each, settings=catalog.read_records(tools[each.tool], each.settings)) for each in stages
    ]
    check_stages(name, stages, tools, connection.service)
    stages = [
        replace(each, extensions=choose_sent(tools[each.tool], each.extensions, connection.service))
        for each in stages
    ]
    body = {"pipelineName": name, "stages": [stage.to_wire() for stage in stages]}
    answer = yield from connection.request("POST", "/submit-pipeline", json=body, repeatable=True)
    names = tuple(stage.name for stage in stages)
    receipt = parse_response(lambda body: read_pipeline_receipt(body, name, names), answer)
    return Pipeline(receipt.pipeline_name, tuple(stages))


def _start(
    connection: ServiceConnection, post: Post, project_tag: str | None, *, again: bool
) -> Operation[Job]:
    """Start a run, unless it exists; returns its record."""
    posted = yield from submit_once(connection, post, again=again)
    if posted.job is not None:
        warn_of_webhook(posted.job, post.body.get(WIRE_NAME))
        return posted.job
    saved_name = str(post.body["pipelineName"])
    receipt = parse_response(lambda body: read_run_receipt(body, posted.name, saved_name), posted.answer)
    return Job(
        job_name=receipt.job_name,
        type="batch",
        tool=PIPELINE,
        status=JobStatus.IN_QUEUE,
        batch_status=BatchStatus.IN_QUEUE,
        batch_size=len(receipt.job_names) or None,
        project_tag=project_tag,
    )


def _record_rerun(ledger: Ledger, job_name: str, new_name: str) -> None:
    """Record that code that finds the run ``job_name`` shall find the newer run instead; keep the label."""
    for identity in ledger.identities(job_name):
        ledger.remember(identity, new_name, PIPELINE)
    ledger.remember_label(new_name, ledger.label(job_name))


def _find_rerun(
    connection: ServiceConnection, ledger: Ledger, identity: str, job_name: str
) -> Operation[Job | None]:
    """Return the last run that was started by running ``job_name`` again; None if there is none."""
    name = yield Run(lambda: ledger.find(identity))
    return None if name in (None, job_name) else (yield from find_job(connection, name))


def _choose_extensions(tools: Collection[Tool], webhook: str | None, *, reuse: bool) -> dict[str, Any]:
    """Return the extensions of a run: its webhook, and the reuse of results if the service supports it.

    Raises:
        SettingsError: the service calls no webhooks; nothing was sent.
    """
    url = require_webhooks(webhook, tools)
    chosen: dict[str, Any] = {} if url is None else {WEBHOOK: url}
    if reuse and any(REUSE in tool.extensions for tool in tools):
        chosen[REUSE] = True
    return chosen


def _prepare(
    ledger: Ledger,
    pipeline: str | Pipeline,
    inputs: dict[str, Any],
    job_name: str | None,
    project_tag: str | None,
    beside: Mapping[str, Any],
) -> tuple[str, Post]:
    """Return the identity of a run, and the request that starts it, including its extensions."""
    name = pipeline if isinstance(pipeline, str) else pipeline.name
    content = {"pipeline": name, "inputs": inputs}
    if isinstance(pipeline, Pipeline):
        content["stages"] = pipeline.digest
    identity = identify(PIPELINE, content, job_name, uploads_in(content, ledger))
    wanted = job_name or propose_job_name(f"{name[:60]}-run", identity)
    body: dict[str, Any] = {"pipelineName": name, "jobName": wanted, "inputs": inputs}
    body |= {"projectTag": project_tag} if project_tag else {}
    body |= {WIRE_NAME: dict(beside)} if beside else {}

    def find_differences(job: Job) -> Operation[list[str]]:
        yield from ()
        return _compare(job, name, inputs)

    return identity, Post("/run-pipeline", body, wanted, "jobName", find_differences)


def _check_run(
    pipeline: str | Pipeline,
    inputs: Inputs,
    job_name: str | None,
    tools: Mapping[str, Tool],
    service: str,
) -> None:
    """Validate the name, the stages and the files of a run.

    Raises:
        SettingsError: one of them is invalid or ambiguous; nothing was sent.
    """
    problems = find_elsewhere({f"inputs.{name}": value for name, value in inputs.items()}, service)
    fault = check_job_name(job_name) if job_name is not None else None
    if fault:
        problems.append(Problem(field="jobName", message=fault, code="job_name"))
    if isinstance(pipeline, Pipeline):
        names = [stage.name for stage in pipeline.stages]
        for given, value in inputs.items():
            if isinstance(value, Mapping) and given not in names and given not in pipeline.stages[0].settings:
                message = f"The pipeline has no stage {given}. It has: {', '.join(names)}."
                problems.append(Problem(field=f"inputs.{given}", message=message, code="unknown_stage"))
        problems += find_input_doubts(pipeline.stages, inputs, tools)
    if problems:
        raise SettingsError(problems)


def _compare(job: Job, name: str, inputs: Mapping[str, Any]) -> list[str]:
    """List how an existing job differs from the requested run, as far as the service reports its data."""
    if not job.is_batch:
        return ["that is a single job"]
    theirs = job.settings
    found = []
    if theirs.get("pipelineName", name) != name:
        found.append(f"that is a run of the pipeline {theirs['pipelineName']}, this is one of {name}")
    if theirs.get("inputs", inputs) != inputs:
        found.append("its inputs differ")
    if job.tool not in (None, PIPELINE) and "pipelineName" not in theirs:
        found.append(f"that is a batch of the tool {job.tool}")
    return found


def _list_stages(connection: ServiceConnection, job_name: str) -> Operation[Sequence[Job]]:
    newest_first = yield from job_pages.list_many(connection, {"batch": job_name}, 1000)
    return newest_first[::-1]


class Pipelines(SyncApi, PipelinesOperations[PipelineRun]):
    """Pipelines (synchronous)."""

    _handle = PipelineRun


class AsyncPipelines(AsyncApi, PipelinesOperations[AsyncPipelineRun]):
    """Pipelines (asynchronous)."""

    _handle = AsyncPipelineRun
