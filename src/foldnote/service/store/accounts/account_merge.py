"""Merge an account into another one: jobs, files, pipelines, keys and counts.

Events are not changed. If the other account already uses a name, a number is appended.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from foldnote.models.names import MAX_NAME_LENGTH
from foldnote.service.store.events import write_event
from foldnote.service.store.jobs.counting import ALL_JOBS, TOP_LEVEL
from foldnote.service.store.jobs.records import refresh_record
from foldnote.service.store.quotas import TRIAL
from foldnote.service.store.schema import (
    counters,
    direct_uploads,
    files,
    jobs,
    keys,
    pipelines,
    share_openings,
    shares,
    usage,
    webhook_accounts,
    webhooks,
)


def move_account(connection: sa.Connection, source: int, target: int) -> int:
    """Move everything within the running transaction; return the number of jobs that are not deleted.

    Keys of the merged account remain valid, without expiry, and give access to the other account.
    """
    count = _move_jobs(connection, source, target)
    _move_files(connection, source, target)
    _move_pipelines(connection, source, target)
    own = direct_uploads.c.account_id == source
    connection.execute(sa.update(direct_uploads).where(own).values(account_id=target))
    _move_webhooks(connection, source, target)
    own = shares.c.account_id == source
    connection.execute(sa.update(shares).where(own).values(account_id=target))
    connection.execute(sa.delete(share_openings).where(share_openings.c.account_id == source))
    _move_counters(connection, source, target)
    _move_usage(connection, source, target)
    conditions = keys.c.account_id == source
    connection.execute(sa.update(keys).where(conditions).values(account_id=target, expires=None, is_admin=0))
    write_event(connection, source, None, "moved", f"into account {target}")
    write_event(connection, target, None, "received", f"{count} jobs of account {source}")
    return count


def _move_jobs(connection: sa.Connection, source: int, target: int) -> int:
    used_names: set[str] = {row.name for row in connection.execute(_names(target))}
    rows = connection.execute(
        sa.select(jobs.c.id, jobs.c.name, jobs.c.deleted).where(jobs.c.account_id == source)
    ).all()
    target_names = set(used_names)
    used_names |= {row.name for row in rows if row.deleted is None}
    for row in rows:
        name = row.name
        if row.deleted is None and name in target_names:
            name = free_name(name, used_names)
            used_names.add(name)
            batch = sa.update(jobs).where(jobs.c.parent_id == row.id)
            connection.execute(batch.values(batch=name))
        connection.execute(sa.update(jobs).where(jobs.c.id == row.id).values(account_id=target, name=name))
    for row in rows:
        refresh_record(connection, row.id)
    return sum(row.deleted is None for row in rows)


def _names(account_id: int) -> sa.Select[Any]:
    return sa.select(jobs.c.name).where(jobs.c.account_id == account_id, jobs.c.deleted.is_(None))


def free_name(name: str, used: Iterable[str]) -> str:
    """Append the first number that makes a name unique: `fold` becomes `fold-2`."""
    used_names = set(used)
    number = 2
    while (candidate := f"{name[: MAX_NAME_LENGTH - len(str(number)) - 1]}-{number}") in used_names:
        number += 1
    return candidate


def _move_files(connection: sa.Connection, source: int, target: int) -> None:
    """Move the files; insert a number before the extension of a path that is taken."""
    target_files = sa.select(files.c.folder, files.c.name).where(
        files.c.account_id == target, files.c.deleted.is_(None)
    )
    used = {tuple(row) for row in connection.execute(target_files)}
    query = sa.select(files.c.id, files.c.folder, files.c.name, files.c.deleted)
    for row in connection.execute(query.where(files.c.account_id == source)).all():
        name = row.name
        if row.deleted is None and (row.folder, name) in used:
            path = PurePosixPath(name)
            stems = {PurePosixPath(stored_name).stem for folder, stored_name in used if folder == row.folder}
            name = free_name(path.stem, stems) + path.suffix
        if row.deleted is None:
            used.add((row.folder, name))
        connection.execute(sa.update(files).where(files.c.id == row.id).values(account_id=target, name=name))


def _move_pipelines(connection: sa.Connection, source: int, target: int) -> None:
    query = sa.select(pipelines.c.name).where(pipelines.c.account_id == target)
    used_names = set(connection.execute(query).scalars())
    query = sa.select(pipelines.c.name).where(pipelines.c.account_id == source)
    for name in connection.execute(query).scalars().all():
        new = free_name(name, used_names) if name in used_names else name
        used_names.add(new)
        is_own = (pipelines.c.account_id == source, pipelines.c.name == name)
        connection.execute(sa.update(pipelines).where(*is_own).values(account_id=target, name=new))


def _move_webhooks(connection: sa.Connection, source: int, target: int) -> None:
    """Move undelivered webhooks, and the secret and URL unless the other account has its own."""
    conditions = webhooks.c.account_id == source
    connection.execute(sa.update(webhooks).where(conditions).values(account_id=target))
    has_own = connection.execute(
        sa.select(webhook_accounts.c.account_id).where(webhook_accounts.c.account_id == target)
    ).first()
    own = webhook_accounts.c.account_id == source
    if has_own is None:
        connection.execute(sa.update(webhook_accounts).where(own).values(account_id=target))
    else:
        connection.execute(sa.delete(webhook_accounts).where(own))


def _move_counters(connection: sa.Connection, source: int, target: int) -> None:
    """Add the account's counters to the other account's; counters of subjobs only change owner."""
    conditions = counters.c.account_id == source
    own = counters.c.parent_id.in_((TOP_LEVEL, ALL_JOBS))
    for row in connection.execute(sa.select(counters).where(conditions, own)).all():
        values = {"account_id": target, "parent_id": row.parent_id, "state": row.state, "count": row.count}
        statement = insert(counters).values(values)
        new = {"count": counters.c.count + row.count}
        connection.execute(
            statement.on_conflict_do_update(index_elements=["account_id", "parent_id", "state"], set_=new)
        )
    connection.execute(sa.delete(counters).where(conditions, own))
    connection.execute(sa.update(counters).where(conditions).values(account_id=target))


def _move_usage(connection: sa.Connection, source: int, target: int) -> None:
    """Move weighted hours, which count for the organization's budget, but not the trial's number of jobs."""
    query = sa.select(usage).where(usage.c.account_id == source, usage.c.period != TRIAL)
    for row in connection.execute(query).all():
        values = {"account_id": target, "period": row.period, "jobs": 0, "weighted_hours": row.weighted_hours}
        statement = insert(usage).values(values)
        new = {"weighted_hours": usage.c.weighted_hours + row.weighted_hours}
        connection.execute(statement.on_conflict_do_update(index_elements=["account_id", "period"], set_=new))
    connection.execute(sa.delete(usage).where(usage.c.account_id == source, usage.c.period != TRIAL))
