"""The account behind the key, for pages: asked for seldom, because a look at it costs several questions.

The link with which a trial account is claimed holds a token. It is part of no answer that a page keeps: a
person who follows ``account/claim`` is sent on to it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from foldnote.errors import NotFoundError
from foldnote.lab.answers import AccountAnswer
from foldnote.models.account import Account

_SHOWN = (
    *("email", "tier", "is_claimed", "expires_at", "jobs_allowed", "jobs_left", "weighted_hours"),
    *("allowance_weighted_hours", "budget_weighted_hours", "spent_weighted_hours"),
)
FRESH_S = 60.0
"""Seconds for which what is known counts as fresh, however many pages ask."""


class AccountDesk:
    """What is known of one account."""

    def __init__(self, ask: Callable[[], Awaitable[Account]]) -> None:
        """``ask`` looks at the account; it may raise FoldnoteError and TimeoutError."""
        self._ask = ask
        self._known: Account | None = None
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def read(self, *, is_fresh: bool = False) -> AccountAnswer:
        """The account as a page may see it; asked for anew when it is old or ``is_fresh`` is wanted."""
        return describe_account(await self._find(is_fresh))

    async def find_claim(self) -> str:
        """Where a person claims the account.

        Raises:
            NotFoundError: there is nothing to claim.
        """
        url = (await self._find(False)).claim_url
        if not url:
            raise NotFoundError("This account needs no claim: its key is no unclaimed trial key.", status=404)
        return url

    async def _find(self, is_fresh: bool) -> Account:
        async with self._asking:
            if self._known is None or is_fresh or time.monotonic() - self._asked_at > FRESH_S:
                self._known = await self._ask()
                self._asked_at = time.monotonic()
            return self._known


def describe_account(account: Account) -> AccountAnswer:
    """The account without the link that claims it."""
    can_claim = bool(account.claim_url) and account.is_claimed is not True
    shown = {name: getattr(account, name) for name in _SHOWN}
    return AccountAnswer(has_key=account.has_key, can_claim=can_claim, **shown)
