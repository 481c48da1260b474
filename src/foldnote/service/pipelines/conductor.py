"""Gives each stage its turn: when the stages before it are complete, it takes their files and may be claimed.

One thread, woken by every end of a job. What it decides is committed by compare-and-set, so that a crash
between two lines is made good by the next start.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from foldnote.models.status import JobStatus
from foldnote.models.tool import Tool
from foldnote.service.faults import RefusalError
from foldnote.service.files.conditions import is_passing
from foldnote.service.files.objects import ObjectStore
from foldnote.service.pipelines.references import (
    Reference,
    ReferenceFaultError,
    choose_members,
    read_reference,
)
from foldnote.service.resolution import FileResolver, Located, file_values
from foldnote.service.rounds import Rounds
from foldnote.service.store.insertion import Input
from foldnote.service.store.pipelines import DoneStage, HeldStage
from foldnote.service.store.store import Store
from foldnote.service.tooling import Toolbox

log = logging.getLogger(__name__)


class Conductor:
    """Releases or abandons the stages whose turn it is.

    Args:
        wake: told after a stage was released or abandoned.
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
        self._rounds = Rounds("conductor", self._advance)
        self.start, self.stop, self.wake = self._rounds.start, self._rounds.stop, self._rounds.wake

    def _advance(self) -> None:
        while not self._rounds.is_stopping and (ready := self._store.pipelines.ready()):
            for held in ready:
                self._decide(held)
            self._wake()

    def _decide(self, held: HeldStage) -> None:
        broken = next((stage for stage in held.earlier if not _is_complete(stage)), None)
        if broken is not None:
            self._store.pipelines.abandon(held, _failure(broken))
            return
        try:
            given = self._gather(held)
        except (ReferenceFaultError, RefusalError, OSError, ValueError) as exc:
            if isinstance(exc, OSError) and is_passing(exc):
                raise
            self._store.pipelines.abandon(held, f"The stage cannot begin: {exc}")
            return
        self._store.pipelines.release(held, given)

    def _gather(self, held: HeldStage) -> list[Input]:
        """Every input of the stage in the order of its settings."""
        tool = self._toolbox.find(held.type)
        names = [stage.name for stage in held.earlier]
        known = list(held.inputs)
        given: list[Input] = []
        for field, path, value, _ in file_values(tool, json.loads(held.normalized)):
            reference = read_reference(value, names)
            if reference is None:
                given.append(known.pop(next(i for i, each in enumerate(known) if each.field == field)))
            else:
                given.extend(self._follow(held, tool, field, reference, takes_many="." in path))
        return given

    def _follow(
        self, held: HeldStage, tool: Tool, field: str, reference: Reference, *, takes_many: bool
    ) -> list[Input]:
        stage = next(each for each in held.earlier if each.name == reference.stage)
        hints = tool.settings_schema["properties"][field].get("x-foldnote", {})
        sha256 = stage.result_sha256 or ""
        try:
            members = choose_members(
                self._objects.path(sha256),
                reference.path,
                hints.get("extensions") or [],
                takes_many=takes_many,
                choose_best=json.loads(stage.normalized).get("chooseBest"),
            )
        except ReferenceFaultError as exc:
            raise ReferenceFaultError(f"{field} takes a file of the stage {stage.name}, but {exc}") from exc
        return [
            self._files.keep(Located(field, each.rpartition("/")[2], sha256=sha256, member=each))
            for each in members
        ]


def _is_complete(stage: DoneStage) -> bool:
    return stage.state == JobStatus.COMPLETE and not stage.is_deleted and stage.result_sha256 is not None


def _failure(stage: DoneStage) -> str:
    """Why the rest of a pipeline does not run."""
    if stage.is_deleted:
        return f"The stage {stage.name} was deleted."
    if stage.error is None:
        return f"The stage {stage.name} was stopped."
    if stage.error.startswith("The stage "):
        return stage.error
    return f"The stage {stage.name} failed: {stage.error}"
