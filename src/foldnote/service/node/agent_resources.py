"""Resources shared by the attempts of one agent: engines it has read, its machine's GPUs, idle threads."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from foldnote.errors import EngineError
from foldnote.service.engines import Engine, build_attempt, load_engines
from foldnote.service.engines.configuration import Configured
from foldnote.service.engines.registry import get_engine
from foldnote.service.runner.attempt import AttemptSpec
from foldnote.service.runner.gpus import ASSIGNED, Gpu, list_gpus

log = logging.getLogger(__name__)
_RECHECK_AFTER_S = 5.0
_SLURM_GPUS = "SLURM_GPUS_ON_NODE"
"""The variable with the number of a job's GPUs on a node."""


@dataclass(frozen=True)
class CheckedTemplate:
    """The part of a specification that all runs of a tool share, as of the last check of its engine."""

    template: AttemptSpec
    configured: Configured
    """The engine's options at that time; they may be changed at any time."""
    checked_at: float


class EngineCache:
    """The engines of this machine, read at first use and again for an unknown one."""

    def __init__(self) -> None:
        self._engines: Mapping[str, Engine] = {}
        self._templates: dict[tuple[str, str, int, bool], CheckedTemplate] = {}
        self._lock = threading.Lock()

    def find_template(self, name: str, tool: str, cores: int, *, assigns_gpus: bool) -> AttemptSpec:
        """Return what all runs of ``tool`` by the engine ``name`` share; checked again after 5 s.

        Args:
            name: name of the engine.
            tool: type of the tool.
            cores: maximum number of cores.
            assigns_gpus: whether the run is assigned specific GPUs.

        Raises:
            UnknownEngineError: this machine does not have the engine.
            EngineError: it cannot run here, or an ``engine.toml`` cannot be used.
        """
        with self._lock:
            engine = self._find_engine(name)
            key, moment, configured = (name, tool, cores, assigns_gpus), time.monotonic(), engine.configured()
            known = self._templates.get(key)
            if (
                known is None
                or moment - known.checked_at > _RECHECK_AFTER_S
                or known.configured != configured
            ):
                template = build_attempt(
                    engine,
                    attempt_dir=Path(),
                    nonce="",
                    job_name="",
                    tool=tool,
                    settings={},
                    max_cores=cores,
                    assigns_gpus=assigns_gpus,
                )
                known = self._templates[key] = CheckedTemplate(template, configured, moment)
            return known.template

    def _find_engine(self, name: str) -> Engine:
        if name not in self._engines:
            self._engines = load_engines()
        return get_engine(name, self._engines)


class GpuPool:
    """The GPUs of this machine that no attempt of the agent uses.

    Args:
        environment: if ``CUDA_VISIBLE_DEVICES`` is set in it, only those GPUs are used.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._free = list(list_gpus(environment))
        self._problem = _explain_unnamed(environment, len(self._free))
        self.has_any = bool(self._free)
        """Whether the machine has GPUs, which are then assigned to attempts."""
        self._lock = threading.Lock()

    @contextmanager
    def lease(self, number: int) -> Iterator[tuple[Gpu, ...] | None]:
        """Yield the GPUs for one attempt; None on a machine without any.

        Raises:
            EngineError: fewer are free, or Slurm does not say which of the node's GPUs belong to its job.
        """
        if not self.has_any:
            yield None
            return
        if number and self._problem:
            raise EngineError(self._problem)
        with self._lock:
            if number > len(self._free):
                raise EngineError(f"The machine has {len(self._free)} free GPUs; the run needs {number}.")
            leased = tuple(self._free[:number])
            del self._free[:number]
        try:
            yield leased
        finally:
            with self._lock:
                self._free.extend(leased)


def _explain_unnamed(environment: Mapping[str, str], visible: int) -> str:
    """Explain that a Slurm job sees more GPUs than are its own, without knowing which; else return "".

    Slurm sets only the number if it does not know the devices. Two jobs of the node would use the same GPU.
    """
    own = environment.get(_SLURM_GPUS, "")
    if ASSIGNED in environment or not own.isdecimal() or int(own) >= visible:
        return ""
    return (
        f"Slurm gave this job {own} of the node's {visible} GPUs, but not which: {ASSIGNED} is not set."
        " Ask the administrator to check the devices in gres.conf."
    )


class DaemonThreads:
    """Runs functions in threads that are reused.

    Starting a thread may delay a short attempt by a millisecond. These threads end with the process, which
    would wait for those of ``concurrent.futures``.

    Args:
        name: name of the threads.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: deque[SimpleQueue[tuple[Callable[[], None], threading.Event]]] = deque()

    def start(self, act: Callable[[], None]) -> threading.Event:
        """Run a function in an idle thread, or in a new one; return an event that is set when it is over."""
        is_over = threading.Event()
        try:
            tasks = self._idle.pop()
        except IndexError:
            tasks = SimpleQueue()
            threading.Thread(target=self._run, args=(tasks,), name=self._name, daemon=True).start()
        tasks.put((act, is_over))
        return is_over

    def _run(self, tasks: SimpleQueue[tuple[Callable[[], None], threading.Event]]) -> None:
        while True:
            act, is_over = tasks.get()
            try:
                act()
            except Exception:  # outermost handler: the thread serves others
                log.exception("%s failed.", self._name)
            finally:
                is_over.set()
            del act  # it holds its attempt
            self._idle.append(tasks)
