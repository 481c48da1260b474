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
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from foldnote.io import hash_bytes, hash_file, write_atomically
from foldnote.service.faults import RefusalError, bad_request
from foldnote.service.files.archives import DamagedArchiveError, open_archive
from foldnote.service.node.order import NodeOrder
from foldnote.service.queue.executors.protocol import AttemptIdentity
from foldnote.service.queue.slots import NodeSlots, OpenSlot
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import AttemptState, Outcome
from foldnote.service.runner.output_lines import LOG_LIMIT_BYTES, open_log
from foldnote.service.store.jobs.node_attempts import REVOKED, NodeAttemptRow, NodeAttemptStore

UPLOADS = (files.LOG, files.MANIFEST, files.RESULT)
"""Files that a node may upload, by name."""
DRAFT = ".upload-"
_MANY = 10_000
_HEARD = "heard"
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
        return self.lease_s + min(15.0, max(1.5, self.lease_s / 4))


@dataclass
class HeldAttempt:
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
    following: tuple[str, NodeOrder] | None = None
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
class Reported:
    """The content of a heartbeat."""

    progress: float | None = None
    """0 to 1."""
    message: str | None = None
    log: bytes = b""
    """A part of the log."""
    log_offset: int = 0
    """Offset of that part in the log, in bytes."""


@dataclass(frozen=True)
class NodeEnding:
    """The final report of a node about an attempt."""

    outcome: Outcome
    reported: Reported = field(default_factory=Reported)
    """The last progress, and the end of the log."""
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    """Small outputs, by name; larger ones were uploaded."""


@dataclass(frozen=True)
class HeartbeatAnswer:
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
        self._held: dict[tuple[int, int], HeldAttempt] = {}
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

    def poll(self, identity: AttemptIdentity, *, is_held: bool) -> AttemptState:
        """Return the state of an attempt.

        Args:
            identity: the attempt.
            is_held: whether its executor may still start it.
        """
        folder = self._root / identity.place
        with self._lock:
            held = self._recall(identity.job_id, identity.number)
            is_waiting = held is not None and held.token_sha256 is None and is_held
            is_alive = is_waiting or (held is not None and held.is_live)
        progress, message = files.read_progress(folder)
        return AttemptState(progress, message, is_alive, Outcome.read(folder))

    def cancel(self, identity: AttemptIdentity, grace_s: float) -> None:
        """Ask the runner to stop at its next heartbeat; an attempt that has not begun never will."""
        folder = self._root / identity.place
        with contextlib.suppress(FileNotFoundError):
            files.request_cancel(folder, grace_s)
        with self._lock:
            held = self._recall(identity.job_id, identity.number)
            if held is None:
                return
            held.cancel_grace_s = grace_s
            if held.token_sha256 is None:
                self._revoke(held)
        self._on_ended(identity.nonce)

    def is_wanted(self, identity: AttemptIdentity) -> bool:
        """Return whether the attempt may still begin, or has begun and its outcome is missing."""
        with self._lock:
            held = self._recall(identity.job_id, identity.number)
            if held is None or held.nonce != identity.nonce or held.token_sha256 == REVOKED or held.is_over:
                return False
            row = self._store.find(identity.job_id, identity.number)
            return row is not None and row.is_current

    def has_begun(self, identity: AttemptIdentity) -> bool:
        """Return whether a runner started the attempt, even if it has ended, and it was not revoked."""
        with self._lock:
            job_id, number = identity.job_id, identity.number
            held = self._recall(job_id, number) or self._recall_ended(job_id, number)
            return held is not None and held.has_begun

    def note(self, identity: AttemptIdentity, message: str) -> None:
        """Tell the user the state of an attempt that has not begun.

        Raises:
            OSError: the attempt's folder cannot be written.
        """
        files.write_progress(self._root / identity.place, None, message)

    def decline(self, identity: AttemptIdentity, reason: str) -> None:
        """Record that an attempt was lost before it began, with the reason.

        Raises:
            OSError: the attempt's folder cannot be written.
        """
        with self._lock:
            held = self._recall(identity.job_id, identity.number)
            if held is None or held.token_sha256 is not None or not self._revoke(held):
                return
            lost = Outcome("lost", reason, ended=files.now(), nonce=identity.nonce)
            files.write_json(held.folder / files.OUTCOME, files.as_content(lost), is_durable=False)
            held.is_over = True
        self._on_ended(identity.nonce)

    def revoke(self, identity: AttemptIdentity) -> bool:
        """Make sure that an attempt without a living runner never runs; see the executor's protocol."""
        with self._lock:
            held = self._recall(identity.job_id, identity.number)
            if held is None or held.token_sha256 == REVOKED:
                return True
            if held.is_live or Outcome.read(held.folder) is not None:
                return False
            return self._revoke(held)

    def _revoke(self, held: HeldAttempt) -> bool:
        is_done = self._store.revoke(held.job_id, held.number, held.nonce, held.token_sha256)
        if is_done:
            held.token_sha256 = REVOKED
        else:  # ended or started meanwhile: read it again
            self._held.pop((held.job_id, held.number), None)
        return is_done

    def _recall(self, job_id: int, number: int) -> HeldAttempt | None:
        """Return the state of an attempt; read it from the database at the first request after a start."""
        held = self._held.get((job_id, number))
        if held is not None and (held.is_over or not self.replica):
            return held
        row = self._store.find(job_id, number)
        return None if row is None or not row.is_current else self._hold(job_id, number, row)

    def _recall_ended(self, job_id: int, number: int) -> HeldAttempt | None:
        """Return the state of a started attempt whose end is committed.

        Its node may still send a heartbeat or repeat its outcome, to another replica or after a restart.
        """
        row = self._store.find(job_id, number)
        if row is None or row.is_current or not row.token_sha256:
            return None
        folder, moment = self._root / row.folder, time.monotonic()
        return HeldAttempt(job_id, number, row.nonce, folder, row.token_sha256, moment, is_over=True)

    def _hold(self, job_id: int, number: int, row: NodeAttemptRow) -> HeldAttempt:
        moment = time.monotonic()
        if len(self._held) >= _MANY:
            old_s = 2 * self.timing.wait_s
            self._held = {key: each for key, each in self._held.items() if moment - each.until < old_s}
        folder = self._root / row.folder
        held = HeldAttempt(job_id, number, row.nonce, folder, row.token_sha256, moment + self.timing.wait_s)
        if self.replica and row.token_sha256:
            with contextlib.suppress(OSError, ValueError):
                heard = float((folder / _HEARD).read_text("ascii"))
                held.until = moment + min(0.0, heard - self._store.seconds()) + self.timing.wait_s
        held.is_over = (folder / files.OUTCOME).exists()
        with contextlib.suppress(FileNotFoundError, ValueError):
            held.cancel_grace_s = float((folder / files.CANCEL).read_text("ascii"))
        if not self.replica:
            self._held[job_id, number] = held
        return held

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
            raise refused()
        return self._begin(job_id, number, row, order)

    def _begin(
        self, job_id: int, number: int, row: NodeAttemptRow, order: NodeOrder
    ) -> tuple[str, NodeOrder]:
        token = secrets.token_urlsafe(32)
        self._note_heard(self._root / row.folder)
        if not self._store.start(job_id, number, row.nonce, hash_token(token)):
            raise refused()
        self.slots.begin(row.nonce)
        with self._lock:
            held = self._hold(job_id, number, replace(row, token_sha256=hash_token(token)))
            (held.folder / files.PROGRESS).unlink(missing_ok=True)  # its content was about the wait
            runner = {"pid": None, "started": files.now(), "nonce": row.nonce}
            files.write_json(held.folder / files.RUNNER, runner, is_durable=False)
        timing = self.timing
        return token, replace(order, lease_s=timing.lease_s, heartbeat_s=timing.heartbeat_s)

    def follow(self, held: HeldAttempt, identity: AttemptIdentity) -> tuple[str, NodeOrder]:
        """Start another attempt for the node that ran ``held``; see ``start``.

        Raises:
            RefusalError: 403, the attempt may not start any more.
            OSError: the attempt's folder cannot be written.
        """
        order = NodeOrder.read(self._root / identity.place)
        if order is None:
            raise refused()
        row = NodeAttemptRow(identity.nonce, identity.place, None, is_current=True)
        held.following = self._begin(identity.job_id, identity.number, row, order)
        with self._lock:
            self._held[held.job_id, held.number] = held  # for a repeated request
        return held.following

    def repeat_following(self, held: HeldAttempt) -> tuple[str, NodeOrder] | None:
        """Return what the node of ``held`` was given before, if it may not have received it."""
        if held.following is None:
            return None
        _, order = held.following
        with self._lock:
            following = self._recall(order.job_id, order.number)
            is_unknown = following is not None and following.is_live and not following.is_known
        return held.following if is_unknown else None

    def admit(self, job_id: int, number: int, token: str) -> HeldAttempt:
        """Return the attempt whose runner has this token.

        Raises:
            RefusalError: 403, the token is not that of the attempt, or its lease expired, or it is over.
        """
        with self._lock:
            held = self._recall(job_id, number) or self._recall_ended(job_id, number)
            expected = (held.token_sha256 if held is not None else None) or ""
            is_right = hmac.compare_digest(expected.encode(), hash_token(token).encode())
            if held is None or not is_right or not (held.is_live or held.is_over):
                raise refused()
            held.is_known = True
            return held

    def is_running(self, job_id: int, number: int) -> bool:
        """Return whether a runner holds the attempt, so that it may read its inputs."""
        with self._lock:
            held = self._recall(job_id, number)
            return held is not None and held.is_live

    def beat(self, held: HeldAttempt, reported: Reported) -> HeartbeatAnswer:
        """Renew the lease, and record progress and log.

        Raises:
            RefusalError: 403, the lease has expired.
            OSError: the attempt's folder cannot be written.
        """
        with self._lock:
            if held.is_over:
                return HeartbeatAnswer(None, _append_log(held.folder, Reported()))
            self._require_live(held)
            held.until = time.monotonic() + self.timing.wait_s
            self._note_heard(held.folder)
            grace_s = held.cancel_grace_s
        self._note_progress(held, reported)
        return HeartbeatAnswer(grace_s, self._note_log(held.folder, reported))

    def keep(self, held: HeldAttempt, name: str, draft: Path) -> None:
        """Publish an uploaded file under its name; the caller has checked its hash.

        Raises:
            RefusalError: 400, an archive that is damaged or has unsafe names; 403, the attempt is over.
            OSError: the attempt's folder cannot be written.
        """
        if name == files.RESULT:
            _require_archive(draft)
        with self._lock:
            self._require_live(held)
            draft.rename(held.folder / name)

    def finish(self, held: HeldAttempt, ending: NodeEnding, slot: OpenSlot | None = None) -> None:
        """Publish the outcome once; accept the same one again, since the response may have been lost.

        Args:
            held: the attempt.
            ending: its outcome, and all outputs that were not uploaded before.
            slot: is reused, or opened, if the outcome is accepted.

        Raises:
            RefusalError: 400, the outcome belongs to another attempt, or its result is missing or differs;
                403, the attempt is over; 409, another outcome was accepted before.
            OSError: the attempt's folder cannot be written.
        """
        outcome = ending.outcome
        if not hmac.compare_digest((outcome.nonce or "").encode(), held.nonce.encode()):
            raise bad_request("The outcome is not that of this attempt.", code="wrong_nonce", field="nonce")
        drafts: dict[str, Path] = {}
        try:
            if not held.is_over:
                self._require_live(held)
                # The last heartbeat may arrive together with the outcome, which carries the same part of the
                # log.
                self._note_progress(held, ending.reported, is_last=True)
                self._note_log(held.folder, ending.reported)
                is_adopted = slot is None or not self.slots.has_line(slot)
                for name, content in ending.outputs.items():
                    drafts[name] = held.folder / f"{DRAFT}{secrets.token_hex(8)}"
                    self._draft(drafts[name], name, content, is_adopted=is_adopted)
                _require_result(held.folder / files.RESULT, outcome, ending.outputs.get(files.RESULT))
            is_first = self._publish(held, outcome, drafts)
        finally:
            for draft in drafts.values():
                draft.unlink(missing_ok=True)
        try:
            while slot is not None and not self._use_again(held, slot):
                if self.slots.open(slot):
                    break
        finally:
            if is_first:
                for path in held.folder.glob(f"{DRAFT}*"):
                    path.unlink(missing_ok=True)
                self._on_ended(held.nonce)

    def _use_again(self, held: HeldAttempt, slot: OpenSlot) -> bool:
        """Start the first attempt in line on the node that ran ``held``; return False if there is none."""
        return self.slots.use_again(slot, lambda identity: self.follow(held, identity)) is not None

    def _publish(self, held: HeldAttempt, outcome: Outcome, drafts: Mapping[str, Path]) -> bool:
        """Publish outputs and outcome; return False if that was done before.

        Nothing can replace the outputs between their verification and the outcome.
        """
        with self._lock:
            published = Outcome.read(held.folder)
            if published is not None and files.as_content(published) != files.as_content(outcome):
                sentence = "Another outcome of this attempt was accepted before."
                raise RefusalError(409, "outcome_exists", sentence)
            if published is None:
                self._require_live(held)
                for name, draft in drafts.items():
                    draft.rename(held.folder / name)
                files.write_json(held.folder / files.OUTCOME, files.as_content(outcome), is_durable=False)
                held.is_over = True
            return published is None

    def _draft(self, draft: Path, name: str, content: bytes, *, is_adopted: bool) -> None:
        """Write an output that came with the outcome.

        A result is added to the contents here, unless others are waiting: then the dispatcher adds several at
        once.
        """
        with draft.open("xb") as stream:
            stream.write(content)
        if name == files.RESULT:
            _require_archive(draft)
            if is_adopted:
                self.adopt(draft, hash_bytes(content))

    def _note_progress(self, held: HeldAttempt, reported: Reported, *, is_last: bool = False) -> None:
        """Publish the progress, unless a later one came with the outcome."""
        with self._lock:
            if held.has_last_progress and not is_last:
                return
            held.has_last_progress = is_last
            if reported.progress is not None or reported.message is not None:
                files.write_progress(held.folder, reported.progress, reported.message)

    def _note_log(self, folder: Path, reported: Reported) -> int:
        """Append the reported part of the log; return the size of the log."""
        with self._log_lock:
            return _append_log(folder, reported)

    def _note_heard(self, folder: Path) -> None:
        if self.replica:
            write_atomically(folder / _HEARD, str(self._store.seconds()))

    @staticmethod
    def _require_live(held: HeldAttempt) -> None:
        if not held.is_live:
            raise refused()


def hash_token(token: str) -> str:
    """Return the hash that is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def refused() -> RefusalError:
    """Build a 403 response; the same for every reason, so that it reveals nothing about other attempts."""
    sentence = "This attempt is unknown, over, or held by another runner. End it and discard its outputs."
    return RefusalError(403, "attempt_refused", sentence)


def _require_archive(path: Path) -> None:
    try:
        with open_archive(path):
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


def _append_log(folder: Path, reported: Reported) -> int:
    """Append the part of the log that follows the stored part; return the size of the log."""
    path = folder / files.LOG
    try:
        size = path.lstat().st_size
    except FileNotFoundError:
        size = 0
    if not reported.log or reported.log_offset != size or size >= LOG_LIMIT_BYTES:
        return size
    with open_log(path) as log:
        log.write(reported.log[: LOG_LIMIT_BYTES - size])
        return log.tell()
