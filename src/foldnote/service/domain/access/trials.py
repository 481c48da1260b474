"""Trial keys: issued to anyone within hourly caps, and claimed later by a person through a link.

An email address is not proof of identity, so it gives access to the trial account only, not to other
accounts' jobs or an organization. A person with an account here proves it by its key; then the trial
account's jobs, files and key are moved to that account. Secrets are shown once and stored as hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from foldnote.service.config import ServiceConfig
from foldnote.service.domain.access.keys import hash_key, make_key
from foldnote.service.domain.access.limiter import whole_seconds
from foldnote.service.faults import RefusalError, bad_request, not_found, retry_later
from foldnote.service.store import clock
from foldnote.service.store.accounts.accounts import AccountStore
from foldnote.service.store.accounts.trials import (
    Caps,
    ClaimedAccount,
    NewTrial,
    ProvisionCapError,
    TrialStore,
    may_claim,
)
from foldnote.service.store.quotas import TRIAL

TIER = "agent-trial"
CLOSED_RETRY_S = 3600
_EMAIL = re.compile(r"[^@\s<>\"']{1,64}@[^@\s<>\"']{1,190}")


@dataclass(frozen=True)
class Trial:
    """A new trial account with its secrets; `expires` is RFC 3339 UTC."""

    key: str
    email: str
    expires: str
    claim_token: str


class TrialService:
    """Issues trial keys and accepts claims.

    Args:
        secret: key of the hash that hides client addresses.
    """

    def __init__(
        self, trials: TrialStore, accounts: AccountStore, config: ServiceConfig, secret: bytes
    ) -> None:
        self._trials = trials
        self._accounts = accounts
        self._terms = config.trials
        self._is_open = config.trials.is_open and not config.embedded
        self._secret = hashlib.sha256(b"sources" + secret).digest()

    def provision(self, source: str) -> Trial:
        """Create a trial account for the client address `source`.

        Raises:
            RefusalError: 429 above a cap, 503 if no keys are issued; both give the time to wait.
        """
        if not self._is_open:
            sentence = "This service does not issue trial keys now. Ask its administrator for a key."
            raise retry_later(503, "provisioning_unavailable", sentence, CLOSED_RETRY_S)
        expires = clock.stamp(datetime.now(UTC) + timedelta(days=self._terms.days))
        token = secrets.token_urlsafe(32)
        trial = Trial(make_key(), f"agent-{secrets.token_hex(8)}@agents.foldnote.invalid", expires, token)
        hidden = hmac.new(self._secret, source.encode(), hashlib.sha256).hexdigest()
        new = NewTrial(trial.email, hash_key(trial.key), hash_key(token), expires, hidden)
        try:
            self._trials.provision(new, Caps(self._terms.hourly_per_source, self._terms.hourly))
        except ProvisionCapError as exc:
            raise _provision_limit_error(exc) from exc
        return trial

    def find(self, token: str) -> ClaimedAccount:
        """Find the account of a claim link.

        Raises:
            RefusalError: 404.
        """
        claim = self._trials.find_claim(hash_key(token))
        if claim is None:
            raise _unknown_link_error()
        return claim

    def claim(self, token: str, email: str, key: str | None = None) -> None:
        """Assign the account to the person with this address; idempotent.

        With the `key` of an existing account of this person, the trial account's data is moved to it.

        Raises:
            RefusalError: 400 for an invalid address, or if another person claimed the account; 403 for a key
                of another address; 404 for an unknown link.
        """
        if not _EMAIL.fullmatch(email):
            raise bad_request(
                "email must be an address such as name@lab.org.", code="invalid_email", field="email"
            )
        into = None if key is None else self._sign_in(email, key)
        trial = self._trials.claim(hash_key(token), email, into)
        if trial is None:
            raise _unknown_link_error()
        if not may_claim(trial.claimed_by, email):
            raise bad_request("This account was already claimed.", code="already_claimed", field="token")

    def _sign_in(self, email: str, key: str) -> int:
        owner = self._accounts.find_caller(hash_key(key))
        if owner is None or owner.tier == TRIAL or owner.email.lower() != email.lower():
            sentence = (
                f"The key does not belong to the account of {email}. Correct it, or claim without a key."
            )
            raise RefusalError(403, "sign_in_failed", sentence, field="apiKey")
        return owner.account_id


def _provision_limit_error(error: ProvisionCapError) -> RefusalError:
    subject = "your address" if error.scope == "source" else "all clients together"
    seconds = whole_seconds(error.retry_after_s)
    sentence = f"The hourly limit of trial keys for {subject} is reached. Reuse a key, or wait {seconds} s."
    return retry_later(429, "provisioning_capped", sentence, seconds)


def _unknown_link_error() -> RefusalError:
    sentence = "This claim link is unknown, or its key expired before it was claimed."
    return not_found(sentence, code="claim_not_found", field="token")
