"""What running a pipeline again would reuse, and the pipeline of an earlier run.

foldnote's own service stores the stages with the run. For other services, they are reconstructed from the
stages' jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foldnote.client.inputs.file_values import FileValue, StageFile, is_file_field, name_uploads
from foldnote.client.inputs.stages import Pipeline, Stage
from foldnote.errors import FoldnoteError
from foldnote.models import Job, JobStatus, Tool
from foldnote.models.extensions import ALIGNMENT, REUSE, WIRE_NAME
from foldnote.models.names import MAX_NAME_LENGTH
from foldnote.text import count, join_words, texts_in

_VARIANT_MARK = "-"


@dataclass(frozen=True)
class StagePlan:
    """What happens to one stage if its pipeline is run again.

    Attributes:
        name: the stage's name.
        tool: its tool's type.
        is_reused: whether its finished results are taken, so that it does not run.
        reason: why it runs, as the end of a sentence such as "fold runs, since it failed"; empty if it is
            reused.
        was_complete: whether all its jobs were complete, even if they have since been deleted.
    """

    name: str
    tool: str
    is_reused: bool
    reason: str = ""
    was_complete: bool = True


def read_pipeline(run: Job, jobs: Sequence[Job], tools: Mapping[str, Tool]) -> Pipeline:
    """Reconstruct the pipeline of a run, with the inputs of the run merged into its stages.

    Args:
        run: the record of the run.
        jobs: the records of its stages.
        tools: the tools by type; files are marked only in the settings of tools listed here.

    Raises:
        FoldnoteError: the service keeps no stages, and the job of one was deleted.
    """
    rows = run.settings.get("stages")
    if isinstance(rows, list) and rows:
        inputs = run.settings.get("inputs")
        given = _merge_inputs(rows, inputs if isinstance(inputs, Mapping) else {})
        stages = [Stage(row["name"], row["type"], row["settings"], row.get(WIRE_NAME)) for row in given]
    else:
        stages = list(_read_jobs(run, jobs))
    names = [stage.name for stage in stages]
    marked = [_mark_files(stage, names[:place], tools.get(stage.tool)) for place, stage in enumerate(stages)]
    found = Pipeline(str(run.settings.get("pipelineName") or run.job_name), tuple(marked))
    mark = _mark_name(found)
    return replace(found, name=found.name.removesuffix(mark)) if found.name != mark else found


def name_rerun(pipeline: Pipeline) -> str:
    """Return the name under which a run's stages are saved to run them again; it contains their digest."""
    mark = _mark_name(pipeline)
    return f"{pipeline.name[: MAX_NAME_LENGTH - len(mark)]}{mark}"


def _mark_name(pipeline: Pipeline) -> str:
    return f"-{pipeline.digest[:8]}"


def plan_stages(
    run: Job, stages: Sequence[Stage], jobs: Sequence[Job], tools: Mapping[str, Tool]
) -> list[StagePlan]:
    """Plan what running a pipeline again does with each stage; the plans are in the order of the stages.

    Args:
        run: the record of the run.
        stages: its stages.
        jobs: the records of their jobs, without those of deleted ones.
        tools: the tools of the service by type.
    """
    if not any(REUSE in tool.extensions for tool in tools.values()):
        reason = "since this service does not reuse results"
        return [StagePlan(stage.name, stage.tool, False, reason, False) for stage in stages]
    plans: list[StagePlan] = []
    for stage in stages:
        own = find_stage_jobs(run, stage, stages, jobs)
        running = {plan.name for plan in plans if not plan.is_reused}
        unfinished = _explain_unfinished(own)
        reason = unfinished or _explain_complete(own, tools.get(stage.tool)) or _explain_files(stage, running)
        plans.append(StagePlan(stage.name, stage.tool, not reason, reason, not unfinished))
    return plans


def find_stage_jobs(run: Job, stage: Stage, stages: Sequence[Stage], jobs: Iterable[Job]) -> list[Job]:
    """Find the jobs of a stage: one, or several if it takes all models of an earlier stage."""
    others = {f"{run.job_name}-{each.name}" for each in stages if each.name != stage.name}
    first = f"{run.job_name}-{stage.name}"
    found = []
    for job in jobs:
        rest = job.job_name.removeprefix(first)
        is_variant = rest.startswith(_VARIANT_MARK) and rest[1:].isdigit() and job.job_name not in others
        if job.job_name.startswith(first) and (not rest or is_variant):
            found.append(job)
    return found


def describe_plan(plans: Sequence[StagePlan]) -> str:
    """Describe in one or a few sentences what running a pipeline again does."""
    reused = [plan.name for plan in plans if plan.is_reused]
    run = [plan for plan in plans if not plan.is_reused]
    names = join_words([plan.name for plan in run], "and")
    if not run:
        return f"Run again takes the results of all {count(len(plans), 'stage')} and runs none."
    if not reused:
        parts = [f"Run again runs {'the stage' if len(plans) == 1 else 'all stages'}: {names}."]
        if not any(plan.was_complete for plan in plans) and len({plan.reason for plan in plans}) == 1:
            return f"{parts[0][:-1]}, {plans[0].reason}."
    else:
        verbs = ("is" if len(reused) == 1 else "are", "runs" if len(run) == 1 else "run")
        taken = f"{join_words(reused, 'and')} {verbs[0]} reused"
        parts = [f"Run again continues from {run[0].name}: {taken}, {names} {verbs[1]}."]
    parts += [f"{plan.name} runs again, {plan.reason}." for plan in run if plan.was_complete]
    return " ".join(parts)


def _merge_inputs(rows: Sequence[Mapping[str, Any]], inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Merge the inputs of a run into the rows: ``{stage: {field: value}}``, or fields of the first stage."""
    names = {row["name"] for row in rows}
    loose = {field: value for field, value in inputs.items() if field not in names}
    return [
        {**row, "settings": {**row["settings"], **({} if place else loose), **inputs.get(row["name"], {})}}
        for place, row in enumerate(rows)
    ]


def _read_jobs(run: Job, jobs: Sequence[Job]) -> Iterable[Stage]:
    """Reconstruct the stages from their jobs, for services that do not store them with the run.

    Raises:
        FoldnoteError: jobs are missing.
    """
    if not jobs or (run.batch_size is not None and len(jobs) < run.batch_size):
        raise FoldnoteError(
            f"Jobs of {run.job_name!r} were deleted, and the service does not keep its stages otherwise."
            " Run the cell that defines the pipeline."
        )
    stem = f"{run.job_name}-"
    for job in jobs:
        yield Stage(job.job_name.removeprefix(stem), job.type, job.settings, job.extensions)


def _mark_files(stage: Stage, earlier: Sequence[str], tool: Tool | None) -> Stage:
    """Mark the files in a stage's settings as files of earlier stages or as files at the service."""
    fields = (tool.settings_schema or {}).get("properties", {}) if tool else {}
    taken = {
        name: _mark_references(value, earlier)
        for name, value in stage.settings.items()
        if name in fields and is_file_field(fields[name])
    }
    settings = {**stage.settings, **taken}
    extensions = dict(stage.extensions or {})
    if ALIGNMENT in extensions:
        extensions[ALIGNMENT] = _mark_references(extensions[ALIGNMENT], earlier)
    marked = name_uploads(tool, settings) if tool else settings
    return Stage(stage.name, stage.tool, marked, extensions or None)


def resolve_stage_files(
    job: Job, jobs: Iterable[Job], tool: Tool, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Name the files of earlier stages in the settings of a stage's job as files of the jobs of those stages.

    Args:
        job: the record of the stage's job.
        jobs: the records of its run.
        tool: its tool.
        settings: its settings.

    Returns:
        The settings, and the names of earlier stages whose file cannot be named: a stage that takes all
        models, or the one that the service chooses, has no value that a single job could use.
    """
    stem = f"{job.batch}-"
    stages = {each.job_name.removeprefix(stem) for each in jobs if each.job_name != job.job_name}
    fields = (tool.settings_schema or {}).get("properties", {})
    open_ended: list[str] = []

    def resolve(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [resolve(each) for each in value]
        stage, mark, path = value.partition("/") if isinstance(value, str) else ("", "", "")
        if not mark or "\n" in value or stage not in stages:
            return value
        if not path or path.endswith("/") or "*" in path:
            open_ended.append(stage)
        return FileValue(f"{stem}{value}")

    found = {
        name: resolve(value) if name in fields and is_file_field(fields[name]) else value
        for name, value in settings.items()
    }
    return found, list(dict.fromkeys(open_ended))


def _mark_references(value: Any, earlier: Sequence[str]) -> Any:
    """Mark the references to earlier stages in a file value or a list of them."""
    if isinstance(value, list | tuple):
        return [_mark_references(each, earlier) for each in value]
    if not isinstance(value, str) or "\n" in value:
        return value
    head, mark, _ = value.partition("/")
    return StageFile(value) if mark and head in earlier else value


def _explain_unfinished(jobs: Sequence[Job]) -> str:
    """Explain why an incomplete stage runs; empty if it is complete or was deleted."""
    unfinished = [job for job in jobs if job.status is not JobStatus.COMPLETE]
    if not unfinished:
        return ""
    if len(jobs) == 1:
        return _explain_state(unfinished[0])
    return f"since {len(unfinished)} of its {len(jobs)} jobs did not complete; the others are reused"


def _explain_complete(jobs: Sequence[Job], tool: Tool | None) -> str:
    """Explain why the results of a complete stage cannot be taken; empty if they can."""
    if not jobs:
        return "since its result was deleted"
    ran, now = jobs[0].engine_version, tool.engine.full_version if tool and tool.engine else None
    if ran is None:
        return "since the version of its engine was not recorded"
    if ran != now:
        return f"since it ran with {ran}, and the service now has {now or 'another engine'}"
    return ""


def _explain_state(job: Job) -> str:
    if job.started is None:
        return "since it did not run"
    if job.is_failed:
        return "since it failed"
    return "since it was stopped" if job.is_final else "since it has not ended"


def _explain_files(stage: Stage, running: set[str]) -> str:
    """Explain why a complete stage may run: it takes files of a stage that runs; empty if it takes none."""
    texts = [stage.settings, (stage.extensions or {}).get(ALIGNMENT, "")]
    heads = [text.partition("/")[0] for text in texts_in(texts) if isinstance(text, StageFile)]
    taken = join_words([name for name in dict.fromkeys(heads) if name in running], "and")
    return f"unless the files of {taken} stay the same" if taken else ""
