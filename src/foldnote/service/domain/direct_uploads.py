"""Uploads directly to the object store, by a link that the store signed.

The interface has no request to report the end of such an upload. Therefore, when a file is requested, the
service looks for pending uploads, measures and hashes those that have arrived, and makes them files of the
account.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress

from foldnote.service.config import Limits
from foldnote.service.domain.access.storage import StorageService
from foldnote.service.faults import RefusalError, bad_request, too_large
from foldnote.service.files.bucket import BucketError
from foldnote.service.files.object_bucket import UPLOADS, ObjectBucket
from foldnote.service.files.objects import ObjectStore
from foldnote.service.store.files import DirectUpload
from foldnote.service.store.store import Store

log = logging.getLogger(__name__)
_MOST = 100
"""Maximum pending uploads of an account; further uploads go through the service."""
_LATE = 2
"""Time for which an upload is pending, in lifetimes of its link, since it may begin just before the link
ends."""


class DirectUploads:
    """Signs upload links and registers the uploads that arrived; does nothing without a bucket for users."""

    def __init__(self, store: Store, objects: ObjectStore, storage: StorageService, limits: Limits) -> None:
        self._store = store
        self._storage = storage
        self._limits = limits
        self._objects: ObjectBucket | None = None
        if isinstance(objects, ObjectBucket) and objects.bucket.address.takes_uploads:
            self._objects = objects

    def begin(self, account_id: int, folder: str, name: str) -> str | None:
        """Return the object store's URL for the upload; None if the service must receive the file."""
        if self._objects is None:
            return None
        key = f"{UPLOADS}/{account_id}/{secrets.token_hex(16)}"
        try:
            address = self._objects.bucket.sign("PUT", key, self._limits.link_s)
        except BucketError as exc:
            log.error("Links cannot be signed, so the service receives uploads itself: %s", exc.strerror)
            return None
        upload = DirectUpload(key, account_id, folder, name)
        is_expected = self._store.direct_uploads.add(upload, _LATE * self._limits.link_s, _MOST)
        return address if is_expected else None

    def settle(self, account_id: int, folder: str, name: str) -> None:
        """Register the upload of a file, if one has arrived.

        Raises:
            RefusalError: 400 or 413, the upload is empty, too large, or exceeds the account's storage; it was
                removed.
            OSError: the object store cannot be reached.
        """
        if self._objects is not None:
            for upload in self._store.direct_uploads.pending(account_id, (folder, name)):
                self._take_over(self._objects, upload)

    def settle_all(self, account_id: int) -> None:
        """Register all uploads of an account that have arrived; remove those that are refused.

        Raises:
            OSError: the object store cannot be reached.
        """
        pending = self._store.direct_uploads.pending(account_id) if self._objects is not None else []
        if self._objects is None or not pending:
            return
        arrived = {item.key for item in self._objects.bucket.list(f"{UPLOADS}/{account_id}")}
        for upload in pending:
            if upload.key in arrived:
                with suppress(RefusalError):
                    self._take_over(self._objects, upload)

    def _take_over(self, objects: ObjectBucket, upload: DirectUpload) -> None:
        stored = objects.bucket.find(upload.key)
        if stored is None:
            return
        tier = self._store.accounts.tier_of(upload.account_id)
        try:
            if not stored.size_bytes:
                raise bad_request(
                    f"The file {upload.name!r} is empty.", code="invalid_file", field="filename"
                )
            if stored.size_bytes > self._limits.upload_bytes:
                raise too_large(self._limits.upload_bytes, f"The file {upload.name}")
            with self._storage.upload(upload.account_id, tier, stored.size_bytes):
                sha256 = objects.take_over(upload.key)
                size_bytes = objects.size_bytes(sha256)
                self._storage.require_still_fits(upload.account_id, tier, size_bytes, stored.size_bytes)
                self._store.direct_uploads.finish(upload, size_bytes, sha256)
        except RefusalError:
            self._store.direct_uploads.drop(upload)
            raise
        except FileNotFoundError:  # another request has registered it meanwhile
            return
        finally:
            if not self._is_expected(upload):
                with suppress(BucketError):  # old uploads are garbage-collected
                    objects.bucket.delete(upload.key)

    def _is_expected(self, upload: DirectUpload) -> bool:
        path = (upload.folder, upload.name)
        return upload in self._store.direct_uploads.pending(upload.account_id, path)
