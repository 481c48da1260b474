"""What the attempts of one agent share: the engines that it has read, and the GPUs of its machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from foldnote.errors import EngineError
from foldnote.service.engines import Engine, load_engines
from foldnote.service.engines.registry import get_engine
from foldnote.service.runner.gpus import Gpu, list_gpus


class EngineShelf:
    """The engines of this machine, read at first and again for one that is not among them."""

    def __init__(self) -> None:
        self._engines: Mapping[str, Engine] = {}
        self._lock = threading.Lock()

    def find(self, name: str) -> Engine:
        """The engine called ``name``.

        Raises:
            UnknownEngineError: this machine does not have it.
            EngineError: an ``engine.toml`` cannot be used.
        """
        with self._lock:
            if name not in self._engines:
                self._engines = load_engines()
            return get_engine(name, self._engines)


class GpuShelf:
    """The GPUs of this machine that no attempt of the agent uses.

    Args:
        environment: if it has ``CUDA_VISIBLE_DEVICES``, only those GPUs are used.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._free = list(list_gpus(environment))
        self.has_any = bool(self._free)
        """Whether the machine has any, of which attempts are told theirs."""
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, number: int) -> Iterator[tuple[Gpu, ...] | None]:
        """GPUs for one attempt; None on a machine without any.

        Raises:
            EngineError: fewer are free.
        """
        if not self.has_any:
            yield None
            return
        with self._lock:
            if number > len(self._free):
                raise EngineError(f"The machine has {len(self._free)} free GPUs; the run needs {number}.")
            lent = tuple(self._free[:number])
            del self._free[:number]
        try:
            yield lent
        finally:
            with self._lock:
                self._free.extend(lent)
