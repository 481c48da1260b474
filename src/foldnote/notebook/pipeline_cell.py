"""Continue a failed pipeline: what running it again reuses, and its code for a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldnote.client.resources.pipeline_plan import describe_plan, find_stage_jobs
from foldnote.errors import FoldnoteError
from foldnote.notebook import connection
from foldnote.notebook.continuing import name_profile

if TYPE_CHECKING:
    from foldnote.client import Pipeline, PipelineRun
    from foldnote.viewers.card.next_cell import NextCell


def advise(run: PipelineRun) -> str:
    """Describe what *Run again* does with an ended run, for its card."""
    try:
        plan = describe_plan(run.plan_again())
    except FoldnoteError as exc:
        return exc.message
    return f"{plan} In Python: `fn.job({run.job_name!r}).run_again()`"


def write_cell(run: PipelineRun) -> str:
    """Return the code of the pipeline as it was run; comments name the stages that failed, and why.

    Raises:
        FoldnoteError: the service keeps no stages with a run, and the job of one was deleted.
    """
    return _write(run, run.pipeline(), _find_reasons(run, run.pipeline()))


def offer_cell(run: PipelineRun) -> NextCell:
    """Write the same cell below a card; returns its code.

    Raises:
        FoldnoteError: as :func:`write_cell` does.
    """
    from foldnote.text import join_words
    from foldnote.viewers.card.next_cell import NextCell

    pipeline = run.pipeline()
    reasons = _find_reasons(run, pipeline)
    meant = join_words(list(reasons), "and") or "a stage"
    sentence = (
        f"Change the settings of {meant} in this code and run it as a cell;"
        " complete stages that stay the same are reused."
    )
    return NextCell(_write(run, pipeline, reasons), sentence)


def _find_reasons(run: PipelineRun, pipeline: Pipeline) -> dict[str, str]:
    """Explain why stages that ran have no result, by stage."""
    jobs = [row.record for row in run.stages()]
    found = {}
    for stage in pipeline.stages:
        for job in find_stage_jobs(run.record, stage, pipeline.stages, jobs):
            if job.is_final and job.started is not None and job.reason:
                found[stage.name] = (
                    f"{stage.name} {'failed' if job.is_failed else 'was stopped'}: {job.reason}"
                )
                break
    return found


def _write(run: PipelineRun, pipeline: Pipeline, reasons: dict[str, str]) -> str:
    from foldnote.forms.view.pipeline_code import write_pipeline

    client = connection.find_client(run.profile_name)
    options = {"label": run.label, "project_tag": run.record.project_tag, "profile": name_profile(run)}
    return write_pipeline(
        pipeline,
        {tool.type: tool for tool in client.tools.list()},
        run.job_name,
        reasons,
        {name: value for name, value in options.items() if value},
        list(client.ledger.uploads()),
    )
