"""Get a key from a service in exchange for the token of a JupyterHub user's server.

The token is sent only to the service of a profile that an administrator has configured. The key replaces it
in all other requests, is kept in memory only, and is renewed before it expires.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import SecretStr

from foldnote import settings
from foldnote.client.core.error_mapping import make_error, read_json
from foldnote.client.core.operations import Call, Operation, ServiceResponse, Sleep
from foldnote.client.core.pacing import next_pause, retry_delays
from foldnote.errors import (
    ConfigurationError,
    NotFoundError,
    ProtocolError,
    RateLimitedError,
    ServiceFaultError,
    TransportError,
)

PATH = "/jupyterhub/key"
_RENEWED_AFTER = 0.75
"""Fraction of a key's lifetime after which it is renewed."""
_RETRY_S = 15.0
_MAX_RESPONSE_BYTES = 100_000
_MAX_ATTEMPTS = 2


@dataclass(frozen=True)
class HubKey:
    """A key with the times (monotonic clock) at which to renew it and at which it expires."""

    key: SecretStr
    renew_at: float
    ends_at: float

    def is_due(self) -> bool:
        """Return whether the key must be renewed."""
        return time.monotonic() >= self.renew_at

    def postpone_renewal(self) -> HubKey | None:
        """Return the same key with a later renewal time; None if it has expired."""
        now = time.monotonic()
        return HubKey(self.key, now + _RETRY_S, self.ends_at) if now < self.ends_at else None


def find_token(profile: settings.Profile) -> SecretStr:
    """Return the token of this user's server.

    Raises:
        ConfigurationError: this is not a server of a JupyterHub.
    """
    token = settings.hub_token()
    if token is None:
        raise ConfigurationError(
            f"The profile {profile.name!r} signs in with JupyterHub, and this program has no token of one"
            " (JUPYTERHUB_API_TOKEN). Run it in your server at the hub, or choose another profile."
        )
    if not fits_header(token):
        raise ConfigurationError("JUPYTERHUB_API_TOKEN contains characters that no token of JupyterHub has.")
    return token


def fits_header(key: SecretStr) -> bool:
    """Return whether a key or token is valid in an HTTP header: printable ASCII without spaces."""
    text = key.get_secret_value()
    return text.isascii() and text.isprintable() and " " not in text


def request_key(profile: settings.Profile, token: SecretStr, timeout_s: float) -> Operation[HubKey]:
    """Exchange ``token`` for a key at the service of ``profile``.

    Raises:
        ConfigurationError: the service takes no tokens.
        ProtocolError: the answer holds no key.
        ServiceError: the service refused.
        TransportError: no answer was received.
    """
    call = Call(
        "POST", f"{profile.base_url}{PATH}", token, {}, None, None, timeout_s, None, _MAX_RESPONSE_BYTES
    )
    asked_at = time.monotonic()
    answer: ServiceResponse = yield from _send(call, islice(retry_delays(), _MAX_ATTEMPTS), profile)
    issued = _read(read_json(answer), asked_at)
    del answer  # keeps the key out of tracebacks
    if issued is None:
        raise ProtocolError(f"The answer of {profile.base_url}{PATH} holds no key. Is it a job service?")
    return issued


def _send(call: Call, delays: Iterator[float], profile: settings.Profile) -> Operation[ServiceResponse]:
    while True:
        try:
            answer: ServiceResponse = yield call
        except TransportError as exc:
            yield Sleep(next_pause(delays, exc, allowed=True))
            continue
        if answer.status < 400:
            return answer
        fault = make_error(answer, PATH)
        if isinstance(fault, NotFoundError):
            raise ConfigurationError(
                f"The service {profile.base_url} of the profile {profile.name!r} accepts no users of a"
                " JupyterHub: its config.toml has no section [jupyterhub], or the address is wrong."
            )
        may_try = isinstance(fault, RateLimitedError | ServiceFaultError)
        yield Sleep(next_pause(delays, fault, allowed=may_try))


def _read(body: Any, asked_at: float) -> HubKey | None:
    fields = body if isinstance(body, dict) else {}
    key, lasts_s = fields.get("apiKey"), fields.get("expiresInSeconds")
    if not isinstance(key, str) or not isinstance(lasts_s, int | float):
        return None
    return HubKey(SecretStr(key), asked_at + _RENEWED_AFTER * lasts_s, asked_at + lasts_s)
