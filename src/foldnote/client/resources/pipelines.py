"""Pipelines: stages that run one after another, each with the files of those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from foldnote.client.core import job_pages
from foldnote.client.core.connection import Resource, ServiceConnection
from foldnote.client.core.error_mapping import understand
from foldnote.client.core.operations import AsyncApi, Operation, Run, SyncApi, operation
from foldnote.client.inputs.stages import Inputs, Pipeline, Stage, check_stages, find_input_doubts
from foldnote.client.local.ledger import Ledger, identify
from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle, JobHandleOperations
from foldnote.client.resources.tools import recall_tool
from foldnote.client.submission.idempotency import Post, start_once
from foldnote.client.submission.job_submission import uploads_in
from foldnote.client.tables.frames import tabulate_batch
from foldnote.client.tables.job_list import JobList
from foldnote.errors import SettingsError
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
from foldnote.models.submission import read_pipeline_receipt, read_run_receipt

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R", bound="PipelineRunOperations[Any]")
J = TypeVar("J", bound=JobHandleOperations)
_TYPE = "pipeline"


class PipelineRunOperations(JobHandleOperations, Generic[J]):
    """What can be done with a run; it is final when its last stage is."""

    _job_handle: type[J]

    def _hold_job(self, job: Job) -> J:
        """A handle of a stage's job, of this API (sync or async)."""
        return self._job_handle(job, self._connection, self._transport)

    @operation
    def stages(self) -> Operation[JobList[J]]:
        """The stages' jobs, in their order."""
        found = yield from _list_stages(self._connection, self.job_name)
        return JobList(JobPage(jobs=tuple(found)), self._hold_job)

    @operation
    def to_frame(self) -> Operation[pd.DataFrame]:
        """The stages' jobs with what went in and what came out.

        Returns:
            One row a stage, in their order, with the columns of ``client.jobs.to_frame``, then
            ``settings.NAME`` and ``score.NAME``, units as the tools have them.
        """
        found = yield from _list_stages(self._connection, self.job_name)
        frame: pd.DataFrame = yield Run(lambda: tabulate_batch(found))
        return frame


class PipelineRun(JobHandle, PipelineRunOperations[JobHandle]):
    """A run of a pipeline; each operation returns when it is done."""

    _job_handle = JobHandle


class AsyncPipelineRun(AsyncJobHandle, PipelineRunOperations[AsyncJobHandle]):
    """A run of a pipeline; each operation is awaited."""

    _job_handle = AsyncJobHandle


class PipelinesOperations(Resource, Generic[R]):
    """POST /submit-pipeline and POST /run-pipeline."""

    _handle: type[R]

    def _hold(self, job: Job) -> R:
        """A handle of the run, of this API (sync or async)."""
        return self._handle(job, self._connection, self._transport)

    @operation
    def submit(self, name: str, stages: Sequence[Stage]) -> Operation[Pipeline]:
        """Save a pipeline; one of the same name is replaced. Nothing runs yet.

        Args:
            name: the pipeline's name.
            stages: in the order in which they run; a file field takes ``earlier_stage.file("path")``.

        Raises:
            SettingsError: names, settings or references break a rule; nothing was sent.
            UnknownToolError: the service has no such tool.
            RestrictedRouteError: the key is an unclaimed trial key.
            ServiceError: the service refused.
        """
        if isinstance(stages, Stage) or not all(isinstance(stage, Stage) for stage in stages):
            told = 'Give a list of stages, such as [fn.stage("fold", "abodybuilder", heavy="EVQL…")].'
            raise SettingsError([Problem(field="stages", message=told)])
        tools = {}
        for stage in stages:
            tools[stage.tool] = yield from recall_tool(self._connection, stage.tool)
        check_stages(name, stages, tools)
        body = {"pipelineName": name, "stages": [stage.to_wire() for stage in stages]}
        answer = yield from self._connection.ask("POST", "/submit-pipeline", json=body, repeatable=True)
        names = tuple(stage.name for stage in stages)
        receipt = understand(lambda said: read_pipeline_receipt(said, name, names), answer)
        return Pipeline(receipt.pipeline_name, tuple(stages))

    @operation
    def run(
        self,
        pipeline: str | Pipeline,
        inputs: Inputs | None = None,
        *,
        job_name: str | None = None,
        project_tag: str | None = None,
        again: bool = False,
    ) -> Operation[R]:
        """The run that this is: the one that it became before, or a new one.

        Args:
            pipeline: what ``submit`` gave, or the name of a saved pipeline.
            inputs: settings of this run, ``{stage: {field: value}}``; a field of the first stage may stand at
                the top.
            job_name: name of the run; by default one is made of pipeline and inputs.
            project_tag: identifier of a project.
            again: make a new run even if the same one is there already.

        Raises:
            SettingsError: the name breaks a rule, or a stage is not in the pipeline; nothing was sent.
            JobNameTakenError: the name belongs to another job; the message shows the difference.
            NotFoundError: there is no such pipeline.
            RestrictedRouteError: the key is an unclaimed trial key.
            ServiceError: the service refused.
            TransportError: no answer came, and the service does not know the run.
        """
        tools = {}
        for stage in pipeline.stages if inputs and isinstance(pipeline, Pipeline) else ():
            tools[stage.tool] = yield from recall_tool(self._connection, stage.tool)
        given = dict(inputs or {})
        _check_run(pipeline, given, job_name, tools)
        post = yield Run(lambda: _prepare(self.ledger, pipeline, given, job_name, project_tag))
        posted = yield from start_once(self._connection, post, again=again)
        if posted.job is not None:
            return self._hold(posted.job)
        told = str(post.body["pipelineName"])
        receipt = understand(lambda said: read_run_receipt(said, posted.name, told), posted.answer)
        return self._hold(
            Job(
                job_name=receipt.job_name,
                type="batch",
                tool=_TYPE,
                status=JobStatus.IN_QUEUE,
                batch_status=BatchStatus.IN_QUEUE,
                batch_size=len(receipt.job_names) or None,
                project_tag=project_tag,
            )
        )

    @operation
    def get(self, job_name: str) -> Operation[R]:
        """One run by its name.

        Raises:
            NotFoundError: there is no such run.
        """
        return self._hold((yield from job_pages.get_job(self._connection, job_name)))


def _prepare(
    ledger: Ledger,
    pipeline: str | Pipeline,
    inputs: dict[str, Any],
    job_name: str | None,
    project_tag: str | None,
) -> Post:
    name = pipeline if isinstance(pipeline, str) else pipeline.name
    content = {"pipeline": name, "inputs": inputs}
    if isinstance(pipeline, Pipeline):
        content["stages"] = pipeline.digest
    identity = identify(_TYPE, content, job_name, uploads_in(content, ledger))
    wanted = job_name or propose_job_name(f"{name[:60]}-run", identity)
    body: dict[str, Any] = {"pipelineName": name, "jobName": wanted, "inputs": inputs}
    body |= {"projectTag": project_tag} if project_tag else {}

    def find_differences(job: Job) -> Operation[list[str]]:
        yield from ()
        return _compare(job, name, inputs)

    return Post("/run-pipeline", body, wanted, "jobName", find_differences)


def _check_run(
    pipeline: str | Pipeline, inputs: Inputs, job_name: str | None, tools: Mapping[str, Tool]
) -> None:
    """Let pass a run whose name, stages and files are clear.

    Raises:
        SettingsError: one of them is not; nothing was sent.
    """
    problems = []
    fault = check_job_name(job_name) if job_name is not None else None
    if fault:
        problems.append(Problem(field="jobName", message=fault, code="job_name"))
    if isinstance(pipeline, Pipeline):
        names = [stage.name for stage in pipeline.stages]
        for given, value in inputs.items():
            if isinstance(value, Mapping) and given not in names and given not in pipeline.stages[0].settings:
                told = f"The pipeline has no stage {given}. It has: {', '.join(names)}."
                problems.append(Problem(field=f"inputs.{given}", message=told, code="unknown_stage"))
        problems += find_input_doubts(pipeline.stages, inputs, tools)
    if problems:
        raise SettingsError(problems)


def _compare(job: Job, name: str, inputs: Mapping[str, Any]) -> list[str]:
    """How an existing job differs from the wanted run; what a service does not tell proves nothing."""
    if not job.is_batch:
        return ["that is a single job"]
    told = job.settings
    found = []
    if told.get("pipelineName", name) != name:
        found.append(f"that is a run of the pipeline {told['pipelineName']}, this one of {name}")
    if told.get("inputs", inputs) != inputs:
        found.append("its inputs are others")
    if job.tool not in (None, _TYPE) and "pipelineName" not in told:
        found.append(f"that is a batch of the tool {job.tool}")
    return found


def _list_stages(connection: ServiceConnection, job_name: str) -> Operation[Sequence[Job]]:
    newest_first = yield from job_pages.list_many(connection, {"batch": job_name}, 1000)
    return newest_first[::-1]


class Pipelines(SyncApi, PipelinesOperations[PipelineRun]):
    """Pipelines; each operation returns when it is done."""

    _handle = PipelineRun


class AsyncPipelines(AsyncApi, PipelinesOperations[AsyncPipelineRun]):
    """Pipelines; each operation is awaited."""

    _handle = AsyncPipelineRun
