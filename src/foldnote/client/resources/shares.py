"""Links with which a colleague opens a job with their own key, at foldnote's own service."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from foldnote import settings
from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import make_key_error, parse_response
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.client.downloads.download import fetch_shared
from foldnote.client.resources.job_handle import JobHandleOperations
from foldnote.errors import (
    ArgumentError,
    ConfigurationError,
    FoldnoteError,
    GatewayForbiddenError,
    NotFoundError,
    ServiceError,
    UnauthorizedError,
)
from foldnote.models.job import Job, read_job
from foldnote.models.share import Share, ShareList, read_share, read_shares

_PATH = "/shared"


class OpenedShare(NamedTuple):
    """What a link opens: the job's record, and the local path of its result archive."""

    job: Job
    path: Path


class SharesOperations(Resource):
    """POST, GET and DELETE /shares; POST /shared."""

    @operation
    def make(self, job: str | JobHandleOperations, days: float = 30) -> Operation[Share]:
        """Make a link to a job or batch; it is available as ``.url`` this once only.

        Members of your organization open it with their own keys, read-only; without an organization, everyone
        with an account at the service can. It ends when you revoke it, it expires, or the job is deleted.

        Args:
            job: the job or batch, or its name.
            days: validity in days, at most 366.

        Raises:
            NotFoundError: there is no such job.
            FoldnoteError: the service makes no links.
            ServiceError: the service refused.
        """
        name = job if isinstance(job, str) else job.job_name
        body = {"jobName": name, "expiresInDays": days}
        return parse_response(read_share, (yield from self._request("POST", "/shares", json=body)))

    @operation
    def list(self, job_name: str | None = None) -> Operation[ShareList]:
        """List your valid links, newest first, with who has opened them.

        Args:
            job_name: only links to this job.

        Raises:
            FoldnoteError: the service makes no links.
            ServiceError: the service refused.
        """
        params = {} if job_name is None else {"jobName": job_name}
        return parse_response(read_shares, (yield from self._request("GET", "/shares", params=params)))

    @operation
    def revoke(self, share: str | Share) -> Operation[None]:
        """End a link at once, also for those who have opened it.

        Args:
            share: the link, or its ``name``.

        Raises:
            NotFoundError: you have no such link.
            ServiceError: the service refused.
        """
        name = share if isinstance(share, str) else share.name
        yield from self._request("DELETE", f"/shares/{name}")

    @operation
    def open(self, url: str) -> Operation[OpenedShare]:
        """Open a link with your own key: the job's record and result, read-only.

        Args:
            url: the link, which must belong to this service: your key is sent to no other.

        Raises:
            ArgumentError: it is not such a link.
            ConfigurationError: it is a link of another service.
            NotFoundError: the link is not valid, or not valid for you.
            UnfinishedJobError: the job has no result yet.
            UnauthorizedError: you have no key for this service, or a wrong one.
            ServiceError: the service refused.
        """
        token = yield from self._read_own(url)
        try:
            found = yield from self._request("POST", _PATH, json={"token": token})
            job = parse_response(read_job, found)
            return OpenedShare(job, (yield from fetch_shared(self._connection, job, token)))
        except (UnauthorizedError, GatewayForbiddenError) as exc:
            raise (yield from self._explain_key_error(exc)) from exc

    @operation
    def fetch(self, url: str, job: Job) -> Operation[Path]:
        """Download the result of a link that you have opened before, if the link is still valid for you.

        The service is asked each time; the owner's list does not count this as another opening.

        Args:
            url: the link.
            job: the record that :meth:`open` returned.

        Returns:
            The local path of the archive.

        Raises:
            ArgumentError: it is not such a link.
            ConfigurationError: it is a link of another service.
            NotFoundError: the link is no longer valid, or not valid for you.
            UnauthorizedError: you have no key for this service, or a wrong one.
            ServiceError: the service refused.
        """
        token = yield from self._read_own(url)
        try:
            return (yield from fetch_shared(self._connection, job, token, is_asked=True))
        except (UnauthorizedError, GatewayForbiddenError) as exc:
            raise (yield from self._explain_key_error(exc)) from exc

    def _explain_key_error(self, refused: ServiceError) -> Operation[ServiceError]:
        """Say what is wrong with the reader's key, and what to do; JupyterHub's refusals say so already."""
        profile = self._connection.profile
        if profile.is_of_hub:
            return refused
        address = yield from self._connection.locate()
        place = urlsplit(address.url).netloc
        if address.key is None:
            sentence = (
                f"The link opens with your own key for {place}, and the profile {profile.name!r} has none."
            )
        else:
            sentence = (
                f"{place} refuses the key of the profile {profile.name!r}: it is wrong, expired or revoked."
            )
        if profile.name == settings.ENVIRONMENT:
            advice = "Set FOLDNOTE_API_KEY to a valid key, and start Python or JupyterLab again."
        else:
            advice = (
                "Store a valid key: choose Connect to a service … in foldnote's sidebar, or run:"
                f" foldnote profile key {profile.name}"
            )
        return make_key_error(refused, f"{sentence} {advice}")

    def _read_own(self, url: str) -> Operation[str]:
        """Return the token of a link of this service; it is sent to no other service."""
        connection = self._connection
        token = read_token(url)
        address = yield from connection.locate()
        if not is_same_service(url, address.url):
            raise ConfigurationError(
                f"This is a link of {urlsplit(url).netloc}, and {connection.profile.name!r} is another"
                " service. Name the profile of that service, or add it: foldnote profile add."
            )
        return token

    def _request(self, method: str, path: str, **options: Any) -> Operation[Any]:
        try:
            return (yield from self._connection.request(method, path, repeatable=method != "POST", **options))
        except NotFoundError as exc:
            if exc.code in ("share_not_found", "job_not_found"):
                raise
            raise FoldnoteError(
                "This service makes no links for colleagues: it is your own, or not a service of foldnote."
                " fn.export writes one file, which a colleague opens with fn.open_export."
            ) from exc


def read_token(url: str) -> str:
    """Return the token of a link.

    Raises:
        ArgumentError: it is not a link to a shared job.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.path.endswith(_PATH) or not parts.fragment:
        raise ArgumentError(
            "This is not a link to a shared job, which looks like https://lab.example.org/shared#…, with all"
            " that is after the #."
        )
    return parts.fragment


def is_same_service(url: str, base_url: str) -> bool:
    """Return whether a link belongs to the service at this address, ignoring path prefixes."""
    one, other = urlsplit(url.strip()), urlsplit(base_url)
    return (one.scheme, one.hostname, one.port) == (other.scheme, other.hostname, other.port)


def find_link_profile(url: str) -> str | None:
    """Find the profile of a link's service, the active one before others; None if there is none.

    Raises:
        ArgumentError: it is not a link to a shared job.
    """
    read_token(url)
    known = (settings.active_profile(), *settings.profiles())
    fitting = [each.name for each in known if each.base_url and is_same_service(url, each.base_url)]
    return fitting[0] if fitting else None


class Shares(SyncApi, SharesOperations):
    """Links for colleagues (synchronous)."""


class AsyncShares(AsyncApi, SharesOperations):
    """Links for colleagues (asynchronous)."""
