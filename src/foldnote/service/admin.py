"""The administration of a service: organizations, members, budgets, keys and tools, backup and restore.

It works on the data folder, beside a running service, which sees a change within seconds. Only a restore
needs the service to be stopped. It answers no request and starts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from foldnote import settings
from foldnote.errors import ConfigurationError, FoldnoteError
from foldnote.service.backups.contents import Backup, check_backup
from foldnote.service.backups.making import make_backup
from foldnote.service.backups.restoring import restore_backup
from foldnote.service.backups.swapping import require_whole
from foldnote.service.domain.access.keys import hash_key, make_key
from foldnote.service.layout import DATABASE
from foldnote.service.options import read_amount, read_rate
from foldnote.service.store import clock
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.store import Store

Report = dict[str, Any]
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


def add_organization(store: Store, options: argparse.Namespace) -> Report:
    """Make an organization.

    Raises:
        ConfigurationError: there is one of this name.
    """
    if not store.organizations.add(options.name):
        raise ConfigurationError(f"There is an organization {options.name!r} already.")
    return {"message": f"The organization {options.name} is made.", "name": options.name}


def list_organizations(store: Store, _: argparse.Namespace) -> Report:
    """Every organization with its members, its budget and what it spent this month."""
    rows = store.organizations.list()
    lines = [
        f"{row.name}: {len(row.members)} members, {row.spent:g} of"
        f" {'unlimited' if row.budget is None else f'{row.budget:g}'} weighted hours this month"
        + "".join(f"\n  {email}" for email in row.members)
        for row in rows
    ]
    message = "\n".join(lines) or "There are no organizations."
    return {"message": message, "organizations": [asdict(row) for row in rows]}


def set_budget(store: Store, options: argparse.Namespace) -> Report:
    """Set the weighted hours that an organization's members may use in a calendar month.

    Raises:
        ConfigurationError: there is no such organization.
    """
    if not store.organizations.set_budget(options.name, options.hours):
        raise ConfigurationError(f"There is no organization {options.name!r}.")
    shown = "no budget" if options.hours is None else f"{options.hours:g} weighted hours a month"
    return {"message": f"{options.name} has {shown}.", "name": options.name, "budget": options.hours}


def add_member(store: Store, options: argparse.Namespace) -> Report:
    """Put an account into an organization; one that does not exist yet is made.

    Raises:
        ConfigurationError: there is no such organization.
    """
    store.accounts.ensure_account(options.email)
    if not store.organizations.add_member(options.name, options.email):
        raise ConfigurationError(f"There is no organization {options.name!r}.")
    return {"message": f"{options.email} is a member of {options.name}.", "email": options.email}


def remove_member(store: Store, options: argparse.Namespace) -> Report:
    """Take an account out of its organization.

    Raises:
        ConfigurationError: it is in none.
    """
    if not store.organizations.remove_member(options.email):
        raise ConfigurationError(f"{options.email} is in no organization.")
    return {"message": f"{options.email} is in no organization now.", "email": options.email}


def issue_key(store: Store, options: argparse.Namespace) -> Report:
    """Make a key for an account; one that does not exist yet is made. The key is shown this once."""
    expires = None
    if options.days is not None:
        expires = clock.stamp(datetime.now(UTC) + timedelta(days=options.days))
    key = make_key()
    account = store.accounts.ensure_account(options.email)
    store.accounts.add_key(account, hash_key(key), is_admin=options.admin, expires=expires)
    return {"message": key, "key": key, "email": options.email, "expires": expires}


def revoke_keys(store: Store, options: argparse.Namespace) -> Report:
    """Revoke one key, or every key of an account.

    Raises:
        ConfigurationError: there is no such key.
    """
    count = store.accounts.revoke(email=options.which) if "@" in options.which else 0
    count = count or store.accounts.revoke(sha256=hash_key(options.which))
    if not count:
        raise ConfigurationError("There is no such key, or no key of that address, that still works.")
    return {"message": f"{count} keys were revoked.", "revoked": count}


def move_account(store: Store, options: argparse.Namespace) -> Report:
    """Move jobs, files, pipelines and keys of one account into another.

    Raises:
        ConfigurationError: one of them is not there, or they are the same.
    """
    moved = store.trials.merge(options.email, options.target)
    if moved is None:
        raise ConfigurationError(
            f"{options.email} and {options.target} must be two accounts of this service."
        )
    return {"message": f"{moved} jobs of {options.email} are {options.target}'s now.", "moved": moved}


def list_tools(store: Store, _: argparse.Namespace) -> Report:
    """Every tool that was registered with POST /deploy-model."""
    rows = [
        {
            "type": each.type,
            "created": each.created,
            **{key: each.content.get(key) for key in ("command", "image")},
        }
        for each in store.tools.all()
    ]
    lines = [f"{row['type']}: {row['image'] or ' '.join(row['command'] or ())[:200]}" for row in rows]
    return {"message": "\n".join(lines) or "No tools are registered.", "tools": rows}


def remove_tool(store: Store, options: argparse.Namespace) -> Report:
    """Forget a registered tool: jobs that run go on, those that wait end and say why.

    Raises:
        ConfigurationError: there is no such tool.
    """
    if not store.tools.remove(options.type):
        raise ConfigurationError(
            f"No tool is registered as {options.type!r}. `foldnote admin tools` lists them."
        )
    return {"message": f"{options.type} is removed; its jobs and results stay.", "type": options.type}


def back_up(folder: Path, options: argparse.Namespace) -> Report:
    """Copy everything that the service keeps into a new folder; the service may run meanwhile.

    Raises:
        ConfigurationError: there is nothing to copy, it is damaged, or the folder cannot be made.
    """
    backup = make_backup(folder, options.backup)
    return {"message": f"{options.backup} is {_describe(backup)}.", **_report(backup)}


def check(_: Path, options: argparse.Namespace) -> Report:
    """Read a backup to its end and compare every file with the list of their hashes.

    Raises:
        ConfigurationError: it is no backup, or it is damaged.
    """
    backup = check_backup(options.backup)
    return {"message": f"{options.backup} is whole: {_describe(backup)}.", **_report(backup)}


def restore(folder: Path, options: argparse.Namespace) -> Report:
    """Make the service what a backup says; it must be stopped.

    Raises:
        ConfigurationError: the service runs, the backup is damaged, or there is data and no `--replace`.
    """
    restored = restore_backup(options.backup, folder, is_replacing=options.replace)
    message = f"{folder} is {_describe(restored.backup)} now. Start the service."
    if restored.repeated:
        message += f" {restored.repeated} jobs that ran then are queued again."
    if restored.kept is not None:
        message += f" What was there before is in {restored.kept}; remove it when nothing of it is needed."
    kept = None if restored.kept is None else str(restored.kept)
    return {"message": message, "kept": kept, "requeued": restored.repeated, **_report(restored.backup)}


def _describe(backup: Backup) -> str:
    lost = ""
    if backup.missing:
        lost = (
            f", without {len(backup.missing)} contents that the data folder itself had lost or damaged:"
            " their results and files cannot be fetched"
        )
    held = f"{backup.jobs} jobs, {backup.files} files, {backup.size_bytes} bytes"
    return f"a backup of {backup.made}: {held}{lost}"


def _report(backup: Backup) -> Report:
    return {
        "made": backup.made,
        "jobs": backup.jobs,
        "files": backup.files,
        "sizeBytes": backup.size_bytes,
        "missing": list(backup.missing),
    }


COMMANDS: tuple[tuple[str, str, Callable[[Store, argparse.Namespace], Report], tuple[str, ...]], ...] = (
    ("add-organization", "Make an organization.", add_organization, ("name",)),
    ("organizations", "List organizations with members and budgets.", list_organizations, ()),
    ("set-budget", "Weighted hours of an organization in a month.", set_budget, ("name", "hours")),
    ("add-member", "Put an account into an organization.", add_member, ("name", "email")),
    ("remove-member", "Take an account out of its organization.", remove_member, ("email",)),
    ("issue-key", "Make a key for an account and print it.", issue_key, ("email", "--days", "--admin")),
    ("revoke-keys", "Revoke a key, or all keys of an account.", revoke_keys, ("which",)),
    ("move-account", "Move all that an account has into another.", move_account, ("email", "target")),
    ("tools", "List the tools that were registered.", list_tools, ()),
    ("remove-tool", "Remove a tool that was registered.", remove_tool, ("type",)),
)
"""Name, sentence, function, and the arguments of each command."""
FOLDER_COMMANDS: tuple[
    tuple[str, str, Callable[[Path, argparse.Namespace], Report], tuple[str, ...]], ...
] = (
    ("backup", "Copy all that the service keeps into a new folder.", back_up, ("backup",)),
    ("check-backup", "Compare a backup with the hashes of its files.", check, ("backup",)),
    ("restore", "Make a stopped service what a backup says.", restore, ("backup", "--replace")),
)
"""The same, of commands that are about the data folder as a whole."""


def _read_hours(text: str) -> float | None:
    """A number of weighted hours, or `none`."""
    if text == "none":
        return None
    return read_amount(text)


def _read_email(text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address such as name@lab.org")
    return text


_ARGUMENTS: dict[str, dict[str, Any]] = {
    "name": {"help": "name of the organization"},
    "hours": {"type": _read_hours, "help": "weighted hours, or none for no limit"},
    "email": {"type": _read_email, "help": "address of the account"},
    "target": {"type": _read_email, "help": "address of the account that receives it"},
    "type": {"help": "type of the tool, as `tools` lists it"},
    "which": {"help": "the key itself, or the address of an account"},
    "--days": {"type": read_rate, "help": "days after which the key expires (default: never)"},
    "backup": {"type": Path, "help": "folder of the backup"},
    "--replace": {"action": "store_true", "help": "replace what is there; it is kept in a folder beside"},
    "--admin": {"action": "store_true", "help": "let the key administer the service"},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The commands and options of `foldnote admin`."""
    parser.add_argument(
        "--data-dir", type=Path, help="folder of the service (default: that of foldnote serve)"
    )
    parser.add_argument(
        "--embedded", action="store_true", help="the service of this computer's user, instead of --data-dir"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    commands = parser.add_subparsers(dest="admin_command", required=True, metavar="COMMAND")
    for name, sentence, function, arguments in COMMANDS:
        command = _add_command(commands, name, sentence, arguments)
        command.set_defaults(administer=lambda folder, given, do=function: _use_store(folder, given, do))
    for name, sentence, act, arguments in FOLDER_COMMANDS:
        _add_command(commands, name, sentence, arguments).set_defaults(administer=act)


def _add_command(
    commands: Any, name: str, sentence: str, arguments: Sequence[str]
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=sentence, description=sentence)
    for argument in arguments:
        command.add_argument(argument, **_ARGUMENTS[argument])
    return command


def run_admin(options: argparse.Namespace) -> int:
    """Do what the options ask for and print what was done; gives the exit status."""
    folder: Path = options.data_dir or settings.data_dir() / ("service" if options.embedded else "server")
    try:
        report: Report = options.administer(folder, options)
    except (FoldnoteError, StorageFaultError) as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    sys.stdout.write((json.dumps(report) if options.json else str(report["message"])) + "\n")
    return 0


def _use_store(
    folder: Path, options: argparse.Namespace, do: Callable[[Store, argparse.Namespace], Report]
) -> Report:
    if not (folder / DATABASE).is_file():
        raise ConfigurationError(f"{folder} is no service's data folder. Start `foldnote serve` there first.")
    require_whole(folder)
    store = Store(folder / DATABASE)
    try:
        return do(store, options)
    finally:
        store.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of `foldnote admin`."""
    os.umask(0o077)  # whatever is written is this user's
    parser = argparse.ArgumentParser(prog="foldnote admin", description="Administer a job service.")
    add_arguments(parser)
    return run_admin(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
