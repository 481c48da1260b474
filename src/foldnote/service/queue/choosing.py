"""Choose the next job to claim, from the running jobs and the executors' free capacity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from foldnote.service.queue.executors.protocol import Executor
from foldnote.service.queue.executors.table import Executors
from foldnote.service.queue.launching import Launcher
from foldnote.service.queue.lines import JobLines, WatchedAttempt
from foldnote.service.queue.placement import FreeCapacity
from foldnote.service.store.jobs.queue import Chooser, Claim, QueuedJob


class JobSelector:
    """Makes functions that choose jobs.

    Args:
        run_limit: returns an executor's maximum of simultaneous runs; None for as many as fit.
        may_start: returns whether any job may be started now.
    """

    def __init__(
        self,
        launcher: Launcher,
        executors: Executors,
        lines: JobLines,
        run_limit: Callable[[Executor], int | None],
        may_start: Callable[[], bool],
    ) -> None:
        self._launcher = launcher
        self._executors = executors
        self._lines = lines
        self._run_limit = run_limit
        self._may_start = may_start
        self._recent_types: set[str] = set()
        """Tools of recently queued jobs."""
        self._exhausted_types: frozenset[str] | None = None
        """Queued jobs belong to these tools only, according to the last query; None after any change of the
        queue other than a claim or a final end."""

    def invalidate_query(self) -> None:
        """Invalidate the last query: other jobs may be waiting now."""
        self._exhausted_types = None

    def reset(self) -> None:
        """Also forget the recently queued tools."""
        self._recent_types.clear()
        self._exhausted_types = None

    def make_chooser(
        self,
        running_attempts: Sequence[WatchedAttempt],
        claimed: Iterable[Claim],
        ahead: Collection[int],
        *,
        may_reuse: bool = False,
    ) -> Chooser:
        """Return a function that chooses the oldest fitting job of the owner with the fewest runs.

        A job that does not fit waits, and with it all later jobs of its executor, but not those of others. A
        job that lacks only a GPU holds up only jobs that also use a GPU. A job that does not fit may be put
        in a line, unless another job waits for capacity of the same executor: lines that are constantly
        refilled could hold that job up forever.

        Args:
            running_attempts: the running attempts.
            claimed: jobs whose inputs are being fetched.
            ahead: those of the claimed jobs that were given a place in a line.
            may_reuse: whether the queries see all queued jobs and only this process changes the queue,
                so that a query that found nothing need not be repeated before ``invalidate_query``.
        """
        with_lines = {
            each
            for each in {active.claim.type for active in running_attempts}
            if self._launcher.may_wait(each)
        }
        places = self._lines.places(active for active in running_attempts if active.claim.type in with_lines)
        running, free_capacity = self._count_running(running_attempts, claimed, ahead)
        may_start = self._may_start()

        def is_full(tool: str) -> bool:  # whether runs with GPUs hold up others is decided below
            need, name = self._launcher.need(tool), self._launcher.executor_name(tool)
            return not need.gpus and not free_capacity[id(self._executors.find(name))].fits(need)

        def choose(find: Callable[[Collection[str]], Sequence[QueuedJob]]) -> QueuedJob | None:
            is_known = self._executors.has_several and not places.has_any
            closed = {each for each in self._recent_types if is_full(each)} if is_known else set()
            without_gpus: set[int] = set()
            held_up: set[int] = set()
            while may_start and (places.has_any or any(each.has_any for each in free_capacity.values())):
                if self._exhausted_types is not None and closed >= self._exhausted_types:
                    return None
                rows = find(closed)
                if not rows:
                    self._exhausted_types = frozenset(closed) if may_reuse else None
                    return None
                first = min(rows, key=lambda row: (running[row.account_id], row.job_id))
                self._recent_types.add(first.type)
                name = self._launcher.executor_name(first.type)
                free, need = free_capacity[id(self._executors.find(name))], self._launcher.need(first.type)
                is_held_up = need.gpus and id(free) in without_gpus
                has_room = not is_held_up and free.take(need)
                may_wait = id(free) not in held_up and self._launcher.may_wait(first.type)
                if has_room or (may_wait and places.take(first)):
                    running[first.account_id] += 1
                    return replace(first, executor=name, is_claimed_ahead=not has_room)
                closed.add(first.type)
                if need.gpus and free.fits(replace(need, gpus=0)):
                    without_gpus.add(id(free))
                elif not self._executors.has_several:
                    return None
                else:
                    held_up.add(id(free))
            return None

        return choose

    def _count_running(
        self, running_attempts: Iterable[WatchedAttempt], claimed: Iterable[Claim], ahead: Collection[int]
    ) -> tuple[Counter[int], dict[int, FreeCapacity]]:
        """Return the number of runs of each account, and the free capacity of each executor by its ``id()``.

        Claimed jobs count as running. Attempts in a line, and claimed jobs that will be, take no capacity.
        """
        running = Counter(active.claim.account_id for active in running_attempts)
        free_capacity = {
            id(each): FreeCapacity(each, self._run_limit(each)) for each in self._executors.all()
        }
        for active in running_attempts:
            if id(active.executor) in free_capacity and not active.is_in_line:
                free_capacity[id(active.executor)].taken.append(active.need)
        for claim in claimed:
            running[claim.account_id] += 1
            capacity = free_capacity.get(id(self._executors.find(claim.executor)))
            if capacity and claim.job_id not in ahead:
                capacity.take(self._launcher.need(claim.type))
        return running, free_capacity
