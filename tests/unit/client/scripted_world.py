"""A transport with prepared outcomes that records its calls; time passes only in pauses."""

import json

from foldnote.client.core.operations import AsyncApi, Call, Run, ServiceResponse, Sleep, SyncApi


class ScriptedWorld:
    """Perform effects at once: a pause is recorded, a function is run, a call gets the next outcome."""

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
    """The same for async operations."""

    async def perform(self, effect):
        return super().perform(effect)


class AtOnce(SyncApi):
    def __init__(self, transport) -> None:
        self._transport = transport


class Awaited(AsyncApi):
    def __init__(self, transport) -> None:
        self._transport = transport


def says(body, status: int = 200, **headers: str) -> ServiceResponse:
    """Return a response with a JSON body."""
    return ServiceResponse(status, headers, json.dumps(body).encode())
