"""The wire record of a job as text, serialised once per change and served unchanged.

The text of a running job lacks `progress` and `message`, which are kept in memory; that of a parent lacks the
counts of its subjobs. `add_fields` inserts them when the record is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from foldnote.models import Job
from foldnote.models.status import JobStatus
from foldnote.service.store.schema import accounts, jobs, records

BATCH_TYPE = "batch"
MARK = "\x1e"
"""Encloses, in a page, the number of a job whose record must be completed; it cannot occur in JSON."""
CLEARED = {
    "settings": "{}",
    "normalized": "{}",
    "extensions": None,
    "error": None,
    "message": None,
    "score": None,
    "webhook": None,
}
"""Values of a deleted job's columns that held inputs or results."""
_SPECIAL = {"type", "settings", "score", "message", "tool", "batch_size", "extensions"}
_PLAIN = {
    name: field.alias for name, field in Job.model_fields.items() if name in jobs.c and name not in _SPECIAL
}
"""Columns that are copied into the record, mapped to their names there."""


def write_text(value: object) -> str:
    """Serialise to compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def make_record(row: Mapping[Any, Any], email: str) -> dict[str, object]:
    """Return the row of the records table for a job's row."""
    is_live = row["type"] == BATCH_TYPE or row["state"] == JobStatus.RUNNING
    return {
        "number": -row["id"],
        "mark": f"{MARK}{row['id']}{MARK}" if is_live else None,
        "text": render_record(row, email),
    }


def render_record(row: Mapping[Any, Any], email: str) -> str:
    """Return the stored text of a job's record; JSON columns are inserted unchanged."""
    is_parent = row["type"] == BATCH_TYPE
    head = {"jobName": row["name"], "type": row["type"], "status": row["state"], "email": email}
    tail = {alias: row[name] for name, alias in _PLAIN.items()}
    if is_parent:
        tail |= {"tool": row["tool"], "batchStatus": row["batch_state"], "batchSize": row["batch_size"]}
    if row["state"] != JobStatus.RUNNING or is_parent:
        progress = 1.0 if row["state"] == JobStatus.COMPLETE else None
        tail |= {"progress": progress, "message": row["message"]}
    parts = (
        write_text(head)[:-1],
        f'"settings":{row["settings"]}',
        f'"score":{row["score"] or "null"}',
        *([f'"foldnote":{row["extensions"]}'] if row["extensions"] else []),
        write_text(tail)[1:],
    )
    return ",".join(parts)


def add_fields(record: str, fields: Mapping[str, object]) -> str:
    """Append fields to a record."""
    return f"{record[:-1]},{write_text(fields)[1:]}"


_ROW = (
    sa.select(jobs, accounts.c.email)
    .join(accounts, accounts.c.id == jobs.c.account_id)
    .where(jobs.c.id == sa.bindparam("job"))
)
_ADD = sa.insert(records).inline()
_REPLACE = (
    sa.update(records)
    .where(records.c.number == sa.bindparam("of"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("mark", "text")})
)


def add_records(connection: sa.Connection, new_records: Sequence[Mapping[str, object]]) -> None:
    """Insert the records of new jobs."""
    connection.execute(_ADD, new_records)


def replace_records(connection: sa.Connection, changed: Sequence[Mapping[str, object]]) -> None:
    """Replace records, except those of deleted jobs."""
    if changed:
        new = [
            {"of": record["number"], "new_mark": record["mark"], "new_text": record["text"]}
            for record in changed
        ]
        connection.execute(_REPLACE, new)


def refresh_record(connection: sa.Connection, job_id: int) -> sa.RowMapping:
    """Serialise the job's row, as the last step of every change, and return the row."""
    row = connection.execute(_ROW, {"job": job_id}).mappings().one()
    replace_records(connection, [make_record(row, row["email"])])
    return row
