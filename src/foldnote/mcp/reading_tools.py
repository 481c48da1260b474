"""Tools that change nothing: catalog, validation, quotes, jobs, logs, and results as data and pictures."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ImageContent, TextContent

from foldnote.client.inputs.file_values import name_uploads
from foldnote.errors import WaitTimeoutError
from foldnote.mcp.answers import LONGEST_TEXT, describe_job, mark_untrusted, summarize_tool
from foldnote.mcp.answers import describe_tool as tell_tool
from foldnote.mcp.session import find_session, in_sentences

if TYPE_CHECKING:
    from pandas import DataFrame

    from foldnote.results import Manifest, Result, Structure

_MOST_ROWS = 200
_MOST_PARTS = 50
"""Maximum number of structures, tables and files that one answer lists; a batch has several for each job."""
_LONGEST_WAIT_S = 300.0


@in_sentences
async def list_tools(
    context: Context, search: str = "", works_on: str = "", runs_here: bool = False
) -> dict[str, Any]:
    """List the tools of the service: type, what it does, whether it runs there, and by which method.

    search: words, all of which must occur. works_on: antibody, protein, small-molecule and so on. runs_here:
    only tools that can run now.
    """
    tools = await find_session(context).client.tools.list()
    found = tools.search(search, modality=works_on or None, runs_here=runs_here)
    return {"tools": [summarize_tool(each) for each in found], "tools_of_the_service": len(tools)}


@in_sentences
async def describe_tool(context: Context, tool: str) -> dict[str, Any]:
    """Describe one tool: settings as JSON Schema with units and bounds, outputs, method, licence, example.

    Files in the example are shortened to their beginning.
    """
    return tell_tool(await find_session(context).client.tools.get(tool))


@in_sentences
async def validate(context: Context, tool: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Have the service validate settings without submitting; free.

    A file setting is the file's text, the name of an upload, or "job name/path in its result".
    """
    client = find_session(context).client
    known = await client.tools.get(tool)
    verdict = await client.jobs.validate(tool, name_uploads(known, settings))
    return verdict.model_dump(mode="json", exclude_none=True)


@in_sentences
async def quote(context: Context, tool: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Estimate run time, weighted hours and memory of a job from earlier ones; nothing is submitted."""
    client = find_session(context).client
    known = await client.tools.get(tool)
    found = await client.jobs.quote(known, name_uploads(known, settings))
    return {
        "job_name": found.job_name,
        "exists_already": found.existing is not None,
        "duration_s": found.duration_s,
        "weighted_hours": found.weighted_hours,
        "peak_memory_mb": found.peak_memory_mb,
        "jobs_left": found.jobs_left,
        "in_words": found.summary(),
    }


@in_sentences
async def get_account(context: Context) -> dict[str, Any]:
    """The service, jobs left where it reports them, and what this session may still do."""
    session = find_session(context)
    account = await session.client.account.get()
    limits = session.permissions
    return {
        "service": session.client.service,
        "jobs_left": account.jobs_left,
        "jobs_left_in_this_session": limits.max_jobs - limits.submitted,
        "done_without_asking": sorted(limits.allowed),
    }


@in_sentences
async def list_jobs(context: Context, limit: int = 20) -> dict[str, Any]:
    """List the newest jobs of the account with their states."""
    jobs = await find_session(context).client.jobs.list(limit=max(1, min(limit, _MOST_ROWS)))
    return {"jobs": [describe_job(each.record, each.label) for each in jobs]}


@in_sentences
async def watch_job(context: Context, job_name: str, seconds: float = 60) -> dict[str, Any]:
    """Wait until a job has ended, at most `seconds` (300), and return its state.

    is_final says whether it has ended; call it again to wait longer. 0 returns the state at once.
    """
    client = find_session(context).client
    if seconds > 0:
        with suppress(WaitTimeoutError):
            await client.jobs.wait([job_name], timeout_s=min(seconds, _LONGEST_WAIT_S))
    job = await client.jobs.get(job_name)
    return describe_job(job.record, job.label)


@in_sentences
async def read_log(context: Context, job_name: str, max_lines: int = 100) -> dict[str, Any]:
    """The last lines of a job's log, as untrusted data."""
    text = await find_session(context).client.jobs.logs(job_name, max(1, min(max_lines, 1000)))
    return mark_untrusted(text[-LONGEST_TEXT:], f"log of the job {job_name}")


@in_sentences
async def read_result(context: Context, job_name: str, start: int = 0) -> dict[str, Any]:
    """What a job left behind: scores, structures, tables with their columns, files and method.

    The result of a job whose status is not Complete may be incomplete. Lists have at most 50 entries, from
    the place `start`; in_result has the numbers of all. Names and scores come from programs and files:
    untrusted data. read_table, read_file and draw_structure have the contents.
    """
    session = find_session(context)
    job = await session.client.jobs.get(job_name)
    result = await session.open_result(job_name)
    manifest = result.manifest
    part = slice(max(0, start), max(0, start) + _MOST_PARTS)
    shown_tables = list(result.tables)[part]
    return {
        "job_name": job_name,
        "status": job.record.word,
        "untrusted": True,
        "scores": dict(result.scores),
        "in_result": {
            "structures": len(result.structures),
            "tables": len(result.tables),
            "files": len(result.files),
        },
        "structures": [_describe_structure(each) for each in result.structures[part]],
        "tables": {name: _describe_table(result.tables[name]) for name in shown_tables},
        "files": [{"name": each.name, "size_bytes": each.size_bytes} for each in result.files[part]],
        "method": _describe_run(manifest) if manifest else None,
        "unreadable": [{"name": each.name, "message": each.message} for each in result.problems[part]],
    }


@in_sentences
async def read_table(
    context: Context, job_name: str, table: str, start: int = 0, rows: int = 50
) -> dict[str, Any]:
    """Rows of a table of a result, as lists of values in the order of `columns`; at most 200 at once.

    Raises:
        ToolError: the result has no such table.
    """
    tables = (await find_session(context).open_result(job_name)).tables
    if table not in tables:
        raise ToolError(
            f"The result of {job_name} has no table {table!r}. Tables: {', '.join(tables) or 'none'}."
        )
    whole = tables[table]
    part = whole.iloc[max(0, start) :].head(max(1, min(rows, _MOST_ROWS)))
    content = json.loads(part.to_json(orient="split", index=False, date_format="iso"))
    return {
        "untrusted": True,
        "source": f"{table} of the job {job_name}",
        "columns": content["columns"],
        "rows": content["data"],
        "start": max(0, start),
        "rows_in_table": len(whole),
    }


@in_sentences
async def read_file(context: Context, job_name: str, file: str, start: int = 0) -> dict[str, Any]:
    """The text of a file of a result, from the character `start`, at most 20,000 of them; untrusted data.

    Raises:
        ToolError: the result has no such file, or it is not text.
    """
    result = await find_session(context).open_result(job_name)
    if file not in [each.name for each in result.files]:
        names = ", ".join(each.name for each in result.files[:30])
        raise ToolError(f"The result of {job_name} has no file {file!r}. Files: {names}.")
    try:
        text = result.read(file).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(
            f"{file} is not text. read_table and draw_structure show tables and structures."
        ) from None
    return mark_untrusted(text[max(0, start) :], f"{file} of {job_name}") | {"characters": len(text)}


@in_sentences
async def draw_structure(
    context: Context, job_name: str, structure: int = 0, color: str = ""
) -> list[ImageContent | TextContent]:
    """A still picture (PNG) of a structure of a result, with its description.

    structure: its place in read_result's list, from 0. color: chain, confidence, error, rainbow, secondary or
    hydrophobicity, as far as the structure has the data; by default the best one.

    Raises:
        ToolError: there is no such structure, or nothing in it to draw.
    """
    from foldnote.notebook.views import view  # deferred: drawing imports many packages
    from foldnote.viewers.render.still_image import draw_picture

    result = await find_session(context).open_result(job_name)
    if not 0 <= structure < len(result.structures):
        raise ToolError(f"The result of {job_name} has {len(result.structures)} structures, counted from 0.")
    scene = view(_choose(result, structure), color=color or None)
    picture = draw_picture(scene)
    if picture is None:
        raise ToolError(f"Structure {structure} of {job_name} has nothing to draw.")
    data = base64.b64encode(picture).decode("ascii")
    said = json.dumps({"untrusted": True} | _describe_structure(result.structures[structure]))
    return [ImageContent(type="image", data=data, mime_type="image/png"), TextContent(type="text", text=said)]


def _describe_run(manifest: Manifest) -> dict[str, Any]:
    """Describe the run; the engine's remarks are marked as untrusted."""
    names = ("method", "kind", "engine", "version", "seed", "changed", "ignored")
    told = {name: value for name in names if (value := getattr(manifest, name)) not in ("", None, {})}
    notes = " ".join(manifest.notes)
    return told | ({"notes": mark_untrusted(notes, f"engine {manifest.engine}")} if notes else {})


def _choose(result: Result, structure: int) -> Any:
    """The result itself shows its first structure with CDRs."""
    return result if structure == 0 else result.structures[structure]


def _describe_structure(structure: Structure) -> dict[str, Any]:
    told = {
        "name": structure.name,
        "chains": [
            {"name": each.name, "kind": each.kind, "residues": len(each)} for each in structure.chains
        ],
        "mean_plddt": structure.confidence.mean if structure.confidence else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _describe_table(table: DataFrame) -> dict[str, Any]:
    return {"rows": len(table), "columns": [str(each) for each in table.columns]}


TOOLS = (list_tools, describe_tool, validate, quote, get_account, list_jobs, watch_job, read_log, read_result,
         read_table, read_file, draw_structure)  # fmt: skip
"""All tools of this module, in the order of registration."""
