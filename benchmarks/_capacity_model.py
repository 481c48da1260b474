"""A discrete-event simulation of services that answer pollers and run jobs, with measured times as its input.

A service is one Python interpreter, which works for one request or thread at a time (`Interpreter`), one
database that makes changes durable (`Joint`: changes that arrive during a sync share the next one), slots for
jobs, and the processors of its machine. Replicas read keys and pages together from a database's server, which
computes on processors of its own, or on theirs. Times are in milliseconds.

What it leaves out: the scheduling of the operating system, memory, the network's limits, retries, and that an
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
    """Measured times with one kind of database in ms, of the service's processor if not said otherwise.

    Attributes:
        poll: `GET /jobs` of an account with a few jobs, whose key is known.
        lookup: a query for keys; of one key, with SQLite.
        lookup_key: one more key in that query; 0 for SQLite.
        read: a query for pages of accounts with a few jobs; 0 for SQLite, where no request waits for others.
        page: `GET /jobs` with 1,000 records.
        submit: `POST /submit-job`.
        job: the service's part of one job after its submission.
        engine: runner and engine of one short job.
        wait: what a job's slot waits beside the above and the syncs, on the clock.
        sync: making a change durable, on the clock.
        transit: a request and its answer outside the service, on the clock.
        download_mb: one MB (2**20 bytes) of a download.
        server_poll: processor of the database's server for one `poll` with its key; 0 for SQLite.
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
    """One interpreter on processors that may be shared with others; tasks take turns of at most 5 ms."""

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
        number: of processors.
        free: share of them that is free for the service; the rest of the machine's load takes the others.
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
    """One act for all that ask for it while the previous one runs: a sync, or a query for keys."""

    def __init__(self, env: simpy.Environment, pause: float = 0.0) -> None:
        self._env = env
        self._pause = pause
        self._is_running = simpy.Resource(env)
        self._free_at = 0.0
        self._next: simpy.Event | None = None
        self._count = 0
        self.acts = 0

    def ask(self, act: object) -> simpy.Event:
        """The event at whose time the act has ended; `act(count)` gives the steps of one act."""
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
        trip: time to the database's server and back, in ms, without its work.
    """

    cores: int = 2
    free: float = 1.0
    slots: int = 2
    is_elsewhere: bool = False
    trip: float = 0.0


class DatabaseServer:
    """The database that replicas share.

    Attributes:
        commits: changes that are made durable together.
        busy: ms for which it computed, on all processors together.
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
    """One service. `server` is shared by replicas; a service without one has a database of its own."""

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
        """Answer `GET /jobs` of an account, with 1,000 records if `is_long`, and add its time."""
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
        """Run one job in a slot: the claim, the engine, which computes for `seconds` more, and the end.

        The end of a job and the claim of the next one are one change of the database.
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
        """Send one result; the kernel copies it, so it needs no interpreter."""
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
        """Wait for the database's server, if there is one, which computes for `amount` ms."""
        if self._server is not None:
            yield self._env.timeout(self._machine.trip)
            yield from self._server.compute(amount)


@dataclass(frozen=True)
class Plan:
    """Services and what is asked of them, for as long as it is simulated.

    Attributes:
        services: number of services; each account belongs to one.
        has_one_database: whether they are replicas on one database, so that any of them takes any request.
        is_on_one_machine: whether replicas and their database share a machine; else each has one of its own.
        pollers: accounts that ask for their jobs.
        every_s: seconds between two requests of an account.
        pages: pages of 1,000 jobs per second, all accounts together.
        jobs: jobs per second that are submitted and run, all accounts together.
        queued: jobs of each service that wait at the beginning.
        job_s: processor seconds of each engine, in addition to those of a short job.
        downloads_mb: MB per second, all accounts together, in results of 10 MB.
        seconds: that are simulated; the first fifth of them does not count.
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
    """What a simulated plan gave.

    Attributes:
        times: ms of each answer to a poller, after the first fifth.
        page_times: ms of each page.
        download_times: ms of each download.
        asked: requests and jobs that were due before the last second.
        answered: of these, how many were done at the end.
        ended: jobs that ended per second.
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
        """The time that `fraction` of the pollers' answers do not exceed, in ms; infinite for none."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * fraction))] if ordered else float("inf")


def simulate(figures: Figures, machine: Machine, plan: Plan, seed: int = 1) -> Outcome:
    """Run the plan."""
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
        """Ask at fixed moments; an account waits for its answer before it asks again."""
        every, due = self._plan.every_s * 1000, self._chance.random() * self._plan.every_s * 1000
        while True:
            yield self._env.timeout(max(0.0, due - self._env.now))
            took: list[float] = []
            yield from self._counted(self._choose(account).poll(account, took))
            if due > self._plan.seconds * 200:
                self.times.append(self._env.now - due)
            due = max(due + every, self._env.now)

    def repeat(self, rate: float, act: object) -> Steps:
        """Begin an act at random moments, `rate` times a second on average."""
        while rate > 0:
            yield self._env.timeout(self._chance.expovariate(rate) * 1000)
            self._env.process(act())  # type: ignore[operator]

    def get_page(self) -> Steps:
        """A page of 1,000 jobs."""
        service = self._choose(self._chance.randrange(1_000_000))
        account = self._chance.randrange(1000)
        yield from self._counted(service.poll(account, self.page_times, is_long=True))

    def do_job(self) -> Steps:
        """A job from its submission to its end."""
        service = self._choose(self._chance.randrange(1_000_000))
        yield from service.submit()
        yield from self._counted(service.run_job(self._plan.job_s))

    def download(self) -> Steps:
        """A result of 10 MB."""
        service = self._choose(self._chance.randrange(1_000_000))
        yield from self._counted(service.download(10, self.download_times))

    def _counted(self, steps: Steps) -> Steps:
        counts = self._env.now < (self._plan.seconds - 1) * 1000
        self.asked += counts
        yield from steps
        self.answered += counts

    def _choose(self, account: int) -> SimulatedService:
        """Any of the replicas, or the account's own service."""
        if self._plan.has_one_database:
            return self._chance.choice(self._services)
        if account not in self._homes:
            self._homes[account] = self._chance.choice(self._services)
        return self._homes[account]


def find_most(
    figures: Figures, machine: Machine, plan: Plan, field: str, begin: float, mark_ms: float = 1500.0
) -> float:
    """The highest value of one field of the plan at which it is still met, to 10 %.

    It is met if 95 % of the requests and jobs whose time has come are done, 99 % of the pollers' answers, if
    there are any, come within `mark_ms`, and neither an interpreter nor the processors of the database's
    server compute for more than 95 % of the time.
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
