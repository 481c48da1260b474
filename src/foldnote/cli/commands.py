"""The table of commands: name, one sentence, its arguments, and what runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from foldnote.cli import jobs, machine


@dataclass(frozen=True)
class Command:
    """One row: ``foldnote NAME``."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


COMMANDS: tuple[Command, ...] = (
    Command("lab", "Open JupyterLab with foldnote in it.", machine.add_lab, machine.run_lab),
    Command("serve", "Run the job service in the foreground.", machine.add_serve, machine.run_serve),
    Command("engines", "List, install or remove the engines of this machine.", machine.add_engines,
            machine.run_engines),
    Command("doctor", "Say what works here, and what to do where something does not.", machine.add_json,
            machine.run_doctor),
    Command("profile", "List services, add one, or store the key for one.", machine.add_profile,
            machine.run_profile),
    Command("tools", "List the tools of the connected service.", jobs.add_tools, jobs.run_tools),
    Command("submit", "Submit a job, once.", jobs.add_submit, jobs.run_submit),
    Command("jobs", "List jobs, newest first.", jobs.add_jobs, jobs.run_jobs),
    Command("wait", "Wait until a job is finished.", jobs.add_wait, jobs.run_wait),
    Command("results", "Fetch the result of a job.", jobs.add_results, jobs.run_results),
    Command("log", "Print what a job's tool wrote.", jobs.add_log, jobs.run_log),
    Command("stop", "Stop a job.", jobs.add_name, jobs.run_stop),
    Command("delete", "Delete a job and its result.", jobs.add_name, jobs.run_delete),
)  # fmt: skip
