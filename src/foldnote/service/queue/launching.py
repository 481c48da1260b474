"""Turn a claimed job into an attempt folder with its specification and inputs."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foldnote.errors import EngineError
from foldnote.models.extensions import ALIGNMENT, RETRIES
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.engines import Engine, build_attempt
from foldnote.service.engines.configuration import Configured
from foldnote.service.engines.launch import needed_resources
from foldnote.service.files.objects import ObjectStore
from foldnote.service.node.order import NodeInput, NodeOrder
from foldnote.service.queue import ownership
from foldnote.service.queue.executors.protocol import AttemptIdentity, AttemptOrder, Capacity, Executor
from foldnote.service.queue.executors.table import LOCAL, Executors
from foldnote.service.queue.placement import find_largest
from foldnote.service.runner.attempt import (
    NONCE_VARIABLE,
    AttemptSpec,
    fit_name,
    make_folders,
    prepare_attempt,
)
from foldnote.service.runner.gpus import Gpu, show_gpus
from foldnote.service.store.jobs.queue import Claim

_FRESH_S, _VALID_S = 1.0, 5.0
"""Seconds after which an engine's state is refreshed: when idle, and at the latest."""


@dataclass(frozen=True)
class EngineTemplate:
    """How a tool is run, as of the last check of its engine."""

    executor: str
    """Name of the executor."""
    need: Capacity
    template: AttemptSpec | None
    """The part of the attempt's specification that all jobs share; None if the engine cannot run."""
    fault: str | None
    """Why the engine cannot run; None if it can."""
    registered: Engine | None
    """The engine of a registered tool, which its owner may change at any time; None for other tools."""
    checked_at: float
    engine: Engine | None
    configured: Configured
    """The engine's options at that time; a user may change them at any time."""


class Launcher:
    """Prepares attempts. Checking an engine is slow, so its state is cached for a second.

    Args:
        root: folder of all attempts.
        output_bytes: maximum size of a run's outputs.
        has_lease: whether runs on this machine must end when the replica's lease does.
    """

    def __init__(
        self,
        root: Path,
        objects: ObjectStore,
        toolbox: Toolbox,
        executors: Executors,
        output_bytes: int,
        *,
        has_lease: bool = False,
    ) -> None:
        self._has_lease = has_lease
        self._root = root
        self._objects = objects
        self._toolbox = toolbox
        self._executors = executors
        self._output_bytes = output_bytes
        self._templates: dict[str, EngineTemplate] = {}

    def need(self, tool_type: str) -> Capacity:
        """Return the cores, memory and GPUs of one run of the tool."""
        return self._find_template(tool_type).need

    def may_wait(self, tool_type: str) -> bool:
        """Return whether runs of the tool may wait in a line: they use no GPU and need a worker or a slot."""
        known = self._find_template(tool_type)
        keeps_worker = known.executor == LOCAL and bool(known.template and known.template.worker)
        return not known.need.gpus and (keeps_worker or self._executors.find(known.executor).has_lines)

    def executor_name(self, tool_type: str) -> str:
        """Return the name of the executor of the tool's engine."""
        return self._find_template(tool_type).executor

    def prepare(
        self, claim: Claim, need: Capacity, *, is_remote: bool = False, at_once: int = 0
    ) -> AttemptOrder:
        """Write the attempt's folder: specification and inputs, or the order of a node.

        Args:
            claim: the claimed job.
            need: resources given to the run; it sees no other GPUs.
            is_remote: whether it runs on another machine.
            at_once: it waits while this many attempts of its line run; 0 to start without waiting.

        Raises:
            EngineError: no engine can run the tool here any more.
            OSError: the folder cannot be written, or an input is missing.
        """
        known = self._find_template(claim.type)
        if known.template is None or known.engine is None:
            raise EngineError(known.fault)
        identity = make_identity(claim)
        if is_remote:
            node_order = self._write_order(claim, known.engine.name, known.template, need)
            return AttemptOrder(
                identity,
                known.engine.name,
                need,
                node_order=node_order,
                time_limit_s=node_order.time_limit_s,
                at_once=at_once,
                line=f"{claim.account_id} {claim.type}",
            )
        spec = self._make_spec(claim, known.template, need.devices)
        places = input_paths(claim)
        sources = {p: self._objects.path(each.sha256) for p, each in zip(places, claim.inputs, strict=True)}
        prepare_attempt(spec, sources)
        return AttemptOrder(identity, known.engine.name, need, spec, at_once=at_once)

    def _make_spec(self, claim: Claim, template: AttemptSpec, gpus: Sequence[Gpu]) -> AttemptSpec:
        return replace(
            template,
            attempt_dir=str(self._root / claim.folder),
            nonce=claim.nonce,
            owner=str(claim.account_id),
            job_name=claim.name,
            settings=json.loads(claim.normalized),
            extensions=for_engine(claim.extensions),
            environment={
                **template.environment,
                **(show_gpus(gpus) if self._assigns_gpus else {}),
                NONCE_VARIABLE: claim.nonce,
            },
            gpus=tuple(gpu.identity for gpu in gpus),
            files=_group_by_field(claim),
            output_limit_bytes=self._output_bytes,
            seed=derive_seed(claim),
            time_limit_s=_time_limit_s(claim, template),
            has_lease=self._has_lease,
        )

    @property
    def _assigns_gpus(self) -> bool:
        """Whether this machine has GPUs that the dispatcher assigns."""
        return any(each.devices for each in self._executors.find(LOCAL).capacity())

    def _write_order(self, claim: Claim, engine: str, template: AttemptSpec, need: Capacity) -> NodeOrder:
        """Write and return the order for a node; it contains no path of this machine."""
        folder = self._root / claim.folder
        sizes = [self._objects.size_bytes(each.sha256) for each in claim.inputs]
        rows = zip(input_paths(claim), claim.inputs, sizes, strict=True)
        order = NodeOrder(
            job_id=claim.job_id,
            number=claim.attempt,
            nonce=claim.nonce,
            engine=engine,
            tool=claim.type,
            job_name=claim.name,
            owner=str(claim.account_id),
            account_id=claim.account_id,
            settings=json.loads(claim.normalized),
            extensions=for_engine(claim.extensions),
            seed=derive_seed(claim),
            time_limit_s=_time_limit_s(claim, template),
            output_limit_bytes=self._output_bytes,
            cores=need.cores,
            memory_mb=need.memory_mb,
            gpus=need.gpus,
            gpu_memory_mb=need.gpu_memory_mb,
            machine=need.machine,
            files=_group_by_field(claim),
            inputs=tuple(NodeInput(place, each.name, each.sha256, size) for place, each, size in rows),
        )
        make_folders(folder.parent, folder)
        order.write(folder)
        return order

    def read_need(self, claim: Claim, declared: Capacity, executor: Executor) -> Capacity:
        """Return the resources that a run was given at its start, perhaps by an earlier process."""
        folder = self._root / claim.folder
        if executor.is_remote:
            order = NodeOrder.read(folder)
            return declared if order is None else replace(declared, machine=order.machine)
        names = ownership.read_gpus(folder)
        devices = (gpu for machine in executor.capacity() for gpu in machine.devices)
        return replace(declared, devices=tuple(gpu for gpu in devices if gpu.identity in names))

    def _find_template(self, tool_type: str) -> EngineTemplate:
        known = self._templates.get(tool_type)
        if known is None or not self._is_fresh(tool_type, known):
            known = self._templates[tool_type] = self._build_template(tool_type)
        return known

    def _is_fresh(self, tool_type: str, known: EngineTemplate) -> bool:
        is_recent = time.monotonic() - known.checked_at <= _VALID_S
        has_same_options = known.engine is None or known.engine.configured() == known.configured
        is_same_engine = known.registered == self._toolbox.registered_engine(tool_type)
        return is_recent and has_same_options and is_same_engine

    def refresh(self) -> None:
        """Refresh the state of engines in use while the queue is idle, and forget unused engines."""
        moment = time.monotonic()
        for tool_type, known in list(self._templates.items()):
            if moment - known.checked_at > _VALID_S:
                del self._templates[tool_type]
            elif moment - known.checked_at > _FRESH_S:
                self._templates[tool_type] = self._build_template(tool_type)

    def _build_template(self, tool_type: str) -> EngineTemplate:
        registered = self._toolbox.registered_engine(tool_type)
        engine = registered or self._toolbox.engine_of(tool_type)
        name = self._executors.name_for(engine)
        need = required_capacity(engine, find_largest(self._executors.find(name).capacity()))
        configured = engine.configured() if engine is not None else Configured()
        template, fault = None, f"The service no longer has an engine for {tool_type}."
        if engine is not None:
            try:
                template = build_attempt(
                    engine,
                    attempt_dir=self._root,
                    nonce="",
                    job_name="",
                    tool=tool_type,
                    settings={},
                    max_cores=need.cores,
                    assigns_gpus=self._assigns_gpus,
                )
            except EngineError as exc:
                fault = exc.message
        return EngineTemplate(name, need, template, fault, registered, time.monotonic(), engine, configured)


def required_capacity(engine: Engine | None, machine: Capacity | None) -> Capacity:
    """Return the capacity of one run, at most the whole machine; such a run then runs alone.

    Args:
        engine: the engine to run.
        machine: the largest available machine; None if there is none.
    """
    if engine is None:
        return Capacity(0, 0)
    declared = needed_resources(engine)
    need = Capacity(max(1, declared.cores), declared.memory_mb, declared.gpus, declared.gpu_memory_mb)
    if machine is None:
        return need
    return replace(
        need,
        cores=min(need.cores, machine.cores),
        memory_mb=min(need.memory_mb, machine.memory_mb),
        gpus=min(declared.gpus or int(declared.may_use_gpu), machine.gpus),
    )


def _group_by_field(claim: Claim) -> dict[str, tuple[str, ...]]:
    """Return the paths below ``work/`` of the inputs of each field."""
    grouped: dict[str, tuple[str, ...]] = {}
    for each, place in zip(claim.inputs, input_paths(claim), strict=True):
        grouped[each.field] = (*grouped.get(each.field, ()), place)
    return grouped


def _time_limit_s(claim: Claim, template: AttemptSpec) -> float:
    return min(template.time_limit_s, claim.max_runtime_s or template.time_limit_s)


def input_paths(claim: Claim) -> list[str]:
    """Return the path below ``work/`` of each input: in a folder per field, numbered where names repeat."""
    places: list[str] = []
    taken: set[str] = set()
    for position, each in enumerate(claim.inputs):
        name = fit_name(each.name)
        place = f"inputs/{each.field}/{name}"
        places.append(place if place not in taken else f"inputs/{each.field}/{position}/{name}")
        taken.add(places[-1])
    return places


def for_engine(extensions: str | None) -> dict[str, Any]:
    """Return the extensions that an engine reads; the alignment is passed as a file."""
    parts: dict[str, Any] = json.loads(extensions or "{}")
    return {name: value for name, value in parts.items() if name not in (ALIGNMENT, RETRIES)}


def derive_seed(claim: Claim) -> int:
    """Derive the seed from tool and settings: 1 to 2**31 - 1, since Vina takes 0 as a random seed."""
    digest = hashlib.sha256(f"{claim.type}\n{claim.normalized}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % (2**31 - 1) + 1


def make_identity(claim: Claim) -> AttemptIdentity:
    """Return the claimed attempt's identity for executors."""
    return AttemptIdentity(claim.job_id, claim.attempt, claim.nonce, claim.folder)
