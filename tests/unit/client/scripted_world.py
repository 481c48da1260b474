"""A world that gives prepared outcomes and notes what was asked of it; time passes only by its pauses."""

import json

from foldnote.client.core.operations import Answer, AsyncFace, Call, Run, Sleep, SyncFace


class ScriptedWorld:
    """Performs effects at once: a pause is noted, a function is run, a call gets the next outcome."""

    def __init__(self, *outcomes) -> None:
        self.outcomes = list(outcomes)
        self.calls: list[Call] = []
        self.pauses: list[float] = []

    def perform(self, effect):
        match effect:
            case Sleep(seconds):
                self.pauses.append(seconds)
                return None
            case Run(function):
                return function()
        self.calls.append(effect)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class ScriptedAsyncWorld(ScriptedWorld):
    """The same, awaited."""

    async def perform(self, effect):
        return super().perform(effect)


class AtOnce(SyncFace):
    def __init__(self, world) -> None:
        self._world = world


class Awaited(AsyncFace):
    def __init__(self, world) -> None:
        self._world = world


def says(body, status: int = 200, **headers: str) -> Answer:
    """An answer whose body is JSON."""
    return Answer(status, headers, json.dumps(body).encode())
