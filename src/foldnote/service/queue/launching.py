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
from foldnote.models.extensions import ALIGNMENT
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.engines import Engine, build_attempt
from foldnote.service.engines.configuration import Configured
from foldnote.service.engines.launch import needed_resources
from foldnote.service.files.objects import ObjectStore
from foldnote.service.queue.executors.protocol import Capacity
from foldnote.service.runner.attempt import NONCE_VARIABLE, AttemptSpec, fit_name, prepare_attempt
from foldnote.service.runner.gpus import ASSIGNED, ORDER, Gpu
from foldnote.service.store.jobs.queue import Claim

_FRESH_S, _GOOD_S = 1.0, 5.0
"""Seconds after which an engine's state is refreshed when idle, and at the latest."""


@dataclass(frozen=True)
class EngineTemplate:
    """How a tool is run, as of the last check of its engine."""

    need: Capacity
    template: AttemptSpec | None
    """The part of an attempt that is the same for all jobs; None if the engine cannot run."""
    fault: str | None
    """Why the engine cannot run; None if it can."""
    registered: Engine | None
    """The engine of a registered tool, whose owner may change it at any time; None for other tools."""
    looked_at: float
    engine: Engine | None
    configured: Configured
    """The engine's options then, which a user may change at any time."""


class Launcher:
    """Prepares attempts. Checking an engine is slow, so its state is cached for a second.

    Args:
        root: folder of all attempts.
        output_bytes: maximum size of a run's outputs.
    """

    def __init__(
        self, root: Path, objects: ObjectStore, toolbox: Toolbox, whole: Capacity, output_bytes: int
    ) -> None:
        self._root = root
        self._objects = objects
        self._toolbox = toolbox
        self._whole = whole
        self._output_bytes = output_bytes
        self._templates: dict[str, EngineTemplate] = {}

    def need(self, tool_type: str) -> Capacity:
        """Cores, memory and GPUs of one run of the tool."""
        return self._find_template(tool_type).need

    def prepare(self, claim: Claim, gpus: Sequence[Gpu] = ()) -> AttemptSpec:
        """Write the attempt's folder with its specification and inputs.

        Args:
            claim: the claimed job.
            gpus: the GPUs assigned to the run; it sees no others.

        Raises:
            EngineError: no engine can run the tool here any more.
            OSError: the folder cannot be written, or an input is gone.
        """
        known = self._find_template(claim.type)
        if known.template is None:
            raise EngineError(known.fault)
        places = input_places(claim)
        files: dict[str, tuple[str, ...]] = {}
        for each, place in zip(claim.inputs, places, strict=True):
            files[each.field] = (*files.get(each.field, ()), place)
        spec = replace(
            known.template,
            attempt_dir=str(self._root / claim.folder),
            nonce=claim.nonce,
            owner=str(claim.account_id),
            job_name=claim.name,
            settings=json.loads(claim.normalized),
            extensions=for_engine(claim.extensions),
            environment={
                **known.template.environment,
                **(_show_gpus(gpus) if self._whole.devices else {}),
                NONCE_VARIABLE: claim.nonce,
            },
            gpus=tuple(gpu.identity for gpu in gpus),
            files=files,
            output_limit_bytes=self._output_bytes,
            seed=seed_of(claim),
            time_limit_s=min(
                known.template.time_limit_s,
                claim.max_runtime_s or known.template.time_limit_s,
            ),
        )
        sources = {p: self._objects.path(each.sha256) for p, each in zip(places, claim.inputs, strict=True)}
        prepare_attempt(spec, sources)
        return spec

    def _find_template(self, tool_type: str) -> EngineTemplate:
        known = self._templates.get(tool_type)
        if known is None or not self._is_good(tool_type, known):
            known = self._templates[tool_type] = self._look(tool_type)
        return known

    def _is_good(self, tool_type: str, known: EngineTemplate) -> bool:
        is_recent = time.monotonic() - known.looked_at <= _GOOD_S
        is_configured_so = known.engine is None or known.engine.configured() == known.configured
        return (
            is_recent and is_configured_so and known.registered == self._toolbox.registered_engine(tool_type)
        )

    def refresh(self) -> None:
        """Refresh the engines in use while the queue is idle, and forget the others."""
        moment = time.monotonic()
        for tool_type, known in list(self._templates.items()):
            if moment - known.looked_at > _GOOD_S:
                del self._templates[tool_type]
            elif moment - known.looked_at > _FRESH_S:
                self._templates[tool_type] = self._look(tool_type)

    def _look(self, tool_type: str) -> EngineTemplate:
        registered = self._toolbox.registered_engine(tool_type)
        engine = registered or self._toolbox.engine_of(tool_type)
        need = need_of(engine, self._whole)
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
                    max_cores=self._whole.cores,
                )
            except EngineError as exc:
                fault = exc.message
        return EngineTemplate(need, template, fault, registered, time.monotonic(), engine, configured)


def need_of(engine: Engine | None, whole: Capacity) -> Capacity:
    """Capacity of one run; a run that declares more than the machine has uses all of it and runs alone."""
    if engine is None:
        return Capacity(0, 0)
    declared = needed_resources(engine)
    return Capacity(
        min(max(1, declared.cores), whole.cores),
        min(declared.memory_mb, whole.memory_mb),
        min(declared.gpus or int(declared.may_use_gpu), whole.gpus),
        declared.gpu_memory_mb,
    )


def _show_gpus(gpus: Sequence[Gpu]) -> dict[str, str]:
    """Variables by which a run sees these GPUs and no others."""
    return {**ORDER, ASSIGNED: ",".join(gpu.identity for gpu in gpus)}


def input_places(claim: Claim) -> list[str]:
    """Path below ``work/`` of each input: in a folder per field, numbered where a name is repeated."""
    places: list[str] = []
    taken: set[str] = set()
    for position, each in enumerate(claim.inputs):
        name = fit_name(each.name)
        place = f"inputs/{each.field}/{name}"
        places.append(place if place not in taken else f"inputs/{each.field}/{position}/{name}")
        taken.add(places[-1])
    return places


def for_engine(extensions: str | None) -> dict[str, Any]:
    """The extensions that an engine reads; the alignment is passed as a file."""
    parts: dict[str, Any] = json.loads(extensions or "{}")
    parts.pop(ALIGNMENT, None)
    return parts


def seed_of(claim: Claim) -> int:
    """Seed derived from tool and settings, 1 to 2**31 - 1; 0 would mean a random seed to Vina."""
    digest = hashlib.sha256(f"{claim.type}\n{claim.normalized}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % (2**31 - 1) + 1
