"""The storage limit of an account, for its uploads, settings and results together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from foldnote.service.config import ServiceConfig
from foldnote.service.faults import RefusalError
from foldnote.service.store.quotas import TRIAL
from foldnote.service.store.storage import StorageStore
from foldnote.text import format_size


@dataclass(frozen=True)
class UploadSpace:
    """Largest size of an upload in bytes; None for no limit."""

    remaining_bytes: int | None


class StorageService:
    """Enforces the storage limits of accounts; an embedded service has none.

    Uploads count from their start. A submission is accepted while any space is left, so an account can exceed
    its limit by at most one submission.
    """

    def __init__(self, storage: StorageStore, config: ServiceConfig) -> None:
        self._storage = storage
        self._limit_bytes = 0 if config.embedded else config.limits.storage_bytes
        self._trial_limit_bytes = 0 if config.embedded else config.trials.trial_storage_bytes
        self._reserved_bytes: Counter[int] = Counter()

    def require(self, account_id: int, tier: str) -> None:
        """Check that the account has storage left for a submission.

        Raises:
            RefusalError: 403 if the account's storage is used up.
        """
        allowed = self._limit_of_tier(tier)
        used = self._storage.used(account_id) if allowed else 0
        if allowed and used >= allowed:
            raise storage_full(403, used, allowed)

    @contextmanager
    def upload(self, account_id: int, tier: str, declared: int) -> Iterator[UploadSpace]:
        """Reserve space for one upload, which counts for others from its start.

        Raises:
            RefusalError: 413 if there is not enough storage.
        """
        allowed = self._limit_of_tier(tier)
        if not allowed:
            yield UploadSpace(None)
            return
        used = self._storage.used(account_id) + self._reserved_bytes[account_id]
        if used + declared > allowed or used >= allowed:
            raise storage_full(413, used, allowed, declared)
        upload_space = UploadSpace(allowed - used)
        self._reserved_bytes[account_id] += declared
        try:
            yield upload_space
        finally:
            self._reserved_bytes[account_id] -= declared
            self._reserved_bytes += Counter()

    def require_still_fits(self, account_id: int, tier: str, size: int, declared: int) -> None:
        """Check that a complete upload still fits, after other uploads meanwhile.

        Raises:
            RefusalError: 413 if there is not enough storage left.
        """
        allowed = self._limit_of_tier(tier)
        used = self._storage.used(account_id) + self._reserved_bytes[account_id] - declared if allowed else 0
        if allowed and used + size > allowed:
            raise storage_full(413, used, allowed, size)

    def exceeded_error(self, account_id: int, tier: str) -> RefusalError:
        """Build the 413 for an upload that exceeds the remaining storage."""
        return storage_full(413, self._storage.used(account_id), self._limit_of_tier(tier))

    def _limit_of_tier(self, tier: str) -> int:
        return self._trial_limit_bytes if tier == TRIAL else self._limit_bytes


def storage_full(status: int, used: int, allowed: int, upload_bytes: int = 0) -> RefusalError:
    """Build a refusal that states what is full, by how much, and what to do.

    Args:
        status: 413 for an upload, 403 for a submission.
        used: bytes in use.
        allowed: limit of the account in bytes.
        upload_bytes: size of the upload; 0 if it is not known, or for a submission.
    """
    limit = f"the {format_size(allowed)} for files, settings and results"
    advice = "Delete files or jobs that you no longer need; the space is free about a minute later."
    if upload_bytes > allowed:
        size = format_size(upload_bytes)
        sentence = f"This upload of {size} is larger than the account's storage, {limit}."
        advice = "Reduce the file, or ask the service's administrator for more storage."
    elif upload_bytes:
        excess = format_size(used + upload_bytes - allowed)
        sentence = (
            f"The account's storage is full: it uses {format_size(used)} of {limit}, and this upload of"
            f" {format_size(upload_bytes)} needs {excess} more than is left."
        )
    else:
        sentence = f"The account's storage is full: it uses {format_size(used)} of {limit}."
        if used < allowed:
            left = format_size(allowed - used)
            sentence = f"{sentence[:-1]}, and this upload needs more than the {left} that are left."
    fields = {"storageBytes": used, "storageBytesAllowed": allowed}
    return RefusalError(status, "storage_quota_exceeded", f"{sentence} {advice}", more=fields)
