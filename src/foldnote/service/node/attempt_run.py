"""One attempt on a node, from the exchange of its nonce to the report of its outcome.

A thread of its own sends heartbeats, so that a large upload does not delay them. When the service refuses the
attempt, its engine is killed and nothing more is sent. When the service cannot be reached, the runner kills
the engine at the end of the lease, whether or not this process still lives.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from foldnote.errors import EngineError
from foldnote.service.engines import build_attempt
from foldnote.service.node.order import NodeOrder
from foldnote.service.node.service_link import (
    AttemptLink,
    AttemptTakenError,
    NotAcceptedError,
    ServiceAwayError,
    fetch_input,
    start_attempt,
)
from foldnote.service.node.shelf import EngineShelf, GpuShelf
from foldnote.service.runner import attempt as files
from foldnote.service.runner.attempt import NONCE_VARIABLE, AttemptSpec, Outcome, prepare_attempt
from foldnote.service.runner.gpus import show_gpus
from foldnote.service.runner.local_runners import LocalRunners

log = logging.getLogger(__name__)
LOST_WITH_NODE = "The machine of the cluster ended the run before the engine had finished."
_LOG_PART_BYTES = 128 << 10
_LOOK_S = 1.0
_RETRY_S, _RETRY_MAX_S = 0.1, 5.0
_START_S = 30.0
_REPORT_S = 8.0
"""How long the loss of an attempt is reported when the agent ends."""


@dataclass(frozen=True)
class NodeWork:
    """Which attempt to run, as the executor delivers it."""

    url: str
    """Address of the service."""
    job_id: int
    number: int
    nonce: str


@dataclass(frozen=True)
class NodePlace:
    """What all attempts of an agent share."""

    home: Path
    """Folder of their files."""
    runners: LocalRunners
    engines: EngineShelf
    gpus: GpuShelf


class FencedError(Exception):
    """The node may not run the attempt any more."""


class NodeAttempt:
    """Runs one attempt; ``look`` and ``stop`` may be called from any thread."""

    def __init__(self, work: NodeWork, place: NodePlace) -> None:
        self._work = work
        self._place = place
        self._folder = place.home / f"{work.job_id}-{work.number}-{work.nonce}"
        self._news = threading.Event()
        self._is_over = threading.Event()
        self._is_fenced = False
        self._is_stopping = False
        self._cancel_grace_s: float | None = None
        self._is_prepared = False
        self._lease_until = 0.0
        self._sent_log_bytes = 0

    @property
    def folder(self) -> Path:
        """Where the attempt's files are on this machine."""
        return self._folder

    def look(self) -> None:
        """The runner may have ended."""
        self._news.set()

    def stop(self) -> None:
        """End the engine and report the attempt as lost."""
        self._is_stopping = True
        self._kill(0.0)
        self._news.set()

    def run(self) -> None:
        """Run the attempt; returns when nothing of it is left here."""
        asked = files.boot_time_s()
        try:
            token, self._order = self._start()
        except (AttemptTakenError, NotAcceptedError, ServiceAwayError) as exc:
            log.info("job %s attempt %s is not started: %s", self._work.job_id, self._work.number, exc)
            return
        self._link = AttemptLink(self._work.url, self._work.job_id, self._work.number, token)
        self._lease_until = asked + self._order.lease_s
        heart = threading.Thread(target=self._keep_lease, name="heartbeat", daemon=True)
        heart.start()
        try:
            self._report(self._find_outcome())
        except FencedError:
            log.info("job %s attempt %s was given up", self._work.job_id, self._work.number)
        finally:
            self._is_over.set()
            heart.join()
            self._remove()

    def _start(self) -> tuple[str, NodeOrder]:
        """Exchange the nonce, which succeeds once: after a lost answer the service refuses to repeat it."""
        deadline, pause = time.monotonic() + _START_S, _RETRY_S
        work = self._work
        while True:
            try:
                return start_attempt(work.url, work.job_id, work.number, work.nonce)
            except ServiceAwayError:
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
            ServiceAwayError,
            AttemptTakenError,
            NotAcceptedError,
            ValueError,
        ) as exc:
            outcome = Outcome("lost", files.without_path(exc))
        if self._is_stopping and outcome.state == "stopped":
            outcome = Outcome("lost", LOST_WITH_NODE)
        if outcome.state == "lost":
            outcome = replace(outcome, started=outcome.started or started, ended=files.now())
        return replace(outcome, nonce=self._work.nonce)

    def _run_engine(self) -> Outcome:
        with self._place.gpus.lend(self._order.gpus) as gpus:
            spec = self._make_spec()
            if gpus is not None:
                spec = replace(
                    spec,
                    environment={**spec.environment, **show_gpus(gpus)},
                    gpus=tuple(gpu.identity for gpu in gpus),
                )
            self._prepare(spec)
            self._place.runners.submit(spec)
            return self._await_outcome()

    def _make_spec(self) -> AttemptSpec:
        order = self._order
        template = build_attempt(
            self._place.engines.find(order.engine),
            attempt_dir=self._folder,
            nonce=order.nonce,
            job_name=order.job_name,
            tool=order.tool,
            settings=order.settings,
            files=order.files,
            extensions=order.extensions,
            seed=order.seed,
            max_cores=order.cores,
            time_limit_s=order.time_limit_s,
        )
        return replace(
            template,
            owner=order.owner,
            output_limit_bytes=order.output_limit_bytes,
            has_lease=True,
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
                self._repeat(lambda each=each: fetch_input(each, sources[each.place]))  # type: ignore[misc]
            prepare_attempt(spec, sources)
        finally:
            shutil.rmtree(inputs, ignore_errors=True)
        files.extend_lease(self._folder, self._lease_until)
        self._is_prepared = True
        if self._cancel_grace_s is not None or self._is_fenced or self._is_stopping:
            self._kill(self._cancel_grace_s or 0.0)

    def _await_outcome(self) -> Outcome:
        runners = self._place.runners
        while True:
            self._news.wait(_LOOK_S)
            self._news.clear()
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
                self._place.runners.cancel(self._folder, grace_s)

    # the service

    def _report(self, outcome: Outcome) -> None:
        """Upload what there is, the outcome last.

        Raises:
            FencedError: the attempt belongs to this node no longer.
        """
        try:
            self._repeat(lambda: self._send_heartbeat(files.boot_time_s()))
            for name in (files.LOG, files.MANIFEST, files.RESULT):
                path = self._folder / name
                if path.is_file() and not (name == files.LOG and path.stat().st_size == self._sent_log_bytes):
                    self._repeat(lambda path=path: self._link.upload(path))  # type: ignore[misc]
            self._repeat(lambda: self._link.finish(outcome))
        except (NotAcceptedError, OSError) as exc:
            sentence = f"The outputs could not be sent to the service: {files.without_path(exc)}"
            lost = Outcome("lost", sentence, started=outcome.started, ended=files.now(), nonce=outcome.nonce)
            with contextlib.suppress(NotAcceptedError, AttemptTakenError):
                self._repeat(lambda: self._link.finish(lost))
        except AttemptTakenError as exc:
            raise FencedError from exc

    def _repeat(self, act: Callable[[], None]) -> None:
        """Repeat a request until the service can be reached, or the lease is over.

        Raises:
            FencedError: the lease is over.
        """
        pause, began = _RETRY_S, time.monotonic()
        while True:
            if self._is_fenced or files.boot_time_s() > self._lease_until:
                raise FencedError
            try:
                return act()
            except ServiceAwayError:
                if self._is_stopping and time.monotonic() - began > _REPORT_S:
                    raise FencedError from None
            self._is_over.wait(pause)
            pause = min(2 * pause, _RETRY_MAX_S)

    def _keep_lease(self) -> None:
        """Send heartbeats until the attempt is over."""
        pause = self._order.heartbeat_s
        while not self._is_over.wait(pause):
            pause = self._order.heartbeat_s
            asked = files.boot_time_s()
            try:
                self._send_heartbeat(asked)
            except (ServiceAwayError, NotAcceptedError, OSError) as exc:
                log.info("heartbeat of job %s: %s", self._work.job_id, exc)
                pause = min(pause, 1.0)
            except AttemptTakenError:
                self._fence()
            if files.boot_time_s() > self._lease_until:
                self._fence()
            if self._is_fenced:
                return

    def _send_heartbeat(self, asked: float) -> None:
        progress, message = files.read_progress(self._folder)
        part = _read_part(self._folder / files.LOG, self._sent_log_bytes)
        told = self._link.send_heartbeat(progress, message, part, self._sent_log_bytes)
        self._lease_until = asked + self._order.lease_s
        self._sent_log_bytes = told.log_bytes
        if self._is_prepared and not self._is_over.is_set():
            files.extend_lease(self._folder, self._lease_until)
        if told.cancel_grace_s is not None and self._cancel_grace_s is None:
            self._kill(told.cancel_grace_s)

    def _fence(self) -> None:
        self._is_fenced = True
        self._kill(0.0)

    def _remove(self) -> None:
        if self._is_prepared:
            with contextlib.suppress(OSError):
                self._place.runners.revoke(self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)


def _read_part(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as log_file:
            log_file.seek(offset)
            return log_file.read(_LOG_PART_BYTES)
    except OSError:
        return b""
