"""Exchange the token of a JupyterHub user's server for a key of this service that is valid for minutes.

The hub is queried once for each token and half of a key's lifetime. A key is derived from the token, so that
all programs of a user's server share one key and its rate limit, at every replica; only its hash is stored.
While the hub does not answer, the last key issued for a token is returned until it expires.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.concurrency import run_in_threadpool

from foldnote.service.domain.access.hub_identity import (
    HubIdentity,
    HubUnreachableError,
    HubUser,
    hub_unreachable,
    unknown_token,
)
from foldnote.service.domain.access.hub_options import HubOptions
from foldnote.service.domain.access.keys import KEY_PREFIX, hash_key
from foldnote.service.domain.requests import EMAIL_PATTERN
from foldnote.service.faults import RefusalError
from foldnote.service.store import clock
from foldnote.service.store.accounts.accounts import AccountStore
from foldnote.service.store.accounts.organizations import OrganizationStore
from foldnote.service.store.quotas import TRIAL

_TOKEN = re.compile(r"[\x21-\x7e]{8,4096}")
_MAX_ADDRESS = 254
_OWN_DOMAIN = "foldnote.invalid"
"""Domain of the accounts that the service creates for itself and for trials."""


@dataclass(frozen=True)
class IssuedKey:
    """A key issued in exchange for a token.

    Attributes:
        key: the key.
        expires_in_s: seconds until it expires.
    """

    key: str
    expires_in_s: float


class HubSignIn:
    """Issues keys to users of a hub.

    Args:
        secret: key of the derivation.
    """

    def __init__(
        self, options: HubOptions, accounts: AccountStore, organizations: OrganizationStore, secret: bytes
    ) -> None:
        self._options = options
        self._accounts = accounts
        self._organizations = organizations
        self._identity = HubIdentity(options)
        self._secret = hashlib.sha256(b"keys of a hub" + secret).digest()
        self._period_s = options.key_lifetime_s / 2

    async def issue(self, token: str) -> IssuedKey:
        """Return a key for the account of the token's user; create the account if that is allowed.

        Raises:
            RefusalError: 401 for an unknown token; 403 for a user who may not use the service; 503 while the
                hub does not answer.
        """
        if not _TOKEN.fullmatch(token):
            raise unknown_token()
        period = self._find_period()
        current, earlier = (self._derive(token, number) for number in (period, period - 1))
        hashes = [hash_key(current), hash_key(earlier)]
        active_keys = await run_in_threadpool(self._accounts.find_callers, hashes)
        if hashes[0] in active_keys:
            return self._issued_key(current, period)
        try:
            user = await self._identity.find(token)
        except HubUnreachableError as exc:
            if hashes[1] in active_keys:
                return self._issued_key(earlier, period - 1)
            raise hub_unreachable(str(exc)) from None
        except RefusalError:
            if hashes[1] in active_keys:
                await run_in_threadpool(lambda: self._accounts.revoke(sha256=hashes[1]))
            raise
        while True:  # the hub, or a busy machine, may have taken longer than the key is valid
            period = self._find_period()
            current = self._derive(token, period)
            if await run_in_threadpool(self._activate_key, user, hash_key(current), period):
                return self._issued_key(current, period)

    def _find_period(self) -> int:
        return int(time.time() // self._period_s)

    def _derive(self, token: str, period: int) -> str:
        digest = hmac.new(self._secret, f"{period} {token}".encode(), hashlib.sha256).digest()
        return KEY_PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def _end_of_period(self, period: int) -> float:
        return (period + 2) * self._period_s

    def _issued_key(self, key: str, period: int) -> IssuedKey:
        return IssuedKey(key, max(0.0, self._end_of_period(period) - time.time()))

    def _activate_key(self, user: HubUser, sha256: str, period: int) -> bool:
        """Make the key valid; return False if it has expired meanwhile."""
        account = self._find_account(user)
        options = self._options
        if options.organizations:
            names = (name for group, name in options.organizations.items() if group in user.groups)
            self._organizations.assign(account, next(names, None), set(options.organizations.values()))
        is_admin = not user.groups.isdisjoint(options.admin_groups)
        expires = clock.stamp(datetime.fromtimestamp(self._end_of_period(period), UTC))
        self._accounts.add_key(account, sha256, is_admin=is_admin, expires=expires)
        self._accounts.remove_expired_keys(account)
        if self._accounts.find_caller(sha256) is not None:
            return True
        if time.time() < self._end_of_period(period):
            sentence = "An administrator of the service has revoked your key. Ask for access."
            raise RefusalError(403, "key_revoked", sentence)
        return False

    def _find_account(self, user: HubUser) -> int:
        """Return the row of the user's account; create it if it is missing and that is allowed."""
        email = self._options.address_of(user.name)
        reason = _find_name_fault(user.name, email)
        if reason:
            raise _user_refused(
                f"The user {user.name[:100]!r} of JupyterHub cannot have an account: {reason}"
            )
        account_id = self._accounts.find(email)
        if account_id is None:
            if not self._options.creates_accounts:
                raise _user_refused(
                    f"There is no account {email}. Ask the service's administrator to create it."
                )
            return self._accounts.ensure_account(email)
        if self._accounts.tier_of(account_id) == TRIAL:
            raise _user_refused(f"The account {email} is a trial account, which only its own key opens.")
        return account_id


def _find_name_fault(name: str, email: str) -> str:
    """Return the reason why this user cannot have this account; empty if there is none."""
    if name != name.lower():
        return "it has capital letters, and two names that differ in these only would share an account."
    if len(email) > _MAX_ADDRESS or not re.fullmatch(EMAIL_PATTERN, email):
        return f"{email[:100]!r}, made by the service's option email, is not an email address."
    domain = email.rpartition("@")[2]
    if domain == _OWN_DOMAIN or domain.endswith(f".{_OWN_DOMAIN}"):
        return f"addresses of {_OWN_DOMAIN} belong to the service."
    return ""


def _user_refused(sentence: str) -> RefusalError:
    return RefusalError(403, "hub_user_refused", sentence)
