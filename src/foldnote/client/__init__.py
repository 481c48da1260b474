"""The interface over HTTP: typed rows, safe submission, waiting, files.

``Client`` and ``AsyncClient`` are two faces of one implementation (see ``effects``). Both speak to the
embedded service or to any deployment of the interface: strict in what they send, tolerant in what they read.
This room knows nothing of widgets, of results' contents, or of how the service is made.
"""

from __future__ import annotations

import httpx
from pydantic import SecretStr

from foldnote import settings
from foldnote.client.account import AccountDesk, AsyncAccountDesk
from foldnote.client.batches import AsyncBatches, AsyncBatchHandle, Batches, BatchHandle
from foldnote.client.deployments import AsyncModels, Models
from foldnote.client.file_values import FileValue, inline, uploaded
from foldnote.client.files import AsyncFiles, Files
from foldnote.client.handle import AsyncJobHandle, JobHandle
from foldnote.client.jobs import AsyncJobs, Jobs
from foldnote.client.ledger import Ledger
from foldnote.client.link import Address, Link
from foldnote.client.pipelines import AsyncPipelineRun, AsyncPipelines, PipelineRun, Pipelines
from foldnote.client.router import AsyncRouter, Router
from foldnote.client.screening import AsyncScreenings, Screenings
from foldnote.client.stages import Pipeline, Stage
from foldnote.client.tools import AsyncTools, Tools
from foldnote.client.transport import AsyncHttpWorld, HttpWorld
from foldnote.errors import ConfigurationError

__all__ = [
    "AsyncBatchHandle",
    "AsyncClient",
    "AsyncJobHandle",
    "AsyncPipelineRun",
    "BatchHandle",
    "Client",
    "FileValue",
    "JobHandle",
    "Ledger",
    "Pipeline",
    "PipelineRun",
    "Stage",
    "inline",
    "uploaded",
]


class _Connected:
    """What both faces know of their service; the key is in no repr."""

    _link: Link

    @property
    def profile(self) -> settings.Profile:
        """Which service is meant."""
        return self._link.profile

    @property
    def service(self) -> str:
        """Address of the service; ``embedded`` for this user's own."""
        return self._link.service

    @property
    def ledger(self) -> Ledger:
        """What was submitted to this service from here."""
        return Ledger(service=self._link.service)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._link.service!r})"


class Client(_Connected):
    """A service, asked at once."""

    def __init__(
        self,
        profile: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Reach the service of ``profile``, or the one at ``base_url``.

        Without arguments it is the active profile's, which is the embedded service unless another was set;
        that one is started at the first call.

        Raises:
            ConfigurationError: there is no such profile, or a key came without an address.
        """
        self._link = _link(profile, base_url, api_key)
        world = self._world = HttpWorld(http_client)
        self.jobs = Jobs(self._link, world)
        self.batches = Batches(self._link, world)
        self.files = Files(self._link, world)
        self.tools = Tools(self._link, world)
        self.account = AccountDesk(self._link, world)
        self.router = Router(self._link, world)
        self.pipelines = Pipelines(self._link, world)
        self.screenings = Screenings(self._link, world)
        self.models = Models(self._link, world)

    def close(self) -> None:
        """Give the connections back."""
        self._world.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Connected):
    """A service, awaited."""

    def __init__(
        self,
        profile: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Reach the service of ``profile``, or the one at ``base_url``; see ``Client``.

        Raises:
            ConfigurationError: there is no such profile, or a key came without an address.
        """
        self._link = _link(profile, base_url, api_key)
        world = self._world = AsyncHttpWorld(http_client)
        self.jobs = AsyncJobs(self._link, world)
        self.batches = AsyncBatches(self._link, world)
        self.files = AsyncFiles(self._link, world)
        self.tools = AsyncTools(self._link, world)
        self.account = AsyncAccountDesk(self._link, world)
        self.router = AsyncRouter(self._link, world)
        self.pipelines = AsyncPipelines(self._link, world)
        self.screenings = AsyncScreenings(self._link, world)
        self.models = AsyncModels(self._link, world)

    async def close(self) -> None:
        """Give the connections back."""
        await self._world.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _link(profile: str | None, base_url: str | None, api_key: str | SecretStr | None) -> Link:
    if base_url is None:
        if api_key is not None:
            raise ConfigurationError("A key was given without base_url: say which service it is for.")
        return Link(settings.active_profile(profile))
    key = SecretStr(api_key) if isinstance(api_key, str) else api_key
    url = base_url.rstrip("/")
    return Link(settings.Profile(profile or "given", url), Address(url, key))
