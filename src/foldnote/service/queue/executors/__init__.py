"""Executors: the transports that bring an attempt to a machine and start its runner there.

An executor is replaceable and is never asked what is true: the database says which jobs exist, and the files
of the attempt say how each one goes. Every executor passes the conformance suite in ``tests/service``.
"""

from __future__ import annotations

from foldnote.service.queue.executors.local import LocalExecutor
from foldnote.service.queue.executors.protocol import Capacity, Executor

__all__ = ["Capacity", "Executor", "LocalExecutor"]
