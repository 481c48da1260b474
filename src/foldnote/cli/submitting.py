"""Commands that submit one job, or a batch from a table."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldnote.cli.arguments import (
    add_extensions,
    add_settings,
    list_fields,
    read_extensions,
    read_settings,
    read_value,
    split_pairs,
)
from foldnote.cli.connection import (
    add_connection,
    add_tool,
    complete_jobs,
    complete_tools,
    connect,
    set_completer,
)
from foldnote.cli.exit_codes import Exit
from foldnote.cli.jobs import has_succeeded
from foldnote.cli.printing import confirm, name_commands, print_message, report, report_change, state_of
from foldnote.cli.tables import describe_columns, map_columns
from foldnote.errors import ArgumentError
from foldnote.number_arguments import read_count, read_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldnote.client import BatchHandle
    from foldnote.client.inputs.batch_table import Rows
    from foldnote.client.submission.preview import Preview
    from foldnote.client.submission.quote import Quote
    from foldnote.forms.batch.mapped_table import MappedTable
    from foldnote.models import Job, Tool


def add_submit(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``submit``."""
    add_tool(parser)
    add_settings(parser)
    parser.add_argument("--name", help="the job's name (default: derived from tool and settings)")
    parser.add_argument("--project", help="identifier of a project")
    parser.add_argument(
        "--again", action="store_true", help="submit a new job even if the same one was submitted before"
    )
    parser.add_argument("--wait", action="store_true", help="wait until it has ended")
    parser.add_argument(
        "--quote",
        action="store_true",
        help="only estimate run time and cost, from earlier jobs",
    )
    add_extensions(parser)
    add_connection(parser)


def run_submit(options: argparse.Namespace) -> int:
    """Submit a job, and optionally wait for it.

    Raises:
        ArgumentError: the settings are not one JSON object.
    """
    client = connect(options)
    tool = client.tools.get(options.tool)
    settings = read_settings(options, client, tool)
    if not isinstance(settings, dict):
        raise ArgumentError("The settings should be one JSON object; use `foldnote batch` for several rows.")
    if options.quote:
        return _print_quote(client.jobs.quote(tool, settings, job_name=options.name), options)
    job = client.jobs.submit(
        tool,
        settings,
        job_name=options.name,
        project_tag=options.project,
        label=options.label,
        extensions=read_extensions(options, client, with_label=False),
        again=options.again,
    )
    record = job.finish(on_change=report_change) if options.wait else job.record
    return _print_job(record, options)


def _print_quote(quote: Quote, options: argparse.Namespace) -> int:
    content = {
        "jobName": quote.job_name,
        "isSubmitted": quote.existing is not None,
        "secondsExpected": quote.duration_s,
        "weightedHoursExpected": quote.weighted_hours,
        "peakMemoryMbExpected": quote.peak_memory_mb,
        "jobsLeft": quote.jobs_left,
    }
    return report(options, content, quote)


def add_batch(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``batch``."""
    set_completer(parser.add_argument("tool", nargs="?", help="the tool's type"), complete_tools)
    parser.add_argument("table", nargs="?", type=Path,
                        help="CSV, TSV, FASTA, Excel or JSON; - for standard input")  # fmt: skip
    parser.add_argument("--column", action="append", default=[], metavar="FIELD=COLUMN", dest="columns",
                        help="the column for a setting (default: by name, then by content)")  # fmt: skip
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", dest="values",
                        help="a setting for every row")  # fmt: skip
    parser.add_argument("--sweep", action="append", default=[], metavar="FIELD=JSON_LIST", dest="sweeps",
                        help="repeat every row for each value of a setting")  # fmt: skip
    parser.add_argument(
        "--names", metavar="COLUMN", help="the column of job names (default: id, name or jobName)"
    )
    parser.add_argument(
        "--sheet", metavar="NAME", help="the sheet of an Excel workbook (default: the one that was open)"
    )
    parser.add_argument("--name", help="the batch's name (default: derived from tool and rows)")
    parser.add_argument("--project", help="identifier of a project")
    parser.add_argument("--max-runtime", type=read_rate, metavar="SECONDS", help="time limit of each job")
    parser.add_argument(
        "--budget", type=read_rate, metavar="HOURS", help="limit of weighted hours for all jobs together"
    )
    parser.add_argument("--on-failure", choices=("continue", "stop"), default="continue",
                        help="stop: start no more jobs once one has failed (default: continue)")  # fmt: skip
    parser.add_argument("--retries", type=read_count, default=0, metavar="COUNT",
                        help="how many times a failed job is run again (0 to 10)")  # fmt: skip
    parser.add_argument("--again", action="store_true",
                        help="submit a new batch even if these rows were submitted before")  # fmt: skip
    parser.add_argument(
        "--preview", action="store_true", help="validate and count the rows without submitting"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask for confirmation of a large batch")
    parser.add_argument("--wait", action="store_true", help="wait until it has ended")
    add_extensions(parser)
    retry = parser.add_argument("--retry", metavar="BATCH", help="run the failed jobs of this batch again")
    set_completer(retry, complete_jobs)
    add_connection(parser)


def run_batch(options: argparse.Namespace) -> int:
    """Preview, submit or retry a batch, and optionally wait for it.

    Raises:
        ArgumentError: the tool or the table is missing.
    """
    client = connect(options)
    if options.retry:
        return _finish_batch(client.batches.get(options.retry).retry(webhook=options.webhook), options)
    if options.tool is None or options.table is None:
        raise ArgumentError("Name the tool and the table: foldnote batch TOOL TABLE; or use --retry BATCH.")
    tool = client.tools.get(options.tool)
    mapped, rows = _read_table(options, tool)
    preview = client.batches.preview(
        tool,
        rows,
        options.name,
        project_tag=options.project,
        max_runtime_s=options.max_runtime,
        weighted_hours_budget=options.budget,
        on_failure=options.on_failure,
        retries=options.retries,
        extensions=read_extensions(options, client),
        again=options.again,
    )
    columns = describe_columns(mapped)
    if options.preview:
        text = name_commands("\n".join(filter(None, [columns, str(preview)])))
        report(options, _as_data(preview, mapped), text)
        return Exit.DONE if preview.is_valid else Exit.BAD_INPUT
    print_message(name_commands("\n".join(filter(None, [columns, *preview.summary()]))))
    _confirm(preview, is_allowed=options.yes)
    return _finish_batch(client.batches.send(preview), options)


def _read_table(options: argparse.Namespace, tool: Tool) -> tuple[MappedTable, Rows]:
    """Return the table with mapped columns, and its rows with files named as at the service."""
    from foldnote.client.inputs.file_values import name_uploads

    fields = list_fields(tool)
    columns = dict(split_pairs(options.columns, fields))
    shared = {
        name: read_value(fields.get(name, {}), text) for name, text in split_pairs(options.values, fields)
    }
    sweep = {name: _read_list(name, text) for name, text in split_pairs(options.sweeps, fields)}
    mapped = map_columns(options.table, tool, columns, options.names, {*shared, *sweep}, options.sheet)
    rows = mapped.expand(sweep, shared)
    return mapped, replace(rows, settings=[name_uploads(tool, row) for row in rows.settings])


def _read_list(name: str, text: str) -> list[Any]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, list):
        raise ArgumentError(f'--sweep {name}= takes a JSON list, such as \'{name}=["imgt", "kabat"]\'.')
    return values


def _as_data(preview: Preview, mapped: MappedTable) -> Mapping[str, Any]:
    fed, names_column, kept_columns = mapped.uses()
    return {
        "columns": fed,
        "namesColumn": names_column,
        "keptColumns": kept_columns,
        "batchName": preview.batch_name,
        "tool": preview.attempt.tool.type,
        "count": preview.count,
        "valid": preview.is_valid,
        "isSubmitted": preview.existing is not None,
        "jobsTaken": preview.jobs_taken,
        "jobsLeft": preview.jobs_left,
        "secondsExpected": preview.duration_s,
        "weightedHoursExpected": preview.weighted_hours,
        "weightedHoursAtMost": preview.weighted_hours_at_most,
        "results": [
            {"jobName": name, "settings": row} | verdict.model_dump(mode="json", exclude={"normalized"})
            for name, row, verdict in zip(
                preview.attempt.names, preview.attempt.rows, preview.verdicts, strict=True
            )
        ],
    }


def _confirm(preview: Preview, *, is_allowed: bool) -> None:
    """Ask for confirmation of a large batch.

    Raises:
        ArgumentError: the user declined, or standard input is not a terminal.
    """
    from foldnote import settings

    if is_allowed or not preview.is_valid or preview.jobs_taken < settings.option("ask_from_jobs"):
        return
    if not sys.stdin.isatty():
        raise ArgumentError(f"Add --yes to submit {preview.jobs_taken} jobs without confirmation.")
    if not confirm(f"Submit {preview.jobs_taken} jobs?"):
        raise ArgumentError("Nothing was submitted.")


def _finish_batch(batch: BatchHandle, options: argparse.Namespace) -> int:
    record = batch.finish(on_change=report_change) if options.wait else batch.record
    if options.wait and (counts := record.statuses) and counts.stopped:
        print_message(
            f"{counts.stopped} of {counts.total} jobs failed or were stopped. To run them again:"
            f" foldnote batch --retry {batch.job_name}"
        )
    _print_job(record, options)
    return Exit.DONE if has_succeeded(record) or not options.wait else Exit.JOB_FAILED


def _print_job(job: Job, options: argparse.Namespace) -> int:
    return report(options, job.to_wire(), f"{job.job_name}: {state_of(job)}")
