"""Actions of the command ``jobs`` on recorded jobs: notes, tags, and the deletion of old ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from foldnote.cli.connection import connect
from foldnote.cli.printing import confirm, format_table, print_message, report, state_of
from foldnote.errors import ArgumentError
from foldnote.text import count, format_local_time

if TYPE_CHECKING:
    from foldnote.client import JobHandle

_TITLES = ("JOB", "TOOL", "STATUS", "ENDED", "LABEL")


def run_upkeep(options: argparse.Namespace) -> int:
    """Run one of the actions.

    Raises:
        ArgumentError: no job is named.
    """
    if options.action != "purge" and not options.name:
        raise ArgumentError(f"Name the job: foldnote jobs {options.action} NAME")
    return ACTIONS[options.action](options)


def _note(options: argparse.Namespace) -> int:
    """Write a note; without a text, print the note."""
    job = connect(options).jobs.get(options.name)
    if options.words:
        job.note(" ".join(options.words))
    return _report(options, job, job.notes)


def _tag(options: argparse.Namespace) -> int:
    """Add tags; without any, print the tags."""
    job = connect(options).jobs.get(options.name)
    job.tag(*options.words)
    return _report(options, job, ", ".join(job.tags))


def _untag(options: argparse.Namespace) -> int:
    job = connect(options).jobs.get(options.name)
    job.untag(*options.words)
    return _report(options, job, ", ".join(job.tags))


def _report(options: argparse.Namespace, job: JobHandle, text: str) -> int:
    return report(options, {"jobName": job.job_name, "note": job.notes, "tags": list(job.tags)}, text)


def _purge(options: argparse.Namespace) -> int:
    """Delete the jobs that ended longer ago, after showing them.

    Raises:
        ArgumentError: no age is given, the user declined, or standard input is not a terminal.
    """
    if not options.older_than or options.name:
        raise ArgumentError("Say which jobs: foldnote jobs purge --older-than 30d")
    jobs = connect(options).jobs
    old = jobs.list_older(options.older_than)
    if not old:
        return report(options, {"deleted": []}, f"No job ended more than {options.older_than} ago.")
    rows = [
        (
            job.job_name,
            job.tool_type,
            state_of(job),
            format_local_time(job.completed or job.created),
            job.label,
        )
        for job in old.page.jobs
    ]
    print_message(format_table(_TITLES, rows))
    _confirm(f"Delete {count(len(old), 'job')} with their results?", is_allowed=options.yes)
    deleted: Sequence[str] = jobs.purge(old)
    return report(options, {"deleted": list(deleted)}, f"Deleted: {count(len(deleted), 'job')}.")


def _confirm(question: str, *, is_allowed: bool) -> None:
    if is_allowed:
        return
    if not sys.stdin.isatty():
        raise ArgumentError("Nothing was deleted. Add --yes to delete them without confirmation.")
    if not confirm(question):
        raise ArgumentError("Nothing was deleted.")


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "note": _note,
    "tag": _tag,
    "untag": _untag,
    "purge": _purge,
}
