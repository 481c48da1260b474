"""Administration of a service: organizations, members, budgets, keys, old jobs, tools, backup and restore.

The commands work directly on the data folder; a running service sees changes within seconds. Only a restore
requires the service to be stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from foldnote import settings
from foldnote.argument_parser import JsonErrorParser
from foldnote.errors import FoldnoteError
from foldnote.number_arguments import MAX_DAYS, read_amount, read_rate, read_up_to
from foldnote.service.admin.data_folder import back_up, check, move, move_contents, restore
from foldnote.service.admin.members import (
    add_member,
    add_organization,
    issue_key,
    list_organizations,
    move_account,
    remove_member,
    revoke_keys,
    set_budget,
)
from foldnote.service.admin.old_jobs import purge
from foldnote.service.admin.opening import Report, use_store
from foldnote.service.admin.registered_tools import list_tools, remove_tool
from foldnote.service.admin.running_service import drain, resume, show_service_key, show_status
from foldnote.service.options import BAD_INPUT, BROKEN
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.store import Store
from foldnote.text import visible

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


COMMANDS: tuple[tuple[str, str, Callable[[Store, argparse.Namespace], Report], tuple[str, ...]], ...] = (
    ("add-organization", "Create an organization.", add_organization, ("name",)),
    ("organizations", "List organizations with members and budgets.", list_organizations, ()),
    ("set-budget", "Set the weighted hours of an organization per month.", set_budget, ("name", "hours")),
    ("add-member", "Add an account to an organization.", add_member, ("name", "email")),
    ("remove-member", "Remove an account from its organization.", remove_member, ("email",)),
    ("issue-key", "Issue a key for an account and print it.", issue_key, ("email", "--days", "--admin")),
    ("revoke-keys", "Revoke a key, or all keys of an account.", revoke_keys, ("which",)),
    ("move-account", "Move all data of an account to another.", move_account, ("email", "target")),
    ("purge", "Show which old or large jobs would be removed; delete them with --apply.", purge,
     ("--older-than-days", "--larger-than-mb", "--keep-mb", "--account", "--apply")),
    ("tools", "List registered tools.", list_tools, ()),
    ("remove-tool", "Remove a registered tool.", remove_tool, ("type",)),
)  # fmt: skip
"""Name, help, function and arguments of each command that uses the database."""
FOLDER_COMMANDS: tuple[
    tuple[str, str, Callable[[Path, argparse.Namespace], Report], tuple[str, ...]], ...
] = (
    ("status", "Show unfinished jobs, draining, free disk space and GPUs.", show_status, ()),
    ("service-key", "Print the service's own key, which may administer it.", show_service_key, ()),
    ("drain", "Take and start no new jobs, before the service is stopped.", drain, ("--wait",)),
    ("resume", "Undo drain.", resume, ()),
    ("backup", "Back up the service to a new folder.", back_up, ("backup",)),
    ("check-backup", "Verify a backup by its hashes.", check, ("backup",)),
    ("restore", "Restore a stopped service from a backup.", restore, ("backup", "--replace")),
    ("move-to-postgresql", "Move a stopped service's database to PostgreSQL.", move, ()),
    ("move-to-bucket", "Move a stopped service's contents to an object store.", move_contents, ()),
)
"""Commands that use the whole data folder, in the same form."""


def _read_hours(text: str) -> float | None:
    """Parse a number of weighted hours, or `none`."""
    if text == "none":
        return None
    return read_amount(text)


def _read_email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as name@lab.org")
    return text


_ARGUMENTS: dict[str, dict[str, Any]] = {
    "name": {"help": "name of the organization"},
    "hours": {"type": _read_hours, "help": "weighted hours, or none for no limit"},
    "email": {"type": _read_email, "help": "address of the account"},
    "target": {"type": _read_email, "help": "address of the account that receives it"},
    "type": {"help": "type of the tool, as `tools` lists it"},
    "which": {"help": "the key itself, or the address of an account"},
    "--days": {"type": read_up_to(read_rate, MAX_DAYS), "help": "days until it expires (default: never)"},
    "backup": {"type": Path, "help": "folder of the backup"},
    "--replace": {
        "action": "store_true",
        "help": "replace existing data, which is kept in a folder beside it",
    },
    "--older-than-days": {
        "type": read_up_to(read_amount, MAX_DAYS),
        "metavar": "N",
        "help": "jobs that ended more than this many days ago",
    },
    "--larger-than-mb": {
        "type": read_up_to(read_amount),
        "metavar": "N",
        "help": "jobs, batches as a whole, that store at least this much (2**20 bytes)",
    },
    "--keep-mb": {
        "type": read_up_to(read_amount),
        "metavar": "N",
        "help": "the oldest jobs of each account that stores more than this, until it does not",
    },
    "--account": {"type": _read_email, "metavar": "EMAIL", "help": "jobs of this account only"},
    "--apply": {"action": "store_true", "help": "delete the jobs instead of showing them"},
    "--wait": {"action": "store_true", "help": "return when nothing runs"},
    "--admin": {"action": "store_true", "help": "let the key administer the service"},
}


_GENERAL: dict[str, dict[str, Any]] = {
    "--data-dir": {"type": Path, "help": "folder of the service (default: that of foldnote serve)"},
    "--embedded": {
        "action": "store_true",
        "help": "this user's embedded service, instead of --data-dir",
    },
    "--json": {"action": "store_true", "help": "print JSON"},
}
"""Options of all commands, accepted before and after a command."""


def _add_arguments(parser: JsonErrorParser) -> None:
    for option, more in _GENERAL.items():
        parser.add_argument(option, **more)
    commands = parser.add_subparsers(dest="admin_command", required=True, metavar="COMMAND")
    for name, sentence, function, arguments in COMMANDS:
        command = _add_command(commands, name, sentence, arguments)
        command.as_json = parser.as_json
        command.set_defaults(administer=lambda folder, given, do=function: use_store(folder, given, do))
    for name, sentence, act, arguments in FOLDER_COMMANDS:
        command = _add_command(commands, name, sentence, arguments)
        command.as_json = parser.as_json
        command.set_defaults(administer=act)


def _add_command(commands: Any, name: str, sentence: str, arguments: Sequence[str]) -> JsonErrorParser:
    command: JsonErrorParser = commands.add_parser(name, help=sentence, description=sentence)
    for argument in arguments:
        command.add_argument(argument, **_ARGUMENTS[argument])
    for option, more in _GENERAL.items():  # an option that is not given here keeps its earlier value
        command.add_argument(option, **more, default=argparse.SUPPRESS)
    return command


def run_admin(options: argparse.Namespace) -> int:
    """Run the command and print its report; return the exit status."""
    folder: Path = options.data_dir or settings.data_dir() / ("service" if options.embedded else "server")
    try:
        report, code = options.administer(folder, options), 0
    except (FoldnoteError, StorageFaultError) as exc:
        code, kind = (BAD_INPUT, "bad_input") if isinstance(exc, FoldnoteError) else (BROKEN, "broken")
        report = {"error": {"kind": kind, "exit": code, "message": str(exc)}}
        sys.stderr.write(f"{visible(str(exc))}\n")
    text = json.dumps(report) if options.json else visible(str(report.get("message", "")))
    sys.stdout.write(f"{text}\n" if text else "")
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `foldnote admin`; return the exit status."""
    os.umask(0o077)  # all files are private to this user
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = JsonErrorParser(prog="foldnote admin", description="Administer a job service.")
    parser.as_json = "--json" in given
    _add_arguments(parser)
    return run_admin(parser.parse_args(given))
