"""Trial keys: given to anybody within hourly caps, claimed later by a person through a link.

A claim proves nothing about the address that is given, so it opens nothing but the account itself: no other
account's jobs, and no organization. Secrets leave here once and are kept as hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from foldnote.service.access.keys import hash_key, make_key
from foldnote.service.access.limiter import whole_seconds
from foldnote.service.config import ServiceConfig
from foldnote.service.faults import RefusalError, bad_request, not_found
from foldnote.service.store import clock
from foldnote.service.store.trials import Caps, Claim, NewTrial, ProvisionCapError, TrialStore

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


class TrialDesk:
    """Gives out trial keys and takes claims.

    Args:
        secret: hides the addresses of those who ask.
    """

    def __init__(self, trials: TrialStore, config: ServiceConfig, secret: bytes) -> None:
        self._trials = trials
        self._terms = config.trials
        self._is_open = config.trials.is_open and not config.embedded
        self._secret = hashlib.sha256(b"sources" + secret).digest()

    def provision(self, source: str) -> Trial:
        """A new account for whoever asks from the address `source`.

        Raises:
            RefusalError: 429 above a cap, 503 where no keys are given out; both say when to come back.
        """
        if not self._is_open:
            sentence = "This service gives out no trial keys now. Ask whoever runs it for a key."
            raise retry_later(503, "provisioning_unavailable", sentence, CLOSED_RETRY_S)
        expires = clock.stamp(datetime.now(UTC) + timedelta(days=self._terms.days))
        token = secrets.token_urlsafe(32)
        trial = Trial(make_key(), f"agent-{secrets.token_hex(8)}@agents.foldnote.invalid", expires, token)
        hidden = hmac.new(self._secret, source.encode(), hashlib.sha256).hexdigest()
        new = NewTrial(trial.email, hash_key(trial.key), hash_key(token), expires, hidden)
        try:
            self._trials.provision(new, Caps(self._terms.hourly_per_source, self._terms.hourly))
        except ProvisionCapError as exc:
            raise _too_many(exc) from exc
        return trial

    def find(self, token: str) -> Claim:
        """What a claim link leads to.

        Raises:
            RefusalError: 404.
        """
        found = self._trials.find_claim(hash_key(token))
        if found is None:
            raise _unknown_link()
        return found

    def claim(self, token: str, email: str) -> None:
        """Give the account to the person of this address, once; doing it again changes nothing.

        Raises:
            RefusalError: 400 for what is no address, or when somebody else claimed it; 404.
        """
        if not _EMAIL.fullmatch(email):
            raise bad_request(
                "email must be an address such as name@lab.org.", code="invalid_email", field="email"
            )
        found = self._trials.claim(hash_key(token), email)
        if found is None:
            raise _unknown_link()
        if found.claimed_by not in (None, email):
            raise bad_request("This account was claimed before.", code="already_claimed", field="token")


def retry_later(status: int, code: str, sentence: str, seconds: int) -> RefusalError:
    """A refusal that says when to come back, in its body and its header."""
    headers = {"Retry-After": str(seconds)}
    return RefusalError(status, code, sentence, more={"retryAfterSeconds": seconds}, headers=headers)


def _too_many(error: ProvisionCapError) -> RefusalError:
    who = "Your address was" if error.scope == "source" else "All callers together were"
    seconds = whole_seconds(error.retry_after_s)
    sentence = f"{who} given as many trial keys as there are in an hour. Reuse a key, or wait {seconds} s."
    return retry_later(429, "provisioning_capped", sentence, seconds)


def _unknown_link() -> RefusalError:
    sentence = "This claim link is unknown, or its key expired before it was claimed."
    return not_found(sentence, code="claim_not_found", field="token")
