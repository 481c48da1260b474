"""The account that the key belongs to, as far as the service reports it, and trial keys for new users."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin

from foldnote.client.core import job_pages
from foldnote.client.core.connection import Address, Resource, ServiceConnection
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Operation, Run, Sleep, SyncApi, operation
from foldnote.client.local import trials
from foldnote.errors import (
    AllowanceExceededError,
    BudgetExceededError,
    ConfigurationError,
    JobLimitError,
    RestrictedRouteError,
    ServiceError,
    UnauthorizedError,
)
from foldnote.models import JobPage
from foldnote.models.account import Account, Credential, read_credential

_MAX_JOBS = "1000"
_MONTHLY_JOBS = 10
"""Jobs per month of a claimed account of the free tier."""
_LOCK_RETRY_S, _LOCK_ATTEMPTS = 0.2, 300


class AccountOperations(Resource):
    """Account data; POST /agent/provision."""

    @operation
    def get(self) -> Operation[Account]:
        """Get what is known of the account.

        The interface has no route for this: the data is assembled from a trial key's issue, the service's
        list of jobs, and the figures in its last refusals.

        Raises:
            UnauthorizedError: the key is wrong or has expired.
            ServiceError: the service refused.
            TransportError: no answer came.
        """
        return (yield from _fetch_account(self._connection))

    @operation
    def provision(self) -> Operation[Account]:
        """Request a trial key; later calls return the key that the service issued before.

        The key is stored in the keyring or in a private file, used from now on, and never shown. Using it
        implies accepting the service's terms.

        Raises:
            ConfigurationError: the profile has a key already, or the key could not be stored.
            RateLimitedError: the service's hourly limit of trial keys is reached.
            ServiceFaultError: the service issues no trial keys at present.
            TransportError: no answer came.
        """
        connection = self._connection
        if connection.profile.is_embedded and connection.service == connection.profile.name:
            raise ConfigurationError("The embedded service needs no trial key.")
        address = yield from connection.locate()
        for _ in range(_LOCK_ATTEMPTS):
            with trials.try_lock() as is_held:
                if is_held:
                    yield from _provision(connection, address)
                    return (yield from _fetch_account(connection))
            yield Sleep(_LOCK_RETRY_S)
        raise ConfigurationError("Another process has been requesting a trial key for a minute. Try again.")


def _provision(connection: ServiceConnection, address: Address) -> Operation[None]:
    kept = yield Run(lambda: trials.find_trial(connection.service))
    if kept is not None:
        if address.key is None:
            connection.set_key(kept.api_key)
        if trials.is_key_of(kept, address.key or kept.api_key) and (yield from _is_alive(connection, kept)):
            return
    if address.key is not None and (kept is None or not trials.is_key_of(kept, address.key)):
        raise ConfigurationError(
            f"The profile {connection.profile.name!r} already has a key; a second one would be"
            " another account, which does not see its jobs. For a trial key, add a profile without a key."
        )
    answer = yield from connection.request("POST", "/agent/provision", is_open=True, repeatable=False)
    credential = parse_response(read_credential, answer)
    url = credential.claim_url and urljoin(f"{address.url}/", credential.claim_url)
    credential = credential.model_copy(update={"claim_url": url})
    connection.set_key(credential.api_key)
    yield Run(lambda: trials.save_trial(connection.service, connection.profile.name, credential))


def _is_alive(connection: ServiceConnection, kept: Credential) -> Operation[bool]:
    """Return whether the stored key still works; the service is asked only after its expiry date."""
    if kept.expires_at is not None and kept.expires_at > datetime.now(UTC):
        return True
    try:
        yield from connection.request("GET", "/jobs", params={"limit": "1"})
    except UnauthorizedError:
        yield Run(lambda: trials.delete_trial(connection.service))
        return False
    return True


def _fetch_account(connection: ServiceConnection) -> Operation[Account]:
    address = yield from connection.locate()
    about: dict[str, Any] = {"service": connection.service, "profile": connection.profile.name}
    if address.key is None:
        return Account(**about, has_key=False)
    page = yield from job_pages.list_page(connection, {"limit": _MAX_JOBS, "includeSubjobs": "true"})
    kept = yield Run(lambda: trials.find_trial(connection.service))
    if kept is not None and not trials.is_key_of(kept, address.key):
        kept = None
    is_claimed = (yield from _is_claimed(connection)) if kept is not None else None
    about |= _read_limits(connection, kept, is_claimed, page) | _read_jobs(page)
    if kept is not None:
        about |= {
            "tier": kept.tier or "trial",
            "is_claimed": is_claimed,
            "expires_at": kept.expires_at,
            "claim_url": kept.claim_url or None,
            "email": about["email"] or kept.email or None,
        }
    return Account(**about)


def count_left(connection: ServiceConnection) -> Operation[int | None]:
    """Return an upper bound of the jobs that may still be submitted; None if no limit is known."""
    kept = yield Run(lambda: trials.find_trial(connection.service))
    if kept is None and JobLimitError not in connection.last_errors:
        return None
    return (yield from _fetch_account(connection)).jobs_left


def _is_claimed(connection: ServiceConnection) -> Operation[bool | None]:
    """Return whether the key is claimed: restricted routes refuse unclaimed keys before reading the body."""
    try:
        yield from connection.request("POST", "/run-pipeline", json={}, repeatable=True)
    except RestrictedRouteError:
        return False
    except ServiceError as exc:
        return True if exc.status in (400, 422) else None
    return None


def _read_limits(
    connection: ServiceConnection, kept: Credential | None, is_claimed: bool | None, page: JobPage
) -> dict[str, Any]:
    """Read limits from the last refusals; the job limit also from the trial key's data."""
    allowance = AllowanceExceededError(body=connection.last_errors.get(AllowanceExceededError))
    budget = BudgetExceededError(body=connection.last_errors.get(BudgetExceededError))
    jobs = JobLimitError(body=connection.last_errors.get(JobLimitError))
    allowed, used = jobs.jobs_allowed, jobs.jobs_used
    if allowed is None and kept is not None:
        allowed = _MONTHLY_JOBS if is_claimed else kept.limits.jobs
        used = _count_jobs(page, is_monthly=is_claimed is True)
    return {
        "jobs_allowed": allowed,
        "jobs_used": used,
        "allowance_weighted_hours": allowance.allowance_weighted_hours,
        "estimated_weighted_hours": allowance.estimated_weighted_hours,
        "budget_weighted_hours": budget.budget_weighted_hours,
        "spent_weighted_hours": budget.spent_weighted_hours,
    }


def _count_jobs(page: JobPage, *, is_monthly: bool) -> int:
    """Count the jobs that use the limit: a batch's jobs do, its parent does not."""
    jobs = [job for job in page.jobs if not job.is_batch]
    month = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return sum(not is_monthly or job.created is None or job.created >= month for job in jobs)


def _read_jobs(page: JobPage) -> dict[str, Any]:
    hours = [job.weighted_hours for job in page.jobs if job.weighted_hours is not None and not job.is_batch]
    return {
        "email": next((job.email for job in page.jobs if job.email), None),
        "weighted_hours": sum(hours) if hours else None,
    }


class AccountResource(SyncApi, AccountOperations):
    """The account that the key belongs to."""


class AsyncAccountResource(AsyncApi, AccountOperations):
    """The account that the key belongs to (asynchronous)."""
