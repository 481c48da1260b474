"""Check whether a service should get new requests, with the reasons if not."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from foldnote.service.composition import Service
from foldnote.service.store.database import StorageFaultError
from foldnote.text import format_size

_CACHE_S = 1.0
_BUCKET_CACHE_S = 15.0
"""The same for an object store: a check takes three requests, or seconds if it cannot be reached."""


@dataclass(frozen=True)
class Readiness:
    """The state of a service.

    Attributes:
        reasons: why it is not ready, by a stable word; empty if it is.
        executors: whether each executor can be reached now, by name.
        running: number of runs.
        is_draining: whether it takes no new jobs.
    """

    reasons: dict[str, str]
    executors: dict[str, bool]
    running: int
    is_draining: bool


class ReadinessCheck:
    """Checks a service at most once a second, however often it is called."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._cached: tuple[float, Readiness] | None = None
        self._cached_bucket_fault: tuple[float, str | None] | None = None

    def check(self) -> Readiness:
        """Return the state, at most a second old."""
        with self._lock:
            if self._cached is None or time.monotonic() - self._cached[0] > _CACHE_S:
                self._cached = (time.monotonic(), self._check_now())
            return self._cached[1]

    def _find_bucket_fault(self) -> str | None:
        """Return why the object store cannot be used; None if it can."""
        if (
            self._cached_bucket_fault is None
            or time.monotonic() - self._cached_bucket_fault[0] > _BUCKET_CACHE_S
        ):
            fault = self._service.objects.find_fault()
            self._cached_bucket_fault = (time.monotonic(), fault)
        return self._cached_bucket_fault[1]

    def _check_now(self) -> Readiness:
        service = self._service
        reasons = {}
        try:
            service.store.operation.check_writable()
        except StorageFaultError as fault:
            kind = "its disk is full" if fault.is_full else "it is locked, damaged or read-only"
            reasons["database_not_writable"] = f"The database cannot be written: {kind}."
        free_bytes, _ = service.disk.measure()
        if free_bytes < service.disk.floor_bytes:
            reasons["disk_below_floor"] = (
                f"{format_size(free_bytes)} of the disk are free, less than --free-disk-mb"
                f" ({format_size(service.disk.floor_bytes)}), so nothing new is accepted."
            )
        if (bucket_fault := self._find_bucket_fault()) is not None:
            reasons["object_store_unusable"] = bucket_fault
        executors = {use.name: bool(use.machines) for use in service.dispatcher.uses()}
        if not executors.get(service.default_executor, False):
            reasons["executor_unreachable"] = (
                f"The executor {service.default_executor!r}, which runs every engine that is not assigned to"
                " another one, cannot be reached."
            )
        is_draining = service.draining.is_on()
        if is_draining:
            reasons["draining"] = "The service takes no new jobs; `foldnote admin resume` ends that."
        if service.is_closing:
            reasons["stopping"] = "The service is stopping."
        return Readiness(reasons, executors, service.dispatcher.count_running(), is_draining)
