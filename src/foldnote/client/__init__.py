"""The HTTP client: typed records, idempotent submission, waiting, and files.

``Client`` and ``AsyncClient`` are two APIs over one implementation (see ``core.operations``). Both speak to
the embedded service or to any deployment of the interface: strict in what they send, tolerant in what they
read. The client does not depend on widgets, on the contents of results, or on the service's implementation.
"""

from __future__ import annotations

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar

from foldnote import settings
from foldnote.errors import ConfigurationError

if TYPE_CHECKING:
    import httpx
    from pydantic import SecretStr

    from foldnote.client.core.connection import ServiceConnection
    from foldnote.client.core.transport import AsyncHttpTransport, HttpTransport
    from foldnote.client.inputs.file_values import FileValue, inline, uploaded
    from foldnote.client.inputs.stages import Pipeline, Stage
    from foldnote.client.local.ledger import Ledger
    from foldnote.client.resources.account import AccountResource, AsyncAccountResource
    from foldnote.client.resources.batches import AsyncBatches, AsyncBatchHandle, Batches, BatchHandle
    from foldnote.client.resources.deployments import AsyncModels, Models
    from foldnote.client.resources.files import AsyncFiles, Files
    from foldnote.client.resources.job_handle import AsyncJobHandle, JobHandle
    from foldnote.client.resources.jobs import AsyncJobs, Jobs
    from foldnote.client.resources.pipelines import AsyncPipelineRun, AsyncPipelines, PipelineRun, Pipelines
    from foldnote.client.resources.recommendations import AsyncRouter, Router
    from foldnote.client.resources.screening import AsyncScreenings, Screenings
    from foldnote.client.resources.shares import AsyncShares, Shares
    from foldnote.client.resources.tools import AsyncTools, Tools
    from foldnote.client.resources.webhook import AsyncWebhookResource, WebhookResource

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

_HOMES = {
    "AsyncBatchHandle": "resources.batches",
    "AsyncJobHandle": "resources.job_handle",
    "AsyncPipelineRun": "resources.pipelines",
    "BatchHandle": "resources.batches",
    "FileValue": "inputs.file_values",
    "JobHandle": "resources.job_handle",
    "Ledger": "local.ledger",
    "Pipeline": "inputs.stages",
    "PipelineRun": "resources.pipelines",
    "Stage": "inputs.stages",
    "inline": "inputs.file_values",
    "uploaded": "inputs.file_values",
}
_RESOURCES = {
    "jobs": ("resources.jobs", "Jobs"),
    "batches": ("resources.batches", "Batches"),
    "files": ("resources.files", "Files"),
    "tools": ("resources.tools", "Tools"),
    "account": ("resources.account", "AccountResource"),
    "router": ("resources.recommendations", "Router"),
    "pipelines": ("resources.pipelines", "Pipelines"),
    "screenings": ("resources.screening", "Screenings"),
    "models": ("resources.deployments", "Models"),
    "webhook": ("resources.webhook", "WebhookResource"),
    "shares": ("resources.shares", "Shares"),
}
"""The module of each resource; it is imported on first use, which keeps the import of the client fast."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


_opening = RLock()
"""Held while a client connects, so that two threads that use it at the same time share one connection."""


class _Connected:
    """Attributes shared by both clients; the key appears in no repr.

    Connection and transport are created at the first request, since their libraries are slow to import.
    """

    _prefix: ClassVar[str]
    _profile: settings.Profile
    _opened: tuple[ServiceConnection, Any] | None = None

    def __init__(
        self, profile: str | None, base_url: str | None, api_key: str | SecretStr | None, http_client: Any
    ) -> None:
        if base_url is None and api_key is not None:
            raise ConfigurationError("A key was given without base_url: say which service it is for.")
        self._http_client = http_client
        _check_options()
        if base_url is None:
            self._profile = settings.active_profile(profile)
            return
        self._profile = _make_profile(base_url, profile)
        self._opened = _connect_to(self._profile, api_key), self._make_transport()

    def _make_transport(self) -> Any:
        """Return the transport, on the HTTP client that was passed in, if any."""
        raise NotImplementedError

    def _open(self) -> tuple[ServiceConnection, Any]:
        with _opening:
            if self._opened is None:
                from foldnote.client.core.connection import ServiceConnection

                self._opened = ServiceConnection(self._profile), self._make_transport()
            return self._opened

    @property
    def _connection(self) -> ServiceConnection:
        return self._open()[0]

    @property
    def _transport(self) -> Any:
        return self._open()[1]

    if not TYPE_CHECKING:  # type checkers use the annotations, and so detect misspelt resources

        def __getattr__(self, name: str) -> Any:
            """Create a resource on first access."""
            if name not in _RESOURCES:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            module, kind = _RESOURCES[name]
            home = import_module(f"{__name__}.{module}")
            resource = getattr(home, self._prefix + kind)(self._connection, self._transport)
            setattr(self, name, resource)
            return resource

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_RESOURCES})

    @property
    def profile(self) -> settings.Profile:
        """The profile whose service this client uses."""
        return self._profile

    @property
    def service(self) -> str:
        """Address of the service; ``embedded`` for the embedded service."""
        return self._profile.base_url or settings.EMBEDDED

    @property
    def ledger(self) -> Ledger:
        """The record of what was submitted to this service from this computer."""
        from foldnote.client.local.ledger import Ledger

        return Ledger(service=self.service)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.service!r})"


class Client(_Connected):
    """Synchronous client of one service."""

    _prefix = ""
    jobs: Jobs
    batches: Batches
    files: Files
    tools: Tools
    account: AccountResource
    router: Router
    pipelines: Pipelines
    screenings: Screenings
    models: Models
    webhook: WebhookResource
    shares: Shares

    def __init__(
        self,
        profile: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Connect to the service of ``profile``, or to the one at ``base_url``.

        Without arguments, use the active profile, which is the embedded service unless another was set. The
        embedded service is started at the first call.

        Raises:
            ConfigurationError: there is no such profile, a key was given without an address, or an address or
                option is invalid.
        """
        super().__init__(profile, base_url, api_key, http_client)

    def _make_transport(self) -> HttpTransport:
        from foldnote.client.core.transport import HttpTransport

        return HttpTransport(self._http_client)

    def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            self._opened[1].close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Connected):
    """Asynchronous client of one service."""

    _prefix = "Async"
    jobs: AsyncJobs
    batches: AsyncBatches
    files: AsyncFiles
    tools: AsyncTools
    account: AsyncAccountResource
    router: AsyncRouter
    pipelines: AsyncPipelines
    screenings: AsyncScreenings
    models: AsyncModels
    webhook: AsyncWebhookResource
    shares: AsyncShares

    def __init__(
        self,
        profile: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Connect to the service of ``profile``, or to the one at ``base_url``; see ``Client``.

        Raises:
            ConfigurationError: there is no such profile, a key was given without an address, or an address or
                option is invalid.
        """
        super().__init__(profile, base_url, api_key, http_client)

    def _make_transport(self) -> AsyncHttpTransport:
        from foldnote.client.core.transport import AsyncHttpTransport

        return AsyncHttpTransport(self._http_client)

    async def close(self) -> None:
        """Close the connections."""
        if self._opened is not None:
            await self._opened[1].close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _check_options() -> None:
    """Check the options that a client reads at its first request."""
    for name in ("requests_per_second", "request_timeout_s", "largest_answer_mb", "largest_download_gb"):
        value = settings.option(name)
        if not value > 0:
            raise ConfigurationError(f"{name} is {value:g}; it must be greater than 0.")


def _make_profile(base_url: str, name: str | None) -> settings.Profile:
    if not settings.ADDRESS.match(base_url):
        raise ConfigurationError(
            "base_url is not the address of a service. Give one that"
            f" {settings.ADDRESS_RULE}, such as 'https://service.example.org/v1'."
        )
    return settings.Profile(name or "given", base_url.rstrip("/"))


def _connect_to(profile: settings.Profile, api_key: str | SecretStr | None) -> ServiceConnection:
    """Return the connection to the service at a given address; an invalid key is refused immediately."""
    from pydantic import SecretStr

    from foldnote.client.core.connection import Address, ServiceConnection

    key = SecretStr(api_key) if isinstance(api_key, str) else api_key
    return ServiceConnection(profile, Address(str(profile.base_url), key))
