"""The dispatcher: one thread that claims waiting jobs, watches running attempts and commits how they end.

The database is the source of truth and an executor is only a transport. If the service dies at any line here,
the next recovery finds the row and the attempt's folder and continues from there. Running attempts are
adopted, not repeated, and an attempt is given up only when none of its processes is alive.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.config import DispatcherTiming, Limits
from foldnote.service.disk import Disk
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.files.conditions import is_passing
from foldnote.service.files.objects import ObjectStore
from foldnote.service.queue import outcomes, ownership
from foldnote.service.queue.cleanup import Cleanup
from foldnote.service.queue.executors.protocol import Capacity, Executor
from foldnote.service.queue.launching import Launcher
from foldnote.service.runner.attempt import RESULT, AttemptSpec, Outcome, without_path
from foldnote.service.runner.gpus import Gpu
from foldnote.service.store import clock
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.jobs.queue import Chooser, Claim, JobEnd, Waiting
from foldnote.service.store.store import Store

log = logging.getLogger(__name__)
_FAULT_PAUSE_S = 1.0
_LEAST = Capacity(1, 0)
"""The smallest run: unless it fits, waiting jobs are not even queried."""


@dataclass
class WatchedAttempt:
    """In-memory state of a running attempt; nothing here is needed after a restart."""

    claim: Claim
    folder: Path
    need: Capacity
    look_at: float
    interval_s: float
    is_cancelled: bool = False


@dataclass(frozen=True)
class Live:
    """What a running job reports: fraction (0 to 1) and message, each None until it is known."""

    progress: float | None
    message: str | None


class Dispatcher:
    """Runs waiting jobs; one thread serves all of them.

    Args:
        root: folder of all attempts.
        workers: maximum number of simultaneous runs; None for as many as fit the executor.
        on_ended: called after jobs ended or were asked to stop.
        disk: nothing is started while it has no space; None skips the check.
        output_bytes: maximum size of a run's outputs.
    """

    def __init__(
        self,
        store: Store,
        objects: ObjectStore,
        toolbox: Toolbox,
        executor: Executor,
        root: Path,
        pace: DispatcherTiming,
        workers: int | None = None,
        on_ended: Callable[[], None] = lambda: None,
        disk: Disk | None = None,
        output_bytes: int = Limits.output_bytes,
    ) -> None:
        self._store = store
        self._objects = objects
        self._executor = executor
        self._whole = executor.capacity()
        self._launcher = Launcher(root, objects, toolbox, self._whole, output_bytes)
        self._root = root
        self._pace = pace
        self._workers = workers
        self._on_ended = on_ended
        self._disk = disk
        self._has_space = disk.has_space if disk is not None else lambda: True
        self._active: dict[int, WatchedAttempt] = {}
        self._live: dict[int, Live] = {}
        self._cleanup = Cleanup(root, store, objects, disk)
        self._woken = threading.Event()
        self._is_asked = False
        self._has_news = False
        self._hints: deque[Path] = deque()
        self._is_stopping = False
        self._next_sweep = 0.0
        self._next_due: float | None = None
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        """Adopt the attempts of an earlier process, then start the thread."""
        self._executor.open(self._hint)
        self.recover(is_start=True)
        self._cleanup.start()
        self._tell()
        self.wake()  # jobs queued earlier must not wait for the first sweep
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; running attempts continue and are adopted at the next start."""
        self._is_stopping = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._cleanup.stop()
        self._executor.close()

    def wake(self) -> None:
        """Tell the thread that a job was added or is to be stopped."""
        self._is_asked = True
        self._woken.set()

    def _hint(self, folder: Path) -> None:
        """Note that the attempt in `folder` seems to have ended."""
        self._hints.append(folder)
        self._woken.set()

    def live(self, job_id: int) -> Live | None:
        """The latest progress of a running job; None if it is not running."""
        return self._live.get(job_id)

    def _run(self) -> None:
        while not self._is_stopping:
            self._woken.wait(self._pause_s())
            self._woken.clear()
            is_asked, self._is_asked = self._is_asked, False
            try:
                self._round(is_asked)
            except Exception:  # outermost handler: a full disk or busy database must not end the thread
                log.exception("A pass of the dispatcher failed; retrying in a second.")
                self._is_asked = self._is_asked or is_asked
                time.sleep(_FAULT_PAUSE_S)

    def _round(self, is_asked: bool) -> None:
        if self._is_stopping:
            return
        if is_asked:
            self._has_news = True
            self._cancel_marked()
        self._take_hints()
        self._advance(self._look_at_due())
        if time.monotonic() >= self._next_sweep:
            self.recover()
        self._tell()
        self._cleanup.wake()
        self._launcher.refresh()

    def _tell(self) -> None:
        """Call ``on_ended`` if there is news, after waiting jobs were started."""
        if self._has_news:
            self._has_news = False
            self._on_ended()

    def _pause_s(self) -> float:
        moments = [self._next_sweep, *(active.look_at for active in self._active.values())]
        pause = min(moments) - time.monotonic()
        if self._next_due is not None:
            pause = min(pause, self._next_due - time.time() + 0.01)
        return max(0.0, pause)

    # ends and claims

    def _advance(self, ended: Sequence[tuple[WatchedAttempt, JobEnd]]) -> None:
        """Commit ended jobs and claim those that fit, in one transaction; then start the claimed ones."""
        while ended or self._has_fitting():
            moved = self._store.queue.advance(
                [(active.claim, ending) for active, ending in ended], self._chooser(ended)
            )
            for (active, ending), has_won in zip(ended, moved.has_won, strict=True):
                self._note_end(active.claim, ending, has_won=has_won)
                self._forget(active)
                self._cleanup.note(active.folder)
            ended = ()
            for claim in moved.claims:
                self._launch(claim)
            if not moved.claims:
                return

    def _has_fitting(self) -> bool:
        return self._chooser()(self._store.queue.waiting) is not None

    def _chooser(self, ended: Sequence[tuple[WatchedAttempt, JobEnd]] = ()) -> Chooser:
        """A function that chooses the oldest job of the owner with the fewest runs, as long as it fits."""
        over = {active.claim.job_id for active, _ in ended}
        going = [active for active in self._active.values() if active.claim.job_id not in over]
        running = Counter(active.claim.account_id for active in going)
        taken = [active.need for active in going]
        has_space = not self._is_stopping and self._has_space()

        def choose(find: Callable[[], Sequence[Waiting]]) -> Waiting | None:
            rows = find() if has_space and self._find_room(_LEAST, taken) is not None else ()
            if not rows:
                return None
            first = min(rows, key=lambda row: (running[row.account_id], row.job_id))
            room = self._find_room(self._launcher.need(first.type), taken)
            if room is None:
                return None
            taken.append(room)
            running[first.account_id] += 1
            return first

        return choose

    def _find_room(self, need: Capacity, taken: Sequence[Capacity]) -> Capacity | None:
        return find_room(need, taken, self._whole, self._workers)

    def _launch(self, claim: Claim) -> None:
        need = self._launcher.need(claim.type)
        gpus = assign_gpus(need, [active.need for active in self._active.values()], self._whole)
        if gpus is None:  # the engine's needs have changed since the job was claimed
            gpus = self._whole.devices[: need.gpus]
        try:
            spec = self._launcher.prepare(claim, gpus)
        except EngineError as exc:
            self._finish(claim, outcomes.refused_ending(str(exc)))
        except OSError as exc:
            self._lose(
                claim, f"The run could not be prepared: {without_path(exc)}.", is_counted=not is_passing(exc)
            )
        else:
            self._deliver(claim, spec, gpus)

    def _deliver(self, claim: Claim, spec: AttemptSpec, gpus: tuple[Gpu, ...]) -> None:
        try:
            self._executor.submit(spec)
        except (EngineError, OSError) as exc:
            if self._executor.revoke(spec.folder):
                is_counted = not (isinstance(exc, OSError) and is_passing(exc))
                self._lose(
                    claim, f"The run could not be started: {without_path(exc)}.", is_counted=is_counted
                )
                return
        self._watch(claim, gpus)

    def _watch(self, claim: Claim, gpus: tuple[Gpu, ...]) -> None:
        self._active[claim.job_id] = WatchedAttempt(
            claim=claim,
            folder=self._root / claim.folder,
            need=replace(self._launcher.need(claim.type), devices=gpus),
            look_at=time.monotonic() + self._pace.poll_min_s,
            interval_s=self._pace.poll_min_s,
        )
        if claim.is_cancelled:
            self._cancel(self._active[claim.job_id])

    # watching

    def _take_hints(self) -> None:
        """Check at once the attempts that seem to have ended."""
        folders = {self._hints.popleft() for _ in range(len(self._hints))}
        for active in self._active.values():
            if active.folder in folders:
                active.look_at = 0.0

    def _look_at_due(self) -> list[tuple[WatchedAttempt, JobEnd]]:
        """Check the attempts that are due and return those that ended; their results are stored."""
        moment = time.monotonic()
        ended = []
        for active in [each for each in self._active.values() if each.look_at <= moment]:
            try:
                ending = self._look_at(active)
            except (OSError, StorageFaultError):  # one attempt must not delay the others
                log.exception("The attempt in %s could not be checked.", active.folder)
                active.look_at = moment + _FAULT_PAUSE_S
            except Exception:  # an engine can overwrite our files with anything
                log.exception("The contents of the attempt's folder %s cannot be read.", active.folder)
                self._ask_to_stop(active)
                ended.append((active, outcomes.refused_ending(outcomes.SPOILT_SENTENCE)))
            else:
                if ending is not None:
                    ended.append((active, ending))
        return ended

    def _look_at(self, active: WatchedAttempt) -> JobEnd | None:
        state = self._executor.poll(active.folder)
        outcome = ownership.take_outcome(state, active.claim, active.folder)
        if outcome is not None:
            return self._end(active, outcome)
        if not state.alive:
            self._give_up(active)
        else:
            self._note_progress(active, Live(state.progress, state.message))
        return None

    def _note_progress(self, active: WatchedAttempt, live: Live) -> None:
        is_new = live != self._live.get(active.claim.job_id)
        self._live[active.claim.job_id] = live
        slower = min(active.interval_s * 1.3, self._pace.poll_max_s)
        active.interval_s = max(self._pace.poll_min_s, active.interval_s / 2) if is_new else slower
        active.look_at = time.monotonic() + active.interval_s

    def _give_up(self, active: WatchedAttempt) -> None:
        """Ensure that no process of an attempt without a runner is alive, then record the loss."""
        if not self._executor.revoke(active.folder):
            active.look_at = time.monotonic() + self._pace.poll_min_s
            return
        self._forget(active)
        self._lose(active.claim, outcomes.LOST_SENTENCE)

    def _end(self, active: WatchedAttempt, outcome: Outcome) -> JobEnd | None:
        """How the job ends; None if the attempt was lost, which is recorded here."""
        ending = None
        if self._keep_result(active.folder, outcome):
            ending = outcomes.ending_of(
                outcome,
                cores=active.need.cores,
                has_result=outcome.result_sha256 is not None,
                is_cancelled=outcome.state != "succeeded" and self._is_marked(active.claim),
            )
        if ending is None:
            self._forget(active)
            self._lose(active.claim, outcome.error or outcomes.LOST_SENTENCE)
        return ending

    def _keep_result(self, folder: Path, outcome: Outcome) -> bool:
        """Store the result that the outcome names; False if it is missing, for example after a power cut."""
        sha256 = outcome.result_sha256
        if sha256 is None:
            return True
        source = folder / RESULT
        if source.is_file() and source.stat().st_size == outcome.result_size_bytes:
            self._objects.adopt(source, sha256)
        return self._objects.path(sha256).is_file()

    def _forget(self, active: WatchedAttempt) -> None:
        self._active.pop(active.claim.job_id, None)
        self._live.pop(active.claim.job_id, None)

    # ends and losses

    def _finish(self, claim: Claim, ending: JobEnd) -> None:
        self._note_end(claim, ending, has_won=self._store.queue.finish(claim, ending))

    def _note_end(self, claim: Claim, ending: JobEnd, *, has_won: bool) -> None:
        if has_won:
            log.info("job %s ended: %s", claim.job_id, ending.state)
            self._has_news = True

    def _lose(self, claim: Claim, reason: str, *, is_counted: bool = True, is_at_once: bool = False) -> None:
        """Requeue a lost job, or end it if it was to be stopped or was lost too often.

        Losses are not counted if the run never began or the cause is temporary, such as a full disk.
        """
        if self._is_marked(claim):
            self._finish(claim, outcomes.stopped_ending())
        elif is_counted and outcomes.is_exhausted(claim):
            self._finish(claim, outcomes.exhausted_ending(reason))
        else:
            delay = 0.0 if is_at_once else self._pace.retry_s * 2**claim.losses
            self._store.queue.requeue(claim, reason, delay_s=delay, is_counted=is_counted)
            self._next_due = self._store.queue.next_due()
        self._cleanup.note(self._root / claim.folder)

    def _is_marked(self, claim: Claim) -> bool:
        return claim.job_id in self._store.queue.cancelled()

    def _cancel_marked(self) -> None:
        marked = self._store.queue.cancelled() if self._active else set()
        for job_id in marked & self._active.keys():
            self._cancel(self._active[job_id])

    def _cancel(self, active: WatchedAttempt) -> None:
        if not active.is_cancelled and self._ask_to_stop(active):
            active.is_cancelled = True
            active.interval_s = self._pace.poll_min_s
            active.look_at = time.monotonic() + active.interval_s

    def _ask_to_stop(self, active: WatchedAttempt) -> bool:
        """Ask the runner to stop; False if it cannot be asked, which must not delay the others."""
        try:
            self._executor.cancel(active.folder, self._pace.grace_s)
        except OSError:
            log.exception("The runner in %s cannot be told to stop.", active.folder)
            return False
        return True

    # recovery

    def recover(self, *, is_start: bool = False) -> None:
        """Adopt every running attempt, stop cancelled jobs and purge deleted ones.

        With ``is_start``, attempts that an earlier process claimed but never delivered are requeued
        uncounted.
        """
        if self._disk is not None:
            self._disk.tend()
        for claim in self._store.queue.running():
            if claim.job_id not in self._active:
                self._adopt(claim, is_start)
        self._cancel_marked()
        self._cleanup.wake(is_purge_due=True)
        self._next_due = self._store.queue.next_due()
        self._next_sweep = time.monotonic() + self._pace.until_sweep_s(has_space=self._has_space())

    def _adopt(self, claim: Claim, is_start: bool) -> None:
        folder = self._root / claim.folder
        ownership.put_aside_foreign(folder, claim.nonce)
        # after a power cut, the files do not show whether it started
        was_delivered = ownership.has_begun(folder, claim.nonce) or clock.is_before_boot(claim.claimed)
        is_undelivered = is_start and not was_delivered and not self._executor.poll(folder).alive
        if is_undelivered and self._executor.revoke(folder):
            self._lose(claim, outcomes.LOST_SENTENCE, is_counted=False, is_at_once=True)
        else:
            names = ownership.read_gpus(folder)
            self._watch(claim, tuple(gpu for gpu in self._whole.devices if gpu.identity in names))

    def counts(self) -> dict[str, int]:
        """Number of watched attempts, for the health report."""
        return {"running": len(self._active)}


def find_room(
    need: Capacity, taken: Sequence[Capacity], whole: Capacity, workers: int | None
) -> Capacity | None:
    """``need`` with its GPUs if one more run fits in addition to those in ``taken``, else None."""
    if workers is not None and len(taken) >= workers:
        return None
    if (
        need.cores + sum(each.cores for each in taken) > whole.cores
        or need.memory_mb + sum(each.memory_mb for each in taken) > whole.memory_mb
    ):
        return None
    gpus = assign_gpus(need, taken, whole)
    return None if gpus is None else replace(need, devices=gpus)


def assign_gpus(need: Capacity, taken: Sequence[Capacity], whole: Capacity) -> tuple[Gpu, ...] | None:
    """The GPUs for one more run, unused ones first; None if there are not enough.

    A run shares a GPU only if it and the others there declare how much of the memory they use. The result is
    empty for an executor that assigns its GPUs itself.
    """
    if not whole.devices:
        return () if need.gpus + sum(each.gpus for each in taken) <= whole.gpus else None
    users = {gpu: [each.gpu_memory_mb for each in taken if gpu in each.devices] for gpu in whole.devices}
    open_to_it = [
        gpu
        for gpu, used in users.items()
        if not used or (need.gpu_memory_mb and all(used) and sum(used) + need.gpu_memory_mb <= gpu.memory_mb)
    ]
    chosen = sorted(open_to_it, key=lambda gpu: len(users[gpu]))[: need.gpus]
    return tuple(chosen) if len(chosen) == need.gpus else None
