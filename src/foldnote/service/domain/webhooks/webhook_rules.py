"""Rules for webhooks: check a URL when it is set, and store the account's own."""

from __future__ import annotations

from dataclasses import dataclass

from foldnote.models.extensions import WEBHOOK_PATH
from foldnote.service.domain.requests import Extensions
from foldnote.service.domain.webhooks.signing import make_secret, write_secret
from foldnote.service.domain.webhooks.webhook_options import WebhookAddress, WebhookOptions
from foldnote.service.faults import RefusalError, bad_request, not_found
from foldnote.service.store.accounts.accounts import Caller
from foldnote.service.store.jobs.insertion import NewWebhook, TooManyWebhooksError
from foldnote.service.store.jobs.webhooks import WebhookStore

NOT_CALLED = "This service calls no webhooks, since its administrator has allowed no address."
UNSIGNED = (
    "The account has no secret yet to sign its webhooks with. Create one first: `foldnote webhook"
    " --new-secret`, or client.webhook.renew_secret()."
)


def too_many_webhooks(error: TooManyWebhooksError) -> RefusalError:
    """Build the 400 for an account with the maximum number of undelivered webhooks."""
    sentence = (
        f"{error.most:,} webhooks of the account wait to be delivered, which is the limit."
        " Submit this one when some of its jobs have ended, or leave the webhook out."
    )
    return bad_request(sentence, code="too_many_webhooks", field=WEBHOOK_PATH)


@dataclass(frozen=True)
class ShownWebhook:
    """An account's webhook settings, without its secret, and the prefixes of allowed URLs."""

    url: str | None
    has_secret: bool
    secret_created: str | None
    allowed: list[str]


class WebhookRules:
    """Checks the URLs of jobs and accounts.

    Args:
        options: None for a service that calls no webhooks.
    """

    def __init__(self, store: WebhookStore, options: WebhookOptions | None) -> None:
        self._store = store
        self._options = options

    def choose(self, caller: Caller, extensions: Extensions | None) -> NewWebhook | None:
        """Return the webhook of a submission: its own, else the account's; None for none.

        Raises:
            RefusalError: 400 if the URL is not allowed, or the account has no secret to sign with.
        """
        url = None if extensions is None else extensions.webhook
        if url == "" or (url is None and self._options is None):
            return None
        if url is not None:
            self._require(url)
        own = self._store.account(caller.account_id)
        options = self._require_options()
        if url is None:
            default = None if own is None else own.url
            return None if default is None else NewWebhook(default, options.per_account, is_default=True)
        if own is None:
            raise bad_request(UNSIGNED, code="webhook_secret_missing", field=WEBHOOK_PATH)
        return NewWebhook(url, options.per_account)

    def show(self, caller: Caller) -> ShownWebhook:
        """Return the account's webhook settings.

        Raises:
            RefusalError: 404 from a service that calls no webhooks.
        """
        options = self._require_options()
        own = self._store.account(caller.account_id)
        if own is None:
            return ShownWebhook(None, False, None, options.starts)
        return ShownWebhook(own.url, True, own.created, options.starts)

    def put_url(self, caller: Caller, url: str | None) -> None:
        """Set or remove the URL for all jobs that the account submits from now on.

        Raises:
            RefusalError: 400 if it is not allowed, or there is no secret; 404 if the service calls no
                webhooks.
        """
        self._require_options()
        if url is not None:
            self._require(url, "url")
            if self._store.account(caller.account_id) is None:
                raise bad_request(UNSIGNED, code="webhook_secret_missing", field="url")
        self._store.put_url(caller.account_id, url)

    def renew_secret(self, caller: Caller) -> str:
        """Replace the account's secret by a new one, and return it; it is not shown again.

        Raises:
            RefusalError: 404 from a service that calls no webhooks.
        """
        self._require_options()
        secret = make_secret()
        self._store.put_secret(caller.account_id, secret)
        return write_secret(secret)

    def _require_options(self) -> WebhookOptions:
        if self._options is None:
            raise not_found(NOT_CALLED, code="route_not_found")
        return self._options

    def _require(self, url: str, field: str = WEBHOOK_PATH) -> None:
        if self._options is None:
            raise bad_request(NOT_CALLED, code="not_taken", field=field)
        starts = " or ".join(self._options.starts)
        rule = f"The administrator of this service allows addresses that begin with {starts}."
        try:
            address = WebhookAddress.read(url)
        except ValueError as exc:
            sentence = f"This address of a webhook cannot be used: {exc}. {rule}"
            raise bad_request(sentence, code="webhook_not_allowed", field=field) from exc
        if self._options.find(address) is None:
            sentence = f"This address of a webhook is not allowed. {rule}"
            raise bad_request(sentence, code="webhook_not_allowed", field=field)
