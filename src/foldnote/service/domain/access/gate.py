"""Checks for every keyed route: the key (401), its rate (429), its permission (403).

A FastAPI dependency that runs before the body is read. In the interface, GET /jobs is behind a gateway that
answers a missing key with a bare 403.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from foldnote.service.domain.access.keys import hash_key
from foldnote.service.domain.access.limiter import RateLimiter, whole_seconds
from foldnote.service.domain.joint_lookup import JointLookup
from foldnote.service.faults import BareRefusalError, RefusalError, retry_later
from foldnote.service.store.accounts.accounts import AccountStore, Caller
from foldnote.service.store.clock import is_past
from foldnote.service.store.quotas import TRIAL

HEADER = "x-api-key"
_CACHE_S = 5.0


@dataclass(frozen=True)
class _CachedCaller:
    caller: Caller
    until: float


class Gate:
    """Authenticates callers; each key is looked up at most every five seconds."""

    def __init__(self, accounts: AccountStore, limiter: RateLimiter | None) -> None:
        self._callers = JointLookup(accounts.find_callers, is_brief=not accounts.is_shared)
        self._limiter = limiter
        self._cache: dict[str, _CachedCaller] = {}

    async def authenticate(self, key: str | None, *, is_behind_gateway: bool = False) -> Caller:
        """Authenticate the holder of `key`.

        Raises:
            BareRefusalError: the gateway's 403, for a route behind it and no key.
            RefusalError: 401 without a valid key, 429 above the rate.
        """
        if not key:
            if is_behind_gateway:
                raise BareRefusalError(403, {"message": "Forbidden"})
            raise missing_key()
        caller = await self._find(hash_key(key))
        if caller is None:
            raise invalid_key()
        self._limit(caller)
        return caller

    async def _find(self, sha256: str) -> Caller | None:
        cache, moment = self._cache, time.monotonic()
        cached = cache.get(sha256)
        if cached is not None and cached.until > moment and not is_past(cached.caller.expires):
            return cached.caller
        cache.pop(sha256, None)
        caller = await self._callers.find(sha256)
        if caller is not None:
            cache[sha256] = _CachedCaller(caller, moment + _CACHE_S)
        return caller

    def forget_all(self) -> None:
        """Forget cached keys, including pending lookups, after a change of permissions."""
        self._cache = {}

    def _limit(self, caller: Caller) -> None:
        wait_s = self._limiter.take(caller.key_sha256) if self._limiter else 0.0
        if wait_s > 0:
            raise too_many("requests with this key", wait_s)


def missing_key() -> RefusalError:
    """Build the 401 for a missing key."""
    sentence = (
        f"This request needs the header {HEADER} with your API key."
        " Without an account, POST /agent/provision gives a trial key."
    )
    return RefusalError(401, "missing_api_key", sentence)


def invalid_key() -> RefusalError:
    """Build the 401 for a key that is unknown, expired or revoked."""
    sentence = (
        "The API key is not valid: it is unknown, expired or revoked."
        " Check it, or get a trial key from POST /agent/provision."
    )
    return RefusalError(401, "invalid_api_key", sentence)


def too_many(what: str, wait_s: float) -> RefusalError:
    """Build the 429 with the time to wait; `what` says of which requests there were too many."""
    seconds = whole_seconds(wait_s)
    return retry_later(429, "rate_limited", f"Too many {what}. Try again in {seconds} s.", seconds)


def restricted_route() -> RefusalError:
    """Build the 403 for an unclaimed key on a route for claimed accounts."""
    sentence = (
        "This route is not available with an unclaimed trial key. Open the claimUrl that came with the key to"
        " claim the account; changing the request does not help."
    )
    return RefusalError(403, "route_restricted", sentence)


async def _authenticate(request: Request) -> Caller:
    gate: Gate = request.app.state.service.gate
    return await gate.authenticate(request.headers.get(HEADER))


async def authenticate_behind_gateway(request: Request) -> Caller:
    """Authenticate the caller of GET /jobs without FastAPI's dependencies, which take a quarter of its time.

    Raises:
        BareRefusalError: the gateway's 403 without a key.
        RefusalError: as `Gate.authenticate`.
    """
    gate: Gate = request.app.state.service.gate
    return await gate.authenticate(request.headers.get(HEADER), is_behind_gateway=True)


async def _authenticate_claimed(request: Request) -> Caller:
    caller = await _authenticate(request)
    if caller.tier == TRIAL:
        raise restricted_route()
    return caller


AuthenticatedCaller = Annotated[Caller, Depends(_authenticate)]
"""The caller of a keyed route."""

ClaimedCaller = Annotated[Caller, Depends(_authenticate_claimed)]
"""The caller of a route closed to unclaimed keys; they are refused before the body is read."""
