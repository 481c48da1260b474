"""The table of commands: name, help, arguments, and the function that runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from foldnote.cli import (
    accounts,
    assistants,
    files,
    jobs,
    machine,
    profiles,
    results,
    sharing,
    submitting,
    tools,
)
from foldnote.cli.connection import add_connection, add_names


@dataclass(frozen=True)
class Command:
    """One row: ``foldnote NAME``.

    Attributes:
        name: name on the command line.
        help: one-sentence description.
        add_arguments: declares its arguments and options.
        run: runs the command; returns the exit code.
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
    Command("lab", "Start JupyterLab with foldnote.", machine.add_rest, machine.run_lab,
            reads_arguments=True),
    Command("serve", "Run the job service in the foreground.", machine.add_rest, machine.run_serve,
            reads_arguments=True),
    Command("admin", "Manage a service: members, keys, budgets, registered tools, backup and restore.",
            machine.add_rest, machine.run_admin, reads_arguments=True),
    Command("engines", "List, install, check or remove the engines of this machine.", machine.add_engines,
            machine.run_engines),
    Command("mcp", "Serve an assistant over the Model Context Protocol.", assistants.add_mcp,
            assistants.run_mcp),
    Command("doctor", "Check the installation, and explain how to fix problems.", machine.add_json,
            machine.run_doctor),
    Command("profile", "List, add, choose, test or remove services, or store a key.", profiles.add_profile,
            profiles.run_profile),
    Command("account", "Show the account: trial, jobs left, claim link.", add_connection,
            accounts.run_account),
    Command("provision", "Request a trial key from the service, once, and store it.", add_connection,
            accounts.run_provision),
    Command("webhook", "Show or set the address that the service calls when jobs end.",
            accounts.add_webhook, accounts.run_webhook),
    Command("tools", "List the tools of the connected service.", tools.add_tools, tools.run_tools),
    Command("schema", "Show the settings of a tool.", tools.add_schema, tools.run_schema),
    Command("example", "Print valid example settings of a tool.", tools.add_example,
            tools.run_example),
    Command("validate", "Validate settings without submitting.", tools.add_validate, tools.run_validate),
    Command("submit", "Submit a job, unless it was submitted before.", submitting.add_submit,
            submitting.run_submit),
    Command("batch", "Submit, preview or retry a batch: one job per row of a table.",
            submitting.add_batch, submitting.run_batch),
    Command("jobs", "List jobs, newest first, or watch them.", jobs.add_jobs, jobs.run_jobs),
    Command("wait", "Wait until jobs have ended.", jobs.add_wait, jobs.run_wait),
    Command("watch", "Run a command or send an email when jobs have ended.", jobs.add_watch,
            jobs.run_watch),
    Command("results", "Download the result of a job.", results.add_results, results.run_results),
    Command("share", "Create a link to a job for a colleague; list, revoke or open links.",
            sharing.add_share, sharing.run_share),
    Command("logs", "Print or follow the log of a job.", jobs.add_log, jobs.run_log, ("log",)),
    Command("stop", "Stop jobs.", add_names, jobs.run_stop),
    Command("delete", "Delete jobs and their results.", add_names, jobs.run_delete),
    Command("files", "List, upload or delete files of the account.", files.add_files, files.run_files),
    Command("completion", "Print the completion script for a shell.",
            machine.add_completion, machine.run_completion),
)  # fmt: skip
