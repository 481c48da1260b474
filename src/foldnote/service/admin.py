"""Administration of a service: organizations, members, budgets, keys, old jobs, tools, backup and restore.

The commands work directly on the data folder; a running service sees changes within seconds. Only a restore
requires the service to be stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from foldnote import settings
from foldnote.errors import ConfigurationError, FoldnoteError
from foldnote.models.status import JobStatus
from foldnote.number_arguments import MAX_DAYS, read_amount, read_rate, read_up_to
from foldnote.ownership import find_other_owner
from foldnote.service.backups.bucket_move import MOVED as MOVED_CONTENTS
from foldnote.service.backups.bucket_move import move_to_bucket
from foldnote.service.backups.contents import Backup, check_backup
from foldnote.service.backups.copying import MOVED, move_to_server, require_new
from foldnote.service.backups.making import make_backup
from foldnote.service.backups.restoring import restore_backup
from foldnote.service.backups.swapping import require_whole
from foldnote.service.config import MB
from foldnote.service.domain.access.keys import hash_key, make_key
from foldnote.service.domain.retention import Removal, RetentionTerms, plan_removals
from foldnote.service.draining import Draining
from foldnote.service.files.bucket_address import BucketAddress
from foldnote.service.files.object_opening import open_bucket, require_bucket
from foldnote.service.layout import DATABASE, KEY_FILE
from foldnote.service.options import BAD_INPUT, BROKEN
from foldnote.service.runner.gpus import find_gpus
from foldnote.service.store import clock
from foldnote.service.store.address import EXAMPLE, StoreAddress
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.store import Store
from foldnote.text import count, format_size, visible

Report = dict[str, Any]
_LOOK_S = 1.0
_SHOWN = 20
"""Jobs of one account that the text lists."""
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


def add_organization(store: Store, options: argparse.Namespace) -> Report:
    """Create an organization.

    Raises:
        ConfigurationError: the name is taken.
    """
    if not store.organizations.add(options.name):
        raise ConfigurationError(f"The organization {options.name!r} already exists.")
    return {"message": f"The organization {options.name} was created.", "name": options.name}


def list_organizations(store: Store, _: argparse.Namespace) -> Report:
    """List organizations with members, budget and the weighted hours used this month."""
    rows = store.organizations.list()
    lines = [
        f"{row.name}: {count(len(row.members), 'member')}, {row.spent:g} of"
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
    return {"message": f"{options.name} now has {shown}.", "name": options.name, "budget": options.hours}


def add_member(store: Store, options: argparse.Namespace) -> Report:
    """Add an account to an organization, creating the account if needed.

    Raises:
        ConfigurationError: there is no such organization.
    """
    store.accounts.ensure_account(options.email)
    if not store.organizations.add_member(options.name, options.email):
        raise ConfigurationError(f"There is no organization {options.name!r}.")
    return {"message": f"{options.email} is now a member of {options.name}.", "email": options.email}


def remove_member(store: Store, options: argparse.Namespace) -> Report:
    """Remove an account from its organization.

    Raises:
        ConfigurationError: the account is in no organization.
    """
    if not store.organizations.remove_member(options.email):
        raise ConfigurationError(f"{options.email} is in no organization.")
    return {"message": f"{options.email} was removed from its organization.", "email": options.email}


def issue_key(store: Store, options: argparse.Namespace) -> Report:
    """Issue a key for an account, creating the account if needed. The key is shown only once."""
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
    number = store.accounts.revoke(email=options.which) if "@" in options.which else 0
    number = number or store.accounts.revoke(sha256=hash_key(options.which))
    if not number:
        raise ConfigurationError("There is no such valid key, or no valid key of that address.")
    return {"message": f"Revoked: {count(number, 'key')}.", "revoked": number}


def move_account(store: Store, options: argparse.Namespace) -> Report:
    """Move jobs, files, pipelines and keys of one account to another.

    Raises:
        ConfigurationError: one of them does not exist, or they are the same.
    """
    moved = store.trials.merge(options.email, options.target)
    if moved is None:
        raise ConfigurationError(
            f"{options.email} and {options.target} must be two accounts of this service."
        )
    message = f"Moved from {options.email} to {options.target}: {count(moved, 'job')}."
    return {"message": message, "moved": moved}


def list_tools(store: Store, _: argparse.Namespace) -> Report:
    """List the tools registered with POST /deploy-model."""
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
    """Remove a registered tool: running jobs continue, queued jobs end with an error.

    Raises:
        ConfigurationError: there is no such tool.
    """
    if not store.tools.remove(options.type):
        raise ConfigurationError(
            f"No tool of type {options.type!r} is registered. `foldnote admin tools` lists them."
        )
    return {"message": f"{options.type} was removed; its jobs and results stay.", "type": options.type}


def purge(store: Store, options: argparse.Namespace) -> Report:
    """Show which ended jobs the conditions hold for; with `--apply`, delete them with their results.

    Raises:
        ConfigurationError: there is no condition.
    """
    terms = RetentionTerms(
        options.older_than_days,
        None if options.larger_than_mb is None else int(options.larger_than_mb * MB),
        None if options.keep_mb is None else int(options.keep_mb * MB),
        options.account,
    )
    if terms == RetentionTerms(email=options.account):
        raise ConfigurationError(
            "Say which jobs: --older-than-days, --larger-than-mb, --keep-mb, or several of them."
        )
    removals = plan_removals(store, terms)
    is_done = bool(options.apply)
    if is_done:
        removals = [
            replace(each, jobs=tuple(job for job in each.jobs if store.jobs.delete_ended(job.job_id)))
            for each in removals
        ]
    return {
        "message": _tell_removals(removals, is_done=is_done),
        "deleted": is_done,
        "accounts": [
            {
                "email": each.email,
                "usedBytes": each.used_bytes,
                "freedBytes": each.freed_bytes,
                "jobs": [
                    {"jobName": job.name, "type": job.tool, "ended": job.ended, "bytes": job.size_bytes}
                    for job in each.jobs
                ],
            }
            for each in removals
        ],
    }


def _tell_removals(removals: Sequence[Removal], *, is_done: bool) -> str:
    number = sum(len(each.jobs) for each in removals)
    if not number:
        return "No ended job fulfils the conditions."
    lines = []
    for each in removals:
        left = format_size(each.used_bytes - each.freed_bytes)
        lines.append(
            f"{each.email}: {count(len(each.jobs), 'job')}, {format_size(each.freed_bytes)};"
            f" stores {format_size(each.used_bytes)} now, {left} afterwards"
        )
        lines += [
            f"  {job.ended[:10]}  {job.name} ({job.tool}), {format_size(job.size_bytes)}"
            for job in each.jobs[:_SHOWN]
        ]
        if len(each.jobs) > _SHOWN:
            lines.append(f"  … and {count(len(each.jobs) - _SHOWN, 'more job')}; --json lists all")
    size = format_size(sum(each.freed_bytes for each in removals))
    lines.append(
        f"{count(number, 'job')} deleted with results; the running service frees {size} within minutes."
        if is_done
        else f"{count(number, 'job')}, {size}. Nothing was deleted; add --apply to delete them."
    )
    return "\n".join(lines)


def back_up(folder: Path, options: argparse.Namespace) -> Report:
    """Back up the service's data to a new folder; the service may be running.

    Raises:
        ConfigurationError: there is no data, it is damaged, or the folder cannot be created.
    """
    bucket = _read_bucket(options)
    require_bucket(folder, bucket)
    objects = None if bucket is None else open_bucket(folder, bucket, "backup")
    backup = make_backup(folder, options.backup, _read_address(options), objects)
    return {"message": f"{options.backup} is {_describe(backup)}.", **_report(backup)}


def check(_: Path, options: argparse.Namespace) -> Report:
    """Verify a backup by comparing every file with its recorded hash.

    Raises:
        ConfigurationError: it is not a backup, or it is damaged.
    """
    backup = check_backup(options.backup)
    return {"message": f"{options.backup} is intact: {_describe(backup)}.", **_report(backup)}


def restore(folder: Path, options: argparse.Namespace) -> Report:
    """Restore the service from a backup; the service must be stopped.

    Raises:
        ConfigurationError: the service is running, the backup is damaged, or there is data and no
            `--replace`.
    """
    _require_own(folder)
    address, bucket = _read_address(options), _read_bucket(options)
    require_new(folder, address)
    restored = restore_backup(options.backup, folder, is_replacing=options.replace, bucket=bucket)
    message = f"{folder} is {_describe(restored.backup)} now. Start the service."
    if address is not None:
        move_to_server(folder, address)
        message += f" Its database is {address.shown}."
    if bucket is not None:
        message += f" Its contents are in {bucket.url}."
    if restored.repeated:
        message += f" Queued again, since running at the time: {count(restored.repeated, 'job')}."
    if restored.kept is not None:
        message += f" The previous data is in {restored.kept}; remove it when it is no longer needed."
    kept = None if restored.kept is None else str(restored.kept)
    return {"message": message, "kept": kept, "requeued": restored.repeated, **_report(restored.backup)}


def drain(folder: Path, options: argparse.Namespace) -> Report:
    """Let the service take and start no new jobs; with `--wait`, return when nothing runs.

    Raises:
        ConfigurationError: the folder has no service.
    """
    return _use_store(
        folder, options, lambda store, _: _drain(Draining(folder), store, is_waiting=options.wait)
    )


def _drain(draining: Draining, store: Store, *, is_waiting: bool) -> Report:
    draining.begin()
    quiet_looks = 0
    while is_waiting and quiet_looks < 2 and draining.is_on():  # one may just have been claimed
        quiet_looks = 0 if store.queue.running() else quiet_looks + 1
        time.sleep(_LOOK_S)
    running = len(store.queue.running())
    what = f"{count(running, 'job')} still run" if running else "Nothing runs: it can be stopped"
    if not draining.is_on():
        what = "Draining was ended meanwhile"
    message = f"The service takes no new jobs. {what}. `foldnote admin resume` undoes this."
    return {"message": message, "draining": draining.is_on(), "running": running}


def resume(folder: Path, options: argparse.Namespace) -> Report:
    """Let a draining service take and start jobs again.

    Raises:
        ConfigurationError: the folder has no service.
    """
    was_on = _use_store(folder, options, lambda *_: {"wasDraining": Draining(folder).end()})["wasDraining"]
    message = "The service takes jobs again." if was_on else "The service was not draining."
    return {"message": message, "wasDraining": was_on}


def show_status(folder: Path, options: argparse.Namespace) -> Report:
    """Show unfinished jobs, whether the service drains, free disk space, and the GPUs of this machine.

    Raises:
        ConfigurationError: the folder has no service.
    """
    jobs = _use_store(folder, options, lambda store, _: vars(store.operation.job_totals()))["unfinished"]
    states = (JobStatus.RUNNING, JobStatus.IN_QUEUE)
    running, waiting = (sum(jobs[each] for each in jobs if each[1] == state) for state in states)
    is_draining, free = Draining(folder).is_on(), shutil.disk_usage(folder).free
    found = find_gpus(settings.process_environment())
    told = "The service drains: it takes no new jobs." if is_draining else "The service takes jobs."
    figures = f"Running: {running:,}, waiting: {waiting:,}, free disk space: {format_size(free)}."
    return {
        "message": f"{told} {figures}\n{found.describe()}",
        "draining": is_draining,
        "running": running,
        "waiting": waiting,
        "freeBytes": free,
        "gpus": [{"identity": each.identity, "memoryMb": each.memory_mb or None} for each in found.gpus],
    }


def show_service_key(folder: Path, _: argparse.Namespace) -> Report:
    """Show the service's own key, which may administer it.

    Raises:
        ConfigurationError: the folder has no readable key.
    """
    place = folder / KEY_FILE
    try:
        key = place.read_text("ascii").strip()
    except OSError as exc:
        raise ConfigurationError(
            f"The key in {place} cannot be read: {exc.strerror}. The first start of the service makes it, for"
            " its own user; run this command as that user, with the service's --data-dir."
        ) from exc
    return {"message": key, "key": key, "keyFile": str(place)}


def move(folder: Path, options: argparse.Namespace) -> Report:
    """Move the database of a stopped service from SQLite to PostgreSQL.

    Raises:
        ConfigurationError: no address is set, the service is running, or the database there has data.
    """
    address = _read_address(options)
    if address is None:
        raise ConfigurationError(
            "Set FOLDNOTE_STORE_URL, or url in the section [store] of config.toml, to the address of an empty"
            f" database, such as {EXAMPLE}."
        )
    _require_own(folder)
    jobs, kept = move_to_server(folder, address), str(folder / MOVED)
    message = f"The database is {address.shown} now, with {count(jobs, 'job')}. The old one is {kept}."
    return {"message": message, "jobs": jobs, "kept": kept}


def move_contents(folder: Path, options: argparse.Namespace) -> Report:
    """Move the contents of a stopped service to a bucket.

    Raises:
        ConfigurationError: no bucket is set, the service is running, or the bucket cannot be used.
    """
    bucket = _read_bucket(options)
    if bucket is None:
        raise ConfigurationError("Set url in the section [objects] of config.toml to that of the bucket.")
    _require_own(folder)
    contents = move_to_bucket(folder, bucket, _read_address(options))
    kept = str(folder / MOVED_CONTENTS)
    message = f"{contents} contents are in {bucket.url} now. The previous ones are kept as {kept}."
    return {"message": message, "contents": contents, "kept": kept}


def _require_own(folder: Path) -> None:
    """Refuse to write files into the folder of another user, whose service could not read those of root."""
    owner = find_other_owner(folder.absolute())
    if owner is not None:
        raise ConfigurationError(
            f"{folder} belongs to the user {owner}, whose service could not read what this command writes."
            f" Nothing was changed. Run it as that user: sudo -u {owner} foldnote admin …"
        )


def _describe(backup: Backup) -> str:
    lost = ""
    if backup.missing:
        lost = (
            f", without {len(backup.missing)} contents that were missing or damaged in the data folder:"
            " their results and files cannot be downloaded"
        )
    held = f"{count(backup.jobs, 'job')}, {count(backup.files, 'file')}, {backup.size_bytes} bytes"
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
    ("add-organization", "Create an organization.", add_organization, ("name",)),
    ("organizations", "List organizations with members and budgets.", list_organizations, ()),
    ("set-budget", "Set the weighted hours of an organization per month.", set_budget, ("name", "hours")),
    ("add-member", "Add an account to an organization.", add_member, ("name", "email")),
    ("remove-member", "Remove an account from its organization.", remove_member, ("email",)),
    ("issue-key", "Issue a key for an account and print it.", issue_key, ("email", "--days", "--admin")),
    ("revoke-keys", "Revoke a key, or all keys of an account.", revoke_keys, ("which",)),
    ("move-account", "Move all data of an account to another.", move_account, ("email", "target")),
    ("purge", "Show which old or large jobs would go; delete them with --apply.", purge,
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
"""The same for commands that use the whole data folder."""


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
"""Options of all commands, which are accepted before a command and after it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands and options of `foldnote admin`."""
    for option, more in _GENERAL.items():
        parser.add_argument(option, **more)
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
    for option, more in _GENERAL.items():  # where it is not given here, what was given before counts
        command.add_argument(option, **more, default=argparse.SUPPRESS)
    return command


def run_admin(options: argparse.Namespace) -> int:
    """Run the command and print its report; returns the exit status."""
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


def _read_address(options: argparse.Namespace) -> StoreAddress | None:
    if options.embedded:
        return None
    return StoreAddress.read(settings.service_section("store"), settings.store_url())


def _read_bucket(options: argparse.Namespace) -> BucketAddress | None:
    return None if options.embedded else BucketAddress.read(settings.service_section("objects"))


def _use_store(
    folder: Path, options: argparse.Namespace, do: Callable[[Store, argparse.Namespace], Report]
) -> Report:
    address = _read_address(options)
    if address is None:
        if not (folder / DATABASE).is_file():
            raise ConfigurationError(
                f"{folder} is not the data folder of a service. Start `foldnote serve` there first."
            )
        require_whole(folder)
    store = Store(address or folder / DATABASE)
    try:
        return do(store, options)
    finally:
        store.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `foldnote admin`; returns the exit status."""
    os.umask(0o077)  # all files are private to this user
    parser = argparse.ArgumentParser(prog="foldnote admin", description="Administer a job service.")
    add_arguments(parser)
    return run_admin(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
