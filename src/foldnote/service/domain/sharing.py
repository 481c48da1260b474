"""Links with which colleagues open a job with their own key: its record and result, and nothing else.

The colleague must belong to the owner's organization. If the owner has none, any account of the service may
open the link, except unclaimed trials, which anyone can get. An invalid link gives the same response as one
that does not exist, whatever the reason.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

from foldnote.io import hash_text
from foldnote.service.domain.result_links import ResultService
from foldnote.service.faults import RefusalError, bad_request, job_not_found, not_found
from foldnote.service.store import clock
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.jobs import JobRow
from foldnote.service.store.jobs.shares import NewShare, SharedJob, ShareRow
from foldnote.service.store.quotas import TRIAL
from foldnote.service.store.store import Store

MAX_DAYS = 366
"""Maximum time for which a link is valid."""
_MOST = 1000
_TOKEN_BYTES = 32
_KEPT = (
    "jobName", "type", "tool", "status", "settings", "created", "started", "completed", "score", "error",
    "weightedHours", "batchStatus", "batchSize", "engineVersion",
)  # fmt: skip
"""Fields of the job's record that colleagues see; the owner's address and project are excluded."""


class Sharing:
    """Creates, lists, revokes and opens links."""

    def __init__(self, store: Store, results: ResultService) -> None:
        self._store = store
        self._results = results

    def find_readers(self, caller: Caller) -> str | None:
        """Return the organization whose members may open the caller's links; None for every account."""
        return self._store.accounts.find_organization(caller.account_id)

    def make(self, caller: Caller, job_name: str, days: float) -> tuple[str, ShareRow]:
        """Create a link to a job or batch of the caller; return its token, which is not stored, and the link.

        Raises:
            RefusalError: 400 if the time is wrong or the caller has too many links; 404 without the job.
        """
        if not 0 < days <= MAX_DAYS:
            sentence = f"expiresInDays: {days:g} is not a number of days above 0, up to {MAX_DAYS}."
            raise bad_request(sentence, code="invalid_field", field="expiresInDays")
        row = self._store.jobs.find([caller.account_id], job_name)
        if row is None:
            raise job_not_found(job_name)
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        expires = clock.stamp(datetime.now(UTC) + timedelta(days=days))
        new = NewShare(hash_text(token), secrets.token_hex(6), expires)
        created = self._store.shares.add(caller.account_id, row["id"], new, _MOST)
        if created is None:
            sentence = (
                f"You have {_MOST:,} links, which is the limit. Revoke some, or wait until they expire."
            )
            raise bad_request(sentence, code="too_many_shares")
        return token, ShareRow(new.name, row["name"], created, expires)

    def all(self, caller: Caller, job_name: str | None = None) -> list[ShareRow]:
        """Return the caller's valid links, newest first."""
        return self._store.shares.all(caller.account_id, job_name)

    def revoke(self, caller: Caller, name: str) -> None:
        """End a link of the caller.

        Raises:
            RefusalError: 404 if the caller has none of this name.
        """
        if not self._store.shares.revoke(caller.account_id, name):
            raise not_found(f"You have no link {name[:50]!r}.", code="share_not_found", field="name")

    def open(self, caller: Caller, token: str) -> dict[str, Any]:
        """Return the record of a link's job, and note that the caller has opened it.

        Raises:
            RefusalError: 404 if the link is not valid for the caller.
        """
        shared = self._require(caller, token)
        row = self._find_job(shared)
        self._store.shares.note_opening(shared, caller.account_id)
        record = json.loads(row["record"])
        fields = {name: record[name] for name in _KEPT if record.get(name) is not None}
        if "batchStatus" in fields:
            counts = self._store.jobs.child_counts([row["account_id"]], row["id"])
            fields |= {"statuses": counts.statuses, "failed": counts.failed}
        return fields

    def link(self, caller: Caller, token: str) -> str:
        """Return path and query of a signed link to the job's result; it ends with the link or after an hour.

        A caller who has not requested the record before is also noted as having opened the link.

        Raises:
            PreparingError: the archive of the batch is being built.
            RefusalError: 404 if the link is not valid for the caller, or the job has no result; 400 while the
                job is unfinished.
        """
        shared = self._require(caller, token)
        signed = self._results.sign_share(shared.share_id, caller.account_id, self._find_job(shared))
        self._store.shares.note_opening(shared, caller.account_id, is_further=True)
        return signed

    def find_holder(self, reader: int, share_id: int) -> SharedJob | None:
        """Return the target of a link if it is valid and the account may still open it."""
        shared = self._store.shares.find_by_id(share_id)
        member = self._store.accounts.find_member(reader)
        is_open = shared is not None and member is not None and _may_open(*member, reader, shared)
        return shared if is_open else None

    def _require(self, caller: Caller, token: str) -> SharedJob:
        shared = self._store.shares.find(hash_text(token))
        if shared is None or not _may_open(caller.tier, caller.organization_id, caller.account_id, shared):
            raise no_share()
        return shared

    def _find_job(self, shared: SharedJob) -> JobRow:
        row = self._store.jobs.find_by_id(shared.job_id)
        job = None if row is None else self._store.jobs.find([row["account_id"]], row["name"])
        if job is None:
            raise no_share()
        return job


def _may_open(tier: str, organization_id: int | None, account_id: int, shared: SharedJob) -> bool:
    if account_id == shared.account_id:
        return True
    if shared.organization_id is not None:
        return organization_id == shared.organization_id
    return tier != TRIAL


def no_share() -> RefusalError:
    """Build the 404 for any invalid link."""
    return not_found(
        "There is nothing to open by this link for you: it may have expired or been revoked, its job may have"
        " been deleted, or it is for others. Ask who gave it to you.",
        code="share_not_found",
    )


def describe(row: ShareRow, organization: str | None) -> dict[str, Any]:
    """Return the wire form of a link, for its owner, who is a member of this organization."""
    fields = asdict(row)
    return {
        "name": row.name,
        "jobName": row.job_name,
        "created": row.created,
        "expires": row.expires,
        "organization": organization,
        "openings": [dict(opening) for opening in fields["openings"]],
    }
