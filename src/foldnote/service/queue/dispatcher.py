"""The dispatcher: one thread that claims waiting jobs, watches running attempts and commits how they end.

The database is the truth and an executor only a transport: whatever dies between two lines here, the next
recovery finds the row and the attempt's folder and goes on from there. Runs are adopted, not repeated, and
a run is given up only after it was made sure that nothing of it lives.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.config import Pace
from foldnote.service.disk import Disk
from foldnote.service.files.conditions import is_passing
from foldnote.service.files.objects import ObjectStore
from foldnote.service.queue import capacity, endings
from foldnote.service.queue.attempt import RESULT, RUNNER, AttemptSpec, Outcome
from foldnote.service.queue.executors.protocol import Capacity, Executor
from foldnote.service.queue.launching import attempt_folder, prepare
from foldnote.service.queue.tidying import Tidier, drop_work
from foldnote.service.store.database import StorageFaultError
from foldnote.service.store.queue import Claim, Ending, Waiting
from foldnote.service.store.store import Store
from foldnote.service.tooling import Toolbox

log = logging.getLogger(__name__)
_FAULT_PAUSE_S = 1.0
_LEAST = Capacity(1, 0)
"""Without room for this nothing is looked for: every run takes a core."""


@dataclass
class Active:
    """An attempt that is watched."""

    claim: Claim
    folder: Path
    need: Capacity
    look_at: float
    interval_s: float
    is_cancelled: bool = False


@dataclass(frozen=True)
class Live:
    """What a running job tells: fraction (0 to 1) and message, each None when it has not said."""

    progress: float | None
    message: str | None


class Dispatcher:
    """Runs what waits, one thread for all jobs.

    Args:
        root: folder of all attempts.
        workers: runs at one time at most, None for what the executor has room for.
        on_ended: told after jobs ended, by themselves or by a request.
        disk: nothing is started while it has no space; None asks no disk.
    """

    def __init__(
        self,
        store: Store,
        objects: ObjectStore,
        toolbox: Toolbox,
        executor: Executor,
        root: Path,
        pace: Pace,
        workers: int | None = None,
        on_ended: Callable[[], None] = lambda: None,
        disk: Disk | None = None,
    ) -> None:
        self._store = store
        self._objects = objects
        self._toolbox = toolbox
        self._executor = executor
        self._root = root
        self._pace = pace
        self._workers = workers
        self._on_ended = on_ended
        self._disk = disk
        self._active: dict[int, Active] = {}
        self._live: dict[int, Live] = {}
        self._tidier = Tidier(root, store, objects)
        self._woken = threading.Event()
        self._is_asked = False
        self._has_news = False
        self._hints: deque[Path] = deque()
        self._is_stopping = False
        self._next_sweep = 0.0
        self._next_due: float | None = None
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def start(self) -> None:
        """Take over what an earlier process left, then begin to work."""
        self._executor.open(self._hint)
        self.recover(is_start=True)
        self._tidier.take_over()
        self._tell()
        self._thread.start()

    def stop(self) -> None:
        """End the thread; running attempts go on and are adopted by the next start."""
        self._is_stopping = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()
        self._executor.close()

    def wake(self) -> None:
        """Say that there is something to do: a new job, or one to be stopped."""
        self._is_asked = True
        self._woken.set()

    def _hint(self, folder: Path) -> None:
        """The attempt in `folder` seems to have ended."""
        self._hints.append(folder)
        self._woken.set()

    def live(self, job_id: int) -> Live | None:
        """What a running job tells now."""
        return self._live.get(job_id)

    def _run(self) -> None:
        while not self._is_stopping:
            self._woken.wait(self._pause_s())
            self._woken.clear()
            is_asked, self._is_asked = self._is_asked, False
            try:
                self._round(is_asked)
            except Exception:  # the thread's edge: a full disk or a busy database must not end all work
                log.exception("A round of the dispatcher failed; it goes on in a second.")
                self._is_asked = self._is_asked or is_asked
                time.sleep(_FAULT_PAUSE_S)

    def _round(self, is_asked: bool) -> None:
        if self._is_stopping:
            return
        if is_asked:
            self._has_news = True
            self._cancel_marked()
        self._take_hints()
        self._look_at_due()
        if time.monotonic() >= self._next_sweep:
            self.recover()
        self._claim_waiting()
        self._tell()
        self._tidier.tidy()  # last, so that nothing that waits has to wait for it

    def _tell(self) -> None:
        """Say that jobs ended or were asked for, after what waited was started."""
        if self._has_news:
            self._has_news = False
            self._on_ended()

    def _pause_s(self) -> float:
        moments = [self._next_sweep, *(active.look_at for active in self._active.values())]
        pause = min(moments) - time.monotonic()
        if self._next_due is not None:
            pause = min(pause, self._next_due - time.time() + 0.01)
        return max(0.0, pause)

    # claiming

    def _claim_waiting(self) -> None:
        if self._disk is not None and not self._disk.has_space():
            return
        while not self._is_stopping and (waiting := self._choose()) is not None:
            claim = self._store.queue.claim(waiting, secrets.token_hex(16))
            if claim is not None:
                self._launch(claim)

    def _choose(self) -> Waiting | None:
        """The oldest job of the owner with the fewest runs; None when it does not fit now."""
        if not self._has_room_for(_LEAST):
            return None
        running = Counter(active.claim.account_id for active in self._active.values())
        rows = sorted(self._store.queue.waiting(), key=lambda row: (running[row.account_id], row.job_id))
        return rows[0] if rows and self._has_room(rows[0].type) else None

    def _has_room(self, tool_type: str) -> bool:
        return self._has_room_for(self._need(tool_type))

    def _has_room_for(self, need: Capacity) -> bool:
        taken = [active.need for active in self._active.values()]
        return capacity.has_room(need, taken, self._executor.capacity(), self._workers)

    def _need(self, tool_type: str) -> Capacity:
        return capacity.need_of(self._toolbox.engine_of(tool_type), self._executor.capacity())

    def _launch(self, claim: Claim) -> None:
        engine = self._toolbox.engine_of(claim.type)
        if engine is None:
            self._finish(
                claim, endings.refused_ending(f"No engine for {claim.type} is left at this service.")
            )
            return
        try:
            cores = self._executor.capacity().cores
            spec = prepare(self._root, claim, engine, self._objects, cores)
        except EngineError as exc:
            self._finish(claim, endings.refused_ending(str(exc)))
            return
        except OSError as exc:
            self._lose(claim, f"The run could not be prepared: {exc}.", is_counted=not is_passing(exc))
            return
        self._deliver(claim, spec)

    def _deliver(self, claim: Claim, spec: AttemptSpec) -> None:
        try:
            self._executor.submit(spec)
        except (EngineError, OSError) as exc:
            if self._executor.revoke(spec.folder):
                is_counted = not (isinstance(exc, OSError) and is_passing(exc))
                self._lose(claim, f"The run could not be started: {exc}.", is_counted=is_counted)
                return
        self._watch(claim)

    def _watch(self, claim: Claim) -> None:
        self._active[claim.job_id] = Active(
            claim=claim,
            folder=attempt_folder(self._root, claim.job_id, claim.attempt),
            need=self._need(claim.type),
            look_at=time.monotonic() + self._pace.poll_min_s,
            interval_s=self._pace.poll_min_s,
        )
        if claim.is_cancelled:
            self._cancel(self._active[claim.job_id])

    # watching

    def _take_hints(self) -> None:
        """Look at once at what seems to have ended."""
        folders = {self._hints.popleft() for _ in range(len(self._hints))}
        for active in self._active.values():
            if active.folder in folders:
                active.look_at = 0.0

    def _look_at_due(self) -> None:
        moment = time.monotonic()
        for active in [each for each in self._active.values() if each.look_at <= moment]:
            try:
                self._look_at(active)
            except (OSError, StorageFaultError):  # the others must not wait for this one
                log.exception("The attempt in %s could not be looked at.", active.folder)
                active.look_at = moment + _FAULT_PAUSE_S

    def _look_at(self, active: Active) -> None:
        state = self._executor.poll(active.folder)
        if state.outcome is not None:
            self._end(active, state.outcome)
        elif not state.alive:
            self._give_up(active)
        else:
            self._note_progress(active, Live(state.progress, state.message))

    def _note_progress(self, active: Active, live: Live) -> None:
        is_new = live != self._live.get(active.claim.job_id)
        self._live[active.claim.job_id] = live
        slower = min(active.interval_s * 1.3, self._pace.poll_max_s)
        active.interval_s = max(self._pace.poll_min_s, active.interval_s / 2) if is_new else slower
        active.look_at = time.monotonic() + active.interval_s

    def _give_up(self, active: Active) -> None:
        """Nobody holds the attempt: make sure that nothing of it runs, then let it go."""
        if not self._executor.revoke(active.folder):
            active.look_at = time.monotonic() + self._pace.poll_min_s
            return
        self._forget(active)
        self._lose(active.claim, endings.LOST_SENTENCE)

    def _end(self, active: Active, outcome: Outcome) -> None:
        has_result = self._keep_result(active.folder, outcome)
        ending = endings.ending_of(
            outcome,
            cores=active.need.cores,
            has_result=has_result,
            is_cancelled=self._is_marked(active.claim),
        )
        if ending is None:
            self._forget(active)
            self._lose(active.claim, outcome.error or endings.LOST_SENTENCE)
            return
        self._finish(active.claim, ending)
        self._forget(active)
        self._tidier.note(active.folder)

    def _keep_result(self, folder: Path, outcome: Outcome) -> bool:
        sha256 = outcome.result_sha256
        if sha256 is None:
            return False
        source = folder / RESULT
        if source.is_file():
            self._objects.adopt(source, sha256)
        return self._objects.path(sha256).is_file()

    def _forget(self, active: Active) -> None:
        self._active.pop(active.claim.job_id, None)
        self._live.pop(active.claim.job_id, None)

    # ends and losses

    def _finish(self, claim: Claim, ending: Ending) -> None:
        if self._store.queue.finish(claim, ending):
            log.info("job %s ended: %s", claim.job_id, ending.state)
            self._has_news = True

    def _lose(self, claim: Claim, reason: str, *, is_counted: bool = True, is_at_once: bool = False) -> None:
        """Back into the queue, or to an end where it was to be stopped or was lost too often.

        Not counted is what never began and what will pass, such as a full disk.
        """
        if self._is_marked(claim):
            self._finish(claim, endings.stopped_ending())
        elif is_counted and endings.is_exhausted(claim):
            self._finish(claim, endings.exhausted_ending(reason))
        else:
            delay = 0.0 if is_at_once else self._pace.retry_s * 2**claim.losses
            self._store.queue.requeue(claim, reason, delay_s=delay, is_counted=is_counted)
            self._next_due = self._store.queue.next_due()
        drop_work(attempt_folder(self._root, claim.job_id, claim.attempt))

    def _is_marked(self, claim: Claim) -> bool:
        return claim.job_id in self._store.queue.cancelled()

    def _cancel_marked(self) -> None:
        marked = self._store.queue.cancelled() if self._active else set()
        for job_id in marked & self._active.keys():
            self._cancel(self._active[job_id])

    def _cancel(self, active: Active) -> None:
        if not active.is_cancelled:
            self._executor.cancel(active.folder, self._pace.grace_s)
            active.is_cancelled = True
            active.interval_s = self._pace.poll_min_s
            active.look_at = time.monotonic() + active.interval_s

    # recovery

    def recover(self, *, is_start: bool = False) -> None:
        """Adopt every attempt that the rows call running, stop what is to be stopped, purge what is deleted.

        `is_start`: attempts that an earlier process claimed and never delivered go back uncounted.
        """
        if self._disk is not None:
            self._disk.tend()
        for claim in self._store.queue.running():
            if claim.job_id not in self._active:
                self._adopt(claim, is_start)
        self._cancel_marked()
        self._tidier.purge()
        self._next_due = self._store.queue.next_due()
        self._next_sweep = time.monotonic() + self._pace.sweep_s

    def _adopt(self, claim: Claim, is_start: bool) -> None:
        folder = attempt_folder(self._root, claim.job_id, claim.attempt)
        was_delivered = (folder / RUNNER).exists()
        is_undelivered = is_start and not was_delivered and not self._executor.poll(folder).alive
        if is_undelivered and self._executor.revoke(folder):
            self._lose(claim, endings.LOST_SENTENCE, is_counted=False, is_at_once=True)
        else:
            self._watch(claim)

    def counts(self) -> dict[str, int]:
        """For the health report: watched attempts."""
        return {"running": len(self._active)}
