"""One attempt on a node, from the exchange of its nonce to the report of its outcome.

The response to that report may contain the next attempt, which then needs no delivery and no start request.

A separate thread sends heartbeats, so that a large upload does not delay them. If the service refuses the
attempt, its engine is killed and nothing more is sent. If the service cannot be reached, the runner kills the
engine at the end of the lease, whether or not this process is still alive.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from foldnote.errors import EngineError
from foldnote.service.node.agent_resources import DaemonThreads, EngineCache, GpuPool
from foldnote.service.node.order import NodeInput
from foldnote.service.node.service_link import (
    INLINE_BYTES,
    AttemptLink,
    AttemptTakenError,
    NodeConnection,
    NodeConnectionError,
    NotAcceptedError,
    Report,
    StartedAttempt,
    fetch_input,
    start_attempt,
)
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import NONCE_VARIABLE, AttemptSpec, Outcome, prepare_attempt
from foldnote.service.runner.gpus import show_gpus
from foldnote.service.runner.local_runners import LocalRunners
from foldnote.service.runner.untrusted import open_file, open_folder

log = logging.getLogger(__name__)
LOST_WITH_NODE = "The machine of the cluster ended the run before the engine had finished."
_LOG_PART_BYTES = 128 << 10
_POLL_S = 1.0
_RETRY_S, _RETRY_MAX_S = 0.1, 5.0
_START_S = 30.0
_MESSAGE = 500
"""Maximum length of a message that the service accepts, in characters."""
T = TypeVar("T")
_REPORT_S = 8.0
"""Time to keep reporting the loss of an attempt when the agent ends."""


@dataclass(frozen=True)
class NodeWork:
    """The attempt to run, as the executor delivers it."""

    url: str
    """Address of the service."""
    job_id: int
    number: int
    nonce: str


@dataclass(frozen=True)
class AgentResources:
    """Resources shared by all attempts of an agent."""

    home: Path
    """Folder of their files."""
    runners: LocalRunners
    engines: EngineCache
    gpus: GpuPool
    threads: DaemonThreads


class FencedError(Exception):
    """The node may no longer run the attempt."""


class NodeAttempt:
    """Runs one attempt; ``notify_runner_ended`` and ``stop`` may be called from any thread.

    Args:
        work: the attempt.
        resources: resources shared with other attempts.
        connection: connection to the service.
        preassigned: the attempt if it was started by the response to another one's outcome, and the boot
            time at that request.
    """

    def __init__(
        self,
        work: NodeWork,
        resources: AgentResources,
        connection: NodeConnection,
        preassigned: tuple[StartedAttempt, float] | None = None,
    ) -> None:
        self._work = work
        self._resources = resources
        self._connection = connection
        self._preassigned = preassigned
        self._folder = resources.home / f"{work.job_id}-{work.number}-{work.nonce}"
        self._woken = threading.Event()
        self._is_over = threading.Event()
        self._is_fenced = False
        self._is_stopping = False
        self._cancel_grace_s: float | None = None
        self._is_prepared = False
        self._lease_until = 0.0
        self._sent_log_bytes = 0
        self._input_problem: str | None = None
        """The reason why it cannot begin, for the user."""

    @property
    def connection(self) -> NodeConnection:
        """The connection to the service."""
        return self._connection

    @property
    def folder(self) -> Path:
        """The folder of the attempt's files on this machine."""
        return self._folder

    def notify_runner_ended(self) -> None:
        """Note that the runner may have ended."""
        self._woken.set()

    def stop(self) -> None:
        """End the engine and report the attempt as lost."""
        self._is_stopping = True
        self._kill(0.0)
        self._woken.set()

    def run(self) -> NodeAttempt | None:
        """Run the attempt; return when it is over.

        Returns:
            The next attempt to run; None if there is none, in which case all of this one has been removed.
        """
        try:
            started, requested_at = self._preassigned or self._start()
        except (AttemptTakenError, NotAcceptedError, NodeConnectionError) as exc:
            log.info("job %s attempt %s is not started: %s", self._work.job_id, self._work.number, exc)
            return None
        self._order = started.order
        self._link = AttemptLink(self._connection, started)
        self._lease_until = requested_at + self._order.lease_s
        is_removed = self._resources.threads.start(self._keep_lease)
        next_attempt = None
        try:
            next_attempt = self._report(self._find_outcome())
        except FencedError:
            log.info("job %s attempt %s was given up", self._work.job_id, self._work.number)
        finally:
            self._is_over.set()
            if next_attempt is None:  # the next one need not wait for the removal of this one
                is_removed.wait()
        return next_attempt

    def _start(self) -> tuple[StartedAttempt, float]:
        """Exchange the nonce, which works only once: the service never repeats a lost response."""
        deadline, pause = time.monotonic() + _START_S, _RETRY_S
        work, requested_at = self._work, files.boot_time_s()
        while True:
            try:
                return start_attempt(self._connection, work.job_id, work.number, work.nonce), requested_at
            except NodeConnectionError:
                if time.monotonic() > deadline or self._is_stopping:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, _RETRY_MAX_S)

    # the engine

    def _find_outcome(self) -> Outcome:
        started = files.now()
        try:
            outcome = self._run_engine()
        except (
            EngineError,
            OSError,
            NodeConnectionError,
            AttemptTakenError,
            NotAcceptedError,
            ValueError,
        ) as exc:
            outcome = Outcome("lost", files.without_path(exc))
        except FencedError:
            raise
        except Exception:  # an engine can overwrite the files of its attempt with anything
            log.exception("The contents of the attempt's folder %s cannot be read.", self._folder)
            self._kill(0.0)
            outcome = Outcome("failed", files.SPOILT_SENTENCE, started=started, ended=files.now())
        if self._is_stopping and outcome.state == "stopped":
            outcome = Outcome("lost", LOST_WITH_NODE)
        if outcome.state == "lost":
            outcome = replace(outcome, started=outcome.started or started, ended=files.now())
        return replace(outcome, nonce=self._work.nonce)

    def _run_engine(self) -> Outcome:
        with self._resources.gpus.lease(self._order.gpus) as gpus:
            spec = self._make_spec()
            if gpus is not None:
                spec = replace(
                    spec,
                    environment={**spec.environment, **show_gpus(gpus)},
                    gpus=tuple(gpu.identity for gpu in gpus),
                )
            self._prepare(spec)
            self._resources.runners.submit(spec)
            return self._await_outcome()

    def _make_spec(self) -> AttemptSpec:
        order = self._order
        template = self._resources.engines.find_template(
            order.engine, order.tool, order.cores, assigns_gpus=self._resources.gpus.has_any
        )
        return replace(
            template,
            attempt_dir=str(self._folder),
            nonce=order.nonce,
            job_name=order.job_name,
            settings=order.settings,
            files=order.files,
            extensions=order.extensions,
            seed=order.seed,
            time_limit_s=order.time_limit_s,
            owner=order.owner,
            output_limit_bytes=order.output_limit_bytes,
            has_lease=True,
            is_kept=False,
            environment={**template.environment, NONCE_VARIABLE: order.nonce},
        )

    def _prepare(self, spec: AttemptSpec) -> None:
        inputs = self._folder.with_name(f"{self._folder.name}.inputs")
        sources = {}
        try:
            if self._order.inputs:
                inputs.mkdir(mode=0o700)
            for position, each in enumerate(self._order.inputs):
                sources[each.place] = inputs / str(position)
                self._fetch(each, sources[each.place])
            prepare_attempt(spec, sources)
        finally:
            shutil.rmtree(inputs, ignore_errors=True)
        files.extend_lease(self._folder, self._lease_until)
        self._is_prepared = True
        if self._cancel_grace_s is not None or self._is_fenced or self._is_stopping:
            self._kill(self._cancel_grace_s or 0.0)

    def _fetch(self, given: NodeInput, target: Path) -> None:
        """Fetch an input; give up after a lease, even if heartbeats succeed but its URL cannot be reached.

        Raises:
            NotAcceptedError: it cannot be fetched.
            FencedError: the lease has expired.
        """
        began = time.monotonic()

        def fetch() -> None:
            try:
                fetch_input(given, target)
            except NodeConnectionError as exc:
                self._input_problem = f"The input {given.name!r} cannot be fetched: {exc}"
                is_ending = self._is_stopping or self._cancel_grace_s is not None
                if is_ending or time.monotonic() - began > self._order.lease_s:
                    raise NotAcceptedError(self._input_problem) from exc
                raise

        self._retry(fetch)
        self._input_problem = None

    def _await_outcome(self) -> Outcome:
        runners = self._resources.runners
        while True:
            self._woken.wait(_POLL_S)
            self._woken.clear()
            state = runners.poll(self._folder)
            if state.alive:
                continue
            if state.outcome is not None:
                return state.outcome
            if runners.revoke(self._folder):
                return Outcome("lost", "The run was lost with a process of the machine that ran it.")

    def _kill(self, grace_s: float) -> None:
        self._cancel_grace_s = grace_s
        if self._is_prepared:
            with contextlib.suppress(OSError):
                self._resources.runners.cancel(self._folder, grace_s)

    # the service

    def _report(self, outcome: Outcome) -> NodeAttempt | None:
        """Upload the outputs, then the outcome; return the next attempt.

        Raises:
            FencedError: the attempt no longer belongs to this node.
        """
        try:
            outputs = self._upload()
            return self._finish(outcome, outputs)
        except (NotAcceptedError, OSError) as exc:
            sentence = f"The outputs could not be sent to the service: {files.without_path(exc)}"
            lost = Outcome("lost", sentence, started=outcome.started, ended=files.now(), nonce=outcome.nonce)
            with contextlib.suppress(NotAcceptedError, AttemptTakenError):
                return self._finish(lost, {})
        except AttemptTakenError as exc:
            raise FencedError from exc
        return None

    def _upload(self) -> dict[str, bytes]:
        """Upload outputs that are too large to be sent with the outcome, and return the rest by name."""
        whole = self._folder / files.LOG
        if whole.is_file() and whole.stat().st_size - self._sent_log_bytes > _LOG_PART_BYTES:
            self._retry(lambda: self._link.upload(whole))
            self._sent_log_bytes = whole.stat().st_size
        rest: dict[str, bytes] = {}
        for name in (files.MANIFEST, files.RESULT):
            path = self._folder / name
            if not path.is_file():
                continue
            if path.stat().st_size + sum(map(len, rest.values())) <= INLINE_BYTES:
                rest[name] = path.read_bytes()
            else:
                self._retry(lambda path=path: self._link.upload(path))  # type: ignore[misc]
        return rest

    def _finish(self, outcome: Outcome, outputs: Mapping[str, bytes]) -> NodeAttempt | None:
        requested_at = 0.0
        report = self._read_report()

        def send() -> StartedAttempt | None:
            nonlocal requested_at
            requested_at = files.boot_time_s()
            return self._link.finish(outcome, outputs, report, takes_next=not self._is_stopping)

        next_attempt = self._retry(send)
        if next_attempt is None:
            return None
        order = next_attempt.order
        work = NodeWork(self._work.url, order.job_id, order.number, order.nonce)
        return NodeAttempt(work, self._resources, self._connection, (next_attempt, requested_at))

    def _retry(self, act: Callable[[], T]) -> T:
        """Retry a request until the service can be reached, or the lease has expired.

        Raises:
            FencedError: the lease has expired.
        """
        pause, began = _RETRY_S, time.monotonic()
        while True:
            if self._is_fenced or files.boot_time_s() > self._lease_until:
                raise FencedError
            try:
                return act()
            except NodeConnectionError:
                if self._is_stopping and time.monotonic() - began > _REPORT_S:
                    raise FencedError from None
            self._is_over.wait(pause)
            pause = min(2 * pause, _RETRY_MAX_S)

    def _keep_lease(self) -> None:
        """Send heartbeats until the attempt is over, then remove its files."""
        try:
            self._send_heartbeats()
        finally:
            self._link.close()
            self._is_over.wait()
            self._remove()

    def _send_heartbeats(self) -> None:
        pause = self._order.heartbeat_s
        while not self._is_over.wait(pause):
            pause = self._order.heartbeat_s
            requested_at = files.boot_time_s()
            try:
                self._send_heartbeat(requested_at)
            except (NodeConnectionError, NotAcceptedError, OSError) as exc:
                log.info("heartbeat of job %s: %s", self._work.job_id, exc)
                pause = min(pause, 1.0)
            except AttemptTakenError:
                self._fence()
            if files.boot_time_s() > self._lease_until:
                self._fence()
            if self._is_fenced:
                return

    def _send_heartbeat(self, requested_at: float) -> None:
        instruction = self._link.send_heartbeat(self._read_report())
        self._lease_until = requested_at + self._order.lease_s
        self._sent_log_bytes = instruction.log_bytes
        if self._is_prepared and not self._is_over.is_set():
            files.extend_lease(self._folder, self._lease_until)
        if instruction.cancel_grace_s is not None and self._cancel_grace_s is None:
            self._kill(instruction.cancel_grace_s)

    def _read_report(self) -> Report:
        """Return the progress, and the part of the log that the service lacks, up to a request's size."""
        offset = self._sent_log_bytes
        progress, message = None, None
        with contextlib.suppress(Exception):  # an engine can overwrite the file with anything
            progress, message = files.read_progress(self._folder)
        message = self._input_problem[:_MESSAGE] if self._input_problem else message
        return Report(progress, message, _read_part(self._folder / files.LOG, offset), offset)

    def _fence(self) -> None:
        self._is_fenced = True
        self._kill(0.0)

    def _remove(self) -> None:
        if self._is_prepared:
            with contextlib.suppress(OSError, ValueError):  # the engine can replace the lock
                self._resources.runners.revoke(self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)


def _read_part(path: Path, offset: int) -> bytes:
    """Return a part of the log; empty if an engine has replaced the log by something else."""
    try:
        with open_folder(path.parent) as folder:
            descriptor = open_file(path.name, folder)
        if descriptor is None:
            return b""
        with os.fdopen(descriptor, "rb") as log_file:
            log_file.seek(offset)
            return log_file.read(_LOG_PART_BYTES)
    except OSError:
        return b""
