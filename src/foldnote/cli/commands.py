"""The table of commands: name, one sentence, its arguments, and what runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from foldnote.cli import accounts, files, jobs, machine, profiles, results, submitting, tools
from foldnote.cli.connection import add_connection, add_names


@dataclass(frozen=True)
class Command:
    """One row: ``foldnote NAME``.

    Attributes:
        name: what is typed.
        help: one sentence.
        add_arguments: declares its arguments and options.
        run: what it does; gives the exit code.
        aliases: other names.
        reads_arguments: whether ``run`` parses the rest of the command line itself, as ``arguments``.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    aliases: tuple[str, ...] = ()
    reads_arguments: bool = False


COMMANDS: tuple[Command, ...] = (
    Command("lab", "Open JupyterLab with foldnote in it.", machine.add_rest, machine.run_lab,
            reads_arguments=True),
    Command("serve", "Run the job service in the foreground.", machine.add_rest, machine.run_serve,
            reads_arguments=True),
    Command("admin", "Manage a service: members, keys, budgets, registered tools, backup and restore.",
            machine.add_rest, machine.run_admin, reads_arguments=True),
    Command("engines", "List, install or remove the engines of this machine.", machine.add_engines,
            machine.run_engines),
    Command("doctor", "Say what works here, and what to do where something does not.", machine.add_json,
            machine.run_doctor),
    Command("profile", "List, add, choose, test or remove services, or store a key.", profiles.add_profile,
            profiles.run_profile),
    Command("account", "Say what is known of the account: trial, jobs left, claim link.", add_connection,
            accounts.run_account),
    Command("provision", "Ask the service for a trial key, once, and keep it.", add_connection,
            accounts.run_provision),
    Command("tools", "List the tools of the connected service.", tools.add_tools, tools.run_tools),
    Command("schema", "Show what a tool takes.", tools.add_schema, tools.run_schema),
    Command("example", "Print settings of a tool that are valid as they stand.", tools.add_example,
            tools.run_example),
    Command("validate", "Judge settings; nothing is submitted.", tools.add_validate, tools.run_validate),
    Command("submit", "Submit a job, once.", submitting.add_submit, submitting.run_submit),
    Command("batch", "Submit a job for each row of a table, or preview or retry that.", submitting.add_batch,
            submitting.run_batch),
    Command("jobs", "List jobs, newest first, or watch them.", jobs.add_jobs, jobs.run_jobs),
    Command("wait", "Wait until jobs are finished.", jobs.add_wait, jobs.run_wait),
    Command("results", "Fetch the result of a job.", results.add_results, results.run_results),
    Command("logs", "Print what a job's tool wrote, or follow it.", jobs.add_log, jobs.run_log, ("log",)),
    Command("stop", "Stop jobs.", add_names, jobs.run_stop),
    Command("delete", "Delete jobs and their results.", add_names, jobs.run_delete),
    Command("files", "List, upload or delete files of the account.", files.add_files, files.run_files),
    Command("completion", "Print what a shell needs to complete these commands.",
            machine.add_completion, machine.run_completion),
)  # fmt: skip
