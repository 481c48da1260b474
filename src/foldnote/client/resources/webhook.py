"""The address that foldnote's own service calls when jobs of the account end, and its secret."""

from __future__ import annotations

from pydantic import SecretStr

from foldnote.client.core.connection import Resource
from foldnote.client.core.error_mapping import parse_response
from foldnote.client.core.operations import AsyncApi, Operation, SyncApi, operation
from foldnote.errors import FoldnoteError, NotFoundError, ProtocolError
from foldnote.models.account import AccountWebhook, read_account_webhook


class WebhookOperations(Resource):
    """GET and POST /webhook, which exist if the service's administrator allows webhooks."""

    @operation
    def get(self) -> Operation[AccountWebhook]:
        """Get the account's webhook settings and the allowed beginnings of addresses.

        Raises:
            FoldnoteError: the service calls no webhooks.
            ServiceError: the service refused.
        """
        return (yield from self._request("GET", "/webhook"))

    @operation
    def set(self, url: str | None) -> Operation[AccountWebhook]:
        """Set the address that is called at the end of every job and batch submitted from now on.

        Args:
            url: the address; None for none. A job may have one of its own: ``client.jobs.submit(webhook=…)``.

        Raises:
            BadRequestError: the address is not allowed, or the account has no secret yet.
            FoldnoteError: the service calls no webhooks.
            ServiceError: the service refused.
        """
        return (yield from self._request("POST", "/webhook", {"url": url}))

    @operation
    def renew_secret(self) -> Operation[SecretStr]:
        """Create a secret, replacing the account's current one, and return it; it cannot be read later.

        From now on requests are signed with it, following Standard Webhooks: give it to the receiver.
        ``.get_secret_value()`` shows it.

        Raises:
            FoldnoteError: the service calls no webhooks.
            ProtocolError: the answer has no secret.
            ServiceError: the service refused.
        """
        found = yield from self._request("POST", "/webhook/secret", {})
        if found.secret is None:
            raise ProtocolError("The service's answer contains no secret.")
        return found.secret

    def _request(self, method: str, path: str, body: object = None) -> Operation[AccountWebhook]:
        try:
            answer = yield from self._connection.request(method, path, json=body, repeatable=method == "GET")
        except NotFoundError as exc:
            raise FoldnoteError(
                "This service calls no webhooks: its administrator has allowed no address, or it is not a"
                " service of foldnote."
            ) from exc
        return parse_response(read_account_webhook, answer)


class WebhookResource(SyncApi, WebhookOperations):
    """The account's webhook (synchronous)."""


class AsyncWebhookResource(AsyncApi, WebhookOperations):
    """The account's webhook (asynchronous)."""
