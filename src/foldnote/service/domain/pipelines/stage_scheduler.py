"""Release a stage when the stages before it are complete and its files are resolved.

A single thread, woken at the end of every job. Decisions are committed by compare-and-set, so that the next
start recovers from a crash at any line. If all models of a stage are used (`chooseBest` false) and a field
takes one file, the stage becomes one job per file.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
from collections.abc import Callable
from dataclasses import replace

from foldnote.models.extensions import ALIGNMENT, ALIGNMENT_PATH
from foldnote.models.status import CANNOT_START, OF_A_STAGE, JobStatus
from foldnote.service.domain.file_resolution import FileResolver, ResolvedFile, file_values
from foldnote.service.domain.pipelines.references import (
    Reference,
    ReferenceFaultError,
    choose_members,
    read_reference,
)
from foldnote.service.domain.tool_registry import Toolbox
from foldnote.service.faults import RefusalError
from foldnote.service.files.conditions import is_passing
from foldnote.service.files.objects import ObjectStore
from foldnote.service.store.jobs.insertion import Input
from foldnote.service.store.jobs.pipelines import DoneStage, HeldStage, Variant
from foldnote.service.store.jobs.reuse import digest_stage
from foldnote.service.store.quotas import BudgetError, QuotaError
from foldnote.service.store.store import Store
from foldnote.service.worker_thread import BackgroundWorker

log = logging.getLogger(__name__)
MAX_VARIANTS = 100
"""Maximum number of jobs of one stage."""
ALIGNMENT_EXTENSION = "a3m"
Option = tuple[str | None, list[Input]]
"""Value of one reference in one job: the path for its settings, and the contents."""


class StageScheduler:
    """Releases or abandons stages whose earlier stages have ended.

    Args:
        wake: called after a stage was released or abandoned.
    """

    def __init__(
        self,
        store: Store,
        objects: ObjectStore,
        toolbox: Toolbox,
        files: FileResolver,
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._objects = objects
        self._toolbox = toolbox
        self._files = files
        self._wake = wake
        self._worker = BackgroundWorker("stage scheduler", self._advance)
        self.start, self.stop, self.wake = self._worker.start, self._worker.stop, self._worker.wake

    def _advance(self) -> None:
        while not self._worker.is_stopping and (ready := self._store.pipelines.ready()):
            for held_stage in ready:
                self._release_or_abandon(held_stage)
            self._wake()

    def _release_or_abandon(self, held_stage: HeldStage) -> None:
        unfinished = next((stage for stage in held_stage.earlier if not _is_complete(stage)), None)
        if unfinished is not None:
            self._store.pipelines.abandon(held_stage, _explain_failure(unfinished))
            return
        try:
            variants = [_with_digest(held_stage, collected) for collected in self._collect_inputs(held_stage)]
            engine = self._toolbox.engine_of(held_stage.type)
            version = "" if engine is None else engine.for_tool(held_stage.type).full_version
            self._store.pipelines.release(held_stage, variants, version)
        except (QuotaError, BudgetError):
            self._store.pipelines.abandon(
                held_stage, f"{CANNOT_START}the account has reached its limit of jobs or weighted hours."
            )
        except (ReferenceFaultError, RefusalError, OSError, ValueError) as exc:
            if isinstance(exc, OSError) and is_passing(exc):
                raise
            self._store.pipelines.abandon(held_stage, f"{CANNOT_START}{exc}")

    def _collect_inputs(self, held_stage: HeldStage) -> list[Variant]:
        """Collect the inputs of every job of the stage, in the order of the settings."""
        tool = self._toolbox.find(held_stage.type)
        names = [stage.name for stage in held_stage.earlier]
        remaining_inputs = list(held_stage.inputs)
        options_by_field: list[tuple[str, list[Option]]] = []
        for field, path, value, _ in file_values(tool, json.loads(held_stage.normalized)):
            reference = read_reference(value, names)
            if reference is None:
                index = next(i for i, item in enumerate(remaining_inputs) if item.field == field)
                own_input = remaining_inputs.pop(index)
                options_by_field.append((field, [(None, [own_input])]))
            else:
                hints = tool.settings_schema["properties"][field].get("x-foldnote", {})
                extensions = hints.get("extensions") or []
                options = self._resolve_reference(
                    held_stage, field, extensions, reference, takes_many="." in path
                )
                options_by_field.append((field, options))
        return _combine([*options_by_field, *self._collect_alignment(held_stage, remaining_inputs, names)])

    def _collect_alignment(
        self, held_stage: HeldStage, remaining_inputs: list[Input], names: list[str]
    ) -> list[tuple[str, list[Option]]]:
        """Return the alignment besides the stage's settings: its own, or that of an earlier stage."""
        if remaining_inputs:
            return [(ALIGNMENT_PATH, [(None, remaining_inputs)])]
        value = json.loads(held_stage.extensions or "{}").get(ALIGNMENT, "")
        reference = read_reference(value, names)
        if reference is None:
            return []
        options = self._resolve_reference(
            held_stage, ALIGNMENT_PATH, [ALIGNMENT_EXTENSION], reference, takes_many=False
        )
        return [(ALIGNMENT_PATH, [(None, options[0][1])])]

    def _resolve_reference(
        self,
        held_stage: HeldStage,
        field: str,
        extensions: list[str],
        reference: Reference,
        *,
        takes_many: bool,
    ) -> list[Option]:
        """Resolve a reference: one option with all files for a list field, else one option per file."""
        resolved: list[tuple[str, Input]] = []
        for stage in held_stage.earlier:
            if stage.name != reference.stage:
                continue
            sha256 = stage.result_sha256 or ""
            try:
                members = choose_members(
                    self._objects.path(sha256),
                    reference.path,
                    extensions,
                    takes_many=takes_many,
                    choose_best=json.loads(stage.normalized).get("chooseBest"),
                )
            except ReferenceFaultError as exc:
                sentence = f"{field} takes a file of the stage {stage.name}, but {exc}"
                raise ReferenceFaultError(sentence) from exc
            for member in members:
                located = ResolvedFile(field, member.rpartition("/")[2], sha256=sha256, member=member)
                resolved.append((f"{stage.name}/{member}", self._files.store_input(located)))
        if takes_many:
            return [(None, [content for _, content in resolved])]
        return [(path, [content]) for path, content in resolved]


def _combine(options_by_field: list[tuple[str, list[Option]]]) -> list[Variant]:
    """Make a variant for each combination of options; a single one leaves the settings unchanged."""
    count = math.prod(len(options) for _, options in options_by_field)
    if count > MAX_VARIANTS:
        raise ReferenceFaultError(f"it would become {count} jobs; at most {MAX_VARIANTS} are allowed.")
    variants = []
    for choice in itertools.product(*(options for _, options in options_by_field)):
        fields = zip(options_by_field, choice, strict=True)
        paths = {field: path for (field, options), (path, _) in fields if path and len(options) > 1}
        variants.append(Variant(tuple(content for _, contents in choice for content in contents), paths))
    return variants


def _with_digest(held_stage: HeldStage, variant: Variant) -> Variant:
    settings, extensions = json.loads(held_stage.normalized), json.loads(held_stage.extensions or "{}")
    return replace(variant, digest=digest_stage(held_stage.type, settings, variant.inputs, extensions))


def _is_complete(stage: DoneStage) -> bool:
    return stage.state == JobStatus.COMPLETE and not stage.is_deleted and stage.result_sha256 is not None


def _explain_failure(stage: DoneStage) -> str:
    """Explain why the rest of a pipeline does not run."""
    if stage.is_deleted:
        return f"{OF_A_STAGE}{stage.name} was deleted."
    if stage.error is None:
        return f"{OF_A_STAGE}{stage.name} was stopped."
    if stage.error.startswith(OF_A_STAGE):
        return stage.error
    return f"{OF_A_STAGE}{stage.name} failed: {stage.error}"
