"""The dispatcher: one thread that claims queued jobs, watches running attempts and commits their outcomes.

The database is the source of truth; an executor is only a transport. The service may die at any line of this
module: the next recovery finds the row and the attempt's folder and continues from there. Running attempts
are adopted, not repeated, and an attempt is given up only when none of its processes is alive.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.config import DispatcherTiming, Limits
from foldnote.service.disk import Disk
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.files.bucket import BucketError
from foldnote.service.files.conditions import is_passing
from foldnote.service.files.objects import ObjectStore
from foldnote.service.queue import outcomes, ownership
from foldnote.service.queue.choosing import JobSelector
from foldnote.service.queue.cleanup import Cleanup, is_small
from foldnote.service.queue.executors.protocol import AttemptOrder, Capacity, Executor, UnreachableError
from foldnote.service.queue.executors.table import Executors
from foldnote.service.queue.figures import ExecutorUse, RunHistory
from foldnote.service.queue.launching import Launcher, make_identity
from foldnote.service.queue.lines import WAITED_SENTENCE, JobLines, WatchedAttempt, find_leaders, promote_next
from foldnote.service.queue.placement import find_machine, first_open_machine
from foldnote.service.queue.replica import Replica
from foldnote.service.queue.transfers import Transfers
from foldnote.service.runner.attempt import Outcome, extend_lease, read_progress, without_path
from foldnote.service.store import clock
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.queue import Chooser, Claim, JobEnd
from foldnote.service.store.store import Store

log = logging.getLogger(__name__)
_FAULT_PAUSE_S = 1.0
_BUCKET_PAUSE_S = 5.0
_GATHER_S = 0.1
_BUSY_PAUSE_S = 0.05
"""Pause before a replica tries again to claim jobs of accounts that another replica was changing."""


@dataclass(frozen=True)
class LiveProgress:
    """What a running job reports: fraction (0 to 1) and message, each None until it is known."""

    progress: float | None
    message: str | None


class Dispatcher:
    """Runs waiting jobs; one thread serves all of them.

    Args:
        root: folder of all attempts.
        workers: maximum number of simultaneous runs on this machine; None for as many as fit.
        on_ended: called after jobs have ended or were asked to stop.
        disk: no run is started while it lacks space; None skips the check.
        output_bytes: maximum size of a run's outputs.
        is_draining: returns whether no queued job may be started now.
        replica: this replica of the service; None if it is the only one.
    """

    def __init__(
        self,
        store: Store,
        objects: ObjectStore,
        toolbox: Toolbox,
        executors: Executors,
        root: Path,
        pace: DispatcherTiming,
        workers: int | None = None,
        on_ended: Callable[[], None] = lambda: None,
        disk: Disk | None = None,
        output_bytes: int = Limits.output_bytes,
        is_draining: Callable[[], bool] = lambda: False,
        replica: Replica | None = None,
    ) -> None:
        self._store = store
        self._executors = executors
        self._replica = replica
        self._launcher = Launcher(
            root, objects, toolbox, executors, output_bytes, has_lease=replica is not None
        )
        self._root = root
        self._pace = pace
        self._workers = workers
        self._on_ended = on_ended
        self._disk = disk
        self._has_space = disk.has_space if disk is not None else lambda: True
        self._is_draining = is_draining
        self.history = RunHistory()
        self._active: dict[int, WatchedAttempt] = {}
        self._lines = JobLines()
        self._selector = JobSelector(self._launcher, executors, self._lines, self._limit, self._may_start)
        self._ahead: set[int] = set()
        """Jobs claimed ahead that have not been handed over."""
        self._fetching: dict[int, Claim] = {}
        """Claimed jobs whose inputs are being fetched."""
        self._transfers = Transfers(objects, self._on_hint)
        self._live: dict[int, LiveProgress] = {}
        self._remote_folders: dict[int, str] = {}
        """Folders of attempts that other replicas run."""
        self._cleanup = Cleanup(root, store, objects, disk)
        self._woken = threading.Event()
        self._is_wake_requested = False
        self._has_unreported_ends = False
        self._hints: deque[str] = deque()
        self._gather_until = 0.0
        self._is_stopping = False
        self._next_sweep = 0.0
        self._next_due: float | None = None
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        """Adopt the attempts of an earlier process, then start the thread."""
        for executor in self._executors.all():
            executor.open(self._on_hint)
        self.recover(is_start=True)
        self._cleanup.start()
        self._notify_ended()
        self.wake()  # jobs queued earlier must not wait for the first sweep
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; running attempts continue and are adopted at the next start."""
        self._is_stopping = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._cleanup.stop()
        for executor in self._executors.all():
            executor.close()

    def wake(self) -> None:
        """Wake the thread: a job was added or must be stopped."""
        self._is_wake_requested = True
        self._woken.set()

    def _on_hint(self, nonce: str) -> None:
        """Note that the attempt with this nonce seems to have ended."""
        self._hints.append(nonce)
        self._woken.set()

    def live(self, job_id: int) -> LiveProgress | None:
        """Return the latest progress of a running job; None if it is not running."""
        found = self._live.get(job_id)
        return found if found is not None or self._replica is None else self._read_remote(job_id)

    def _read_remote(self, job_id: int) -> LiveProgress | None:
        """Read the progress of a job that another replica runs, from the folder that they share."""
        place = self._remote_folders.get(job_id) or self._store.queue.find_running_folder(job_id)
        if place is None:
            return None
        self._remote_folders[job_id] = place
        with suppress(Exception):  # an engine can overwrite the file with anything
            return LiveProgress(*read_progress(self._root / place))
        return None

    def _run(self) -> None:
        while not self._is_stopping:
            self._woken.wait(self._pause_s())
            self._woken.clear()
            is_wake_requested, self._is_wake_requested = self._is_wake_requested, False
            try:
                self._run_pass(is_wake_requested)
            except Exception:  # outermost handler: a full disk or busy database must not end the thread
                log.exception("A pass of the dispatcher failed; retrying in a second.")
                self._selector.invalidate_query()
                self._is_wake_requested = self._is_wake_requested or is_wake_requested
                if self._replica is not None:
                    self._next_sweep = 0.0  # a commit whose answer was lost may have claimed jobs
                time.sleep(_FAULT_PAUSE_S)

    def _run_pass(self, is_wake_requested: bool) -> None:
        if self._is_stopping:
            return
        if is_wake_requested:
            self._has_unreported_ends = True
            self._selector.invalidate_query()
            self._cancel_requested()
        is_gathering = self._process_hints()
        self._launch_ready()
        if self._next_due is not None and self._next_due <= time.time():
            self._selector.invalidate_query()
            self._next_due = self._store.queue.next_due()
        ended = self._poll_due()
        if ended or is_wake_requested or not is_gathering:
            self._advance(ended)
        if time.monotonic() >= self._next_sweep:
            self.recover()
        self._notify_ended()
        self._cleanup.wake()
        self._launcher.refresh()

    def _notify_ended(self) -> None:
        """Call ``on_ended`` if a job ended, after queued jobs were started."""
        if self._has_unreported_ends:
            self._has_unreported_ends = False
            self._on_ended()

    def _pause_s(self) -> float:
        moments = [self._next_sweep, *(active.poll_at for active in self._active.values())]
        pause = min(moments) - time.monotonic()
        if self._next_due is not None:
            pause = min(pause, self._next_due - time.time() + 0.01)
        return max(0.0, pause)

    # ends and claims

    def _advance(self, ended: Sequence[tuple[WatchedAttempt, JobEnd]]) -> None:
        """Commit ended jobs and claim those that fit, in one transaction; then start the claimed ones."""
        while ended or self._has_fitting():
            if any(ending.is_tool_failure for _, ending in ended):  # the failed job may be retried
                self._selector.invalidate_query()
            moved = self._store.queue.advance(
                [(active.claim, ending) for active, ending in ended], self._chooser(ended)
            )
            self._lines.close(moved.refused_ahead)
            self._ahead |= moved.ahead
            for (active, ending), was_committed in zip(ended, moved.was_committed, strict=True):
                self._record_end(active.claim, ending, was_committed=was_committed)
                self._unwatch(active)
                self._cleanup.schedule_removal(active.folder, may_wait=is_small(active.claim, ending))
            ended = ()
            for claim in moved.claims:
                self._launch(claim)
            if moved.is_incomplete:
                self._next_due = time.time() + _BUSY_PAUSE_S
            if not moved.claims:
                return

    def _has_fitting(self) -> bool:
        choose = self._chooser(may_reuse=self._replica is None)
        return choose(self._store.queue.waiting) is not None

    def _chooser(
        self, ended: Sequence[tuple[WatchedAttempt, JobEnd]] = (), *, may_reuse: bool = False
    ) -> Chooser:
        over = {active.claim.job_id for active, _ in ended}
        running = [active for active in self._active.values() if active.claim.job_id not in over]
        return self._selector.make_chooser(running, self._fetching.values(), self._ahead, may_reuse=may_reuse)

    def _may_start(self) -> bool:
        is_open = not self._is_stopping and self._has_space() and not self._is_draining()
        return is_open and (self._replica is None or self._replica.has_lease)

    def _limit(self, executor: Executor) -> int | None:
        return None if executor.is_remote else self._workers

    def _launch_ready(self) -> None:
        """Start the claimed jobs whose inputs have arrived."""
        marked = self._store.queue.cancelled() if self._fetching else set()
        for claim in list(self._fetching.values()):
            if claim.job_id in marked:
                del self._fetching[claim.job_id]
                self._finish(claim, outcomes.cancelled_ending())
            else:
                self._launch(claim)

    def _launch(self, claim: Claim) -> None:
        self._fetching.pop(claim.job_id, None)
        executor = self._executors.find(claim.executor)
        machines = executor.capacity()
        is_ahead = claim.job_id in self._ahead
        leaders = find_leaders(claim, self._active.values(), machines) if is_ahead else None
        runs = (each for each in self._active.values() if each.executor is executor and not each.is_in_line)
        taken = [each.need for each in runs]
        if leaders is not None:  # it takes the place of one of them
            taken, machines = [], tuple(each for each in machines if each.machine == leaders.machine)
        at_once = leaders.number if leaders is not None else 0
        declared = self._launcher.need(claim.type)
        need = find_machine(declared, taken, machines, None)
        if need is None and is_ahead:  # the runs that it was to follow have ended or cannot be reached
            self._ahead.discard(claim.job_id)
            self._return_to_queue(claim)
            return
        if need is None:  # needs or machines have changed since the claim
            need = first_open_machine(declared, machines)
        try:
            if not self._transfers.has_inputs(claim, is_remote=executor.is_remote):
                self._fetching[claim.job_id] = claim
                return
            self._ahead.discard(claim.job_id)
            if need is None:
                raise UnreachableError("No machine of the executor can be reached.")
            order = self._launcher.prepare(claim, need, is_remote=executor.is_remote, at_once=at_once)
            self._extend_lease(claim, executor)
        except UnreachableError as exc:
            self._requeue(claim, exc.message, is_counted=False, delay_s=self._pace.delay_s(claim.attempt - 1))
        except EngineError as exc:
            self._finish(claim, outcomes.refused_ending(str(exc)))
        except OSError as exc:
            self._requeue(
                claim, f"The run could not be prepared: {without_path(exc)}.", is_counted=not is_passing(exc)
            )
        else:
            self._deliver(claim, executor, order)

    def _deliver(self, claim: Claim, executor: Executor, order: AttemptOrder) -> None:
        try:
            executor.submit(order)
        except (EngineError, OSError) as exc:
            if executor.revoke(order.identity):
                is_counted = not isinstance(exc, UnreachableError)
                is_counted = is_counted and not (isinstance(exc, OSError) and is_passing(exc))
                self._requeue(
                    claim, f"The run could not be started: {without_path(exc)}.", is_counted=is_counted
                )
                return
        self._watch(claim, executor, order.need, is_in_line=order.at_once > 0)

    def _watch(self, claim: Claim, executor: Executor, need: Capacity, *, is_in_line: bool = False) -> None:
        poll_interval_s = self._pace.poll_max_s if is_in_line else self._pace.poll_min_s
        self._active[claim.job_id] = WatchedAttempt(
            claim=claim,
            folder=self._root / claim.folder,
            executor=executor,
            need=need,
            poll_at=time.monotonic() + poll_interval_s,
            poll_interval_s=poll_interval_s,
            is_in_line=is_in_line,
            was_ahead=is_in_line,
        )
        if claim.is_cancelled:
            self._cancel(self._active[claim.job_id])

    # watching

    def _process_hints(self) -> bool:
        """Schedule an early check of the attempts that seem to have ended.

        Ends in quick succession are gathered while enough attempts wait in the runner's line. Return whether
        there are such attempts and all of them can wait to be gathered.
        """
        known = {active.claim.nonce: active for active in self._active.values()}
        hinted = [self._hints.popleft() for _ in range(len(self._hints))]
        ended_early = [known[nonce] for nonce in hinted if nonce in known]
        for active in ended_early:
            active.may_have_ended = True
        moment = time.monotonic()
        if self._gather_until < moment:
            self._gather_until = moment + _GATHER_S
        has_time = bool(ended_early)
        for active in ended_early:
            is_enough = self._lines.is_line_filled(active.claim, self._active.values())
            active.poll_at = self._gather_until if is_enough else 0.0
            has_time = has_time and is_enough
        return has_time

    def _poll_due(self) -> list[tuple[WatchedAttempt, JobEnd]]:
        """Check the attempts that are due and return those that ended; their results are stored."""
        moment = time.monotonic()
        ended = []
        due = [each for each in self._active.values() if each.poll_at <= moment]
        if sum(each.may_have_ended for each in due) > 1:
            self._transfers.store_together((each.claim, each.folder) for each in due if each.may_have_ended)
        for active in due:
            try:
                ending = self._poll_attempt(active)
            except BucketError as exc:
                log.error("The result of job %s cannot be stored now: %s", active.claim.job_id, exc.strerror)
                self._record_progress(active, LiveProgress(None, "The result waits for the object store."))
                active.poll_at = moment + _BUCKET_PAUSE_S
            except (OSError, StorageFaultError):  # one attempt must not delay the others
                log.exception("The attempt in %s could not be checked.", active.folder)
                active.poll_at = moment + _FAULT_PAUSE_S
            except Exception:  # an engine can overwrite our files with anything
                log.exception("The contents of the attempt's folder %s cannot be read.", active.folder)
                self._request_stop(active)
                promote_next(active, self._active.values(), moment + self._pace.poll_min_s)
                ended.append((active, outcomes.overwritten_outcome_ending()))
            else:
                if ending is not None:
                    promote_next(active, self._active.values(), moment + self._pace.poll_min_s)
                    ended.append((active, ending))
        return ended

    def _poll_attempt(self, active: WatchedAttempt) -> JobEnd | None:
        state = active.executor.poll(make_identity(active.claim))
        outcome = ownership.take_outcome(state, active.claim, active.folder)
        if outcome is not None:
            return self._collect_outcome(active, outcome)
        if not state.alive:
            self._revoke_dead(active)
        else:
            self._record_progress(active, LiveProgress(state.progress, state.message))
        return None

    def _record_progress(self, active: WatchedAttempt, live: LiveProgress) -> None:
        is_new = live != self._live.get(active.claim.job_id)
        self._live[active.claim.job_id] = live
        slower = min(active.poll_interval_s * 1.3, self._pace.poll_max_s)
        active.poll_interval_s = max(self._pace.poll_min_s, active.poll_interval_s / 2) if is_new else slower
        active.poll_at = time.monotonic() + active.poll_interval_s

    def _revoke_dead(self, active: WatchedAttempt) -> None:
        """Ensure that no process of an attempt without a runner is alive, then record the loss."""
        if not active.executor.revoke(make_identity(active.claim)):
            active.poll_at = time.monotonic() + self._pace.poll_min_s
            return
        self._unwatch(active)
        claim = active.claim
        if ownership.may_have_begun(active.folder, claim):
            self._requeue(claim, outcomes.LOST_SENTENCE)
        elif active.was_ahead:
            self._return_to_queue(claim)
        else:
            delay_s = self._pace.delay_s(claim.attempt - 1)
            self._requeue(claim, outcomes.NOT_STARTED_SENTENCE, is_counted=False, delay_s=delay_s)

    def _collect_outcome(self, active: WatchedAttempt, outcome: Outcome) -> JobEnd | None:
        """Return how the job ends; None if the attempt was lost, which is recorded here."""
        ending = None
        is_stored = self._transfers.store_result(active.claim, active.folder, outcome)
        if is_stored is None:
            self._record_progress(active, LiveProgress(None, "The result is being stored."))
            return None
        if is_stored:
            ending = outcomes.make_job_end(
                outcome,
                cores=active.need.cores,
                has_result=outcome.result_sha256 is not None,
                is_cancelled=outcome.state != "succeeded" and self._is_cancel_requested(active.claim),
            )
        if ending is not None:
            self._lines.record_end(active.claim, outcome)
        else:
            self._unwatch(active)
            self._requeue(active.claim, outcome.error or outcomes.LOST_SENTENCE)
        return ending

    def _unwatch(self, active: WatchedAttempt) -> None:
        self._active.pop(active.claim.job_id, None)
        promote_next(active, self._active.values(), time.monotonic() + self._pace.poll_min_s)
        self._live.pop(active.claim.job_id, None)

    # ends and losses

    def _finish(self, claim: Claim, ending: JobEnd) -> None:
        self._record_end(claim, ending, was_committed=self._store.queue.finish(claim, ending))

    def _record_end(self, claim: Claim, ending: JobEnd, *, was_committed: bool) -> None:
        if was_committed:
            number = claim.job_id
            log.info(
                "attempt %s of job %s ended: %s", claim.attempt, number, ending.state, extra={"job": number}
            )
            self.history.record_end(claim.type, ending)
            self._has_unreported_ends = True

    def _requeue(
        self,
        claim: Claim,
        reason: str,
        *,
        is_counted: bool = True,
        delay_s: float | None = None,
        is_fault: bool = True,
    ) -> None:
        """Requeue a lost job, or end it if a stop was requested or it was lost too often.

        Losses are not counted if the run never began or the cause is temporary, such as a full disk.
        ``delay_s`` is the time until the next attempt in s; by default it grows with the counted losses.
        """
        self._selector.invalidate_query()
        if is_fault:
            self.history.record_loss(claim.executor)
        level, job = logging.WARNING if is_fault else logging.INFO, claim.job_id
        log.log(level, "attempt %d of job %s was lost: %s", claim.attempt, job, reason, extra={"job": job})
        if self._is_cancel_requested(claim):
            self._finish(claim, outcomes.cancelled_ending())
        elif is_counted and outcomes.is_exhausted(claim):
            self._finish(claim, outcomes.exhausted_ending(reason))
        else:
            delay_s = self._pace.delay_s(claim.losses) if delay_s is None else delay_s
            self._store.queue.requeue(claim, reason, delay_s=delay_s, is_counted=is_counted)
            self._next_due = self._store.queue.next_due()
        self._cleanup.schedule_removal(self._root / claim.folder)

    def _return_to_queue(self, claim: Claim) -> None:
        """Requeue a job that waited in a line in vain; close that line until its next run ends."""
        self._lines.close([claim])
        self._requeue(claim, WAITED_SENTENCE, is_counted=False, delay_s=0.0, is_fault=False)

    def _is_cancel_requested(self, claim: Claim) -> bool:
        return claim.job_id in self._store.queue.cancelled()

    def _cancel_requested(self) -> None:
        marked = self._store.queue.cancelled() if self._active else set()
        for job_id in marked & self._active.keys():
            self._cancel(self._active[job_id])

    def _cancel(self, active: WatchedAttempt) -> None:
        if not active.is_cancelled and self._request_stop(active):
            active.is_cancelled = True
            active.poll_interval_s = self._pace.poll_min_s
            active.poll_at = time.monotonic() + active.poll_interval_s

    def _request_stop(self, active: WatchedAttempt) -> bool:
        """Ask the runner to stop; return False on failure, which must not delay other attempts."""
        try:
            active.executor.cancel(make_identity(active.claim), self._pace.grace_s)
        except OSError:
            log.exception("The runner in %s cannot be asked to stop.", active.folder)
            return False
        return True

    # recovery

    def recover(self, *, is_start: bool = False) -> None:
        """Adopt every running attempt, stop cancelled jobs and purge deleted ones.

        With ``is_start``, attempts that an earlier process claimed but never delivered are requeued without
        counting a loss. So are such attempts of a dead replica, and claims that this replica does not know of
        because the connection was lost during the commit.
        """
        self._selector.reset()
        if self._disk is not None:
            self._disk.maintain_ballast()
        running = self._store.queue.running()
        if self._replica is not None:
            running = self._select_own(self._replica, running)
        for claim in running:
            if claim.job_id not in self._active and claim.job_id not in self._fetching:
                self._adopt(claim, is_start or self._replica is not None)
        self._cancel_requested()
        self._cleanup.wake(is_purge_due=True)
        self._next_due = self._store.queue.next_due()
        self._next_sweep = time.monotonic() + self._pace.until_sweep_s(has_space=self._has_space())

    def _select_own(self, replica: Replica, running: Sequence[Claim]) -> list[Claim]:
        """Return the attempts of this replica, including those that it takes over from dead ones."""
        dead = {"", *replica.find_dead()} if replica.has_lease else set()  # "": the only one, before a move
        own_claims = []
        for claim in running:
            if claim.replica == replica.name:
                own_claims.append(claim)
            elif claim.replica in dead and replica.take_over(claim.job_id, claim.attempt, claim.replica):
                log.warning("job %s is taken over from %s", claim.job_id, claim.replica)
                own_claims.append(claim)
        own = {(claim.job_id, claim.attempt) for claim in own_claims}
        self._remote_folders = {each.job_id: each.folder for each in running if each.replica != replica.name}
        for active in list(self._active.values()):
            if (active.claim.job_id, active.claim.attempt) not in own:  # another replica took it over
                self._unwatch(active)
        self._fetching = {each.job_id: each for each in own_claims if each.job_id in self._fetching}
        self._has_unreported_ends = True  # a dead replica may have left archives and stages
        return own_claims

    def extend_leases(self) -> None:
        """Extend the leases of the runs on this machine, after this replica's lease was renewed."""
        for active in list(self._active.values()):
            self._extend_lease(active.claim, active.executor)

    def _extend_lease(self, claim: Claim, executor: Executor) -> None:
        if self._replica is not None and not executor.is_remote:
            with suppress(FileNotFoundError):
                extend_lease(self._root / claim.folder, self._replica.until)

    def _adopt(self, claim: Claim, is_start: bool) -> None:
        folder = self._root / claim.folder
        executor, identity = self._executors.find(claim.executor), make_identity(claim)
        ownership.set_aside_foreign_attempt(folder, claim.nonce)
        # after a power cut, the files of this machine do not show whether the attempt started
        is_lasting = executor.is_remote or not clock.is_before_boot(claim.claimed)
        was_delivered = ownership.has_begun(folder, claim.nonce) or not is_lasting
        is_undelivered = is_start and not was_delivered and not executor.poll(identity).alive
        if is_undelivered and executor.revoke(identity):
            self._requeue(claim, outcomes.LOST_SENTENCE, is_counted=False, delay_s=0.0)
        else:
            self._extend_lease(claim, executor)
            declared = self._launcher.need(claim.type)
            self._watch(claim, executor, self._launcher.read_need(claim, declared, executor))

    def uses(self) -> list[ExecutorUse]:
        """Return the current use of each executor; may be called from any thread."""
        runs = list(self._active.values())
        return [
            ExecutorUse(
                name,
                executor.capacity(),
                tuple(each.need for each in runs if each.executor is executor and not each.is_in_line),
                self._limit(executor),
            )
            for name, executor in self._executors.items()
        ]

    def count_running(self) -> int:
        """Return the number of watched attempts; may be called from any thread."""
        return len(self._active)
