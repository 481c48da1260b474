"""Run the user's own command when a job has ended, such as one that sends a mail or a message.

The command is a program with arguments; no shell reads it. The job's data is passed in environment variables
and, as JSON, on standard input, never in arguments.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence

from foldnote import settings
from foldnote.errors import ArgumentError
from foldnote.models import Job

TIMEOUT_S = 600.0
"""Timeout of the command in seconds."""
_SHOWN = 500


def read_command(text: str) -> tuple[str, ...]:
    """Split a command line into program and arguments, with quotes as in a shell.

    Raises:
        ArgumentError: a quote is not closed, or there is no such program.
    """
    try:
        words = shlex.split(text)
    except ValueError as exc:
        raise ArgumentError(f"The command {text!r} cannot be read: {exc}.") from exc
    if not words or shutil.which(words[0]) is None:
        named = repr(words[0]) if words else "empty"
        raise ArgumentError(
            f"There is no program {named} to run. It is run without a shell; for pipes write"
            " --then 'sh -c \"…\"' or a script."
        )
    return tuple(words)


def run_at_end(command: Sequence[str], job: Job, label: str = "") -> str:
    """Run the command for a job that has ended; returns an error message, empty on success.

    The command's environment does not contain the key of a service.

    Args:
        command: program and arguments.
        job: the job's record, which the command reads as JSON from its standard input.
        label: the job's label.
    """
    about = {
        "FOLDNOTE_JOB_NAME": job.job_name,
        "FOLDNOTE_JOB_TOOL": job.tool_type,
        "FOLDNOTE_JOB_STATUS": job.word,
        "FOLDNOTE_JOB_LABEL": label,
        "FOLDNOTE_JOB_ERROR": job.error or "",
    }
    environment = settings.process_environment() | {
        name: value.replace("\0", "").encode("utf-8", "replace").decode() for name, value in about.items()
    }
    content = json.dumps(job.to_wire() | {"label": label})
    try:
        done = subprocess.run(
            command,
            input=content.encode(),
            env=environment,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        reason = "took too long" if isinstance(exc, subprocess.TimeoutExpired) else f"could not start ({exc})"
        return f"The command for {job.job_name} {reason}."
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip()[-_SHOWN:]
    return f"The command for {job.job_name} ended with {done.returncode}{': ' if said else '.'}{said}"
