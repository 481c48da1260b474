"""Executors: transports that start an attempt's runner on a machine.

An executor is replaceable and never the source of truth: the database says which jobs exist, and the attempt
itself reports its state. Every executor passes the conformance suite in ``tests/service``.
"""

from __future__ import annotations

from foldnote.service.queue.executors.local import LocalExecutor
from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder, Capacity, Executor

__all__ = ["AttemptIdentity", "AttemptOrder", "Capacity", "Executor", "LocalExecutor"]
