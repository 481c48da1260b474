"""The account of the API key, cached because reading it takes several requests.

The link that claims a trial account contains a token, so it is never part of a response body: the route
``account/claim`` redirects the browser to it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from foldnote.lab.responses import AccountResponse
from foldnote.models.account import Account

_SHOWN = (
    *("email", "tier", "is_claimed", "expires_at", "jobs_allowed", "jobs_left", "weighted_hours"),
    *("allowance_weighted_hours", "budget_weighted_hours", "spent_weighted_hours"),
)
FRESH_S = 60.0
"""Seconds for which a cached account is used."""
REFRESH_INTERVAL_S = 5.0
"""Minimum seconds between two reads with ``is_fresh``, which all pages request when they see a new job."""


class AccountCache:
    """A cached account."""

    def __init__(
        self, request: Callable[[], Awaitable[Account]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``request`` reads the account, raising FoldnoteError or TimeoutError; ``clock`` returns seconds."""
        self._request = request
        self._clock = clock
        self._refreshed_at = float("-inf")
        self._account: Account | None = None
        self._read_at = float("-inf")
        self._lock = asyncio.Lock()

    async def read(self, *, is_fresh: bool = False) -> AccountResponse:
        """Return the account without its claim link, read again when it is old or ``is_fresh`` is set."""
        return describe_account(await self._find(is_fresh))

    async def find_claim(self) -> str | None:
        """Return the address at which the account is claimed; None when there is nothing to claim."""
        return (await self._find(False)).claim_url or None

    async def _find(self, is_fresh: bool) -> Account:
        async with self._lock:
            is_refresh = is_fresh and self._clock() - self._refreshed_at > REFRESH_INTERVAL_S
            if self._account is None or is_refresh or self._clock() - self._read_at > FRESH_S:
                begun = self._clock()
                self._account = await self._request()
                self._read_at = self._clock()
                self._refreshed_at = begun if is_fresh else self._refreshed_at
            return self._account


def describe_account(account: Account) -> AccountResponse:
    """Return the account as sent to the browser, without its claim link."""
    can_claim = bool(account.claim_url) and account.is_claimed is not True
    fields = {name: getattr(account, name) for name in _SHOWN}
    return AccountResponse(has_key=account.has_key, can_claim=can_claim, **fields)
