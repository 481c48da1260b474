"""The service's metrics in the text format of Prometheus, read at each scrape.

Labels are names of tools, engines, executors and routes only: never of jobs, files or accounts. The library
is loaded by the first scrape, so a service that is not monitored does not pay for it.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sized
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from foldnote.late import find_version
from foldnote.service.composition import Service
from foldnote.service.operation.request_tally import BUCKETS_S, RequestTally
from foldnote.service.queue.figures import ExecutorUse

if TYPE_CHECKING:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

MB = 1024 * 1024
_STORED_EVERY_S = 60.0
"""Maximum age of the only figure that is a sum over all jobs."""
_NO_ENGINE = "none"
_Row = tuple[tuple[str, ...], float]
_Family: TypeAlias = "CounterMetricFamily | GaugeMetricFamily"


class Measurements:
    """Reads the service's figures; a collector of `prometheus_client`.

    Args:
        requests: the requests since the start.
        connections: the open connections.
    """

    def __init__(self, service: Service, requests: RequestTally, connections: Sized) -> None:
        self._service = service
        self._requests = requests
        self._connections = connections
        self._stored = (-_STORED_EVERY_S, 0)

    def write(self, accepted: str) -> tuple[bytes, str]:
        """Return all figures and their media type, in the format that the header `Accept` prefers."""
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.exposition import choose_encoder

        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(self)
        encode, media_type = choose_encoder(accepted)
        return encode(registry), media_type

    def collect(self) -> Iterator[Metric]:
        """Yield every figure of the service."""
        yield from self._describe_build()
        yield from self._describe_jobs()
        yield from self._describe_runs()
        yield from self._describe_executors()
        yield from self._describe_storage()
        yield from self._describe_requests()

    def _describe_build(self) -> Iterator[Metric]:
        yield _gauge(
            "build_info",
            "Versions, as labels; the value is 1.",
            ("version", "python"),
            [((find_version(), platform.python_version()), 1)],
        )
        draining = self._service.draining.is_on()
        yield _gauge("draining", "1 while no new jobs are taken, else 0.", (), [((), draining)])

    def _describe_jobs(self) -> Iterator[Metric]:
        store = self._service.store
        totals = store.operation.job_totals()
        yield _gauge(
            "jobs",
            "Jobs that exist, batches included, by status.",
            ("status",),
            [((state,), number) for state, number in totals.states.items()],
        )
        yield _gauge(
            "jobs_unfinished",
            "Jobs that wait or run, by tool, engine and status.",
            ("tool", "engine", "status"),
            [
                ((tool, self._engine_of(tool), state), number)
                for (tool, state), number in totals.unfinished.items()
            ],
        )
        waiting = store.queue.waiting()
        age_s = store.operation.age_s(min(row.job_id for row in waiting)) if waiting else 0.0
        yield _gauge(
            "queue_oldest_age_seconds",
            "Age of the oldest job that could start now; 0 if there is none.",
            (),
            [((), age_s)],
        )

    def _describe_runs(self) -> Iterator[Metric]:
        history = self._service.dispatcher.history
        yield _counter(
            "jobs_ended",
            "Jobs that ended since the service started: complete, failed or stopped.",
            ("tool", "engine", "outcome"),
            [
                ((tool, self._engine_of(tool), outcome), number)
                for (tool, outcome), number in history.ended().items()
            ],
        )
        yield _counter(
            "attempts_lost",
            "Runs that were lost with their machine or could not be started, since the service started.",
            ("executor",),
            [((use.name,), history.lost().get(use.name, 0)) for use in self._service.dispatcher.uses()],
        )

    def _describe_executors(self) -> Iterator[Metric]:
        uses = self._service.dispatcher.uses()
        rows: tuple[tuple[str, str, Callable[[ExecutorUse], float]], ...] = (
            ("executor_up", "1 if the executor's machines can be reached, else 0.", _is_up),
            ("executor_machines", "Machines of the executor.", lambda use: len(use.machines)),
            ("executor_runs", "Runs on the executor.", lambda use: len(use.runs)),
            ("executor_runs_limit", "Most runs at once, where that is limited; else -1.", _run_limit),
            ("executor_cores", "Cores of the executor.", lambda use: _total(use.machines, "cores")),
            ("executor_cores_used", "Cores given to runs.", lambda use: _total(use.runs, "cores")),
            ("executor_memory_bytes", "Memory of the executor.",
             lambda use: MB * _total(use.machines, "memory_mb")),
            ("executor_memory_used_bytes", "Memory given to runs.",
             lambda use: MB * _total(use.runs, "memory_mb")),
            ("executor_gpus", "GPUs of the executor.", lambda use: _total(use.machines, "gpus")),
            ("executor_gpus_used", "GPUs of which a run has a part or all.", _gpus_used),
        )  # fmt: skip
        for name, text, measure in rows:
            yield _gauge(name, text, ("executor",), [((use.name,), measure(use)) for use in uses])

    def _describe_storage(self) -> Iterator[Metric]:
        free, total = self._service.disk.measure()
        size = self._service.store.database.size_bytes()
        yield _gauge("disk_free_bytes", "Free space on the disk of the data folder.", (), [((), free)])
        yield _gauge("disk_size_bytes", "Size of that disk.", (), [((), total)])
        floor = self._service.config.limits.free_disk_bytes
        yield _gauge("disk_floor_bytes", "Free space below which nothing new is accepted.", (), [((), floor)])
        yield _gauge("database_bytes", "Size of the database and its log.", (), [((), size)])
        if time.monotonic() - self._stored[0] >= _STORED_EVERY_S:
            self._stored = (time.monotonic(), self._service.store.operation.stored_bytes())
        yield _gauge(
            "storage_used_bytes",
            "Files, settings and results of all accounts, as their limits count them; a minute old at most.",
            (),
            [((), self._stored[1])],
        )

    def _describe_requests(self) -> Iterator[Metric]:
        from prometheus_client.core import HistogramMetricFamily

        rows = self._requests.rows()
        yield _counter(
            "http_requests",
            "Answers by method, route and status.",
            ("method", "route", "status"),
            [
                ((method, route, str(status)), number)
                for method, route, row in rows
                for status, number in dict(row.statuses).items()
            ],
        )
        durations = HistogramMetricFamily(
            "foldnote_http_request_duration_seconds",
            "Time from a request's head to the end of its answer, with downloads and waits for changes.",
            labels=("method", "route"),
        )
        limits = [*map(str, BUCKETS_S), "+Inf"]
        for method, route, row in rows:
            cumulative = list(zip(limits, map(float, accumulate(row.buckets)), strict=True))
            durations.add_metric((method, route), cumulative, sum_value=row.seconds)
        yield durations
        yield _gauge("connections_open", "Open connections.", (), [((), len(self._connections))])

    def _engine_of(self, tool: str) -> str:
        engine = self._service.toolbox.engine_of(tool)
        return _NO_ENGINE if engine is None else engine.name


def _gauge(name: str, text: str, labels: tuple[str, ...], rows: list[_Row]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    return _fill(GaugeMetricFamily(f"foldnote_{name}", text, labels=labels), rows)


def _counter(name: str, text: str, labels: tuple[str, ...], rows: list[_Row]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    return _fill(CounterMetricFamily(f"foldnote_{name}", text, labels=labels), rows)


def _fill(family: _Family, rows: list[_Row]) -> Metric:
    for values, number in rows:
        family.add_metric(values, float(number))
    return family


def _total(given: tuple[object, ...], field: str) -> int:
    return sum(getattr(each, field) for each in given)


def _is_up(use: ExecutorUse) -> int:
    return int(bool(use.machines))


def _run_limit(use: ExecutorUse) -> int:
    if use.run_limit is not None:
        return use.run_limit
    return _total(use.machines, "slots") if use.machines and all(each.slots for each in use.machines) else -1


def _gpus_used(use: ExecutorUse) -> int:
    return len({(run.machine, gpu.identity) for run in use.runs for gpu in run.devices})
