"""A discrete-event simulation of services that serve pollers and run jobs, based on measured times.

A service is one Python interpreter, which runs one request or thread at a time (`Interpreter`), one database
that makes changes durable (`Joint`: changes that arrive during a sync share the next one), slots for jobs,
and the processors of its machine. Replicas read keys and pages together from a database's server, which
computes on its own processors or on theirs. Times are in milliseconds.

The model ignores the scheduling of the operating system, memory, the network's limits, retries, and that an
interpreter serves its threads in turns of 5 ms rather than first come, first served.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import simpy

Steps = Generator[simpy.Event, object, None]
SLICE_MS = 5.0
"""Longest time for which a thread keeps the interpreter while others wait (`sys.getswitchinterval`)."""
REMEMBER_MS = 5000.0
GATHER_MS = 10.0
"""Pause between two queries for keys, and for pages (`joint_lookup.PAUSE_S`)."""


@dataclass(frozen=True)
class Figures:
    """Measured times with one kind of database, in ms; processor time of the service unless stated otherwise.

    Attributes:
        poll: `GET /jobs` of an account with a few jobs, whose key is known.
        lookup: a query for keys; for one key with SQLite.
        lookup_key: each further key in that query; 0 for SQLite.
        read: a query for pages of accounts with a few jobs; 0 for SQLite, where requests are not combined.
        page: `GET /jobs` with 1,000 records.
        submit: `POST /submit-job`.
        job: the service's part of one job after its submission.
        engine: runner and engine of one short job.
        wait: wall time of a job's slot that is neither the above nor a sync.
        sync: wall time to make a change durable.
        transit: wall time of a request and its response outside the service.
        download_mb: one MB (2**20 bytes) of a download.
        server_poll: processor time of the database server for one `poll` with its key; 0 for SQLite.
        server_page: the same for one `page`.
    """

    poll: float
    lookup: float
    lookup_key: float
    read: float
    page: float
    submit: float
    job: float
    engine: float
    wait: float
    sync: float
    transit: float
    download_mb: float
    server_poll: float
    server_page: float


class Interpreter:
    """A Python interpreter on processors that may be shared with others; tasks take turns of at most 5 ms."""

    def __init__(self, env: simpy.Environment, cores: Cores) -> None:
        self._env = env
        self._turn = simpy.Resource(env)
        self._cores = cores
        self.busy = 0.0

    def compute(self, amount: float) -> Steps:
        """Compute for `amount` ms."""
        while amount > 0:
            piece = min(amount, SLICE_MS)
            with self._turn.request() as turn:
                yield turn
                yield from self._cores.compute(piece, is_brief=True)
            self.busy += piece
            amount -= piece


class Cores:
    """Processors of a machine.

    Args:
        number: number of processors.
        free: share of them that is free for the service; the rest is used by other programs.
    """

    def __init__(self, env: simpy.Environment, number: int, free: float = 1.0) -> None:
        self._env = env
        self._free = free
        self._all = simpy.Resource(env, number)

    def compute(self, amount: float, *, is_brief: bool = False) -> Steps:
        """Occupy one processor for `amount` ms of its time, in slices.

        A program that mostly waits (`is_brief`) gets a processor at once, however busy the machine is.
        """
        while amount > 0:
            piece = min(amount, SLICE_MS)
            with self._all.request() as core:
                yield core
                yield self._env.timeout(piece if is_brief else piece / self._free)
            amount -= piece


class Joint:
    """An operation shared by all requests that arrive during the previous one: a sync, or a key query."""

    def __init__(self, env: simpy.Environment, pause: float = 0.0) -> None:
        self._env = env
        self._pause = pause
        self._is_running = simpy.Resource(env)
        self._free_at = 0.0
        self._next: simpy.Event | None = None
        self._count = 0
        self.acts = 0

    def ask(self, act: object) -> simpy.Event:
        """Return an event that fires when the operation has ended; `act(count)` yields the steps of one."""
        if self._next is None:
            self._next = self._env.event()
            self._env.process(self._run(act))
        self._count += 1
        return self._next

    def _run(self, act: object) -> Steps:
        with self._is_running.request() as turn:
            yield turn
            yield self._env.timeout(max(0.0, self._free_at - self._env.now))
            ended, count = self._next, self._count
            self._next, self._count = None, 0
            yield from act(count)  # type: ignore[operator]
            self.acts += 1
            self._free_at = self._env.now + self._pause
        assert ended is not None
        ended.succeed()


@dataclass(frozen=True)
class Machine:
    """The machine of one service.

    Attributes:
        cores: number of processors.
        free: share of them that is free for the service.
        slots: jobs at once; 0 for none.
        is_elsewhere: whether engines run on other machines, so that they use none of these processors.
        trip: round-trip time to the database server in ms, without the server's work.
    """

    cores: int = 2
    free: float = 1.0
    slots: int = 2
    is_elsewhere: bool = False
    trip: float = 0.0


class DatabaseServer:
    """The database that replicas share.

    Attributes:
        commits: commits, each of which makes several changes durable.
        busy: ms of processor time, on all processors together.
    """

    def __init__(self, env: simpy.Environment, cores: Cores) -> None:
        self._cores = cores
        self.commits = Joint(env)
        self.busy = 0.0

    def compute(self, amount: float) -> Steps:
        """Compute for `amount` ms."""
        self.busy += amount
        yield from self._cores.compute(amount, is_brief=True)


class SimulatedService:
    """One service. Replicas share a `server`; a service without one has its own database."""

    def __init__(
        self,
        env: simpy.Environment,
        figures: Figures,
        machine: Machine,
        cores: Cores,
        server: DatabaseServer | None,
    ) -> None:
        self._env = env
        self.figures = figures
        self._machine = machine
        self.cores = cores
        self.interpreter = Interpreter(env, self.cores)
        self._keys = Joint(env, GATHER_MS)
        self._pages = Joint(env, GATHER_MS)
        self._server = server
        self.commits = server.commits if server else Joint(env)
        self._slots = simpy.Resource(env, machine.slots) if machine.slots else None
        self._known: dict[int, float] = {}
        self.ended = 0

    def poll(self, account: int, times: list[float], *, is_long: bool = False) -> Steps:
        """Answer an account's `GET /jobs`, with 1,000 records if `is_long`, and record its time."""
        due = self._env.now
        yield self._env.timeout(self.figures.transit)
        if self._known.get(account, 0.0) <= self._env.now:
            asked = self._env.now
            if self._server is None:
                yield from self.interpreter.compute(self.figures.lookup)
            else:
                yield self._keys.ask(self._look_up)
            self._known[account] = asked + REMEMBER_MS
        if self._server is not None:
            yield self._pages.ask(self._read_pages)
        if is_long:
            yield from self._ask_server(self.figures.server_page)
        yield from self.interpreter.compute(self.figures.page if is_long else self.figures.poll)
        times.append(self._env.now - due)

    def submit(self) -> Steps:
        """Accept one job."""
        yield from self.interpreter.compute(self.figures.submit)
        yield from self._commit()

    def run_job(self, seconds: float = 0.0) -> Steps:
        """Run one job in a slot: the claim, the engine (`seconds` beyond a short job's), and the completion.

        Completing a job and claiming the next one are one transaction.
        """
        assert self._slots is not None
        with self._slots.request() as slot:
            yield slot
            yield from self.interpreter.compute(self.figures.job / 2)
            yield self._env.timeout(self.figures.wait)
            work = self.figures.engine + seconds * 1000
            if self._machine.is_elsewhere:
                yield self._env.timeout(work)
            else:
                yield from self.cores.compute(work)
            yield from self.interpreter.compute(self.figures.job / 2)
            yield from self._commit()
        self.ended += 1

    def download(self, megabytes: float, times: list[float]) -> Steps:
        """Send one result. The kernel copies it, so no interpreter is needed."""
        due = self._env.now
        yield from self.cores.compute(megabytes * self.figures.download_mb)
        times.append(self._env.now - due)

    def _commit(self) -> Steps:
        yield from self._ask_server(0.0)
        yield self.commits.ask(self._sync)

    def _sync(self, _: int) -> Steps:
        yield self._env.timeout(self.figures.sync)

    def _look_up(self, count: int) -> Steps:
        yield from self._ask_server(0.0)
        yield from self.interpreter.compute(self.figures.lookup + count * self.figures.lookup_key)

    def _read_pages(self, count: int) -> Steps:
        yield from self._ask_server(count * self.figures.server_poll)
        yield from self.interpreter.compute(self.figures.read)

    def _ask_server(self, amount: float) -> Steps:
        """Wait for the database server, if there is one, to compute for `amount` ms."""
        if self._server is not None:
            yield self._env.timeout(self._machine.trip)
            yield from self._server.compute(amount)


@dataclass(frozen=True)
class Plan:
    """A set of services, their load, and the duration of the simulation.

    Attributes:
        services: number of services; each account belongs to one.
        has_one_database: whether they are replicas of one database, so that each can serve any account.
        is_on_one_machine: whether replicas and their database share a machine; otherwise each has its own.
        pollers: accounts that poll their jobs.
        every_s: seconds between two polls of an account.
        pages: pages of 1,000 jobs per second, all accounts together.
        jobs: jobs per second that are submitted and run, all accounts together.
        queued: jobs in each service's queue at the beginning.
        job_s: processor seconds of each engine, in addition to those of a short job.
        downloads_mb: MB per second, all accounts together, in results of 10 MB.
        seconds: simulated time, whose first fifth is not counted.
    """

    services: int = 1
    has_one_database: bool = False
    is_on_one_machine: bool = False
    pollers: int = 0
    every_s: float = 5.0
    pages: float = 0.0
    jobs: float = 0.0
    queued: int = 0
    job_s: float = 0.0
    downloads_mb: float = 0.0
    seconds: float = 20.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of a simulated plan.

    Attributes:
        times: ms of each poll, after the first fifth.
        page_times: ms of each page.
        download_times: ms of each download.
        asked: number of requests and jobs that were due before the last second.
        answered: how many of these were finished at the end.
        ended: jobs completed per second.
        busy: share of the time that the busiest interpreter computed.
        services_busy: processors that all interpreters used on average.
        server_busy: the same for the database's server.
    """

    times: Sequence[float]
    page_times: Sequence[float]
    download_times: Sequence[float]
    asked: int
    answered: int
    ended: float
    busy: float
    services_busy: float
    server_busy: float

    def p(self, fraction: float) -> float:
        """Return the quantile `fraction` of the poll times in ms; infinite if there are none."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * fraction))] if ordered else float("inf")


def simulate(figures: Figures, machine: Machine, plan: Plan, seed: int = 1) -> Outcome:
    """Simulate the plan."""
    chance, env = random.Random(seed), simpy.Environment()
    machines = [Cores(env, machine.cores, machine.free) for _ in range(plan.services + 1)]
    if plan.is_on_one_machine:
        machines = machines[:1] * len(machines)
    server = DatabaseServer(env, machines[-1]) if plan.has_one_database else None
    services = [SimulatedService(env, figures, machine, cores, server) for cores in machines[: plan.services]]
    run = _Run(env, plan, services, chance)
    for service in services:
        for _ in range(plan.queued):
            env.process(service.run_job(plan.job_s))
    for account in range(plan.pollers):
        env.process(run.poll(account))
    env.process(run.repeat(plan.pages, run.get_page))
    env.process(run.repeat(plan.jobs, run.do_job))
    env.process(run.repeat(plan.downloads_mb / 10, run.download))
    env.run(until=plan.seconds * 1000)
    return Outcome(
        times=run.times,
        page_times=run.page_times,
        download_times=run.download_times,
        asked=run.asked,
        answered=run.answered,
        ended=sum(each.ended for each in services) / plan.seconds,
        busy=max(each.interpreter.busy for each in services) / env.now,
        services_busy=sum(each.interpreter.busy for each in services) / env.now,
        server_busy=server.busy / env.now if server else 0.0,
    )


class _Run:
    """The accounts of one simulation."""

    def __init__(
        self, env: simpy.Environment, plan: Plan, services: list[SimulatedService], chance: random.Random
    ) -> None:
        self._env, self._plan, self._services, self._chance = env, plan, services, chance
        self._homes: dict[int, SimulatedService] = {}
        self.times: list[float] = []
        self.page_times: list[float] = []
        self.download_times: list[float] = []
        self.asked = self.answered = 0

    def poll(self, account: int) -> Steps:
        """Poll at fixed times; an account waits for the response before its next poll."""
        every, due = self._plan.every_s * 1000, self._chance.random() * self._plan.every_s * 1000
        while True:
            yield self._env.timeout(max(0.0, due - self._env.now))
            took: list[float] = []
            yield from self._counted(self._choose(account).poll(account, took))
            if due > self._plan.seconds * 200:
                self.times.append(self._env.now - due)
            due = max(due + every, self._env.now)

    def repeat(self, rate: float, act: object) -> Steps:
        """Start an operation at random times, `rate` times a second on average."""
        while rate > 0:
            yield self._env.timeout(self._chance.expovariate(rate) * 1000)
            self._env.process(act())  # type: ignore[operator]

    def get_page(self) -> Steps:
        """Request a page of 1,000 jobs."""
        service = self._choose(self._chance.randrange(1_000_000))
        account = self._chance.randrange(1000)
        yield from self._counted(service.poll(account, self.page_times, is_long=True))

    def do_job(self) -> Steps:
        """Submit a job and run it to its completion."""
        service = self._choose(self._chance.randrange(1_000_000))
        yield from service.submit()
        yield from self._counted(service.run_job(self._plan.job_s))

    def download(self) -> Steps:
        """Download a result of 10 MB."""
        service = self._choose(self._chance.randrange(1_000_000))
        yield from self._counted(service.download(10, self.download_times))

    def _counted(self, steps: Steps) -> Steps:
        counts = self._env.now < (self._plan.seconds - 1) * 1000
        self.asked += counts
        yield from steps
        self.answered += counts

    def _choose(self, account: int) -> SimulatedService:
        """Choose any of the replicas, or the account's own service."""
        if self._plan.has_one_database:
            return self._chance.choice(self._services)
        if account not in self._homes:
            self._homes[account] = self._chance.choice(self._services)
        return self._homes[account]


def find_most(
    figures: Figures, machine: Machine, plan: Plan, field: str, begin: float, mark_ms: float = 1500.0
) -> float:
    """Return the highest value of one field of the plan at which the services still cope, to within 10 %.

    They cope if 95 % of the requests and jobs that were due are finished, 99 % of the polls, if there are
    any, take at most `mark_ms`, and neither an interpreter nor the processors of the database server compute
    for more than 95 % of the time.
    """

    def is_met(value: float) -> bool:
        number = round(value) if field == "pollers" else value
        found = simulate(figures, machine, replace(plan, **{field: number}))
        is_slow = bool(found.times) and found.p(0.99) > mark_ms
        is_busy = found.busy > 0.95 or found.server_busy > 0.95 * machine.cores
        return found.answered >= 0.95 * found.asked and not is_busy and not is_slow

    low, high = 0.0, begin
    while is_met(high):
        low, high = high, high * 2
    while high - low > 0.1 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_met(middle) else (low, middle)
    return low
