"""The webhook of an account: which address a service calls at the end of its jobs."""

from __future__ import annotations

from pydantic import SecretStr, ValidationError

from foldnote.errors import ProtocolError
from foldnote.models.moment import Moment
from foldnote.models.wire import WireModel, read_object


class AccountWebhook(WireModel):
    """What the account has set, and what the administrator of the service allows."""

    url: str | None = None
    """Called at the end of every job and batch that is submitted from now on; null for none."""
    has_secret: bool = False
    """Whether the account has a secret, without which nothing is called."""
    secret_created: Moment = None
    """When the secret was made (UTC); null without one."""
    allowed: tuple[str, ...] = ()
    """What addresses may begin with."""
    secret: SecretStr | None = None
    """The secret, only when it was made just now."""

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
    """Parse what a service says of the account's webhook.

    Raises:
        ProtocolError: it is something else; the message does not repeat its content.
    """
    try:
        return AccountWebhook.model_validate(read_object(answer, "a webhook"))
    except ValidationError as exc:
        raise ProtocolError("The service's answer about the webhook cannot be read.") from exc
