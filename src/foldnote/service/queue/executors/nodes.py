"""Attempts on other machines, as the service knows them from their runners' requests.

A runner exchanges the attempt's nonce, once, for a token that is valid for this attempt only. It then holds a
lease, which each accepted heartbeat renews. A runner without a lease kills its engine, and the service waits
longer than that before it repeats the job. Reported files are written to the attempt's folder at the service,
the outcome last; the dispatcher commits it from there like that of any attempt.

Only the start and its revocation are in the database. Leases are not: a restarted service gives every runner
a new one, which can only be too long.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from foldnote.io import hash_bytes, hash_file, hash_text, write_atomically
from foldnote.service.faults import RefusalError, bad_request
from foldnote.service.files.archives import DamagedArchiveError, open_archive
from foldnote.service.node.order import NodeOrder
from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder
from foldnote.service.queue.executors.slots import NodeSlots, OpenSlot
from foldnote.service.queue.replica import margin_of
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptState, Outcome
from foldnote.service.runner.output_lines import LOG_LIMIT_BYTES, open_log
from foldnote.service.store.jobs.node_attempts import REVOKED, NodeAttemptRow, NodeAttemptStore

UPLOADS = (files.LOG, files.MANIFEST, files.RESULT)
"""Files that a node may upload, by name."""
DRAFT = ".upload-"
_MAX_REMEMBERED = 10_000
_LAST_CONTACT = "heard"
"""File with the time of the last heartbeat by the database's clock (s), whichever replica received it."""


@dataclass(frozen=True)
class LeaseTiming:
    """Intervals of the protocol with nodes.

    Attributes:
        lease_s: seconds without an accepted heartbeat after which a node kills its engine.
        heartbeat_s: seconds between two heartbeats.
    """

    lease_s: float = 900.0
    heartbeat_s: float = 5.0

    @property
    def wait_s(self) -> float:
        """Seconds without a heartbeat after which the service considers the engine dead."""
        return self.lease_s + margin_of(self.lease_s)


@dataclass
class RemoteAttempt:
    """State of an attempt on another machine, as known to the service."""

    job_id: int
    number: int
    nonce: str
    folder: Path
    token_sha256: str | None
    until: float
    """Time on the monotonic clock at which its engine counts as dead."""
    cancel_grace_s: float | None = None
    """Seconds between TERM and KILL if it must stop; None to continue."""
    is_over: bool = False
    """Whether its outcome was accepted."""
    has_last_progress: bool = False
    """Whether its outcome has arrived with the last progress; a late heartbeat must not replace that."""
    is_known: bool = False
    """Whether its runner has presented its token."""
    next_attempt: tuple[str, NodeOrder] | None = None
    """Token and order of the attempt that its node received in the response to its outcome."""

    @property
    def has_begun(self) -> bool:
        """Whether a runner has started it and it was not revoked."""
        return bool(self.token_sha256)

    @property
    def is_live(self) -> bool:
        """Whether its runner holds a lease."""
        return self.has_begun and not self.is_over and time.monotonic() < self.until


@dataclass(frozen=True)
class HeartbeatReport:
    """The content of a heartbeat."""

    progress: float | None = None
    """0 to 1."""
    message: str | None = None
    log: bytes = b""
    """A part of the log."""
    log_offset: int = 0
    """Offset of that part in the log, in bytes."""


@dataclass(frozen=True)
class FinalReport:
    """The final report of a node about an attempt."""

    outcome: Outcome
    report: HeartbeatReport = field(default_factory=HeartbeatReport)
    """The last progress, and the end of the log."""
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    """Small outputs, by name; larger ones were uploaded."""


@dataclass(frozen=True)
class HeartbeatResponse:
    """The response to a heartbeat."""

    cancel_grace_s: float | None
    """Seconds between TERM and KILL if the attempt must stop; None to continue."""
    log_bytes: int
    """Size of the log at the service."""


class NodeAttempts:
    """All attempts on other machines.

    Args:
        store: records starts and revocations.
        root: folder of all attempts.
        timing: leases and heartbeats.
        replica: name of this replica of the service; empty if it is the only one. A runner may talk to any
            replica, so everything that a replica knows of an attempt is in the attempt's folder.
    """

    def __init__(
        self, store: NodeAttemptStore, root: Path, timing: LeaseTiming | None = None, replica: str = ""
    ) -> None:
        self.replica = replica
        self.adopt: Callable[[Path, str], None] = lambda _path, _sha256: None
        """Adds a small result to the contents before its attempt ends, given its file and SHA-256, so that
        the dispatcher, which serves all nodes, need not wait for the disk."""
        self._store = store
        self._root = root
        self.timing = timing or LeaseTiming()
        self.slots = NodeSlots()
        self._attempts: dict[tuple[int, int], RemoteAttempt] = {}
        self._on_ended: Callable[[str], None] = lambda _: None
        self._lock = threading.RLock()
        self._log_lock = threading.Lock()

    # for executors

    @property
    def root(self) -> Path:
        """Folder of all attempts, on the service's machine."""
        return self._root

    def listen(self, on_ended: Callable[[str], None]) -> None:
        """Call ``on_ended`` with the nonce of each attempt whose outcome arrived."""
        self._on_ended = on_ended

    def poll(self, identity: AttemptIdentity, *, may_start: bool) -> AttemptState:
        """Return the state of an attempt.

        Args:
            identity: the attempt.
            may_start: whether its executor may still start it.
        """
        folder = self._root / identity.place
        with self._lock:
            attempt = self._find_attempt(identity.job_id, identity.number)
            is_waiting = attempt is not None and attempt.token_sha256 is None and may_start
            is_alive = is_waiting or (attempt is not None and attempt.is_live)
        progress, message = files.read_progress(folder)
        return AttemptState(progress, message, is_alive, Outcome.read(folder))

    def cancel(self, identity: AttemptIdentity, grace_s: float) -> None:
        """Ask the runner to stop at its next heartbeat; an attempt that has not begun never will."""
        folder = self._root / identity.place
        with contextlib.suppress(FileNotFoundError):
            files.request_cancel(folder, grace_s)
        with self._lock:
            attempt = self._find_attempt(identity.job_id, identity.number)
            if attempt is None:
                return
            attempt.cancel_grace_s = grace_s
            if attempt.token_sha256 is None:
                self._revoke(attempt)
        self._on_ended(identity.nonce)

    def is_wanted(self, identity: AttemptIdentity) -> bool:
        """Return whether the attempt may still begin, or has begun and its outcome is missing."""
        with self._lock:
            attempt = self._find_attempt(identity.job_id, identity.number)
            if (
                attempt is None
                or attempt.nonce != identity.nonce
                or attempt.token_sha256 == REVOKED
                or attempt.is_over
            ):
                return False
            row = self._store.find(identity.job_id, identity.number)
            return row is not None and row.is_current

    def has_begun(self, identity: AttemptIdentity) -> bool:
        """Return whether a runner started the attempt, even if it has ended, and it was not revoked."""
        with self._lock:
            job_id, number = identity.job_id, identity.number
            attempt = self._find_attempt(job_id, number) or self._find_ended_attempt(job_id, number)
            return attempt is not None and attempt.has_begun

    def report_waiting(self, identity: AttemptIdentity, message: str) -> None:
        """Tell the user the state of an attempt that has not begun.

        Raises:
            OSError: the attempt's folder cannot be written.
        """
        files.write_progress(self._root / identity.place, None, message)

    def record_failed_start(self, identity: AttemptIdentity, reason: str) -> None:
        """Record that an attempt was lost before it began, with the reason.

        Raises:
            OSError: the attempt's folder cannot be written.
        """
        with self._lock:
            attempt = self._find_attempt(identity.job_id, identity.number)
            if attempt is None or attempt.token_sha256 is not None or not self._revoke(attempt):
                return
            lost = Outcome("lost", reason, ended=files.now(), nonce=identity.nonce)
            files.write_json(attempt.folder / files.OUTCOME, files.as_content(lost), is_durable=False)
            attempt.is_over = True
        self._on_ended(identity.nonce)

    def revoke(self, identity: AttemptIdentity) -> bool:
        """Make sure that an attempt without a living runner never runs; see the executor's protocol."""
        with self._lock:
            attempt = self._find_attempt(identity.job_id, identity.number)
            if attempt is None or attempt.token_sha256 == REVOKED:
                return True
            if attempt.is_live or Outcome.read(attempt.folder) is not None:
                return False
            return self._revoke(attempt)

    def _revoke(self, attempt: RemoteAttempt) -> bool:
        is_done = self._store.revoke(attempt.job_id, attempt.number, attempt.nonce, attempt.token_sha256)
        if is_done:
            attempt.token_sha256 = REVOKED
        else:  # ended or started meanwhile: read it again
            self._attempts.pop((attempt.job_id, attempt.number), None)
        return is_done

    def _find_attempt(self, job_id: int, number: int) -> RemoteAttempt | None:
        """Return the state of an attempt; read it from the database at the first request after a start."""
        attempt = self._attempts.get((job_id, number))
        if attempt is not None and (attempt.is_over or not self.replica):
            return attempt
        row = self._store.find(job_id, number)
        return None if row is None or not row.is_current else self._remember(job_id, number, row)

    def _find_ended_attempt(self, job_id: int, number: int) -> RemoteAttempt | None:
        """Return the state of a started attempt whose end is committed.

        Its node may still send a heartbeat or repeat its outcome, to another replica or after a restart.
        """
        row = self._store.find(job_id, number)
        if row is None or row.is_current or not row.token_sha256:
            return None
        folder, moment = self._root / row.folder, time.monotonic()
        return RemoteAttempt(job_id, number, row.nonce, folder, row.token_sha256, moment, is_over=True)

    def _remember(self, job_id: int, number: int, row: NodeAttemptRow) -> RemoteAttempt:
        moment = time.monotonic()
        if len(self._attempts) >= _MAX_REMEMBERED:
            old_s = 2 * self.timing.wait_s
            self._attempts = {
                key: each for key, each in self._attempts.items() if moment - each.until < old_s
            }
        folder = self._root / row.folder
        attempt = RemoteAttempt(
            job_id, number, row.nonce, folder, row.token_sha256, moment + self.timing.wait_s
        )
        if self.replica and row.token_sha256:
            with contextlib.suppress(OSError, ValueError):
                last_contact_s = float((folder / _LAST_CONTACT).read_text("ascii"))
                attempt.until = moment + min(0.0, last_contact_s - self._store.seconds()) + self.timing.wait_s
        attempt.is_over = (folder / files.OUTCOME).exists()
        with contextlib.suppress(FileNotFoundError, ValueError):
            attempt.cancel_grace_s = float((folder / files.CANCEL).read_text("ascii"))
        if not self.replica:
            self._attempts[job_id, number] = attempt
        return attempt

    # for requests of nodes

    def start(self, job_id: int, number: int, nonce: str) -> tuple[str, NodeOrder]:
        """Exchange the nonce for a token; return the token and the order.

        Raises:
            RefusalError: 403, the nonce is wrong or was used, or the attempt may not start.
            OSError: the attempt's folder cannot be written.
        """
        row = self._store.find(job_id, number)
        expected = row.nonce if row is not None and row.is_current else ""
        is_known = hmac.compare_digest(expected.encode(), nonce.encode("utf-8", "surrogatepass"))
        order = None if row is None else NodeOrder.read(self._root / row.folder)
        if row is None or not expected or not is_known or order is None:
            raise attempt_refused()
        return self._begin(job_id, number, row, order)

    def _begin(
        self, job_id: int, number: int, row: NodeAttemptRow, order: NodeOrder
    ) -> tuple[str, NodeOrder]:
        token = secrets.token_urlsafe(32)
        self._record_contact(self._root / row.folder)
        if not self._store.start(job_id, number, row.nonce, hash_text(token)):
            raise attempt_refused()
        self.slots.begin(row.nonce)
        with self._lock:
            attempt = self._remember(job_id, number, replace(row, token_sha256=hash_text(token)))
            (attempt.folder / files.PROGRESS).unlink(missing_ok=True)  # its content was about the wait
            runner = {"pid": None, "started": files.now(), "nonce": row.nonce}
            files.write_json(attempt.folder / files.RUNNER, runner, is_durable=False)
        timing = self.timing
        return token, replace(order, lease_s=timing.lease_s, heartbeat_s=timing.heartbeat_s)

    def start_next(self, attempt: RemoteAttempt, order: AttemptOrder) -> tuple[str, NodeOrder]:
        """Start another attempt for the node that ran ``attempt``; see ``start``.

        Raises:
            RefusalError: 403, the attempt may not start any more.
            OSError: the attempt's folder cannot be written.
        """
        identity = order.identity
        if order.node_order is None:
            raise attempt_refused()
        row = NodeAttemptRow(identity.nonce, identity.place, None, is_current=True)
        attempt.next_attempt = self._begin(identity.job_id, identity.number, row, order.node_order)
        with self._lock:
            self._attempts[attempt.job_id, attempt.number] = attempt  # for a repeated request
        return attempt.next_attempt

    def find_started_next(self, attempt: RemoteAttempt) -> tuple[str, NodeOrder] | None:
        """Return what the node of ``attempt`` was given before, if it may not have received it."""
        if attempt.next_attempt is None:
            return None
        _, order = attempt.next_attempt
        with self._lock:
            next_attempt = self._find_attempt(order.job_id, order.number)
            is_unknown = next_attempt is not None and next_attempt.is_live and not next_attempt.is_known
        return attempt.next_attempt if is_unknown else None

    def admit(self, job_id: int, number: int, token: str) -> RemoteAttempt:
        """Return the attempt whose runner has this token.

        Raises:
            RefusalError: 403, the token is not that of the attempt, or its lease expired, or it is over.
        """
        with self._lock:
            attempt = self._find_attempt(job_id, number) or self._find_ended_attempt(job_id, number)
            expected = (attempt.token_sha256 if attempt is not None else None) or ""
            is_right = hmac.compare_digest(expected.encode(), hash_text(token).encode())
            if attempt is None or not is_right or not (attempt.is_live or attempt.is_over):
                raise attempt_refused()
            attempt.is_known = True
            return attempt

    def is_running(self, job_id: int, number: int) -> bool:
        """Return whether a runner holds the attempt, so that it may read its inputs."""
        with self._lock:
            attempt = self._find_attempt(job_id, number)
            return attempt is not None and attempt.is_live

    def record_heartbeat(self, attempt: RemoteAttempt, report: HeartbeatReport) -> HeartbeatResponse:
        """Renew the lease, and record progress and log.

        Raises:
            RefusalError: 403, the lease has expired.
            OSError: the attempt's folder cannot be written.
        """
        with self._lock:
            if attempt.is_over:
                return HeartbeatResponse(None, _append_log(attempt.folder, HeartbeatReport()))
            self._require_lease(attempt)
            attempt.until = time.monotonic() + self.timing.wait_s
            self._record_contact(attempt.folder)
            grace_s = attempt.cancel_grace_s
        self._record_progress(attempt, report)
        return HeartbeatResponse(grace_s, self._append_to_log(attempt.folder, report))

    def store_output(self, attempt: RemoteAttempt, name: str, draft: Path) -> None:
        """Publish an uploaded file under its name; the caller has checked its hash.

        Raises:
            RefusalError: 400, an archive that is damaged or has unsafe names; 403, the attempt is over.
            OSError: the attempt's folder cannot be written.
        """
        if name == files.RESULT:
            _require_archive(draft)
        with self._lock:
            self._require_lease(attempt)
            draft.rename(attempt.folder / name)

    def finish(self, attempt: RemoteAttempt, ending: FinalReport, slot: OpenSlot | None = None) -> None:
        """Publish the outcome once; accept the same one again, since the response may have been lost.

        Args:
            attempt: the attempt.
            ending: its outcome, and all outputs that were not uploaded before.
            slot: is reused, or opened, if the outcome is accepted.

        Raises:
            RefusalError: 400, the outcome belongs to another attempt, or its result is missing or differs;
                403, the attempt is over; 409, another outcome was accepted before.
            OSError: the attempt's folder cannot be written.
        """
        outcome = ending.outcome
        if not hmac.compare_digest((outcome.nonce or "").encode(), attempt.nonce.encode()):
            raise bad_request("The outcome is not that of this attempt.", code="wrong_nonce", field="nonce")
        drafts: dict[str, Path] = {}
        try:
            if not attempt.is_over:
                self._require_lease(attempt)
                # The last heartbeat may arrive together with the outcome, which carries the same part of the
                # log.
                self._record_progress(attempt, ending.report, is_last=True)
                self._append_to_log(attempt.folder, ending.report)
                is_adopted = slot is None or not self.slots.has_line(slot)
                for name, content in ending.outputs.items():
                    drafts[name] = attempt.folder / f"{DRAFT}{secrets.token_hex(8)}"
                    self._draft(drafts[name], name, content, is_adopted=is_adopted)
                _require_result(attempt.folder / files.RESULT, outcome, ending.outputs.get(files.RESULT))
            is_first = self._publish(attempt, outcome, drafts)
        finally:
            for draft in drafts.values():
                draft.unlink(missing_ok=True)
        try:
            while slot is not None and not self._start_next_on_slot(attempt, slot):
                if self.slots.open(slot):
                    break
        finally:
            if is_first:
                self._on_ended(attempt.nonce)

    def _start_next_on_slot(self, attempt: RemoteAttempt, slot: OpenSlot) -> bool:
        """Start the first attempt in line on the node that ran ``attempt``; return False if there is none."""
        return self.slots.start_next(slot, lambda order: self.start_next(attempt, order)) is not None

    def _publish(self, attempt: RemoteAttempt, outcome: Outcome, drafts: Mapping[str, Path]) -> bool:
        """Publish outputs and outcome; return False if that was done before.

        Nothing can replace the outputs between their verification and the outcome.
        """
        with self._lock:
            published = Outcome.read(attempt.folder)
            if published is not None and files.as_content(published) != files.as_content(outcome):
                sentence = "Another outcome of this attempt was accepted before."
                raise RefusalError(409, "outcome_exists", sentence)
            if published is None:
                self._require_lease(attempt)
                for name, draft in drafts.items():
                    draft.rename(attempt.folder / name)
                files.write_json(attempt.folder / files.OUTCOME, files.as_content(outcome), is_durable=False)
                attempt.is_over = True
            return published is None

    def _draft(self, draft: Path, name: str, content: bytes, *, is_adopted: bool) -> None:
        """Write an output that came with the outcome.

        A result is added to the contents here, unless others are waiting: then the dispatcher adds several at
        once.
        """
        if name == files.RESULT:
            _require_archive(io.BytesIO(content))
        with draft.open("xb") as stream:
            stream.write(content)
        if name == files.RESULT and is_adopted:
            self.adopt(draft, hash_bytes(content))

    def _record_progress(
        self, attempt: RemoteAttempt, report: HeartbeatReport, *, is_last: bool = False
    ) -> None:
        """Publish the progress, unless a later one came with the outcome."""
        with self._lock:
            if attempt.has_last_progress and not is_last:
                return
            attempt.has_last_progress = is_last
            if report.progress is not None or report.message is not None:
                files.write_progress(attempt.folder, report.progress, report.message)

    def _append_to_log(self, folder: Path, report: HeartbeatReport) -> int:
        """Append the reported part of the log; return the size of the log."""
        with self._log_lock:
            return _append_log(folder, report)

    def _record_contact(self, folder: Path) -> None:
        if self.replica:
            write_atomically(folder / _LAST_CONTACT, str(self._store.seconds()))

    @staticmethod
    def _require_lease(attempt: RemoteAttempt) -> None:
        if not attempt.is_live:
            raise attempt_refused()


def attempt_refused() -> RefusalError:
    """Build a 403 response; the same for every reason, so that it reveals nothing about other attempts."""
    sentence = "This attempt is unknown, over, or held by another runner. End it and discard its outputs."
    return RefusalError(403, "attempt_refused", sentence)


def _require_archive(archive: Path | IO[bytes]) -> None:
    try:
        with open_archive(archive):
            pass
    except DamagedArchiveError as exc:
        raise bad_request(f"The archive was refused: {exc}.", code="invalid_archive") from exc


def _require_result(path: Path, outcome: Outcome, content: bytes | None) -> None:
    """Check that the outcome's result is present; ``content`` is the result if it came with the outcome."""
    if outcome.result_sha256 is None:
        return
    try:
        size = path.stat().st_size if content is None else len(content)
        found = hash_file(path) if content is None else hash_bytes(content)
        is_there = (size, found) == (outcome.result_size_bytes, outcome.result_sha256)
    except FileNotFoundError:
        is_there = False
    if not is_there:
        raise bad_request(
            "The result that the outcome names was not uploaded.", code="result_missing", field="resultSha256"
        )


def _append_log(folder: Path, report: HeartbeatReport) -> int:
    """Append the part of the log that follows the stored part; return the size of the log."""
    path = folder / files.LOG
    try:
        size = path.lstat().st_size
    except FileNotFoundError:
        size = 0
    if not report.log or report.log_offset != size or size >= LOG_LIMIT_BYTES:
        return size
    with open_log(path) as log:
        log.write(report.log[: LOG_LIMIT_BYTES - size])
        return log.tell()
