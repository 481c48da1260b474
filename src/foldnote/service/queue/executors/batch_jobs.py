"""The executor ``batch``: an attempt runs as a job of a batch system such as Slurm, or in an earlier one.

A job carries no secret: its order is a private file in a folder that service and nodes share, and whoever
takes the order removes it. Therefore a job that the service revoked, or that the batch system starts twice,
ends at once. Whether the batch system lists a job is only a hint; it decides how long the service waits for
an attempt that has not begun. One thread runs the commands of the batch system, which may take long.

A job whose attempt has ended runs other waiting attempts one after another while there is time: the oldest
first, whether or not they already have a job of their own, which is then cancelled.

A record of each job is kept in the same folder. A restarted service finds its jobs by these records. Jobs of
this service that no record refers to are cancelled, whatever the reason: an attempt runs in another job, the
service was killed before it had saved a record, or the batch system still lists a job whose node has left.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from foldnote.errors import ConfigurationError
from foldnote.ownership import make_own
from foldnote.service.queue.executors.batch_options import BatchOptions
from foldnote.service.queue.executors.batch_system import BatchRequest, BatchSystemError, Slurm
from foldnote.service.queue.executors.node_executor import NodeExecutor
from foldnote.service.queue.executors.nodes import NodeAttempts
from foldnote.service.queue.executors.protocol import (
    AttemptIdentity,
    AttemptOrder,
    Capacity,
    UnreachableError,
)
from foldnote.service.queue.executors.slots import SlotTerms

log = logging.getLogger(__name__)
_ORDERS, _RECORDS, _SCRIPTS = "orders", "records", "scripts"
_WAITING = "Waits in the queue of the batch system."
_UNREACHABLE = "The batch system does not answer."
_MISSES = 2
"""Consecutive queries that must not list a job before it counts as gone."""
_EXIT_GRACE_S = 30.0
"""How long a job may take to end after its outcome was accepted."""
_MARGIN_S = 3.0
_WAIT_S = 2.0
"""Time that a job whose attempt has ended waits for another one."""
_CLOSE_S = 5.0


@dataclass
class BatchRecord:
    """One attempt and its job in the batch system, as this service knows them."""

    identity: AttemptIdentity
    name: str
    """Name of a job for this attempt, and of its files."""
    native_id: str = ""
    """Number in the batch system; empty while unknown."""
    reused_job_name: str = ""
    """Name of the job if it was made for an earlier attempt; else empty."""
    order: AttemptOrder | None = None
    """The attempt; None if it was delivered by an earlier process of the service."""
    request: BatchRequest | None = None
    """The request that is still to be submitted."""
    misses: int = 0
    is_gone: bool = False
    """Whether the batch system will not start it."""
    kill_at: float | None = None
    """When a job that was asked to stop is cancelled, on the monotonic clock."""
    unwanted_at: float | None = None
    """Since when its end is awaited, on the monotonic clock."""

    @property
    def job(self) -> str:
        """Name of the job in the batch system."""
        return self.reused_job_name or self.name


class BatchExecutor(NodeExecutor):
    """Jobs of a batch system.

    Args:
        attempts: attempts of all executors of other machines.
        options: its section of the configuration.
    """

    def __init__(self, attempts: NodeAttempts, options: BatchOptions) -> None:
        super().__init__(attempts)
        self._options = options
        self._work_dir = Path(options.work_dir)
        owner = f"{attempts.replica or os.uname().nodename}:{attempts.root.resolve()}"
        mark = hashlib.sha256(owner.encode()).hexdigest()[:12]
        self._folder = self._work_dir / f"service-{mark}"
        """A folder of this service only, so that several services may share the parent folder."""
        self._name_prefix = f"foldnote-{mark}-"
        """Begins the names of this service's jobs, since several services may share an account."""
        self._system: Slurm | None = None
        self._is_reached = False
        self._has_logged_outage = False
        self._records: dict[str, BatchRecord] = {}
        self._waiting: deque[BatchRecord] = deque()
        self._hint: Callable[[str], None] = lambda _: None
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._is_closing = False
        self._next_poll_at = 0.0
        self._thread = threading.Thread(target=self._run_loop, name="batch", daemon=True)
        node = Capacity(options.cores, options.node_memory_mb, options.gpus, slots=1)
        self._slots = tuple(
            Capacity(node.cores, node.memory_mb, node.gpus, machine=f"slot-{number}", slots=1)
            for number in range(1, options.max_jobs + 1)
        )

    def open(self, on_ended: Callable[[str], None]) -> None:
        """See the protocol; find the jobs of an earlier process without querying the batch system.

        Raises:
            OSError: the shared folder cannot be used.
            ConfigurationError: others could read the shared folder.
        """
        super().open(on_ended)
        self._hint = on_ended
        if self._thread.is_alive():
            return
        folders = (self._folder / name for name in (_ORDERS, _RECORDS, _SCRIPTS))
        for folder in (self._work_dir, self._folder, *folders):
            make_own(folder, "Set work_dir to a folder of your own")
        for path in (self._folder / _RECORDS).glob("*.json"):
            self._load_record(path)
        self._thread.start()

    def _load_record(self, path: Path) -> None:
        """Read one record; do not wait for a job that may not have been submitted or has no order."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            record = BatchRecord(
                AttemptIdentity(**content["identity"]),
                path.stem,
                content["native_id"],
                content.get("first", ""),
            )
        except (OSError, ValueError, TypeError, KeyError):
            log.warning("The record %s of a batch job is damaged; the job is cancelled.", path)
            path.unlink(missing_ok=True)
            return
        may_begin = bool(record.native_id) and self._order_path(record).exists()
        if not may_begin and not self.attempts.has_begun(record.identity):
            record.is_gone = True
            self._remove_order(record)
        self._records[record.identity.nonce] = record

    def close(self) -> None:
        """See the protocol; queued jobs stay and running ones continue."""
        self._is_closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_S)

    def capacity(self) -> tuple[Capacity, ...]:
        """Return one machine per job that the batch system may hold; none while it does not answer."""
        return self._slots if self._is_reached else ()

    def submit(self, order: AttemptOrder) -> None:
        """See the protocol; the job is submitted soon by the thread, without waiting for the batch system.

        Raises:
            UnreachableError: the batch system does not answer now.
            OSError: the order cannot be written.
        """
        if not self._is_reached:
            raise UnreachableError(_UNREACHABLE)
        record = BatchRecord(order.identity, self._name_job(order.identity), order=order)
        with self._lock:
            if order.identity.nonce in self._records:
                return
            if not self.attempts.is_wanted(order.identity) or self.attempts.has_begun(order.identity):
                return
            self._records[order.identity.nonce] = record
        try:
            self._prepare(record, order)
            self.attempts.report_waiting(order.identity, _WAITING)
        except OSError:
            self._forget_job(record)
            raise
        self._waiting.append(record)
        self._wake.set()

    def _prepare(self, record: BatchRecord, order: AttemptOrder) -> None:
        """Write the files of a job for the attempt, and note that it is to be submitted.

        Raises:
            OSError: the shared folder cannot be written.
        """
        request = self._make_request(order, record.name)
        self._save(record)
        work = {
            "url": self._options.service_url,
            "job_id": order.identity.job_id,
            "number": order.identity.number,
            "nonce": order.identity.nonce,
        }
        _write_private(self._order_path(record), work)
        if self._options.bundle_s:
            terms = SlotTerms(
                self,
                replace(order.need, machine=""),
                request.walltime_s - self._options.walltime_margin_s,
                is_timed=True,
                wait_s=_WAIT_S,
                on_open=self._wake.set,
            )
            self.attempts.slots.expect(order.identity.nonce, terms)
        record.request = request

    def _name_job(self, identity: AttemptIdentity) -> str:
        """Return the name of a job for an attempt; it reveals nothing about the nonce."""
        mark = hashlib.sha256(identity.nonce.encode()).hexdigest()[:12]
        return f"{self._name_prefix}{identity.job_id}-{identity.number}-{mark}"

    def _make_request(self, order: AttemptOrder, name: str) -> BatchRequest:
        options, need = self._options, order.need
        path = self._folder / _ORDERS / f"{name}.json"
        return BatchRequest(
            name=name,
            command=(options.python, "-P", "-m", "foldnote.service.node.batch_job", str(path)),
            cores=max(1, need.cores),
            memory_mb=need.memory_mb + options.memory_margin_mb,
            gpus=need.gpus,
            walltime_s=options.walltime_s(order.time_limit_s),
            queue=options.queue,
            account=options.account,
            reservation=options.reservation,
            attributes=options.attributes,
        )

    def holds(self, identity: AttemptIdentity) -> bool:
        """See the base class."""
        record = self._records.get(identity.nonce)
        return record is not None and not record.is_gone

    def cancel(self, identity: AttemptIdentity, grace_s: float = 10.0) -> None:
        """See the protocol; a job whose runner does not end in time is cancelled in the batch system."""
        super().cancel(identity, grace_s)
        record = self._records.get(identity.nonce)
        if record is None:
            return
        if not self.attempts.is_wanted(identity):  # it had not begun
            self._remove_order(record)
        elif record.kill_at is None:
            record.kill_at = time.monotonic() + grace_s + self.attempts.timing.heartbeat_s + _MARGIN_S
        self._poll_soon()

    def revoke(self, identity: AttemptIdentity) -> bool:
        """See the protocol; the job is cancelled, too."""
        is_revoked = super().revoke(identity)
        record = self._records.get(identity.nonce)
        if is_revoked and record is not None:
            self._remove_order(record)
            self._poll_soon()
        return is_revoked

    # the thread

    def _poll_soon(self) -> None:
        self._next_poll_at = 0.0
        self._wake.set()

    def _run_loop(self) -> None:
        while not self._is_closing:
            try:
                self._round()
            except Exception:  # outermost handler of the thread
                log.exception("A pass of the batch executor failed.")
                self._next_poll_at = time.monotonic() + self._options.poll_s
            moments = [
                self._next_poll_at,
                *(each.kill_at for each in self._list_records() if each.kill_at is not None),
            ]
            self._wake.wait(max(0.05, min(moments) - time.monotonic()))
            self._wake.clear()

    def _list_records(self) -> list[BatchRecord]:
        with self._lock:
            return list(self._records.values())

    def _round(self) -> None:
        if self._system is None:
            self._system = Slurm(self._folder / _SCRIPTS, self._options.environment)
        self._reassign_waiting()
        while self._waiting and self._is_reached and not self._is_closing:
            self._submit(self._system, self._waiting[0])
            self._reassign_waiting()
        for record in self._list_records():
            if record.kill_at is not None and time.monotonic() >= record.kill_at:
                record.kill_at = None
                if self.attempts.is_wanted(record.identity):
                    log.warning("The batch job %s did not end by itself and is cancelled.", record.name)
                    self._cancel(self._system, record)
        if time.monotonic() >= self._next_poll_at:
            self._next_poll_at = time.monotonic() + self._options.poll_s
            self._poll_jobs(self._system)

    def _reassign_waiting(self) -> None:
        """Give attempts that have not begun to jobs whose attempt has ended."""
        for record in self._list_records():
            if not self.attempts.slots.has_open(self):
                return
            if record.order is not None and not record.reused_job_name and not record.is_gone:
                self._reassign(record, record.order)

    def _reassign(self, record: BatchRecord, order: AttemptOrder) -> None:
        if not self._order_path(record).exists() or not self.attempts.is_wanted(record.identity):
            return
        slot = self.attempts.slots.reserve(self, order, lambda: self._resubmit(record, order))
        if slot is None:
            return
        try:
            self._adopt_job(record, self._records[slot.nonce])
        except (FileNotFoundError, KeyError):  # its own job has just taken the order: one of the two runs it
            log.info("job %s is delivered twice", record.identity.job_id)
        slot.wake()

    def _adopt_job(self, record: BatchRecord, earlier: BatchRecord) -> None:
        """Note that an attempt runs in the job of an earlier one, so that its own job is not needed.

        Raises:
            FileNotFoundError: its own job has taken the order.
        """
        self._order_path(record).unlink()
        if record.request is None:
            self._poll_soon()  # its own job is cancelled, since no record refers to it any more
        record.request = None
        with contextlib.suppress(ValueError):
            self._waiting.remove(record)
        record.native_id, record.reused_job_name = earlier.native_id, earlier.job
        self._save(record)
        self._forget_job(earlier)
        log.info("job %s runs in batch job %s, too", record.identity.job_id, record.native_id)

    def _resubmit(self, record: BatchRecord, order: AttemptOrder) -> None:
        """Make a job for an attempt whose slot turned out to be gone."""
        record.native_id, record.reused_job_name = "", ""
        try:
            self._prepare(record, order)
        except OSError:
            log.exception("The order of job %s cannot be written.", record.identity.job_id)
            record.is_gone = True
            self._hint(record.identity.nonce)
            return
        self._waiting.append(record)
        self._wake.set()

    def _submit(self, system: Slurm, record: BatchRecord) -> None:
        """Submit the first waiting request; it stays first while the batch system does not answer."""
        request = record.request
        if request is None or not self.attempts.is_wanted(record.identity):
            self._forget_job(record)
        else:
            try:
                record.native_id = system.submit(request)
            except BatchSystemError as exc:
                if self._list_live_jobs(system) is None:
                    return
                self._report_lost(record, f"The batch system refused the job: {exc.message}")
            else:
                log.info("job %s is batch job %s", record.identity.job_id, record.native_id)
                record.request = None
                self._save(record)
        self._waiting.popleft()

    def _list_live_jobs(self, system: Slurm) -> set[tuple[str, str]] | None:
        """Return the jobs that wait or run; None if the batch system does not answer."""
        try:
            live = system.list_live()
        except BatchSystemError as exc:
            if not self._has_logged_outage:
                log.warning("%s %s", _UNREACHABLE, exc.message)
            self._is_reached, self._has_logged_outage = False, True
            return None
        self._has_logged_outage = False
        if not self._is_reached:
            self._is_reached = True
            self._hint("")  # there may be capacity for queued jobs
            self._wake.set()
        return live

    def _poll_jobs(self, system: Slurm) -> None:
        records = self._list_records()
        live = self._list_live_jobs(system)
        if live is None:
            return
        names = {each.job for each in records}
        self._cancel_unrecorded(system, {each for each in live if each[1] not in names})
        for record in records:
            if record.request is not None:
                continue
            is_wanted = self.attempts.is_wanted(record.identity)
            if (record.native_id, record.job) in live:
                record.misses = 0
                if not is_wanted:
                    self._cancel_unwanted(system, record)
            elif not record.native_id:
                if not is_wanted or record.is_gone:
                    self._cancel(system, record)
                    self._forget_job(record)
            elif not is_wanted:
                self._forget_job(record, system)
            else:
                self._handle_missing(system, record)

    def _cancel_unrecorded(self, system: Slurm, jobs: set[tuple[str, str]]) -> None:
        """Cancel those of these jobs without a record that are of this service, as their names say."""
        for native_id, name in sorted(jobs):
            if not name.startswith(self._name_prefix):
                continue
            try:
                system.cancel(name)
            except BatchSystemError as exc:
                log.warning(
                    "The batch job %s, which is not needed, could not be cancelled: %s", name, exc.message
                )
                return
            with contextlib.suppress(OSError):
                system.remove_files(native_id, name)
            self._reassign_waiting()  # a job waits only a short time, and a command may take longer

    def _handle_missing(self, system: Slurm, record: BatchRecord) -> None:
        """Handle a needed job that is not listed: it will never begin, or its outcome is still to arrive."""
        record.misses += 1
        if record.misses < _MISSES:
            self._next_poll_at = min(self._next_poll_at, time.monotonic() + 1.0)
            return
        if not self.attempts.has_begun(record.identity) and not record.is_gone:
            last_line = system.read_last_line(record.native_id)
            reason = f"The batch job {record.native_id} ended before the run had begun"
            self._report_lost(record, f"{reason}: {last_line}" if last_line else f"{reason}.")

    def _report_lost(self, record: BatchRecord, reason: str) -> None:
        log.warning("job %s: %s", record.identity.job_id, reason)
        record.request = None
        self._remove_order(record)
        try:
            self.attempts.record_failed_start(record.identity, reason)
        finally:  # last, because whoever polls an attempt that is gone must find the reason
            record.is_gone = True
        self._hint(record.identity.nonce)

    def _cancel_unwanted(self, system: Slurm, record: BatchRecord) -> None:
        """Cancel a job that is no longer needed; if its outcome was accepted, give it time to end.

        A job that already runs another attempt is left alone.
        """
        own_job = (record.native_id, record.job)
        if any((each.native_id, each.job) == own_job and each is not record for each in self._list_records()):
            self._forget_job(record)
            return
        moment = time.monotonic()
        record.unwanted_at = record.unwanted_at or moment
        has_begun = self.attempts.has_begun(record.identity)
        if not has_begun or moment - record.unwanted_at > _EXIT_GRACE_S:
            self._cancel(system, record)
            self._next_poll_at = min(self._next_poll_at, moment + 1.0)

    def _cancel(self, system: Slurm, record: BatchRecord) -> None:
        try:
            system.cancel(record.job)
        except BatchSystemError as exc:
            log.warning("The batch job %s could not be cancelled: %s", record.name, exc.message)

    # files

    def _order_path(self, record: BatchRecord) -> Path:
        return self._folder / _ORDERS / f"{record.name}.json"

    def _record_path(self, record: BatchRecord) -> Path:
        return self._folder / _RECORDS / f"{record.name}.json"

    def _save(self, record: BatchRecord) -> None:
        content = {
            "identity": asdict(record.identity),
            "native_id": record.native_id,
            "first": record.reused_job_name,
        }
        _write_private(self._record_path(record), content)

    def _remove_order(self, record: BatchRecord) -> None:
        """Remove the order, so that the job ends as soon as it starts."""
        with contextlib.suppress(OSError):
            self._order_path(record).unlink(missing_ok=True)

    def _forget_job(self, record: BatchRecord, system: Slurm | None = None) -> None:
        """Forget an ended job."""
        self._remove_order(record)
        with contextlib.suppress(OSError):
            self._record_path(record).unlink(missing_ok=True)
            if system is not None:
                system.remove_files(record.native_id, record.job)
        with self._lock:
            self._records.pop(record.identity.nonce, None)
        self.attempts.slots.release(record.identity.nonce)


def _write_private(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a file that only this user can read.

    Raises:
        OSError: it cannot be written.
    """
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(content, stream)
        stream.flush()
        os.fsync(stream.fileno())
    draft.rename(path)


def make_executor(name: str, options: Mapping[str, Any], attempts: NodeAttempts) -> BatchExecutor:
    """Return the executor of the section ``[executors.NAME]``.

    Raises:
        ConfigurationError: its options are wrong, or ``psij-python`` is not installed.
    """
    read = BatchOptions.read(name, options)
    if find_spec("psij") is None:
        raise ConfigurationError(
            f"The executor {name!r} needs the package psij-python: pip install 'foldnote[batch]'."
        )
    return BatchExecutor(attempts, read)
