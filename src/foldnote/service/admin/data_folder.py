"""Back up and restore a data folder, and move its database or contents elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from foldnote.errors import ConfigurationError
from foldnote.ownership import find_other_owner
from foldnote.service.admin.opening import Report, read_bucket_address, read_store_address
from foldnote.service.backups.bucket_move import MOVED as MOVED_CONTENTS
from foldnote.service.backups.bucket_move import move_to_bucket
from foldnote.service.backups.contents import Backup, check_backup
from foldnote.service.backups.copying import MOVED, move_to_server, require_new
from foldnote.service.backups.making import make_backup
from foldnote.service.backups.restoring import restore_backup
from foldnote.service.files.object_opening import open_bucket, require_bucket
from foldnote.service.store.address import EXAMPLE
from foldnote.text import count


def back_up(folder: Path, options: argparse.Namespace) -> Report:
    """Back up the service's data to a new folder; the service may be running.

    Raises:
        ConfigurationError: there is no data, it is damaged, or the folder cannot be created.
    """
    bucket = read_bucket_address(options)
    require_bucket(folder, bucket)
    objects = None if bucket is None else open_bucket(folder, bucket, "backup")
    backup = make_backup(folder, options.backup, read_store_address(options), objects)
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
    address, bucket = read_store_address(options), read_bucket_address(options)
    require_new(folder, address)
    restored = restore_backup(options.backup, folder, is_replacing=options.replace, bucket=bucket)
    message = f"{folder} now holds {_describe(restored.backup)}. Start the service."
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


def move(folder: Path, options: argparse.Namespace) -> Report:
    """Move the database of a stopped service from SQLite to PostgreSQL.

    Raises:
        ConfigurationError: no address is set, the service is running, or the database there has data.
    """
    address = read_store_address(options)
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
    bucket = read_bucket_address(options)
    if bucket is None:
        raise ConfigurationError("Set url in the section [objects] of config.toml to that of the bucket.")
    _require_own(folder)
    contents = move_to_bucket(folder, bucket, read_store_address(options))
    kept = str(folder / MOVED_CONTENTS)
    message = f"{contents} contents are in {bucket.url} now. The previous ones are kept as {kept}."
    return {"message": message, "contents": contents, "kept": kept}


def _require_own(folder: Path) -> None:
    """Refuse to write files into another user's folder: that user's service could not read files of root."""
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
