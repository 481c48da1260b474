"""A real job service in this process, for the tests of the server extension."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from foldnote.client import AsyncClient
from foldnote.lab.connection import ReadyClient
from foldnote.lab.pacing import PollingPace
from foldnote.settings import Profile

URL = "http://service.test"
TOKEN = "a-token-for-tests"
PACE = PollingPace(
    busy_s=0.05,
    idle_s=0.05,
    max_s=0.2,
    attention_s=5.0,
    timeout_s=15.0,
    tools_s=0.0,
    busy_wait_s=0.2,
    idle_wait_s=0.2,
    burst=1000.0,
)


@dataclass
class JobService:
    """A real service in this process, which can be taken off the network.

    Attributes:
        key: the key that it accepts.
        offered_key: the key that the extension sends; a wrong one is refused.
        hosted_key: the key that it sends for profiles other than the embedded one; empty for the same.
        mood: a function that changes responses, if any.
        is_down: whether connections are refused.
        is_strict: whether parameters of a listing that are not in the interface are refused.
        requests: number of requests received.
        paths: their paths with queries.
        times: their times in seconds of the monotonic clock.
    """

    app: object
    key: str
    offered_key: str = ""
    hosted_key: str = ""
    mood: Callable[[httpx.Response], httpx.Response] | None = None
    is_down: bool = False
    is_strict: bool = False
    requests: int = 0
    paths: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    connections: list[AsyncClient] = field(default_factory=list)

    async def connect(self, profile: Profile) -> ReadyClient:
        """Connect the poller without a network."""
        http = httpx.AsyncClient(transport=_Switched(self), base_url=URL)
        hosted_key = "" if profile.is_embedded else self.hosted_key
        key = hosted_key or self.offered_key or self.key
        client = AsyncClient(base_url=URL, api_key=key, http_client=http)
        self.connections.append(client)
        return ReadyClient(client, URL)

    def client(self) -> AsyncClient:
        """Return a separate client for requests of a test outside the extension."""
        http = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=URL)
        return AsyncClient(base_url=URL, api_key=self.key, http_client=http)


class _Switched(httpx.AsyncBaseTransport):
    def __init__(self, service: JobService) -> None:
        self._service = service
        self._inner = httpx.ASGITransport(service.app)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._service.requests += 1
        self._service.times.append(time.monotonic())
        self._service.paths.append(request.url.raw_path.decode())
        if self._service.is_down:
            raise httpx.ConnectError("refused", request=request)
        if self._service.is_strict and "since=" in self._service.paths[-1]:
            return httpx.Response(400, json={"message": "Unknown parameter since."}, request=request)
        answer = await self._inner.handle_async_request(request)
        if self._service.mood is None:
            return answer
        await answer.aread()
        answer.request = request
        return self._service.mood(answer)


async def wait_for_state(
    jupyter: httpx.AsyncClient, state: str, until: Callable[[dict[str, Any]], bool] = bool
) -> dict[str, Any]:
    """Return the response with the jobs, once the service is in ``state`` and ``until`` is true of the body."""
    async with asyncio.timeout(120):
        while True:
            answer = await jupyter.get("jobs", headers={"Authorization": f"token {TOKEN}"})
            body: dict[str, Any] = answer.json()
            if body["service"]["state"] == state and until(body):
                return body
            await asyncio.sleep(0.03)
