"""Commands about existing jobs: list, watch, wait for, stop and delete them, and read their logs.

The actions of ``foldnote jobs`` on notes, tags and old jobs are in ``job_upkeep``.
"""

from __future__ import annotations

import argparse
import getpass
import shutil
import sys
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from foldnote.cli.connection import add_connection, add_name, add_names, complete_jobs, connect, set_completer
from foldnote.cli.exit_codes import Exit
from foldnote.cli.job_upkeep import ACTIONS, run_upkeep
from foldnote.cli.printing import (
    find_columns,
    format_table,
    print_json,
    print_message,
    report,
    report_change,
    show,
    state_of,
)
from foldnote.errors import ArgumentError
from foldnote.number_arguments import read_positive, read_seconds
from foldnote.text import format_duration, format_local_time, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldnote.client import Client
    from foldnote.models import Job

_TITLES = ("JOB", "TOOL", "STATUS", "CREATED", "TOOK", "REASON")
_TO_MINUTES = len("2026-11-01 01:30")
"""Part of a time that a terminal shows, so that a row fits in 80 characters."""


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``jobs``."""
    parser.add_argument("action", choices=("list", *ACTIONS), nargs="?", default="list",
                        help="list (default); note, tag and untag a job; purge old jobs")  # fmt: skip
    set_completer(parser.add_argument("name", nargs="?", help="for note, tag, untag: the job"), complete_jobs)
    parser.add_argument("words", nargs="*", metavar="text", help="the note, or tags; none: print them")
    parser.add_argument("--older-than", metavar="AGE", help="for purge: 12h, 30d or 4w since a job ended")
    parser.add_argument("--yes", action="store_true", help="for purge: do not ask for confirmation")
    parser.add_argument("--limit", type=read_positive, default=30, help="number of jobs (default 30)")
    set_completer(parser.add_argument("--batch", help="list the jobs of this batch"), complete_jobs)
    parser.add_argument("--watch", action="store_true", help="update the table until all jobs have ended")
    parser.add_argument("--interval", type=read_seconds, default=2.0, metavar="SECONDS",
                        help="with --watch: minimum interval (default 2)")  # fmt: skip
    add_connection(parser)


def run_jobs(options: argparse.Namespace) -> int:
    """List jobs; with ``--watch``, keep updating until all have ended.

    Raises:
        ArgumentError: a job is named for `list`.
    """
    if options.action != "list":
        return run_upkeep(options)
    if options.name is not None:
        raise ArgumentError("`foldnote jobs list` takes no name; --batch BATCH lists the jobs of a batch.")
    client = connect(options)
    if options.watch:
        return _show_live(client, options)
    page = client.jobs.list(limit=options.limit, batch=options.batch).page
    if options.json:
        print_json([job.to_wire() for job in page.jobs])
        return Exit.DONE
    show(_tabulate(page.jobs, find_columns()))
    if page.start_key:
        print_message("There are more jobs; --limit shows them.")
    return Exit.DONE


def _show_live(client: Client, options: argparse.Namespace) -> int:
    """Show a live table in a terminal; elsewhere, or with ``--json``, one line per change."""
    shown_jobs: dict[str, Job] = {}
    drawn_lines = 0
    is_live = sys.stdout.isatty() and not options.json
    while True:
        jobs = client.jobs.list(limit=options.limit, batch=options.batch).page.jobs
        changed = [job for job in jobs if shown_jobs.get(job.job_name) != job]
        shown_jobs |= {job.job_name: job for job in jobs}
        if is_live:
            drawn_lines = _redraw(_tabulate(jobs, find_columns()).splitlines(), drawn_lines)
        for job in reversed(changed if not is_live else []):
            print_json(job.to_wire()) if options.json else show(_line(job))
        sys.stdout.flush()
        if all(job.is_final for job in jobs):
            return Exit.DONE
        time.sleep(max(0.2, options.interval))


def _redraw(lines: Sequence[str], drawn_lines: int) -> int:
    """Draw a table over the previous one; returns its number of lines."""
    size = shutil.get_terminal_size()
    drawn = [line[: size.columns - 1] for line in lines[: size.lines - 1]]
    up = f"\x1b[{drawn_lines}F" if drawn_lines else ""
    sys.stdout.write(up + "".join(f"\x1b[2K{line}\n" for line in drawn) + "\x1b[J")
    return len(drawn)


def _tabulate(jobs: Sequence[Job], columns: int | None = None) -> str:
    return format_table(_TITLES, [_row(job, in_minutes=columns is not None) for job in jobs], columns)


def _row(job: Job, *, in_minutes: bool) -> tuple[str, ...]:
    took = format_duration(job.duration_s) if job.duration_s is not None else ""
    created = format_local_time(job.created)
    return (
        job.job_name,
        job.tool_type,
        state_of(job),
        created[:_TO_MINUTES] if in_minutes else created,
        took,
        " ".join((job.error or "").split()),
    )


def _line(job: Job) -> str:
    moment = datetime.now(UTC).astimezone().strftime("%H:%M:%S")
    message = " ".join((job.error or job.message or "").split())
    return f"{moment}  {job.job_name}  {job.tool_type}  {state_of(job)}  {message}".rstrip()


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``wait``."""
    parser.add_argument(
        "--timeout",
        type=read_seconds,
        metavar="SECONDS",
        help="stop waiting after this time; the jobs continue",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_names(parser)


def run_wait(options: argparse.Namespace) -> int:
    """Wait until jobs have ended; the exit code reports whether any failed or was stopped."""
    client = connect(options)
    note = None if options.quiet else report_change
    if len(options.names) == 1:
        ended = [client.jobs.finish(options.names[0], options.timeout, note)]
    else:
        handles = client.jobs.wait(options.names, options.timeout, note)
        ended = [handles[name].record for name in dict.fromkeys(options.names)]
    print_jobs(ended, options)
    return Exit.DONE if all(has_succeeded(job) for job in ended) else Exit.JOB_FAILED


def add_watch(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``watch``."""
    names = parser.add_argument(
        "names", nargs="*", metavar="name", help="names of jobs and batches (default: all unfinished ones)"
    )
    set_completer(names, complete_jobs)
    parser.add_argument(
        "--then", metavar="COMMAND", help="program to run when a job has ended, without a shell"
    )
    parser.add_argument(
        "--mail",
        metavar="ADDRESS",
        help="send an email when a job has ended, through the mail server in [mail] of config.toml",
    )
    parser.add_argument(
        "--timeout",
        type=read_seconds,
        metavar="SECONDS",
        help="stop watching after this time; the jobs continue",
    )
    add_connection(parser)


def run_watch(options: argparse.Namespace) -> int:
    """Run a command or send a mail at the end of each job; the exit code is that of ``wait``.

    Raises:
        ArgumentError: neither is given, there is no such program, or the address is invalid.
    """
    from foldnote.client.watching.end_command import read_command, run_at_end

    command = read_command(options.then) if options.then else ()
    send = prepare_mail(options.mail) if options.mail else None
    if not command and send is None:
        raise ArgumentError("Say what to do when a job has ended: --then COMMAND or --mail ADDRESS.")
    client = connect(options)
    names = options.names or [job.job_name for job in client.jobs.list(limit=1000) if not job.is_final]
    ended: list[Job] = []
    for handle in client.jobs.as_completed(names, options.timeout) if names else ():
        job, label = handle.record, handle.label
        ended.append(job)
        print_message(f"{handle.job_name}: {state_of(job)}")
        faults = (
            run_at_end(command, job, label) if command else "",
            send(job, label) if send is not None else "",
        )
        for fault in filter(None, faults):
            print_message(fault)
    print_jobs(ended, options)
    return Exit.DONE if all(has_succeeded(job) for job in ended) else Exit.JOB_FAILED


def prepare_mail(receiver: str) -> Callable[[Job, str], str]:
    """Return the function that sends the mails, after checking that the mail server accepts the user."""
    from pydantic import SecretStr

    from foldnote import settings
    from foldnote.client.watching.end_mail import check_address, check_login, read_account, send_at_end

    check_address(receiver)
    section, password = settings.config_section("mail"), settings.mail_password()
    if section.get("user") and password is None and sys.stdin.isatty():
        typed = getpass.getpass(f"Password of {section['user']} at {section.get('server')}: ")
        password = SecretStr(typed) if typed else None
    account = read_account(section, password)
    check_login(account)
    return partial(send_at_end, account, receiver)


def has_succeeded(job: Job) -> bool:
    """Return whether an ended job is complete; for a batch, whether it has its archive."""
    from foldnote.models import BatchStatus, JobStatus

    return job.status is JobStatus.COMPLETE and job.batch_status in (None, BatchStatus.COMPLETE)


def add_log(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``logs``."""
    parser.add_argument(
        "--lines", type=read_positive, default=200, help="number of lines from the end (default 200)"
    )
    parser.add_argument("--follow", "-f", action="store_true", help="follow the log until the job has ended")
    add_name(parser)


def run_log(options: argparse.Namespace) -> int:
    """Print the end of a log, or follow it; with ``--json``, print it once at the end."""
    jobs = connect(options).jobs
    if not options.follow:
        text = jobs.logs(options.name, options.lines)
        if not text.strip() and not options.json:
            print_message(f"The log of {options.name} is empty.")
            return Exit.DONE
        return report(options, {"log": text}, text.rstrip("\n"))
    parts = []
    for part in jobs.follow_log(options.name, options.lines):
        parts.append(part)
        if not options.json:
            sys.stdout.write(visible(part))
            sys.stdout.flush()
    if options.json:
        print_json({"log": "".join(parts)})
    return Exit.DONE if has_succeeded(jobs.get(options.name).record) else Exit.JOB_FAILED


def run_stop(options: argparse.Namespace) -> int:
    """Stop jobs."""
    client = connect(options)
    stopped = []
    for name in options.names:
        client.jobs.stop(name)
        stopped.append(client.jobs.get(name).record)
    print_jobs(stopped, options)
    return Exit.DONE


def run_delete(options: argparse.Namespace) -> int:
    """Delete jobs."""
    client = connect(options)
    for name in options.names:
        client.jobs.delete(name)
        if not options.json:
            show(f"{name} was deleted.")
    if options.json:
        print_json({"deleted": options.names})
    return Exit.DONE


def print_jobs(jobs: Sequence[Job], options: argparse.Namespace) -> None:
    """Print jobs, one per line or as a JSON array."""
    lines = [f"{job.job_name}: {state_of(job)}{f'  {job.error}' if job.error else ''}" for job in jobs]
    report(options, [job.to_wire() for job in jobs], "\n".join(lines))
