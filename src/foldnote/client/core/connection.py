"""The connection to one service (address, key, rate limit, retries), and the base class of resources.

After a lost answer only idempotent calls are repeated. A refusal by the service is raised as an exception;
the resources interpret successful answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, Unpack, cast
from urllib.parse import quote

from pydantic import SecretStr

from foldnote import settings
from foldnote.client.core.error_mapping import find_hidden_error, find_hidden_status, make_error, read_json
from foldnote.client.core.hub_key import HubKey, find_token, fits_header, request_key
from foldnote.client.core.operations import Api, Call, Download, Operation, Run, ServiceResponse, Sleep
from foldnote.client.core.pacing import Bucket, next_pause, retry_delays
from foldnote.client.core.progress import ProgressCallback
from foldnote.errors import (
    ArgumentError,
    ConfigurationError,
    RateLimitedError,
    ServiceError,
    ServiceFaultError,
    TransportError,
    UnauthorizedError,
)
from foldnote.models import Tool

if TYPE_CHECKING:
    from foldnote.client.local.ledger import Ledger
    from foldnote.client.watching.poller import AccountPoller

_BUCKETS: dict[float, Bucket] = {}
_CONNECT_ATTEMPTS = 2
_PROGRESS_BYTES = 1 << 16
"""Bytes that an attempt must add for an interrupted download to count as making progress."""


@dataclass(frozen=True)
class Address:
    """Address of a service, and the key for it."""

    url: str
    key: SecretStr | None

    def __post_init__(self) -> None:
        """Reject a key that is not valid in an HTTP header, before a library shows it in a message.

        Raises:
            ConfigurationError: the key has spaces, line breaks or non-ASCII characters.
        """
        if self.key and not fits_header(self.key):
            raise ConfigurationError(
                "The key contains invalid characters, such as a line break or a curly quote."
                " Copy it again; `foldnote profile key NAME` stores it."
            )


class Options(TypedDict, total=False):
    """Options of a request.

    ``json``, ``params``, ``content``: body and query. ``repeatable``: whether to repeat the request after a
    lost answer; by default for GET, PUT and DELETE. ``timeout_s``: seconds; by default the ``timeout_s``
    option. ``report``: progress callback of the upload. ``is_open``: whether the route needs no key; then
    none is sent.
    """

    json: Any
    params: Mapping[str, str] | None
    content: bytes | Path | None
    repeatable: bool | None
    timeout_s: float | None
    report: ProgressCallback | None
    is_open: bool


def shared_bucket() -> Bucket:
    """Return the token bucket that limits the requests of this process.

    Raises:
        ConfigurationError: ``requests_per_second`` is not positive.
    """
    per_second = settings.option("requests_per_second")
    if not per_second > 0:
        raise ConfigurationError(f"requests_per_second is {per_second:g}; it must be greater than 0.")
    return _BUCKETS.setdefault(per_second, Bucket(per_second, capacity=per_second))


class ServiceConnection:
    """The connection to one service, shared by its resources."""

    def __init__(self, profile: settings.Profile, address: Address | None = None) -> None:
        """Connect to the service of ``profile``, or to ``address`` if it is given."""
        self.profile = profile
        self._address = address
        self._is_fixed = address is not None
        self._hub_key: HubKey | None = None
        self.bucket = shared_bucket()
        self.timeout_s: float = settings.option("request_timeout_s")
        self._max_response_bytes = int(settings.option("largest_answer_mb") * 1e6)
        self._max_download_bytes = int(settings.option("largest_download_gb") * 1e9)
        self.tools: tuple[Tool, ...] = ()
        """The catalog as last listed; empty before the first request."""
        self.supports_long_poll: bool | None = True if self._is_relocatable else None
        """Whether the service can hold a request until something changes; None while unknown."""
        self.pollers: dict[str | None, AccountPoller] = {}
        """Pollers by member address; None is this account's own."""
        self.last_errors: dict[type[ServiceError], Mapping[str, Any]] = {}
        """The last refusal of each kind; the service reports the figures of its limits only there."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "Clients and job handles cannot be pickled or deep-copied, since they hold a key."
            " Keep the job's name, and get the job by its name where it is needed."
        )

    def __repr__(self) -> str:
        where = self._address.url if self._address else self.profile.base_url or "embedded service"
        return f"ServiceConnection({where!r})"

    @property
    def service(self) -> str:
        """The service's name in the ledger: its address, or ``embedded``."""
        if self._is_relocatable:
            return settings.EMBEDDED
        return self._address.url if self._address else str(self.profile.base_url)

    @property
    def identity(self) -> tuple[object, ...]:
        """A key that identifies this account at this service within the process."""
        fixed = self._address.key if self._address and self._is_fixed else None
        return self.service, self.profile.name, fixed

    def locate(self, *, again: bool = False) -> Operation[Address]:
        """Find the address; start the embedded service if needed, or request a key through JupyterHub."""
        if self._uses_hub:
            return (yield from self._fetch_hub_address(again=again))
        if self._address is None or (again and not self._is_fixed):
            self._address = yield Run(self._find_embedded)
        return self._address

    @property
    def _is_relocatable(self) -> bool:
        return self.profile.is_embedded and not self._is_fixed

    @property
    def _uses_hub(self) -> bool:
        return self.profile.is_of_hub and not self._is_fixed

    def _fetch_hub_address(self, *, again: bool) -> Operation[Address]:
        """Return the address with a key that the service issued for the token of this user's server."""
        current = self._hub_key
        if current is None or again or current.is_due():
            token = find_token(self.profile)
            try:
                self._hub_key = yield from request_key(self.profile, token, self.timeout_s)
            except (TransportError, ServiceFaultError):
                self._hub_key = None if current is None or again else current.postpone_renewal()
                if self._hub_key is None:
                    raise
            self._address = Address(str(self.profile.base_url), self._hub_key.key)
        return cast("Address", self._address)

    def set_key(self, key: SecretStr) -> None:
        """Use ``key``, which this service issued, from now on."""
        if self._address is not None:
            self._address = Address(self._address.url, key)

    def _has_other_key(self) -> bool:
        """Return whether another key is stored for this profile than the one in use, at the same address."""
        try:
            is_same = settings.active_profile(self.profile.name) == self.profile
        except ConfigurationError:  # the profile has been removed
            return False
        stored = settings.api_key(self.profile) if is_same else None
        return stored is not None and self._address is not None and stored != self._address.key

    def _find_embedded(self) -> Address:
        if self.profile.base_url is not None:
            return Address(self.profile.base_url, settings.api_key(self.profile))
        from foldnote.client.local import embedded

        running = embedded.ensure_service()
        return Address(running.url, running.key)

    def request(self, method: str, path: str, **options: Unpack[Options]) -> Operation[Any]:
        """Send a request and return the JSON of the answer.

        Args:
            **options: see ``Options``.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer was received.
        """
        answer: ServiceResponse = yield from self.send(method, path, **options)
        body = read_json(answer)
        fault = find_hidden_error(body)
        if fault is not None:
            raise make_error(
                replace(answer, status=find_hidden_status(fault), body=json.dumps(fault).encode()), path
            )
        return body

    def send(self, method: str, path: str, **options: Unpack[Options]) -> Operation[ServiceResponse]:
        """Send a request and return the answer; a refusal is raised, too.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer was received.
        """
        asked = options.get("repeatable")
        may_repeat = method in ("GET", "PUT", "DELETE") if asked is None else asked
        delays, connect_delays = retry_delays(), islice(retry_delays(), _CONNECT_ATTEMPTS)
        locate_again, has_renewed_key = False, False
        while True:
            address = yield from self.locate(again=locate_again)
            locate_again = False
            call = self._call(method, path, address, options)
            pause_s = self.bucket.reserve()
            if pause_s:  # sleep(0) yields the processor, which costs milliseconds on a busy machine
                yield Sleep(pause_s)
            try:
                answer: ServiceResponse = yield call
            except TransportError as exc:
                locate_again = not self._uses_hub  # restart an embedded service that has stopped
                fails_soon = not exc.was_sent and not self._is_relocatable  # we do not start this service
                pauses = connect_delays if fails_soon else delays
                yield Sleep(next_pause(pauses, exc, allowed=may_repeat or not exc.was_sent))
                continue
            if answer.status < 400:
                return answer
            fault = make_error(answer, path)
            self.last_errors[type(fault)] = fault.body
            if isinstance(fault, UnauthorizedError) and not self._is_fixed and not has_renewed_key:
                # a restarted service has another key; a hub's key has expired; the user has stored another
                has_renewed_key = True
                locate_again = self._is_relocatable or self._uses_hub or (yield Run(self._has_other_key))
                if locate_again:
                    continue
            may_try = isinstance(fault, RateLimitedError) or (
                may_repeat and isinstance(fault, ServiceFaultError)
            )
            yield Sleep(next_pause(delays, fault, allowed=may_try))

    def _call(self, method: str, path: str, address: Address, options: Options) -> Call:
        return Call(
            method,
            address.url + path,
            None if options.get("is_open") else address.key,
            options.get("params") or {},
            options.get("json"),
            options.get("content"),
            options.get("timeout_s") or self.timeout_s,
            options.get("report"),
            self._max_response_bytes,
        )

    def fetch(
        self,
        find_url: Callable[[], Operation[str]],
        part: Path,
        report: ProgressCallback | None = None,
        is_cached: Callable[[Mapping[str, str]], bool] | None = None,
    ) -> Operation[ServiceResponse]:
        """Download a signed link into ``part``, resuming after interruptions; no key is sent.

        Args:
            find_url: requests the link; called before each try, since links expire and the service may move.
            report: progress callback.
            is_cached: whether the content that an answer's headers announce is already in the cache; if so,
                the body is not read, and the status of the response is 304.

        Raises:
            ServiceError: the service refused the link.
            TransportError: the download failed after several tries.
        """
        delays, had = retry_delays(), 0
        while True:
            url = yield from find_url()
            try:
                answer: ServiceResponse = yield Download(
                    url, part, self.timeout_s, report, is_cached, self._max_download_bytes
                )
            except TransportError as exc:
                have = part.stat().st_size if part.exists() else 0
                if have > had + _PROGRESS_BYTES:  # progress was made: restart the count of attempts
                    delays, had = retry_delays(), have
                yield Sleep(next_pause(delays, exc, allowed=True))
                continue
            if answer.status in (200, 206, 304):
                return answer
            fault = make_error(answer)
            if answer.status == 416:  # the partial file is not a prefix of this file
                part.unlink(missing_ok=True)
            may_try = answer.status in (403, 416, 429) or answer.status >= 500  # 403: the link has expired
            yield Sleep(next_pause(delays, fault, allowed=may_try))


class Resource(Api):
    """Base of the resources; operations are written as generators over the connection.

    In a subclass that is also a ``SyncApi`` they return their values; in an ``AsyncApi``, awaitables.
    """

    def __init__(self, connection: ServiceConnection, transport: Any) -> None:
        self._connection = connection
        self._transport = transport

    @property
    def ledger(self) -> Ledger:
        """The record of what was submitted to this service from this computer."""
        from foldnote.client.local.ledger import Ledger  # deferred: only submissions need sqlite3

        return Ledger(service=self._connection.service)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._connection.service}>"


def path_part(name: str) -> str:
    """Quote ``name`` as one segment of a URL path.

    Raises:
        ArgumentError: it is ``.`` or ``..``, which mean another path, or contains an unpaired surrogate.
    """
    if name in (".", ".."):
        raise ArgumentError(f"{name!r} cannot be used as a name in a URL. Choose another name.")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as exc:
        raise ArgumentError(
            f"{name!r} contains a character that is not valid in a URL. Choose another name."
        ) from exc
