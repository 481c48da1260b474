"""Tools that change something at the service; each asks the user first, unless the user allowed it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve

from foldnote.client.inputs.file_values import name_uploads
from foldnote.errors import ToolUnavailableError
from foldnote.mcp.answers import describe_job
from foldnote.mcp.consent import Consent, lower_limit
from foldnote.mcp.session import Session, find_session, in_sentences
from foldnote.text import format_size

_SHOWN = 600
"""Maximum length of the settings shown in a question, in characters."""


@in_sentences
async def ask_to_submit(
    context: Context, tool: str, settings: dict[str, Any], job_name: str = ""
) -> Consent | Elicit[Consent]:
    """Ask whether to submit, with the estimate; a job that exists already needs no consent.

    Raises:
        ToolUnavailableError: the service cannot run the tool; the user is not asked.
    """
    session = find_session(context)
    known = await session.client.tools.get(tool)
    found = await session.client.jobs.quote(known, name_uploads(known, settings), job_name=job_name or None)
    if found.existing is not None:
        return Consent(agree=True)
    if not known.available:
        raise ToolUnavailableError(f"{known.type} cannot run here. {known.unavailable_reason or ''}".rstrip())
    text = json.dumps(settings, ensure_ascii=False)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} … ({len(text):,} characters)"
    estimate = "; ".join(f"{name}: {told.rstrip('.')}" for name, told in found.summary().items())
    question = f"Submit a job of {known.label} to {session.client.service}? {estimate}. Settings: {shown}"
    return session.permissions.ask(context, "submit", question)


@in_sentences
async def submit(
    context: Context,
    consent: Annotated[ElicitationResult[Consent], Resolve(ask_to_submit)],
    tool: str,
    settings: dict[str, Any],
    job_name: str = "",
    label: str = "",
    max_runtime_s: float | None = None,
    max_weighted_hours: float | None = None,
) -> dict[str, Any]:
    """Submit a job, after the user's consent; the same submission returns the job that is there already.

    A file setting is the file's text, the name of an upload, or "job name/path in its result". A job whose
    estimate is above a limit is not submitted. watch_job waits for it.
    """
    _require(consent, "submitted")
    session = find_session(context)
    limits = session.permissions
    known = await session.client.tools.get(tool)
    values = name_uploads(known, settings)
    before = await session.client.jobs.quote(known, values, job_name=job_name or None)
    with limits.count_job() if before.existing is None else nullcontext():
        job = await session.client.jobs.submit(
            known,
            values,
            job_name=job_name or None,
            label=label or None,
            max_runtime_s=lower_limit(max_runtime_s, limits.max_runtime_s),
            weighted_hours_budget=lower_limit(max_weighted_hours, limits.max_weighted_hours),
        )
    return describe_job(job.record, job.label) | {"was_there_already": before.existing is not None}


@in_sentences
async def ask_to_stop(context: Context, job_name: str) -> Consent | Elicit[Consent]:
    """Ask whether to stop a job; one that has ended is unchanged and needs no consent."""
    job = await find_session(context).client.jobs.get(job_name)
    if job.is_final:
        return Consent(agree=True)
    return find_session(context).permissions.ask(context, "stop", f"Stop {job_name} ({job.record.word})?")


@in_sentences
async def stop_job(
    context: Context, consent: Annotated[ElicitationResult[Consent], Resolve(ask_to_stop)], job_name: str
) -> dict[str, Any]:
    """Stop a job, or all unfinished jobs of a batch, after the user's consent."""
    _require(consent, "stopped")
    client = find_session(context).client
    await client.jobs.stop(job_name)
    return describe_job((await client.jobs.get(job_name)).record)


@in_sentences
async def ask_to_delete(context: Context, job_name: str) -> Consent | Elicit[Consent]:
    """Ask whether to delete a job."""
    job = await find_session(context).client.jobs.get(job_name)
    question = f"Delete {job_name} ({job.record.word}) and its result? This cannot be undone."
    return find_session(context).permissions.ask(context, "delete", question)


@in_sentences
async def delete_job(
    context: Context, consent: Annotated[ElicitationResult[Consent], Resolve(ask_to_delete)], job_name: str
) -> dict[str, Any]:
    """Delete a job with its result, after the user's consent."""
    _require(consent, "deleted")
    await find_session(context).client.jobs.delete(job_name)
    return {"deleted": job_name}


@in_sentences
async def ask_to_upload(context: Context, name: str, text: str) -> Consent | Elicit[Consent]:
    """Ask whether to upload a text."""
    session = find_session(context)
    size = format_size(len(text.encode()))
    question = (
        f"Upload {name} ({size}) to {session.client.service}? An existing file of this name is replaced."
    )
    return session.permissions.ask(context, "upload", question)


@in_sentences
async def upload_text(
    context: Context,
    consent: Annotated[ElicitationResult[Consent], Resolve(ask_to_upload)],
    name: str,
    text: str,
) -> dict[str, Any]:
    """Upload a text as a file of the account, after consent; returns the value for a file setting."""
    _require(consent, "uploaded")
    return {"uploaded": str(await find_session(context).client.files.upload(text.encode(), name))}


@in_sentences
async def ask_to_upload_file(context: Context, path: str) -> Consent | Elicit[Consent]:
    """Ask whether to upload a file of the folder that the user named; any other is refused without asking."""
    session = find_session(context)
    _find_file(session, path)
    question = f"Upload {path} to {session.client.service}? An existing file of this name is replaced."
    return session.permissions.ask(context, "upload", question)


@in_sentences
async def upload_file(
    context: Context, consent: Annotated[ElicitationResult[Consent], Resolve(ask_to_upload_file)], path: str
) -> dict[str, Any]:
    """Upload a file of the folder that the user named at the start, after consent.

    path: relative to that folder. Returns the value for a file setting.

    Raises:
        ToolError: no folder was named, or it has no such file.
    """
    _require(consent, "uploaded")
    session = find_session(context)
    return {"uploaded": str(await session.client.files.upload(_find_file(session, path)))}


def _find_file(session: Session, path: str) -> Path:
    if session.folder is None:
        raise ToolError("No folder is open. The user can start the server as `foldnote mcp --folder FOLDER`.")
    found = (session.folder / path).resolve()
    if not found.is_relative_to(session.folder.resolve()) or not found.is_file():
        raise ToolError(f"The folder that the user named has no file {path!r}.")
    return found


def _require(consent: Any, done: str) -> None:
    if not isinstance(consent, AcceptedElicitation) or not consent.data.agree:
        raise ToolError(f"The user did not agree; nothing was {done}.")


TOOLS = (submit, stop_job, delete_job, upload_text, upload_file)
"""All tools of this module, in the order of registration."""
