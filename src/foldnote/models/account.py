"""Trial credentials, accounts, their webhooks, and their links for colleagues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field, SecretStr, ValidationError

from foldnote.errors import ProtocolError
from foldnote.models.html_repr import show_pairs
from foldnote.models.wire import Moment, WireModel, lower_first, read_hidden_json, read_object


class TrialLimits(WireModel):
    """The limits of an unclaimed key."""

    jobs: int | None = None
    """Total number of jobs, counting each row of a batch; null if unknown."""
    allowed_tools: Any = None
    """``all``, or the tools named by the deployment."""
    max_runtime_seconds: float | None = None
    """Time limit of a run in seconds; null for the usual limit."""
    expires_in_days: int | None = None


class Credential(WireModel):
    """The response to POST /agent/provision; its repr does not show the key."""

    api_key: SecretStr
    email: str = ""
    """Generated address of the account."""
    tier: str = ""
    """Name of the trial."""
    expires_at: Moment = None
    """When the key expires unless it is claimed (UTC); null if a deployment does not report it."""
    limits: TrialLimits = Field(default_factory=TrialLimits)
    claim_url: str = Field(default="", repr=False)
    """Address of the page on which a person claims the account. Anyone who has it can claim the account."""


def read_credential(answer: object) -> Credential:
    """Parse the credential in ``answer``, also with capitalised keys or as JSON inside text.

    Raises:
        ProtocolError: it contains no key; the message does not repeat its content.
    """
    hidden = read_hidden_json(answer)
    fields = lower_first(hidden) if isinstance(hidden, Mapping) else {}
    given = {key: value for key, value in fields.items() if value is not None}
    for name in ("limits", "apiKey"):
        given[name] = read_hidden_json(given.get(name, {} if name == "limits" else None))
    if not isinstance(given["apiKey"], str) or not given["apiKey"].strip():
        raise ProtocolError("The response of the service contains no key.")
    if not isinstance(given["limits"], Mapping):
        given["limits"] = {}
    try:
        return Credential.model_validate(given)
    except ValueError:
        needed = {name: given[name] for name in ("apiKey", "claimUrl") if isinstance(given.get(name), str)}
        return Credential.model_validate(needed)  # whatever else is invalid, the key must not be lost


@dataclass(frozen=True)
class Account:
    """The account that the key belongs to, as far as the service reports it.

    Attributes:
        service: address of the service; ``embedded`` for this user's own.
        profile: name of the profile.
        has_key: whether a key is sent.
        email: the account's address; None if unknown.
        tier: name of the trial under which the key was issued; None for other keys.
        is_claimed: whether a person has claimed the trial; None for other keys, or if unknown.
        expires_at: when an unclaimed key expires, UTC; None for other keys.
        claim_url: address of the page on which a person claims the account. Anyone who has it can claim the
            account, so the repr does not show it; None for other keys.
        jobs_allowed: maximum number of jobs, in total (unclaimed) or this month; None if no limit is known.
        jobs_used: minimum number of these that are used: the service does not report deleted jobs.
        weighted_hours: cost of the listed jobs, in weighted hours; None if they are not counted.
        allowance_weighted_hours: maximum cost of a free-energy run with this key, in weighted hours; None
            until a run was refused because of it.
        estimated_weighted_hours: estimated cost of that run, in weighted hours.
        budget_weighted_hours: the organization's budget, in weighted hours; None until a run was refused
            because of it.
        spent_weighted_hours: weighted hours of the budget that were used then.
    """

    service: str
    profile: str
    has_key: bool = True
    email: str | None = None
    tier: str | None = None
    is_claimed: bool | None = None
    expires_at: datetime | None = None
    claim_url: str | None = None
    jobs_allowed: int | None = None
    jobs_used: int | None = None
    weighted_hours: float | None = None
    allowance_weighted_hours: float | None = None
    estimated_weighted_hours: float | None = None
    budget_weighted_hours: float | None = None
    spent_weighted_hours: float | None = None

    @property
    def jobs_left(self) -> int | None:
        """Maximum number of jobs that can still be submitted; None if no limit is known."""
        if self.jobs_allowed is None or self.jobs_used is None:
            return None
        return max(0, self.jobs_allowed - self.jobs_used)

    @property
    def next_action(self) -> str | None:
        """What a user can do next; None if there is nothing to do."""
        if not self.has_key:
            return (
                "fn.provision() requests a trial key; `foldnote profile key NAME` stores a key that you have"
            )
        if self.tier is not None and self.is_claimed is not True:
            return "open the address in account.claim_url to claim the account, so that its key remains valid"
        return None

    def __repr__(self) -> str:
        told = "; ".join(f"{name} {value}" for name, value in self._pairs().items() if value is not None)
        return f"<account at {self.service}: {told}>"

    def _repr_html_(self) -> str:
        return show_pairs(f"Account at {self.service}", self._pairs())

    def _pairs(self) -> dict[str, str | None]:
        return {
            "profile": self.profile,
            "limits": "none: this is your own service" if self.service == "embedded" else None,
            "key": None if self.has_key else "none",
            "email": self.email,
            "trial": _describe_trial(self),
            "key expires": _describe_end(self),
            "jobs left": _describe_jobs_left(self),
            "weighted hours": _describe_hours(self),
            "allowance": _describe_limit(
                self.allowance_weighted_hours,
                "the refused run was at",
                self.estimated_weighted_hours,
            ),
            "budget": _describe_limit(self.budget_weighted_hours, "used:", self.spent_weighted_hours),
            "next": self.next_action,
        }


def _describe_trial(account: Account) -> str | None:
    if account.tier is None:
        return None
    return account.tier + {True: ", claimed", False: ", not claimed", None: ""}[account.is_claimed]


def _describe_end(account: Account) -> str | None:
    if account.expires_at is None or account.is_claimed is True:
        return None
    return f"{account.expires_at:%Y-%m-%d %H:%M} UTC, unless it is claimed"


def _describe_jobs_left(account: Account) -> str | None:
    if account.jobs_left is None:
        return None
    return f"at most {account.jobs_left:,} of {account.jobs_allowed:,}"


def _describe_hours(account: Account) -> str | None:
    if account.weighted_hours is None:
        return None
    return f"{account.weighted_hours:.4g} for the listed jobs"


def _describe_limit(limit: float | None, words: str, figure: float | None) -> str | None:
    if limit is None:
        return None
    return f"{limit:g} weighted hours" + ("" if figure is None else f"; {words} {figure:g}")


class AccountWebhook(WireModel):
    """The account's webhook settings, and what the administrator of the service allows."""

    url: str | None = None
    """Address that is called at the end of every job and batch submitted from now on; null for none."""
    has_secret: bool = False
    """Whether the account has a secret, without which nothing is called."""
    secret_created: Moment = None
    """When the secret was created (UTC); null without one."""
    allowed: tuple[str, ...] = ()
    """Allowed prefixes of addresses."""
    secret: SecretStr | None = None
    """The secret; present only in the response that creates it."""

    def __str__(self) -> str:
        made = "none yet: renew_secret(), or `foldnote webhook --new-secret`"
        if self.has_secret:
            made = (
                "set" if self.secret_created is None else f"set at {self.secret_created:%Y-%m-%d %H:%M} UTC"
            )
        return "\n".join(
            (
                f"address for all jobs: {self.url or 'none'}",
                f"secret: {made}",
                f"addresses may begin with: {', '.join(self.allowed)}",
            )
        )


def read_account_webhook(answer: object) -> AccountWebhook:
    """Parse a service's description of the account's webhook.

    Raises:
        ProtocolError: it is something else; the message does not repeat its content.
    """
    try:
        return AccountWebhook.model_validate(read_object(answer, "a webhook"))
    except ValidationError as exc:
        raise ProtocolError("The service's answer about the webhook cannot be read.") from exc
