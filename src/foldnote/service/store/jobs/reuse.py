"""Reuse of results: a stage takes the result of an earlier one with equal tool, settings and inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from foldnote.io import hash_bytes
from foldnote.models.extensions import ALIGNMENT, NOT_CONTENT
from foldnote.models.status import JobStatus
from foldnote.service.store import clock
from foldnote.service.store.events import write_event
from foldnote.service.store.jobs.counting import StatusChange, apply_status_changes
from foldnote.service.store.jobs.insertion import Input
from foldnote.service.store.jobs.records import refresh_record, write_text
from foldnote.service.store.schema import jobs


def digest_stage(
    tool_type: str,
    normalized: Mapping[str, Any],
    inputs: Sequence[Input],
    extensions: Mapping[str, Any] | None,
) -> str:
    """Return the SHA-256 (hex) of what decides a stage's result: tool, settings, and contents of its files.

    Files count by field, name and content, regardless of the stage or upload they come from.
    """
    fields = {item.field for item in inputs}
    content_extensions = {
        key: value for key, value in (extensions or {}).items() if key not in {*NOT_CONTENT, ALIGNMENT}
    }
    content = {
        "type": tool_type,
        "settings": {key: value for key, value in sorted(normalized.items()) if key not in fields},
        "inputs": sorted(((item.field, item.name, item.sha256) for item in inputs), key=lambda row: row[0]),
        "extensions": dict(sorted(content_extensions.items())),
    }
    return hash_bytes(write_text(content).encode())


def reuse_result(
    connection: sa.Connection, account_id: int, job_id: int, digest: str, engine_version: str
) -> bool:
    """End a waiting stage with the result of a complete one with this digest; return False if none.

    A computed result is preferred to one that was itself reused, and a newer one to an older one. Results of
    another engine, or of another version, do not count.
    """
    query = sa.select(jobs).where(
        jobs.c.account_id == account_id,
        jobs.c.stage_digest == digest,
        jobs.c.engine_version == engine_version,
        jobs.c.state == str(JobStatus.COMPLETE),
        jobs.c.result_sha256.is_not(None),
        jobs.c.deleted.is_(None),
    )
    order = (jobs.c.reused_from.is_not(None), jobs.c.id.desc())
    earlier = connection.execute(query.order_by(*order).limit(1)).mappings().first()
    if earlier is None:
        return False
    values = {
        "state": str(JobStatus.COMPLETE),
        "completed": clock.now(),
        "reused_from": earlier["name"],
        "message": None,
        **{name: earlier[name] for name in ("score", "result_sha256", "result_size", "engine_version")},
    }
    connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(values))
    row = refresh_record(connection, job_id)
    apply_status_changes(
        connection, [StatusChange(account_id, row["parent_id"], JobStatus.IN_QUEUE, JobStatus.COMPLETE)]
    )
    write_event(connection, account_id, job_id, "reused", earlier["name"])
    return True
