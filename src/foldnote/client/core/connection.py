"""The connection to one service: address, key, rate limit and retries; and what a resource holds of it.

Only calls that change nothing when they are done twice are repeated after a lost answer. A refusal of the
service is an exception; what the answer means is the resources' business.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, Unpack
from urllib.parse import quote

from pydantic import SecretStr

from foldnote import settings
from foldnote.client.core.error_mapping import find_hidden_refusal, hidden_status, read_json, refusal
from foldnote.client.core.operations import Api, Call, Download, Operation, Run, ServiceResponse, Sleep
from foldnote.client.core.pacing import Bucket, retry_delays
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
_LONGEST_PAUSE_S = 120.0
_TRIES_TO_CONNECT = 2
_PROGRESS_BYTES = 1 << 16
"""An interrupted download that brought no more than this since the last try is not moving."""


@dataclass(frozen=True)
class Address:
    """Where a service answers, and the key for it."""

    url: str
    key: SecretStr | None

    def __post_init__(self) -> None:
        """Refuse a key that no header can hold, before a library shows it in a message.

        Raises:
            ConfigurationError: the key has blanks, line ends or letters that are not ASCII.
        """
        text = self.key.get_secret_value() if self.key else "-"
        if not (text.isascii() and text.isprintable() and " " not in text):
            raise ConfigurationError(
                "The key holds characters that no key has, such as a line end or a typographic mark."
                " Copy it again; `foldnote profile key NAME` stores it."
            )


class Options(TypedDict, total=False):
    """What a request may have besides its method and path.

    ``json``, ``params``, ``content``: body and query. ``repeatable``: whether a lost answer allows another
    try, by default for GET, PUT and DELETE. ``timeout_s``: seconds, by default the option's. ``report``: told
    how much of the content is sent. ``is_open``: whether the route takes no key, which then is not sent.
    """

    json: Any
    params: Mapping[str, str] | None
    content: bytes | Path | None
    repeatable: bool | None
    timeout_s: float | None
    report: ProgressCallback | None
    is_open: bool


def shared_bucket() -> Bucket:
    """The bucket of this process.

    Raises:
        ConfigurationError: the pace that was set is none.
    """
    per_second = settings.option("requests_per_second")
    if not per_second > 0:
        raise ConfigurationError(f"requests_per_second is {per_second:g}: it has to be more than 0.")
    return _BUCKETS.setdefault(per_second, Bucket(per_second, capacity=per_second))


class ServiceConnection:
    """One service, as the resources see it."""

    def __init__(self, profile: settings.Profile, address: Address | None = None) -> None:
        """Reach ``profile``'s service; a given ``address`` is used as it is."""
        self.profile = profile
        self._address = address
        self._is_fixed = address is not None
        self.bucket = shared_bucket()
        self.timeout_s: float = settings.option("request_timeout_s")
        self._answer_bytes = int(settings.option("largest_answer_mb") * 1e6)
        self._download_bytes = int(settings.option("largest_download_gb") * 1e9)
        self.tools: tuple[Tool, ...] = ()
        """The catalog as last seen; empty before the first look."""
        self.can_hold: bool | None = True if self._may_move else None
        """Whether the service can hold a request until something changes; None until it was asked."""
        self.pollers: dict[str | None, AccountPoller] = {}
        """What follows jobs of this account, and of other members by their addresses."""
        self.refusals: dict[type[ServiceError], Mapping[str, Any]] = {}
        """What the last refusal of each kind said: the figures of limits are told nowhere else."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A connection, and what holds one, is not pickled or copied in depth: it has a key."
            " Keep the job's name, and get the job again where it is wanted."
        )

    def __repr__(self) -> str:
        where = self._address.url if self._address else self.profile.base_url or "embedded service"
        return f"Link({where!r})"

    @property
    def service(self) -> str:
        """What the ledger calls this service: its address, or the word for this user's own."""
        if self._may_move:
            return settings.EMBEDDED
        return self._address.url if self._address else str(self.profile.base_url)

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells this account at this service from others within the process."""
        fixed = self._address.key if self._address and self._is_fixed else None
        return self.service, self.profile.name, fixed

    def locate(self, *, again: bool = False) -> Operation[Address]:
        """The address; the embedded service is started when it does not run."""
        if self._address is None or (again and not self._is_fixed):
            self._address = yield Run(self._find)
        return self._address

    @property
    def _may_move(self) -> bool:
        return self.profile.is_embedded and not self._is_fixed

    def adopt(self, key: SecretStr) -> None:
        """Use ``key`` from now on; it was given out by this service."""
        if self._address is not None:
            self._address = Address(self._address.url, key)

    def _find(self) -> Address:
        if self.profile.base_url is not None:
            return Address(self.profile.base_url, settings.api_key(self.profile))
        from foldnote.client.local import embedded

        running = embedded.ensure_service()
        return Address(running.url, running.key)

    def ask(self, method: str, path: str, **options: Unpack[Options]) -> Operation[Any]:
        """The JSON that the service answers.

        Args:
            **options: see ``Options``.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer came.
        """
        answer: ServiceResponse = yield from self.send(method, path, **options)
        said = read_json(answer)
        fault = find_hidden_refusal(said)
        if fault is not None:
            raise refusal(replace(answer, status=hidden_status(fault), body=json.dumps(fault).encode()), path)
        return said

    def send(self, method: str, path: str, **options: Unpack[Options]) -> Operation[ServiceResponse]:
        """The answer to a request. A refusal is an exception here, too.

        Raises:
            ServiceError: the service refused.
            TransportError: no answer came.
        """
        asked = options.get("repeatable")
        may_repeat = method in ("GET", "PUT", "DELETE") if asked is None else asked
        delays, absence = retry_delays(), islice(retry_delays(), _TRIES_TO_CONNECT)
        moved = False
        while True:
            address = yield from self.locate(again=moved)
            call = self._call(method, path, address, options)
            pause_s = self.bucket.reserve()
            if pause_s:  # also a pause of nothing gives the processor away, for milliseconds where it is busy
                yield Sleep(pause_s)
            try:
                answer: ServiceResponse = yield call
            except TransportError as exc:
                moved = True  # an embedded service that went away is started again
                is_absent = not exc.was_sent and not self._may_move  # nobody will start it: complain soon
                pauses = absence if is_absent else delays
                yield Sleep(next_pause(pauses, exc, allowed=may_repeat or not exc.was_sent))
                continue
            if answer.status < 400:
                return answer
            fault = refusal(answer, path)
            self.refusals[type(fault)] = fault.body
            if isinstance(fault, UnauthorizedError) and self._may_move and not moved:
                moved = True  # another embedded service answers here now: its key is another one
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
            self._answer_bytes,
        )

    def fetch(
        self,
        find_url: Callable[[], Operation[str]],
        part: Path,
        report: ProgressCallback | None = None,
        is_kept: Callable[[Mapping[str, str]], bool] | None = None,
    ) -> Operation[ServiceResponse]:
        """Bring a signed link's body into ``part``, resumed after interruptions; no key is sent.

        Args:
            find_url: asks for the link; again before each new try, since a link ages and a service moves.
            report: told the bytes that are there.
            is_kept: says of an answer's headers whether the content is here already; then the status is 304.

        Raises:
            ServiceError: the link is refused.
            TransportError: it did not arrive after several tries.
        """
        delays, had = retry_delays(), 0
        while True:
            url = yield from find_url()
            try:
                answer: ServiceResponse = yield Download(
                    url, part, self.timeout_s, report, is_kept, self._download_bytes
                )
            except TransportError as exc:
                have = part.stat().st_size if part.exists() else 0
                if have > had + _PROGRESS_BYTES:  # a long download may be interrupted many times
                    delays, had = retry_delays(), have
                yield Sleep(next_pause(delays, exc, allowed=True))
                continue
            if answer.status in (200, 206, 304):
                return answer
            fault = refusal(answer)
            if answer.status == 416:  # the part is not a beginning of this file
                part.unlink(missing_ok=True)
            may_try = answer.status in (403, 416, 429) or answer.status >= 500  # 403: the link was too old
            yield Sleep(next_pause(delays, fault, allowed=may_try))


def next_pause(delays: Iterator[float], fault: Exception, *, allowed: bool) -> float:
    """Seconds until the next try; the ``fault`` is raised when there is none, or when it is far away."""
    pause = next(delays, None) if allowed else None
    if pause is None:
        raise fault
    asked = getattr(fault, "retry_after_s", None)
    if asked is not None and asked > _LONGEST_PAUSE_S:
        raise fault
    return max(pause, asked or 0.0)


class Resource(Api):
    """A noun of the interface; its operations are generators over the connection.

    A subclass that is a ``SyncApi``, too, returns their values; one that is an ``AsyncApi`` awaits them.
    """

    def __init__(self, connection: ServiceConnection, transport: Any) -> None:
        self._connection = connection
        self._transport = transport

    @property
    def ledger(self) -> Ledger:
        """What was submitted to this service from here."""
        from foldnote.client.local.ledger import Ledger  # sqlite3 is loaded by what submits, not by all

        return Ledger(service=self._connection.service)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._connection.service}>"


def path_part(name: str) -> str:
    """``name`` as one segment of a path.

    Raises:
        ArgumentError: it is ``.`` or ``..``, which would name another path, or holds an unpaired surrogate.
    """
    if name in (".", ".."):
        raise ArgumentError(f"{name!r} cannot be a name in an address. Choose another name.")
    try:
        return quote(name, safe="")
    except UnicodeEncodeError as exc:
        raise ArgumentError(
            f"{name!r} holds a letter that no address can have. Choose another name."
        ) from exc
