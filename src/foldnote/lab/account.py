"""The account behind the key, for pages: asked for seldom, because a look at it costs several questions.

The link with which a trial account is claimed holds a token. It is part of no answer that a page keeps: a
person who follows ``account/claim`` is sent on to it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from foldnote.lab.responses import AccountAnswer
from foldnote.models.account import Account

_SHOWN = (
    *("email", "tier", "is_claimed", "expires_at", "jobs_allowed", "jobs_left", "weighted_hours"),
    *("allowance_weighted_hours", "budget_weighted_hours", "spent_weighted_hours"),
)
FRESH_S = 60.0
"""Seconds for which what is known counts as fresh, however many pages ask."""
WISH_S = 5.0
"""Seconds within which wishes of several pages for a fresh answer are one: all saw the same new job."""


class AccountCache:
    """What is known of one account."""

    def __init__(
        self, ask: Callable[[], Awaitable[Account]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``ask`` looks at the account; it may raise FoldnoteError, TimeoutError. ``clock`` gives seconds."""
        self._ask = ask
        self._clock = clock
        self._wished_at = float("-inf")
        self._known: Account | None = None
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def read(self, *, is_fresh: bool = False) -> AccountAnswer:
        """The account as a page may see it; asked for anew when it is old or ``is_fresh`` is wanted."""
        return describe_account(await self._find(is_fresh))

    async def find_claim(self) -> str | None:
        """Where a person claims the account; None when there is nothing to claim."""
        return (await self._find(False)).claim_url or None

    async def _find(self, is_fresh: bool) -> Account:
        async with self._asking:
            is_wish = is_fresh and self._clock() - self._wished_at > WISH_S
            if self._known is None or is_wish or self._clock() - self._asked_at > FRESH_S:
                begun = self._clock()
                self._known = await self._ask()
                self._asked_at = self._clock()
                self._wished_at = begun if is_fresh else self._wished_at
            return self._known


def describe_account(account: Account) -> AccountAnswer:
    """The account without the link that claims it."""
    can_claim = bool(account.claim_url) and account.is_claimed is not True
    shown = {name: getattr(account, name) for name in _SHOWN}
    return AccountAnswer(has_key=account.has_key, can_claim=can_claim, **shown)
