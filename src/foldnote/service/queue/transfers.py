"""Transfers between this machine and the object store, in threads of their own so the dispatcher never waits.

If the contents are in the data folder, nothing is transferred and every call returns at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Semaphore, Thread

from foldnote.io import hash_file
from foldnote.service.files.objects import ObjectStore
from foldnote.service.runner.attempt import RESULT, Outcome
from foldnote.service.store import clock
from foldnote.service.store.jobs.queue import Claim

_MAX_THREADS = 4


class Transfers:
    """Fetches inputs and stores results.

    Args:
        on_done: called from any thread with the nonce of the attempt when a transfer ended.
    """

    def __init__(self, objects: ObjectStore, on_done: Callable[[str], None]) -> None:
        self._objects = objects
        self._on_done = on_done
        self._thread_slots = Semaphore(_MAX_THREADS)
        self._in_progress: dict[Hashable, Future[bool]] = {}
        self._stored: set[str] = set()
        """Nonces of the attempts whose results were stored together."""

    def has_inputs(self, claim: Claim, *, is_remote: bool) -> bool:
        """Return whether a claimed job's inputs are on this machine; if not, fetch them in the background.

        Args:
            claim: the job.
            is_remote: whether it runs on another machine, which fetches them itself.

        Raises:
            OSError: one of them is missing or cannot be fetched; the next call tries again.
        """
        known = {each.sha256 for each in claim.inputs}
        if not self._objects.is_remote or (not is_remote and all(map(self._objects.is_cached, known))):
            return True
        prepare: Callable[[str], object] = self._objects.size_bytes if is_remote else self._objects.path

        def fetch() -> bool:
            for sha256 in known:
                prepare(sha256)
            return True

        return self._poll_transfer(("inputs", claim.nonce), claim.nonce, fetch) is True

    def store_together(self, ended: Iterable[tuple[Claim, Path]]) -> None:
        """Store the results of apparently ended attempts in one batch, which takes less time.

        ``store_result`` retries what fails here, and reports why.
        """
        if self._objects.is_remote:
            return
        found: dict[str, tuple[Path, str]] = {}
        for claim, folder in ended:
            with suppress(Exception):  # an engine can overwrite the file with anything
                outcome = Outcome.read(folder)
                if outcome is None or outcome.nonce != claim.nonce or outcome.result_sha256 is None:
                    continue
                if is_result_intact(claim, folder / RESULT, outcome):
                    found[claim.nonce] = (folder / RESULT, outcome.result_sha256)
        with suppress(OSError):
            self._objects.adopt_all(list(found.values()))
            self._stored |= found.keys()

    def store_result(self, claim: Claim, folder: Path, outcome: Outcome) -> bool | None:
        """Store the result that the outcome names.

        Return True once it is stored, False if it is missing, for example after a power cut, and None while
        it is being stored.

        Raises:
            OSError: it cannot be stored now; the next call tries again.
        """
        sha256 = outcome.result_sha256
        if sha256 is None:
            return True

        def store() -> bool:
            source = folder / RESULT
            if claim.nonce in self._stored:
                self._stored.discard(claim.nonce)
            elif is_result_intact(claim, source, outcome):
                self._objects.adopt(source, sha256)
            return self._objects.has(sha256)

        return (
            self._poll_transfer(("result", claim.nonce), claim.nonce, store)
            if self._objects.is_remote
            else store()
        )

    def _poll_transfer(self, key: Hashable, nonce: str, work: Callable[[], bool]) -> bool | None:
        """Return the result of the work once it is done; None until then."""
        transfer = self._in_progress.get(key)
        if transfer is None:
            transfer = self._in_progress[key] = Future()
            # a daemon: the service must not wait at its end for an upload, which its next start repeats
            Thread(
                target=self._run_transfer, args=(transfer, nonce, work), name="transfer", daemon=True
            ).start()
        if not transfer.done():
            return None
        del self._in_progress[key]
        return transfer.result()

    def _run_transfer(self, transfer: Future[bool], nonce: str, work: Callable[[], bool]) -> None:
        with self._thread_slots:
            try:
                transfer.set_result(work())
            except Exception as exc:  # noqa: BLE001  raised again where the result is asked for
                transfer.set_exception(exc)
        self._on_done(nonce)


def is_result_intact(claim: Claim, archive: Path, outcome: Outcome) -> bool:
    """Return whether the outcome's result is present; after a power cut it may not be.

    Until it is stored it need not be on the disk, so after a power cut its size proves nothing about its
    content.
    """
    if not archive.is_file() or archive.stat().st_size != outcome.result_size_bytes:
        return False
    return not clock.is_before_boot(claim.claimed) or hash_file(archive) == outcome.result_sha256
